package serve

import (
	"context"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/server"
)

// serveDebug serves profiles to the clients of s, if an address is given. stop shuts it down.
func serveDebug(ctx context.Context, a *cli.App, s *server.Server, address string) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := server.ListenDebug(ctx, address)
	if err != nil {
		return nil, err
	}
	a.Notify("Profiles are at http://%s/debug/pprof, with the server's password.", l.Addr())
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Debug().Serve(ctx, l); err != nil {
			a.Log.Error("profile server stopped", "err", err)
		}
	}()
	return func() { cancel(); <-ended }, nil
}
