package lsp

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Change is a file that was changed: its text before and after.
type Change struct {
	Path string // real
	// Before is the text before the change; Known says whether it is known, and Existed whether there was a file.
	Before  string
	Known   bool
	Existed bool
	// Deleted says that there is no file any more.
	Deleted bool
}

// batch is a group of changes by one session, and how far their results have come.
type batch struct {
	session string
	changes []Change
	began   time.Time
	sent    chan struct{} // closed when the server has the changes, or cannot get them

	// Guarded by the mutex of the server:
	err      error
	seq      uint64         // of the client when the changes were sent
	versions map[string]int // of the changed files
	first    map[string]int // lines of the changes, from 1
	pulled   chan struct{}  // closed when all files were asked for; nil if none is
	reported bool           // as unknown
	awaited  bool           // before a turn ended
}

// apply sends changes to the server. It is in the goroutine of the server.
func (s *server) apply(ctx context.Context, b *batch) {
	defer close(b.sent)
	c, err := s.ensure(ctx)
	if err != nil {
		s.mu.Lock()
		b.err = err
		s.mu.Unlock()
		return
	}
	// The order matters: changes of others first, then the errors of the old text, then the new text.
	s.refresh(ctx, c, b)
	s.baseline(ctx, c, b)
	s.send(ctx, c, b)
	s.forgetOldest(ctx, c)
}

// refresh sends documents that others have changed since they were sent, so that their errors do not count as new.
func (s *server) refresh(ctx context.Context, c *client, b *batch) {
	changing := map[string]bool{}
	for _, ch := range b.changes {
		changing[ch.Path] = true
	}
	s.mu.Lock()
	docs := maps.Clone(s.docs)
	s.mu.Unlock()
	for path, d := range docs {
		now := stampOf(path)
		if changing[path] || now == d.stat {
			continue
		}
		data, err := readLimited(path, maxFile)
		if err != nil {
			_ = c.closeFile(ctx, path) // or it has ended
			s.mu.Lock()
			delete(s.docs, path)
			s.mu.Unlock()
			continue
		}
		if text := string(data); text != d.text {
			_ = c.change(ctx, path, d.text, text)
			s.keep(path, text, now)
			s.mu.Lock()
			s.lastReport = time.Time{} // errors of others' changes are not those of the last report
			s.mu.Unlock()
		}
	}
}

// keep remembers the text of a document as it was sent, for the next change and for a restart.
func (s *server) keep(path, text string, stat fileStamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs[path] = &document{text: text, stat: stat, used: time.Now()}
}

