package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/jsonrpc"
	"github.com/lathe-agent/lathe/sandbox"
)

// Protocol is the protocol version, which plugins receive first.
const Protocol = 1

const (
	maxMessage  = 64 << 20 // a whole history with pictures goes through messages.transform
	maxJunk     = 2000     // lines in a row that are no message
	disposeTime = 2 * time.Second
	writeQueue  = 128
)

// process is one life of a process.
type process struct {
	supervisor *supervisor
	svc        *sandbox.Service
	conn       *jsonrpc.Conn
	began      time.Time
	logs       *rateLimiter
	life       context.Context // ends with the process
	end        context.CancelFunc
	over       chan struct{} // closed when its end was dealt with

	mu      sync.Mutex
	calls   map[int64]*toolCall // calls of tools, by the number that the plugin receives
	streams map[int64]context.CancelFunc
	serial  int64
	probing bool
	blamed  map[*plugin]bool // for the end of this process, or that it is stuck
	killed  string           // why we ended it
}

// launch starts a process and loads what belongs in it. culprit is the member that took it down.
func (p *supervisor) launch(ctx context.Context) (l *process, culprit *plugin, err error) {
	cmd, err := p.command()
	if err != nil {
		return nil, nil, err
	}
	svc, err := p.hub.opt.Runner.Start(cmd)
	if err != nil {
		return nil, nil, err
	}
	life, end := context.WithCancel(ctx)
	l = &process{
		supervisor: p, svc: svc, began: time.Now(), logs: newRateLimiter(), life: life, end: end, over: make(chan struct{}),
		calls: map[int64]*toolCall{}, streams: map[int64]context.CancelFunc{}, blamed: map[*plugin]bool{},
	}
	l.conn = jsonrpc.Open(svc.Stdout, svc.Stdin, jsonrpc.Config{
		MaxMessage: maxMessage, MaxSkipped: maxJunk, Queue: writeQueue, Handle: l.handle, Notify: l.notify,
	})
	if culprit, err = l.load(ctx); err != nil {
		err = l.explain(err)
		l.kill("it could not be loaded")
		return nil, culprit, err
	}
	return l, nil, nil
}

// kill ends the process, at once as far as callers can tell.
func (l *process) kill(why string) {
	l.mu.Lock()
	if l.killed == "" {
		l.killed = why
	}
	l.mu.Unlock()
	l.end()
	_ = l.conn.Close()
	_, _ = l.svc.Stop() // how it ended is in what it said
}

// watch waits for the end of the process and cleans up after it. The hub waits for it.
func (l *process) watch(p *supervisor) {
	if err := p.hub.enter(); err != nil { // closed meanwhile
		l.kill(err.Error())
		p.mu.Lock()
		p.process = nil
		p.mu.Unlock()
		close(l.over)
		return
	}
	go func() {
		defer p.hub.work.Done()
		defer close(l.over)
		select {
		case <-l.conn.Done():
		case <-l.svc.Done():
		}
		why := l.ended()
		l.kill(why)
		p.noteEnd(l, l.explain(errors.New(why)).Error())
	}()
}

// ended is why a conversation is over.
func (l *process) ended() string {
	l.mu.Lock()
	killed := l.killed
	l.mu.Unlock()
	if killed != "" {
		return killed
	}
	if err := l.conn.Err(); errors.Is(err, jsonrpc.ErrInvalid) {
		return fmt.Sprintf("it wrote %d lines to stdout that are not protocol messages; log to stderr instead", l.conn.Skipped())
	}
	return "its process ended by itself"
}

// explain adds the last output of the process to an error.
func (l *process) explain(err error) error {
	if jsonrpc.IsClosed(err) {
		_, _ = l.svc.Stop()
		err = errors.New(l.ended())
	}
	said := strings.TrimSpace(l.svc.Stderr())
	if said == "" {
		return err
	}
	if len(said) > saidMost {
		said = "…" + strings.ToValidUTF8(said[len(said)-saidMost:], "")
	}
	return fmt.Errorf("%w; it said: %s", err, said)
}

// saidMost is how much of its error output stands in a message.
const saidMost = 600

// blame reports whether the end of the process counts against a plugin: once, however many of
// its calls ended with it.
func (l *process) blame(m *plugin) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	already := l.blamed[m]
	l.blamed[m] = true
	return !already
}

// endSuspicion notes an answer: the process is not stuck, so its end would be another fault than the slow call.
func (l *process) endSuspicion() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.probing && l.killed == "" {
		clear(l.blamed)
	}
}

// suspect is called when a call ran out of time: a process that does not even answer a ping is stuck,
// and only a new one helps. It reports whether the call counts against its plugin, which it does not while the
// process is under suspicion already.
func (l *process) suspect(m *plugin) bool {
	l.mu.Lock()
	already := l.probing || l.killed != ""
	l.probing = true
	if !already {
		l.blamed[m] = true
	}
	l.mu.Unlock()
	if already || l.supervisor.hub.enter() != nil {
		return false
	}
	go func() {
		defer l.supervisor.hub.work.Done()
		ctx, cancel := context.WithTimeout(l.life, l.supervisor.hub.opt.Timeouts.Probe)
		defer cancel()
		_, err := l.conn.Call(ctx, "ping", nil)
		var answer *jsonrpc.Error
		l.mu.Lock()
		l.probing = false
		if err != nil && !errors.As(err, &answer) && l.killed == "" {
			l.killed = "it no longer answered"
		}
		stuck := l.killed != ""
		if !stuck {
			delete(l.blamed, m)
		}
		l.mu.Unlock()
		if stuck {
			_ = l.conn.Close() // the watcher does the rest
		}
	}()
	return true
}

// object encodes members that are JSON or texts already; nil ones are left out.
type object struct{ b []byte }

func (o *object) raw(name string, value json.RawMessage) *object {
	if len(value) == 0 {
		return o
	}
	if len(o.b) == 0 {
		o.b = append(o.b, '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
	o.b = append(o.b, value...)
	return o
}

func (o *object) str(name, value string) *object {
	data, _ := json.Marshal(value) // a text always can be
	return o.raw(name, data)
}

func (o *object) num(name string, value int) *object {
	return o.raw(name, fmt.Appendf(nil, "%d", value))
}

func (o *object) done() json.RawMessage {
	if len(o.b) == 0 {
		return json.RawMessage("{}")
	}
	return append(o.b, '}')
}
