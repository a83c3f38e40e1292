package serve

import (
	"context"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/server"
)

// serveDebug serves profiles of this process to the clients of s, if an address is given. stop ends
// that and waits for it.
func serveDebug(ctx context.Context, a *cli.App, s *server.Server, address string) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := server.ListenDebug(ctx, address)
	if err != nil {
		return nil, err
	}
	a.Notify("Profiles are at http://%s/debug/pprof, for the clients of this server.", l.Addr())
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Debug().Serve(ctx, l); err != nil {
			a.Log.Error("profiles are no longer served", "err", err)
		}
	}()
	return func() { cancel(); <-ended }, nil
}
