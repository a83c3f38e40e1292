package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/sse"
)

// Events streams the events in scope, beginning with server.connected, after a cursor if one is set. It reconnects
// after a failure and resumes without a gap. Changes of the meantime arrive as their present state. If resuming is
// impossible, the stream yields server.resync and the reader must load the state again. Events ends with the context,
// with a permanent error, or when the server stays unreachable. It does not retry the first connection. With
// Options.Persistent it waits forever, and yields an [api.ConnectionChanged] when the connection is lost and when it
// is back.
//
// The number of an event is set if its cursor came with it. Feed returns the name that turns it into a [lathe.Cursor].
func (c *Client) Events(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor]) iter.Seq2[lathe.Event, error] {
	return func(yield func(lathe.Event, error) bool) {
		f := follower{client: c, scope: scope, yield: yield}
		if after.Set {
			f.cursor = after.Value.String()
			if after.Value.Feed == "" {
				f.cursor = f.cursor[:len(f.cursor)-1] // a bare number is trusted
			}
		}
		if err := f.run(ctx); !f.stopped {
			yield(lathe.Event{}, err)
		}
	}
}

// Feed is the word that names the server's database in cursors, "" until a stream has sent it.
func (c *Client) Feed() string {
	if word := c.feed.Load(); word != nil {
		return *word
	}
	return ""
}

const (
	backoffFrom = 50 * time.Millisecond
	backoffTo   = 5 * time.Second
)

// follower is one stream, over as many connections as it takes.
type follower struct {
	client        *Client
	scope         lathe.Scope
	yield         func(lathe.Event, error) bool
	dir           string // of the followed session
	cursor        string // everything up to here was yielded; "" is not known
	connected     bool   // server.connected was yielded
	receivedEvent bool   // on the present connection
	stopped       bool   // the reader wants no more, and must not be called again
	isLost        bool   // the reader knows that the connection is lost
}

var errSilent = errors.New("no event and no heartbeat in time")

// run connects until the stream ends.
func (f *follower) run(ctx context.Context) error {
	if f.scope.Session != "" { // its directory has fewer events than the whole server
		s, err := f.client.Get(ctx, f.scope.Session)
		if err != nil {
			return err
		}
		f.dir = s.Directory
	} else if f.dir = f.scope.Directory; f.dir != "" {
		at, err := f.client.Location(ctx, f.dir)
		if err != nil {
			return err
		}
		f.dir = at.Directory
	}
	lost, wait := time.Now(), backoffFrom
	for {
		f.receivedEvent = false
		err := f.connect(ctx)
		switch {
		case f.stopped:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !f.connected, !isTemporary(err):
			return err
		case f.receivedEvent:
			lost, wait = time.Now(), backoffFrom
		case !f.client.options.Persistent && time.Since(lost) > f.client.options.ReconnectTimeout:
			return err
		}
		if f.reportConnection(err); f.stopped {
			return nil
		}
		if err := pause(ctx, wait+rand.N(wait)); err != nil {
			return err
		}
		wait = min(2*wait, backoffTo)
	}
}

// reportConnection yields a change of the connection to readers that asked for it.
func (f *follower) reportConnection(err error) {
	if lost := err != nil; f.client.options.Persistent && lost != f.isLost {
		f.isLost = lost
		f.stopped = f.stopped || !f.yield(lathe.Event{}, &api.ConnectionChanged{Err: err})
	}
}

// isTemporary reports whether another attempt may succeed after an error.
func isTemporary(err error) bool {
	switch lathe.CodeOf(err) {
	case lathe.Unavailable, lathe.Limited, lathe.Internal:
		return true
	default:
		return false
	}
}

func pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// connect reads one connection until it breaks, which it always does in the end.
func (f *follower) connect(ctx context.Context) error {
	c := f.client
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Also before the header: a server that accepts a connection and sends nothing is dead.
	dead := time.AfterFunc(c.options.IdleTimeout, func() {
		cancel(lathe.Errorf(lathe.Unavailable, "the server at %s stopped responding: %w", c.where, errSilent))
	})
	defer dead.Stop()
	path := "/event"
	if f.dir == "" {
		path = "/global/event"
	}
	req, err := c.prepare(ctx, request{method: "GET", path: path, query: url.Values{"offsets": {"true"}}, directory: f.dir})
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	resumes := f.cursor != ""
	if resumes {
		req.Header.Set("Last-Event-ID", f.cursor)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // as much as arrived
		return c.readError(res, data)
	}
	if f.reportConnection(nil); f.stopped {
		return nil
	}
	if f.connected && !resumes { // a server without cursors: the gap is unknown
		if !f.emit(lathe.Event{Fact: &lathe.ServerResync{}}) {
			return nil
		}
	}
	in := sse.NewReader(res.Body)
	for {
		one, err := in.Next()
		if err != nil {
			return c.unreachable(ctx, err)
		}
		dead.Reset(c.options.IdleTimeout)
		if err := f.frame(one); err != nil || f.stopped {
			return err
		}
	}
}

// frame handles one frame. An invalid frame ends the connection, because more may be lost. The next connection resumes
// after the last cursor.
func (f *follower) frame(one sse.Event) error {
	ev, err := f.read(one.Data)
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "the server at %s sent an invalid event: %w", f.client.where, err)
	}
	f.receivedEvent = true
	if len(one.ID) > 0 {
		if at, err := lathe.ParseCursor(string(one.ID)); err == nil {
			ev.Seq, ev.Last, f.cursor = at.Seq, true, at.String()
			f.client.feed.Store(&at.Feed)
		}
	}
	switch ev.Fact.(type) {
	case *lathe.ServerHeartbeat:
		return nil
	case *lathe.ServerConnected:
		if f.connected {
			return nil // it was yielded once; reconnects are invisible to the reader
		}
		f.connected = true
	case *lathe.ServerResync:
	default:
		if f.scope.Session != "" && ev.Session != f.scope.Session {
			return nil
		}
	}
	f.emit(ev)
	return nil
}

// read decodes an event of either stream.
func (f *follower) read(data []byte) (ev lathe.Event, err error) {
	if f.dir != "" {
		err = ev.UnmarshalJSON(data)
		ev.Directory = f.dir
		return ev, err
	}
	var outer struct {
		Directory string          `json:"directory"`
		Project   string          `json:"project"`
		Payload   json.RawMessage `json:"payload"`
	}
	if err = json.Unmarshal(data, &outer); err == nil {
		err = ev.UnmarshalJSON(outer.Payload)
	}
	if ev.Project = outer.Project; outer.Directory != "global" {
		ev.Directory = outer.Directory
	}
	return ev, err
}

// emit yields an event and reports whether the reader wants more.
func (f *follower) emit(ev lathe.Event) bool {
	if !f.stopped && !f.yield(ev, nil) {
		f.stopped = true
	}
	return !f.stopped
}
