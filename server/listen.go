package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// Limits of connections. Responses have no time limit: a prompt is answered when its turn ends, and
// streams do not end.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	headerSize = 64 << 10
	closeTime  = 5 * time.Second
)

// Serve accepts connections until the context ends. Streams and waits end then too, and running
// requests get a few seconds to finish.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerSize,
		ErrorLog: slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug), ConnContext: s.withPeer,
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		s.Close()
		grace, done := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer done()
		err := h.Shutdown(grace)
		if errors.Is(err, context.DeadlineExceeded) {
			err = h.Close()
		}
		ended <- err
	}()
	var notifying sync.WaitGroup
	if s.notifier != nil {
		notifying.Go(func() { s.notifier.Run(ctx) })
	}
	defer notifying.Wait()
	err := h.Serve(l)
	stop() // or it failed by itself
	if closed := <-ended; errors.Is(err, http.ErrServerClosed) {
		return closed
	}
	return err
}

// Listen opens a TCP port. Port 0 is 4096, or any that is free.
func Listen(ctx context.Context, host string, port int) (net.Listener, error) {
	var lc net.ListenConfig
	first := port
	if port == 0 {
		first = defaultPort
	}
	l, err := lc.Listen(ctx, "tcp", address(host, first))
	if err != nil && port == 0 {
		l, err = lc.Listen(ctx, "tcp", address(host, 0))
	}
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "cannot listen on %s: %w; choose another --port, or 0 for any", address(host, first), err)
	}
	return l, nil
}

const defaultPort = 4096

// ListenSocket opens a unix socket that only its user can reach. A stale socket is replaced.
func ListenSocket(ctx context.Context, path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		var d net.Dialer
		if c, err := d.DialContext(ctx, "unix", path); err == nil {
			_ = c.Close()
			return nil, lathe.Errorf(lathe.Conflict, "another server is listening on %s; stop it or choose another socket", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, lathe.Errorf(lathe.Unavailable, "cannot remove the old socket: %w", err)
		}
	}
	l, err := listenPrivately(ctx, path)
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "cannot listen on the socket: %w", err)
	}
	return l, nil
}

// WithTLS speaks TLS on a listener, with a certificate and its key from files.
func WithTLS(l net.Listener, certificate, key string) (net.Listener, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "cannot load the TLS certificate: %w", err)
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}

// address joins host and port.
func address(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
