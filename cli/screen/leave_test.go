package screen

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/harness"
)

// Whatever keeps the program from ending, it ends, and what everyone was doing is in the log.
func TestLeaveLimit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		leave func(l *leaveLimit, cancel context.CancelCauseFunc)
		code  int // 0 is that it does not end
	}{
		{"asked for", func(l *leaveLimit, _ context.CancelCauseFunc) { l.begin(); l.begin() }, cli.ExitFailed},
		{"by a signal", func(_ *leaveLimit, cancel context.CancelCauseFunc) { cancel(cli.Interrupt{Signal: syscall.SIGTERM}) }, 143},
		{"in time", func(l *leaveLimit, _ context.CancelCauseFunc) { l.begin(); l.end() }, 0},
		{"not at all", func(*leaveLimit, context.CancelCauseFunc) {}, 0},
		{"long ago", func(l *leaveLimit, cancel context.CancelCauseFunc) { l.end(); cancel(nil); l.begin() }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				a := &cli.App{Host: harness.Host{Log: slog.New(slog.NewTextHandler(&log, nil))}}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				code := 0
				l := limitLeaving(ctx, a, func(c int) { code = c })
				tt.leave(l, cancel)
				time.Sleep(leaveTime + time.Second)
				synctest.Wait()
				if code != tt.code || strings.Contains(log.String(), "TestLeaveLimit") != (tt.code != 0) {
					t.Errorf("it ended with %d, not %d:\n%s", code, tt.code, log.String())
				}
				l.end()
			})
		})
	}
}
