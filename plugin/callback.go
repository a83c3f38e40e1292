package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/jsonrpc"
)

// handle answers what a plugin asks.
func (l *process) handle(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	switch method {
	case "ask":
		return nil, l.ask(ctx, params)
	case "fetch":
		return l.fetch(ctx, params)
	default:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "unknown method: " + method}
	}
}

// notify handles a notification of a plugin. It is called by the goroutine that reads, so
// nothing here waits.
func (l *process) notify(method string, params json.RawMessage) {
	switch method {
	case "progress":
		var p struct {
			Call int64 `json:"call"`
			Progress
		}
		if json.Unmarshal(params, &p) != nil {
			return
		}
		if r := l.call(p.Call); r != nil {
			if shape(p.Metadata) != "object" {
				p.Metadata = nil
			}
			r.show(p.Progress)
		}
	case "log":
		l.log(params)
	case "fetch.cancel":
		var p struct {
			Stream int64 `json:"stream"`
		}
		if json.Unmarshal(params, &p) == nil {
			l.cut(p.Stream)
		}
	}
}

func (l *process) call(n int64) *toolCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[n]
}

// ask forwards a permission request, for as long as its call runs.
func (l *process) ask(ctx context.Context, params json.RawMessage) error {
	var p struct {
		Call int64 `json:"call"`
		PermissionRequest
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("ask: %v", err)}
	}
	r := l.call(p.Call)
	switch {
	case r == nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "ask: no tool call with this number"}
	case r.back.Ask == nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "permission requests are not available here"}
	case p.Permission == "":
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "ask: permission is missing"}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.ctx, cancel)()
	return r.ask(ctx, p.PermissionRequest)
}

// log writes a line of a plugin to our log, as long as there are not too many.
func (l *process) log(params json.RawMessage) {
	var p struct {
		Plugin  *int            `json:"plugin"`
		Level   string          `json:"level"`
		Message string          `json:"message"`
		Extra   json.RawMessage `json:"extra"`
	}
	if json.Unmarshal(params, &p) != nil || !l.logs.allow() {
		return
	}
	name := l.supervisor.name
	if p.Plugin != nil && *p.Plugin >= 0 && *p.Plugin < len(l.supervisor.hub.members) {
		name = l.supervisor.hub.members[*p.Plugin].name
	}
	level := map[string]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[p.Level]
	l.supervisor.hub.opt.Log.Log(l.life, level, cut(p.Message, lineMost), "plugin", name, "extra", cut(string(p.Extra), lineMost))
}

// lineMost is how much of a line of a plugin stands in our log.
const lineMost = 2 << 10

func cut(s string, most int) string {
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// rateLimiter lets a bounded number of lines through: a burst, then so many a second.
type rateLimiter struct {
	mu      sync.Mutex
	left    float64
	last    time.Time
	dropped int
}

const (
	logBurst      = 200
	logsPerSecond = 20
)

func newRateLimiter() *rateLimiter { return &rateLimiter{left: logBurst, last: time.Now()} }

func (v *rateLimiter) allow() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	v.left = min(logBurst, v.left+logsPerSecond*now.Sub(v.last).Seconds())
	v.last = now
	if v.left < 1 {
		v.dropped++
		return false
	}
	v.left--
	return true
}

func (v *rateLimiter) droppedCount() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.dropped
}
