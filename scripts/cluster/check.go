//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/scripts/turncheck"
)

// restTime is how long a session may do nothing new before it comes to rest after the last fault.
const restTime = 2 * time.Minute

// effect is a mark that a tool left: a line of a command, or a file.
type effect struct {
	key string
	at  time.Time
}

// aloneTime is how long a turn that a fault cut off may wait for a node once no session is busy.
const aloneTime = 20 * time.Second

// continued holds that what the faults cut off continues by itself. It looks before [load.rest] resumes all.
func (l *load) continued(ctx context.Context) error {
	if err := eventually(ctx, restTime, "sessions are still busy", func() bool {
		busy, err := l.client.Statuses(ctx, lathe.Scope{Directory: l.place})
		return err == nil && len(busy) == 0
	}); err != nil {
		return err
	}
	for _, id := range l.sessions {
		if l.canceled[id] {
			continue
		}
		if err := eventually(ctx, aloneTime, "its turn does not continue", func() bool {
			page, err := l.client.Messages(ctx, id, lathe.Position{}, 1)
			if err != nil || len(page.Messages) == 0 {
				return err == nil
			}
			a, ok := page.Messages[0].Data.(*lathe.Assistant)
			return !ok || a.Error == nil
		}); err != nil {
			l.violation("%s was cut off: %v", id, err)
			l.describe(ctx, id)
		}
	}
	return ctx.Err()
}

// rest brings all sessions to an end. A prompt that a cancel holds back has its turn before. A session with many of those
// takes its time, as long as it goes forward.
func (l *load) rest(ctx context.Context) error {
	for _, id := range l.sessions {
		limited, stop := context.WithTimeout(ctx, restTime)
		ok := l.again(limited, "resume "+string(id), func(ctx context.Context) error { return l.client.Resume(ctx, id) })
		stop()
		if !ok {
			l.describe(context.WithoutCancel(ctx), id)
			return fmt.Errorf("session %s cannot be resumed within %s", id, restTime)
		}
	}
	for _, id := range l.sessions {
		for newest := lathe.MessageID(""); !l.rests(ctx, id); {
			page, err := l.client.Messages(ctx, id, lathe.Position{}, 1)
			if ctx.Err() != nil || err == nil && (len(page.Messages) == 0 || page.Messages[0].ID == newest) {
				l.describe(context.WithoutCancel(ctx), id)
				return fmt.Errorf("session %s does not come to rest: nothing new within %s", id, restTime)
			}
			if err == nil {
				newest = page.Messages[0].ID
			}
		}
	}
	return nil
}

// rests reports whether a session comes to rest within restTime.
func (l *load) rests(ctx context.Context, id lathe.SessionID) bool {
	ctx, stop := context.WithTimeout(ctx, restTime)
	defer stop()
	return l.again(ctx, "wait for "+string(id), func(ctx context.Context) error {
		if _, err := l.client.Wait(ctx, id); lathe.CodeOf(err) != lathe.NotFound { // else it has no messages
			return err
		}
		return nil
	})
}

// describe prints what is known of a session that does not come to rest.
func (l *load) describe(ctx context.Context, id lathe.SessionID) {
	l.say("session %s does not come to rest", id)
	if page, err := l.client.Messages(ctx, id, lathe.Position{}, 4); err == nil {
		for _, m := range page.Messages {
			text, _ := json.Marshal(m)
			l.say("  message %.600s", text)
		}
	}
	if l.primary.Load() == nil {
		return
	}
	rows, err := l.primary.Load().query(ctx, fmt.Sprintf(`SELECT 'lease', coalesce(life, owner, ''), epoch, cancel, interrupted, coalesce((SELECT until - now() FROM node WHERE node.name = owner)::text, '')
		FROM lease JOIN session ON session.n = lease.session LEFT JOIN torture_node ON name = owner WHERE session.id = '%s'
		UNION ALL SELECT 'waiting', message.id, waiting, hold, 0, '' FROM message JOIN session ON session.n = message.session WHERE session.id = '%s' AND waiting > 0`, id, id))
	l.say("  rows %q, %v", rows, err)
}

