//go:build unix

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/scripts/turncheck"
)

// perSession is how many prompts a user sends to a session before starting another.
const perSession = 4

// load is users that send prompts and readers that follow the feed, while faults happen.
type load struct {
	*cluster
	readers []*reader

	mu       sync.Mutex                 // guards the fields below
	admitted map[string]lathe.SessionID // of tokens of prompts
	sessions []lathe.SessionID
	canceled map[lathe.SessionID]bool
	wrong    []string
	retries  int // requests that were sent again
}

func newLoad(c *cluster) *load {
	return &load{cluster: c, admitted: map[string]lathe.SessionID{}, canceled: map[lathe.SessionID]bool{}}
}

// violation keeps a broken promise.
func (l *load) violation(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

// again calls f until it succeeds or the context ends. Each attempt may reach another node.
func (l *load) again(ctx context.Context, doing string, f func(context.Context) error) bool {
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, time.Second) {
		err := f(ctx)
		if err == nil {
			return true
		}
		switch lathe.CodeOf(err) {
		case lathe.Unavailable, lathe.Internal, lathe.Limited, lathe.Conflict:
		default:
			if ctx.Err() == nil {
				l.violation("%s: %v", doing, err)
			}
			return false
		}
		l.mu.Lock()
		l.retries++
		l.mu.Unlock()
		pause(ctx, wait)
	}
	return false
}

// user sends prompts through the front until the context ends.
func (l *load) user(ctx context.Context, slot int) {
	dice := func(what string, n int) uint64 { return turncheck.Dice(l.seed, what, slot, n) }
	var id lathe.SessionID
	for n := 0; ctx.Err() == nil; n++ {
		if n%perSession == 0 {
			if id = l.create(ctx, l.client, l.place, fmt.Sprintf("Cluster, user %d", slot)); id == "" {
				return
			}
		}
		if !l.send(ctx, l.client, id, slot, n) {
			return
		}
		if dice("cancel", n)%12 == 0 {
			pause(ctx, time.Duration(dice("moment", n)%800)*time.Millisecond)
			l.mu.Lock()
			l.canceled[id] = true
			l.mu.Unlock()
			l.again(ctx, "cancel", func(ctx context.Context) error { return l.client.Cancel(ctx, id) })
		}
		if dice("hurry", n)%4 != 0 {
			l.again(ctx, "wait", func(ctx context.Context) error {
				ctx, stop := context.WithTimeoutCause(ctx, time.Minute, lathe.Errorf(lathe.Unavailable, "the turn of %s lasts more than a minute", id))
				defer stop()
				_, err := l.client.Wait(ctx, id)
				return err
			})
			pause(ctx, time.Duration(dice("think", n)%500)*time.Millisecond)
		}
	}
}

// create makes a session in a directory, "" if the context ended before.
func (l *load) create(ctx context.Context, at *client.Client, dir, title string) (id lathe.SessionID) {
	l.again(ctx, "create", func(ctx context.Context) error {
		s, err := at.Create(ctx, dir, lathe.NewSession{Title: title})
		id = s.ID
		return err
	})
	if id != "" {
		l.mu.Lock()
		l.sessions = append(l.sessions, id)
		l.mu.Unlock()
	}
	return id
}

// send sends a prompt until a node has admitted it. A prompt that was admitted without our knowledge is not admitted
// again, because it has the same ID.
func (l *load) send(ctx context.Context, to *client.Client, id lathe.SessionID, slot, n int) bool {
	token := turncheck.Token(slot, n)
	l.provider.belongs(token, id)
	prompt := lathe.Prompt{
		ID: lathe.MessageID(fmt.Sprintf("msg_cluster%03dx%05d", slot, n)), Model: &lathe.ModelRef{Provider: "bench", Model: "m"},
		Parts: []lathe.Part{{Body: &lathe.Text{Text: "Please do " + token}}},
	}
	if turncheck.Dice(l.seed, "queue", slot, n)%3 == 0 {
		prompt.Delivery = lathe.Queue
	}
	ok := l.again(ctx, "submit", func(ctx context.Context) error {
		_, err := to.Submit(ctx, id, prompt)
		return err
	})
	if ok {
		l.mu.Lock()
		l.admitted[token] = id
		l.mu.Unlock()
	}
	return ok
}

// reader follows the feed of a node, or of the front, over all faults.
type reader struct {
	name   string
	client *client.Client
	load   *load
	scope  lathe.Scope

	mu      sync.Mutex // guards the fields below
	view    *turncheck.Reader
	isOpen  bool // the stream was open once
	resyncs int
	delays  []time.Duration // of the words of the model
}

func (l *load) newReader(name, url string) (*reader, error) {
	c, err := client.New(url, client.Options{Directory: l.place, Timeout: 10 * time.Second, IdleTimeout: 25 * time.Second, ReconnectTimeout: time.Hour})
	return &reader{name: name, client: c, load: l, view: turncheck.NewReader()}, err
}

// follow reads until the context ends.
func (r *reader) follow(ctx context.Context) {
	for ctx.Err() == nil {
		r.mu.Lock()
		after := lathe.Opt[lathe.Cursor]{Value: r.view.At, Set: r.view.At.Feed != ""}
		r.mu.Unlock()
		for ev, err := range r.client.Events(ctx, r.scope, after) {
			if err != nil {
				break // also the first connection may meet a dead node
			}
			r.take(ctx, ev)
		}
		pause(ctx, 200*time.Millisecond)
	}
}

func (r *reader) take(ctx context.Context, ev lathe.Event) {
	arrived := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isOpen = true
	switch f := ev.Fact.(type) {
	case *lathe.ServerResync:
		r.resyncs++
		r.reload(ctx)
		return
	case *lathe.PartDelta:
		for word := range strings.FieldsSeq(f.Delta) {
			if nanos, ok := strings.CutPrefix(word, stampSign); ok && len(word) == len(noStamp) {
				if at, err := strconv.ParseInt(nanos, 10, 64); err == nil {
					r.delays = append(r.delays, arrived.Sub(time.Unix(0, at)))
				}
			}
		}
	default: // the view takes all
	}
	if err := r.view.Take(ev, r.client.Feed()); err != nil {
		r.load.violation("reader %s: %v", r.name, err)
	}
}

// reload reads all sessions anew, as a client does whose cursor does not fit the feed any more.
func (r *reader) reload(ctx context.Context) {
	events, retries := r.view.Events, r.view.Retries
	r.view = turncheck.NewReader()
	r.view.Events, r.view.Retries = events, retries
	r.load.mu.Lock()
	known := append([]lathe.SessionID(nil), r.load.sessions...)
	r.load.mu.Unlock()
	for _, id := range known {
		r.load.again(ctx, "reload", func(ctx context.Context) error {
			s, err := r.client.Get(ctx, id)
			if err != nil {
				return err
			}
			p, err := r.client.Messages(ctx, id, lathe.Position{}, 0)
			if err == nil {
				r.view.Sessions[id] = lathe.NewTranscript(s, p.Messages)
			}
			return err
		})
	}
}

// connected reports whether the stream was open once.
func (r *reader) connected() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.isOpen
}

// seen reports whether the reader knows a session.
func (r *reader) seen(id lathe.SessionID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view.Sessions[id] != nil
}
