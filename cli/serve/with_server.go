package serve

import (
	"context"
	"errors"
	"net"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/server"
)

// WithServer serves the engine on a local port while f runs, so that other clients can follow the turn.
func WithServer(ctx context.Context, a *cli.App, port int, s *harness.Harness, f func() error) (err error) {
	if port == 0 {
		return f()
	}
	flags := serveFlags{hostname: "127.0.0.1", port: port}
	o, err := serverOptions(a, flags, config.Server{})
	if err != nil {
		return err
	}
	defer o.Pairing.Devices.Close()
	l, where, err := flags.listen(ctx, "", &o.Pairing)
	if err != nil {
		return err
	}
	b, done := s.Backend()
	defer func() { err = cli.CloseAfter(done, err) }()
	a.Notify("Other clients can follow at %s.", where)
	served := make(chan error, 1)
	ending, end := context.WithCancel(context.WithoutCancel(ctx))
	go func() { served <- server.New(b, o).Serve(ending, l) }()
	defer func() {
		end()
		if e := <-served; err == nil && e != nil && !errors.Is(e, net.ErrClosed) {
			err = e
		}
	}()
	return f()
}
