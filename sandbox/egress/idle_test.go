package egress

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A connection that carries something only one way lives; one that carries nothing is closed.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, a := net.Pipe()
		b, server := net.Pipe()
		began := time.Now()
		here := newIdleConn(a)
		go carry(context.Background(), here, newIdleConn(b), here)
		go func() { _, _ = io.Copy(io.Discard, client) }()
		for range 10 {
			time.Sleep(idleTime - time.Minute)
			if _, err := server.Write([]byte("x")); err != nil {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
		}
		last := time.Now()
		if _, err := server.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("%v", err)
		}
		if idle := time.Since(last); idle < idleTime-time.Second || idle > idleTime+time.Minute {
			t.Errorf("closed after %v", idle)
		}
		_ = client.Close()
	})
}