// check holds what must be true when all is at rest.
func (l *load) check(ctx context.Context) (r result, err error) {
	mark := l.create(ctx, l.client, l.place, "The end")
	for _, one := range l.readers {
		if err := eventually(ctx, 30*time.Second, "the reader "+one.name+" does not reach the end", func() bool { return one.seen(mark) }); err != nil {
			l.violation("%v", err)
		}
	}
	ends := turncheck.Ends{MayCancel: func(s lathe.Session) bool { return l.canceled[s.ID] }, Violation: l.violation}
	leases, err := l.leases(ctx)
	if err != nil {
		return r, err
	}
	if err := l.foreign(ctx); err != nil {
		return r, err
	}
	prompts, calls := map[string]int{}, l.provider.taken()
	for _, id := range l.sessions {
		page, err := l.client.Messages(ctx, id, lathe.Position{}, 0)
		if err != nil {
			return r, err
		}
		r.messages += len(page.Messages)
		ends.Check(lathe.Session{ID: id}, page.Messages, prompts)
		if err := l.calls(id, page.Messages, calls, leases[id], &r); err != nil {
			return r, err
		}
		for _, one := range l.readers {
			if d := one.view.Differs(id, page.Messages); d != "" {
				l.violation("reader %s: %s: %s", one.name, id, d)
			}
		}
		l.epochs(id, leases[id])
	}
	for token, id := range l.admitted {
		if prompts[token] == 0 {
			l.violation("%s was admitted to %s and is not in its history", token, id)
			r.lost++
		}
	}
	for _, problem := range l.provider.refused {
		l.violation("a provider would refuse a request: %s", problem)
	}
	r.sessions, r.prompts, r.ends = len(l.sessions), len(l.admitted), ends
	l.figures(leases, &r)
	return r, nil
}

// epochs holds that each owner has a higher epoch than all before.
func (l *load) epochs(id lathe.SessionID, changes []lease) {
	last := int64(0)
	for _, c := range changes {
		if c.life != "" && c.epoch <= last {
			l.violation("%s: %s took it under epoch %d after epoch %d", id, c.life, c.epoch, last)
		}
		last = max(last, c.epoch)
	}
}

// calls holds that nothing of a history is open, that each call left its mark once, and none after another process
// took the session.
func (l *load) calls(id lathe.SessionID, history []lathe.Message, asked map[string]call, changes []lease, r *result) error {
	marks, err := l.marks(id)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, m := range history {
		if a, ok := m.Data.(*lathe.Assistant); ok && a.Completed == 0 {
			l.violation("%s: answer %s has no end", id, m.ID)
		}
		for _, p := range m.Parts {
			call, ok := p.Body.(*lathe.ToolCall)
			if p.Open() || ok && !call.Settled() {
				l.violation("%s: part %s of %s is open", id, p.ID, m.ID)
			}
			if !ok {
				continue
			}
			key := strings.TrimPrefix(string(call.CallID), "call_")
			if known[key] {
				l.violation("%s: two calls have the key %s", id, key)
			}
			known[key] = true
			if isDone(call) {
				if r.completed++; len(marks[key]) == 0 {
					l.violation("%s: call %s is completed and left no mark", id, key)
				}
			}
		}
	}
	for key, found := range marks {
		r.effects += len(found)
		l.effect(id, found[len(found)-1], asked[key], changes) // the last one
		first := slices.DeleteFunc(slices.Clone(found), func(e effect) bool { return strings.HasSuffix(e.key, ".") })
		if len(first) != 1 || !known[key] {
			l.violation("%s: call %s left its mark %d times; it is in the history: %t", id, key, len(first), known[key])
		}
	}
	return nil
}

// isDone reports whether a call ran to its end: a command that a user canceled is completed without an exit code.
func isDone(call *lathe.ToolCall) bool {
	done, ok := call.State.(*lathe.Completed)
	if !ok {
		return false
	}
	var meta struct{ Exit *int }
	return call.Tool != "bash" || json.Unmarshal(done.Metadata, &meta) == nil && meta.Exit != nil && *meta.Exit == 0
}

// effect holds that a mark was left while the process that asked for it had the session.
func (l *load) effect(id lathe.SessionID, e effect, c call, changes []lease) {
	if l.primary.Load() == nil {
		return // SQLite has no record of its leases
	}
	had := -1
	for i, change := range changes {
		if change.life == c.life && change.at.Before(c.asked) {
			had = i
		}
	}
	if had < 0 {
		l.violation("%s: %s left the mark %s and never had the session", id, c.life, e.key)
		return
	}
	for _, change := range changes[had:] {
		if change.life != "" && change.life != c.life && change.at.Before(e.at) {
			l.violation("%s: %s left the mark %s %s after %s took the session", id, c.life, e.key, e.at.Sub(change.at).Round(time.Millisecond), change.life)
			return
		}
	}
}

// marks returns the marks of a session by the keys of their calls: the lines of its file, and files.
func (l *load) marks(id lathe.SessionID) (map[string][]effect, error) {
	out := map[string][]effect{}
	text, err := os.ReadFile(filepath.Join(l.effects(), string(id)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var e effect
		var nanos string
		if _, err := fmt.Sscan(line, &e.key, &nanos); err != nil {
			return nil, fmt.Errorf("the marks of %s have the line %q: %w", id, line, err)
		}
		n, err := strconv.ParseInt(nanos, 10, 64)
		if err != nil {
			return nil, err
		}
		e.at = time.Unix(0, n)
		key := strings.TrimSuffix(e.key, ".")
		out[key] = append(out[key], e)
	}
	for key, c := range l.provider.taken() {
		if c.session != id || c.tool != "write" {
			continue
		}
		if info, err := os.Stat(l.provider.file(key)); err == nil {
			out[key] = append(out[key], effect{key, info.ModTime()})
		}
	}
	return out, nil
}
