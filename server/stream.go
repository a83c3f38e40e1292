package server

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/pulse"
	"github.com/lathe-agent/lathe/workspace"
)

// streamAPI streams events to clients.
type streamAPI struct {
	publisher
	frames   frames
	meters   *meters
	branches *branches // looked at with each heartbeat
	watch    *watch
	pulse    *pulse.Pulse

	mu       sync.Mutex          // guards the field below
	followed map[lathe.Scope]int // sessions with a stream of their own, and the number of those
}

// heartbeatEvery is the default interval of heartbeats.
const heartbeatEvery = 10 * time.Second

// newStreams returns the streams of a server, with a heartbeat while one of them is open.
func newStreams(p publisher, every time.Duration, m *meters, b *branches, w *watch) *streamAPI {
	a := &streamAPI{followed: map[lathe.Scope]int{}, publisher: p, meters: m, branches: b, watch: w}
	a.pulse = pulse.New(every, a.beat)
	return a
}

// publisher sends events that are not about sessions.
type publisher struct {
	engine Engine
	ids    *lathe.IDs
}

// publish sends an event to the followers of a place, or to everyone if it has no directory.
func (p publisher) publish(at workspace.Place, f lathe.Fact) {
	p.engine.Publish(lathe.Event{ID: p.ids.Event(), Directory: at.Directory, Project: at.ProjectID, Fact: f})
}

func (a *streamAPI) routes() []row {
	return []row{
		raw(route("GET /event", "event.subscribe", "event", mayRead,
			"Stream the events of a directory. Resume with Last-Event-ID, or after", nil), "text/event-stream", a.directoryEvents),
		raw(route("GET /global/event", "global.event", "global", mayRead,
			"Stream the events of all directories. Resume with Last-Event-ID, or after", nil, withoutDirectory), "text/event-stream", a.globalEvents),
	}
}

type streamQuery struct {
	After   string `query:"after"`
	Offsets bool   `query:"offsets"`
}

// directoryEvents streams one directory; it ends when its instance is disposed of.
func (a *streamAPI) directoryEvents(c *call, q streamQuery) error {
	at, _, err := c.place()
	if err != nil {
		return err
	}
	return a.stream(c, q, streamScope{scope: lathe.Scope{Directory: at.Directory}, filter: func(f lathe.Fact) (send, more bool) {
		_, last := f.(*lathe.InstanceDisposed)
		return true, !last
	}})
}

// globalEvents streams everything, each event with its directory and project.
func (a *streamAPI) globalEvents(c *call, q streamQuery) error {
	return a.stream(c, q, streamScope{global: true, filter: func(lathe.Fact) (send, more bool) { return true, true }})
}

// streamScope is the scope and format of a stream.
type streamScope struct {
	scope  lathe.Scope
	global bool
	// filter reports whether to send an event, and whether the stream continues after it.
	filter func(lathe.Fact) (send, more bool)
}

// stream writes events until the client goes away, or the server shuts down. A client that falls
// behind is brought up to date by the feed; only one that takes nothing for a while is cut off.
func (a *streamAPI) stream(c *call, q streamQuery, to streamScope) error {
	var after lathe.Opt[lathe.Cursor]
	if id := c.Header.Get("Last-Event-ID"); id != "" {
		q.After = id
	}
	if q.After != "" {
		at, err := lathe.ParseCursor(q.After)
		if err != nil {
			return badRequest("Query", "after: %v", err)
		}
		after = lathe.Some(at)
	}
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Content-Type-Options", "nosniff")
	if c.Method == http.MethodHead {
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	ctx, stop := c.longContext()
	defer stop()
	defer a.follow(to.scope)()
	defer a.pulse.Enter()()
	defer a.watch.enter()()
	defer a.meters.stream()()
	out := &streamWriter{
		w: c.w, control: http.NewResponseController(c.w), frames: &a.frames, feed: a.engine.Feed(),
		form: eventFormat{global: to.global, offsets: q.Offsets},
	}
	for ev, err := range a.engine.Follow(ctx, to.scope, after, out.rest) {
		if err != nil {
			break
		}
		send, more := to.filter(ev.Fact)
		a.meters.events.Add(1)
		if send && !out.send(ev) || !more {
			break
		}
	}
	out.rest()
	return nil
}

// follow notes a stream about one session until the returned function is called. It gets no events without a session, so
// heartbeats are addressed to it.
func (a *streamAPI) follow(scope lathe.Scope) (leave func()) {
	if scope.Session == "" {
		return func() {}
	}
	add := func(n int) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.followed[scope] += n; a.followed[scope] == 0 {
			delete(a.followed, scope)
		}
	}
	add(1)
	return func() { add(-1) }
}

// beat sends a heartbeat to all streams.
func (a *streamAPI) beat() {
	a.publish(workspace.Place{}, &lathe.ServerHeartbeat{})
	a.mu.Lock()
	all := slices.Collect(maps.Keys(a.followed))
	a.mu.Unlock()
	for _, to := range all {
		a.engine.Publish(lathe.Event{ID: a.ids.Event(), Session: to.Session, Directory: to.Directory, Fact: &lathe.ServerHeartbeat{}})
	}
	a.branches.checkAll()
}

// streamWriter is the connection of one stream.
type streamWriter struct {
	w       *writer
	control *http.ResponseController
	frames  *frames
	feed    string
	form    eventFormat

	buf     []byte // frames not yet written
	dirty   bool   // something was written since the last flush
	allowed time.Time
	failed  bool
}

const (
	stuckTime = 30 * time.Second // after which a client that takes nothing is cut off
	fullFrom  = 16 << 10         // bytes that are written without waiting for a rest
)

// send adds an event; false means that the client is gone.
func (o *streamWriter) send(ev lathe.Event) bool {
	o.buf = o.frames.append(o.buf, ev, o.form, o.feed)
	if len(o.buf) >= fullFrom {
		o.write()
	}
	return !o.failed
}

// rest flushes the added events, since nothing more is queued.
func (o *streamWriter) rest() {
	if o.write(); o.dirty && !o.failed {
		o.allow()
		o.failed = o.control.Flush() != nil
		o.dirty = false
	}
}

// write sends the added frames in pieces, each with its own deadline: a client that takes some of
// it is slow, not stuck.
func (o *streamWriter) write() {
	for rest := o.buf; len(rest) > 0 && !o.failed; {
		n := min(len(rest), fullFrom)
		o.allow()
		_, err := o.w.Write(rest[:n])
		o.failed = err != nil
		o.dirty, rest = true, rest[n:]
	}
	if o.buf = o.buf[:0]; cap(o.buf) > 4*fullFrom {
		o.buf = nil // one large event must not stay with each of a thousand clients
	}
}

// allow moves the deadline on. Once a second is enough, and costs nothing.
func (o *streamWriter) allow() {
	if now := time.Now(); now.Sub(o.allowed) > time.Second {
		o.allowed = now
		_ = o.control.SetWriteDeadline(now.Add(stuckTime)) // a connection without deadlines is one of a test
	}
}
