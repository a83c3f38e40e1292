//go:build unix

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/nats-io/nats-server/v2/server"
)

// bucket is where large values lie.
const bucket = "lathe"

// natsServer is NATS inside this process.
type natsServer struct {
	port   int
	server *server.Server
}

func (n *natsServer) start() error {
	if n.port == 0 {
		port, err := freePort()
		if err != nil {
			return err
		}
		n.port = port
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: n.port, NoSigs: true, NoLog: true})
	if err != nil {
		return err
	}
	go s.Start() // Shutdown ends it
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("NATS does not listen on port %d", n.port)
	}
	n.server = s
	return nil
}

func (n *natsServer) stop() {
	if n.server != nil {
		n.server.Shutdown()
		n.server.WaitForShutdown()
		n.server = nil
	}
}

func (n *natsServer) addr() string { return fmt.Sprintf("127.0.0.1:%d", n.port) }

// newS3 starts an S3 server inside this process, with the bucket.
func newS3() (*httptest.Server, error) {
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		return nil, err
	}
	return httptest.NewServer(gofakes3.New(backend).Server()), nil
}

// searchPath is where programs are.
func searchPath() string {
	for _, v := range (&exec.Cmd{}).Environ() {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			return path
		}
	}
	return ""
}

// eventually waits until a condition holds.
func eventually(ctx context.Context, limit time.Duration, otherwise string, holds func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s within %s", otherwise, limit))
	defer cancel()
	for !holds() {
		if !pause(ctx, 50*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
	return nil
}

// pause reports whether the time passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// serveLoopback serves HTTP on a free port of the loopback.
func serveLoopback(h http.Handler) (s *http.Server, url string, err error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	s = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }() // Close ends it
	return s, "http://" + l.Addr().String(), nil
}
