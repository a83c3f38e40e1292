package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Results waits until servers have reported on the changes of a session, or the context ends, and returns the errors
// that the changes brought. A server that has not answered is named, once for each change.
func (v *Servers) Results(ctx context.Context, session string) Report {
	return v.collect(session, true, func(s *server, b *batch) bool { return s.wait(ctx, b) })
}

// Late returns the results that have come since Results gave up, without waiting.
func (v *Servers) Late(session string) Report {
	return v.collect(session, false, func(s *server, b *batch) bool {
		select {
		case <-b.sent:
		default:
			return false
		}
		done, cancel := context.WithCancel(context.Background())
		cancel()
		return s.wait(done, b)
	})
}

// Await waits until the results of a session's changes are there, or the context ends. It waits for each change once: a
// server that never answers costs time once.
func (v *Servers) Await(ctx context.Context, session string) {
	if ctx.Err() != nil {
		return
	}
	for _, s := range v.waiting(session) {
		s.mu.Lock()
		var open []*batch
		for _, b := range s.open {
			if b.session == session && !b.awaited {
				b.awaited = true
				open = append(open, b)
			}
		}
		s.mu.Unlock()
		for _, b := range open {
			for !s.wait(ctx, b) && ctx.Err() == nil && s.isComing(b) {
				pause(ctx, 50*time.Millisecond)
			}
		}
	}
}

// isComing reports whether a change may still get results: of a server that starts again, say.
func (s *server) isComing(b *batch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return b.err == nil && s.state != Off && slices.Contains(s.open, b)
}

// pause waits a moment, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// collect builds a report from the batches whose results are known. It names the others if all is set.
func (v *Servers) collect(session string, all bool, known func(*server, *batch) bool) Report {
	report := Report{Diagnostics: map[string][]Diagnostic{}}
	changed := map[string]int{}
	for _, s := range v.waiting(session) {
		s.collect(session, all, known, &report, changed)
	}
	report.limit(changed)
	report.Unknown = slices.Compact(report.Unknown)
	return report
}

// wait waits for the results of changes and reports whether they are there.
func (s *server) wait(ctx context.Context, b *batch) bool {
	// The server may still start, or look for the errors before the change.
	select {
	case <-b.sent:
	case <-ctx.Done():
		select {
		case <-b.sent:
		default:
			return false
		}
	}
	s.mu.Lock()
	c, seq, versions, pulled, err := s.client, b.seq, maps.Clone(b.versions), b.pulled, b.err
	s.mu.Unlock()
	if err != nil || c == nil {
		return false
	}
	if len(versions) == 0 { // only files of other kinds, which bring no results of their own
		return true
	}
	if !c.await(ctx, seq, versions) {
		return false
	}
	// The changed files come first; other open files, which the change may have broken, follow.
	if pulled != nil {
		select {
		case <-pulled:
		case <-ctx.Done():
		}
	}
	return true
}

// collect adds the results of one server, and says what is unknown if all is set.
func (s *server) collect(session string, all bool, known func(*server, *batch) bool, report *Report, changed map[string]int) {
	s.mu.Lock()
	open := slices.Clone(s.open)
	s.mu.Unlock()
	var done []*batch
	late := false
	for _, b := range open {
		if b.session != session {
			continue
		}
		if known(s, b) {
			done = append(done, b)
			late = late || b.reported
			continue
		}
		if all {
			s.reportUnknown(b, report)
		}
	}
	if len(done) == 0 {
		return
	}
	s.mu.Lock()
	s.open = slices.DeleteFunc(s.open, func(b *batch) bool { return slices.Contains(done, b) })
	for _, b := range done {
		maps.Copy(changed, b.first)
	}
	s.mu.Unlock()
	if found := s.addNew(session, report, changed); found == 0 && late {
		report.Clean = append(report.Clean, s.launch.ID)
	}
}

// addNew adds the errors that were not there before, and remembers all as reported.
func (s *server) addNew(session string, report *Report, changed map[string]int) (found int) {
	c := s.current()
	if c == nil {
		return 0
	}
	now := c.errors()
	s.mu.Lock()
	defer s.mu.Unlock()
	busy := map[string]bool{} // sessions that wait for results of their own
	for _, b := range s.open {
		busy[b.session] = true
	}
	s.lastReport = time.Now()
	for path, list := range now {
		owner := s.owners[path]
		if !s.project.contains(path) || owner != "" && owner != session && busy[owner] {
			continue
		}
		for _, d := range surplus(s.told[path], list) {
			report.New = append(report.New, Finding{Path: path, Line: d.Range.Start.Line + 1, Message: d.Message, Server: s.launch.ID})
			found++
		}
		s.told[path] = list
	}
	// An error that is gone is new if it comes back.
	for path := range s.told {
		if len(now[path]) == 0 {
			delete(s.told, path)
		}
	}
	for path := range changed {
		if list := now[path]; len(list) > 0 {
			report.Diagnostics[path] = list[:min(len(list), MaxLines)]
		}
	}
	return found
}

// reportUnknown says once why there are no results.
func (s *server) reportUnknown(b *batch, report *Report) {
	s.mu.Lock()
	err, again, state, c := b.err, b.reported, s.state, s.client
	b.reported = true
	if err != nil || s.state == Off { // there never will be any
		s.open = slices.DeleteFunc(s.open, func(x *batch) bool { return x == b })
	}
	why := s.why
	s.mu.Unlock()
	if again {
		return
	}
	if state == Off {
		if s.set.tellOnce(b.session, s) {
			report.Unknown = append(report.Unknown, unknown(s.launch.ID, why))
		}
		return
	}
	// The reason decides what a model does: it waits for a server that loads, and not for one that failed.
	switch {
	case err != nil:
		why = "failed: " + err.Error()
	case state == Starting || c == nil || c.isLoading():
		why = "is still loading"
	default:
		why = fmt.Sprintf("has not answered within %.1fs", time.Since(b.began).Seconds())
		select {
		case <-b.sent:
		default:
			why = "is still loading"
		}
	}
	report.Unknown = append(report.Unknown, unknown(s.launch.ID, why))
}

// tellOnce reports whether a session has not heard yet that a server is off.
func (v *Servers) tellOnce(session string, s *server) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := session + "\x00" + s.launch.ID + "\x00" + s.launch.Root
	if v.told[key] || len(v.told) > 10_000 {
		return false
	}
	v.told[key] = true
	return true
}

// eventQueue collects files whose diagnostics changed, so that a flood of them becomes a few events.
type eventQueue struct {
	publish func(dir, server string, paths []string)

	mu     sync.Mutex // guards the fields below
	files  map[*server][]string
	timer  *time.Timer
	closed bool
}

const (
	eventDelay = 100 * time.Millisecond
	maxEvents  = 200 // files of one server at once
)

// add notes a file. The first one starts a short timer; without files none runs.
func (q *eventQueue) add(s *server, path string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.files[s]) >= maxEvents || slices.Contains(q.files[s], path) {
		return
	}
	if q.files == nil {
		q.files = map[*server][]string{}
	}
	q.files[s] = append(q.files[s], path)
	if q.timer == nil {
		q.timer = time.AfterFunc(eventDelay, q.flush)
	}
}

// flush publishes the collected files.
func (q *eventQueue) flush() {
	q.mu.Lock()
	files, closed := q.files, q.closed
	q.files, q.timer = nil, nil
	q.mu.Unlock()
	if closed {
		return
	}
	for s, paths := range files {
		q.publish(s.project.Directory, s.launch.ID, paths)
	}
}

// close drops the files that were not published yet.
func (q *eventQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if q.timer != nil {
		q.timer.Stop()
	}
}