// baseline finds the errors that were there before a change: the server gets the old text of files that it does not
// know yet. One that reports on the whole project needs that only while it loads.
func (s *server) baseline(ctx context.Context, c *client, b *batch) {
	s.mu.Lock()
	fresh := len(s.told) == 0 && len(s.docs) == 0
	var old []Change
	for _, ch := range b.changes {
		if s.docs[ch.Path] == nil && ch.Known && ch.Existed && len(ch.Before) <= maxFile && s.launch.definition.Handles(ch.Path) && (fresh || !s.launch.whole) {
			old = append(old, ch)
		}
	}
	s.mu.Unlock()
	limit := openTime
	if fresh {
		limit = baselineTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	want := map[string]int{}
	for _, ch := range old {
		if c.open(ctx, ch.Path, ch.Before) != nil {
			return
		}
		s.keep(ch.Path, ch.Before, fileStamp{})
		want[ch.Path] = 1
	}
	if len(want) > 0 {
		if c.pulls() {
			s.pullAll(ctx, c, slices.Collect(maps.Keys(want)))
		}
		c.await(ctx, 0, want)
	}
}

// send sends the new texts, after it has noted the errors before them.
func (s *server) send(ctx context.Context, c *client, b *batch) {
	now := c.errors()
	s.mu.Lock()
	// All that is known was there before. An error in another file may be a late result of the last change, which no report
	// has yet.
	switch {
	case len(s.open) > 1:
	case time.Since(s.lastReport) > lateResults:
		s.told = now
	default:
		for _, ch := range b.changes {
			s.told[ch.Path] = now[ch.Path]
		}
	}
	b.versions, b.first = map[string]int{}, map[string]int{}
	s.mu.Unlock()
	b.setSeq(s, c)
	var events []fileEvent
	for _, ch := range b.changes {
		if event := s.sendOne(ctx, c, b, ch); event.Type != 0 {
			events = append(events, event)
		}
	}
	if len(events) > 0 {
		_ = c.notify(ctx, "workspace/didChangeWatchedFiles", watchedParams{events}) // or it has ended
	}
	if paths := slices.Collect(maps.Keys(b.versions)); c.pulls() {
		paths = append(paths, s.others(paths)...)
		done := make(chan struct{})
		s.mu.Lock()
		b.pulled = done
		s.mu.Unlock()
		s.set.group.Go(func() {
			defer close(done)
			s.pullAll(s.lifetime, c, paths)
		})
	}
}

// setSeq notes how far the results have come, so that older ones do not count.
func (b *batch) setSeq(s *server, c *client) {
	c.mu.Lock()
	seq := c.seq
	c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	b.seq = seq
}

// sendOne sends one file, and returns the event for watchers.
func (s *server) sendOne(ctx context.Context, c *client, b *batch, ch Change) fileEvent {
	const created, changed, deleted = 1, 2, 3
	event := fileEvent{URI: uriOf(ch.Path), Type: changed}
	if !ch.Existed {
		event.Type = created
	}
	s.mu.Lock()
	d := s.docs[ch.Path]
	s.mu.Unlock()
	stat := stampOf(ch.Path)
	data, err := readLimited(ch.Path, maxFile)
	if ch.Deleted || err != nil {
		if d != nil {
			_ = c.closeFile(ctx, ch.Path) // or it has ended
		}
		s.mu.Lock()
		delete(s.docs, ch.Path)
		s.mu.Unlock()
		event.Type = deleted
		return event
	}
	if !s.launch.definition.Handles(ch.Path) {
		return event
	}
	// The text on disk counts, not the one that the tool wrote: the user may have changed it meanwhile.
	text, before := string(data), ch.Before
	if d != nil {
		before = d.text
	}
	first, removed, added := changedLines(before, text)
	if d == nil {
		err = c.open(ctx, ch.Path, text)
	} else if d.text != text {
		err = c.change(ctx, ch.Path, d.text, text)
	}
	if err != nil {
		return event
	}
	s.keep(ch.Path, text, stat)
	c.mu.Lock()
	version := c.versions[ch.Path]
	c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[ch.Path] = shift(s.told[ch.Path], first, removed, added)
	s.owners[ch.Path] = b.session
	b.versions[ch.Path], b.first[ch.Path] = version, first+1
	return event
}

// others returns the documents that a change elsewhere may break, the last used first.
func (s *server) others(except []string) []string {
	const most = 8
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for path := range s.docs {
		if !slices.Contains(except, path) {
			out = append(out, path)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return s.docs[b].used.Compare(s.docs[a].used) })
	return out[:min(len(out), most)]
}

// pullAll asks for the diagnostics of files, one after the other, in the order of their importance.
func (s *server) pullAll(ctx context.Context, c *client, paths []string) {
	ctx, cancel := context.WithTimeout(ctx, baselineTime)
	defer cancel()
	for _, path := range paths {
		if err := c.ask(ctx, path); err != nil {
			s.set.o.Log.Debug("diagnostics not received", "server", s.launch.ID, "path", path, "error", err)
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// resend makes the changes that wait for results wait for those of another process.
func (s *server) resend(c *client) {
	c.mu.Lock()
	versions := maps.Clone(c.versions)
	c.mu.Unlock()
	s.mu.Lock()
	var paths []string
	for _, b := range s.open {
		b.seq = 0
		for path := range b.versions {
			b.versions[path] = versions[path]
			paths = append(paths, path)
		}
	}
	s.mu.Unlock()
	if len(paths) > 0 && c.pulls() {
		s.set.group.Go(func() { s.pullAll(s.lifetime, c, paths) })
	}
}

// errors returns the errors of all files.
func (c *client) errors() map[string][]Diagnostic {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string][]Diagnostic, len(c.files))
	for path, f := range c.files {
		if list := errorsOf(f.list); len(list) > 0 {
			out[path] = list
		}
	}
	return out
}

const (
	// lateResults is how long after a report errors in other files count as results of that change.
	lateResults = 5 * time.Second
	// quiet is how long nothing comes before results count as complete: other files follow the changed one.
	quiet = 40 * time.Millisecond
	// quietUnversioned is that for servers that do not name versions, whose results may be old.
	quietUnversioned = 150 * time.Millisecond
)

// fresh reports whether there are results for all of these versions, and how long they have been complete.
func (c *client) fresh(seq uint64, versions map[string]int) (ok bool, settled, need time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	need = quiet
	var last time.Time
	for path, version := range versions {
		f := c.files[path]
		if f == nil || f.seq <= seq || f.version != noVersion && f.version < version {
			return false, 0, 0
		}
		if f.version == noVersion {
			need = quietUnversioned
		}
	}
	for _, f := range c.files {
		if f.at.After(last) {
			last = f.at
		}
	}
	if c.pull && !c.launch.whole { // nothing comes by itself
		need = 0
	}
	return true, time.Since(last), need
}

// await waits for results and reports whether they came before the context ended.
func (c *client) await(ctx context.Context, seq uint64, versions map[string]int) bool {
	for {
		next := c.next()
		ok, settled, need := c.fresh(seq, versions)
		if ok && settled >= need {
			return true
		}
		wait := time.NewTimer(time.Hour)
		if ok {
			wait.Reset(need - settled)
		}
		select {
		case <-next:
		case <-wait.C:
		case <-c.conn.Done():
			wait.Stop()
			return false
		case <-ctx.Done():
			wait.Stop()
			return ok
		}
		wait.Stop()
	}
}
