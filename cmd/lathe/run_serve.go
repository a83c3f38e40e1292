package main

import (
	"context"
	"errors"
	"net"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/server"
)

// checkReach refuses what does not go together of the flags for servers.
func (f *runFlags) checkReach(a *cli.App) error {
	switch {
	case f.interactive:
		return cli.Usagef("-i comes with the small screen of lines (--mini), which comes later; until then `lathe run` asks what it needs, and `lathe run -c` goes on")
	case a.Attach == "" && (a.Username != "" || a.Password != ""):
		return cli.Usagef("-u and -p are for a server: add --attach URL")
	case a.Attach != "" && f.port != 0:
		return cli.Usagef("--port is for a server here, and --attach uses one that runs; choose one of them")
	case f.port < 0 || f.port > 65535:
		return cli.Usagef("--port %d: want 1 to 65535", f.port)
	}
	return nil
}

// whileReachable lets other clients follow the turn at a port of this machine while f runs.
func whileReachable(ctx context.Context, a *cli.App, port int, s *harness.Harness, f func() error) (err error) {
	if port == 0 {
		return f()
	}
	flags := serveFlags{hostname: "127.0.0.1", port: port}
	o, err := serverOptions(a, flags, config.Server{})
	if err != nil {
		return err
	}
	l, where, err := flags.listen(ctx)
	if err != nil {
		return err
	}
	b, done := s.Backend()
	defer func() { err = cli.Closing(done, err) }()
	a.Remark("Others can follow at %s.", where)
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
