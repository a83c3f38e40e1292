//go:build unix

package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// A process that writes is killed at a random point, again and again on the same file.
// It tells each thing it was promised; all of that must be there afterwards, and nothing
// half. LATHE_KILLS says how often, LATHE_SEED repeats a run (as far as processes repeat).
func TestCrash_KilledWriterLosesNothing(t *testing.T) {
	const perFile = 8
	kills := 200
	if raced {
		kills = 64
	}
	if s := os.Getenv("LATHE_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("LATHE_KILLS: %v", err)
		}
		kills = n
	}
	seed := seedOf(t)
	var reported sync.Map
	t.Run("files", func(t *testing.T) {
		for i := 0; i*perFile < kills; i++ {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				c := &campaign{t: t, dir: t.TempDir(), dice: dice(seed, i), known: memory{sessions: map[string]*promisedSession{}}}
				for k := range min(perFile, kills-i*perFile) {
					if c.round(k); t.Failed() {
						return
					}
				}
				reported.Store(i, c.reported)
			})
		}
	})
	sum := 0
	reported.Range(func(_, n any) bool { sum += n.(int); return true })
	t.Logf("%d kills, %d promises kept", kills, sum)
}

// campaign is one file and the promises made about it.
type campaign struct {
	t        *testing.T
	dir      string
	dice     *rand.Rand
	known    memory
	reported int // promises so far
}

// round lets a child write, kills it and looks. Now and then this process has the file
// open all the while.
func (c *campaign) round(k int) {
	c.t.Helper()
	var s *store.Store
	var d *Driver
	var err error
	watch := &watcher{}
	beside := c.dice.IntN(3) == 0
	if beside {
		s, d, err = openAt(c.dir, store.Options{Publish: watch.publish})
		if err != nil {
			c.t.Fatal(err)
		}
		watch.start(s)
	}
	numbers := c.killOne(c.dice.Uint64())
	if beside {
		watch.stop(c.t)
	} else if s, d, err = openAt(c.dir, store.Options{}); err != nil {
		c.t.Fatalf("round %d: the file does not open after a kill: %v", k, err)
	}
	c.verify(s, d, numbers)
	if err := s.Close(); err != nil {
		c.t.Errorf("round %d: close: %v", k, err)
	}
}

// killOne runs a child to a random point and returns the numbers it reported.
func (c *campaign) killOne(seed uint64) (numbers []int64) {
	p := spawn(c.t, "crash", c.dir, strconv.FormatUint(seed, 10))
	lines, soon := 1+c.dice.IntN(36), time.Duration(c.dice.IntN(2000))*time.Microsecond
	if c.dice.IntN(10) == 0 { // while it opens the file
		lines, soon = 0, time.Duration(c.dice.IntN(60))*time.Millisecond
	}
	killed := make(chan struct{})
	shoot := func() {
		time.AfterFunc(soon, func() {
			_ = p.cmd.Process.Kill()
			close(killed)
		})
	}
	if lines == 0 {
		shoot()
	}
	for n := 1; ; n++ {
		line, err := p.line()
		if err != nil {
			break
		}
		if n == lines {
			shoot()
		}
		numbers = append(numbers, c.known.learn(c.t, line))
		c.reported++
	}
	if lines > 0 && len(numbers) < lines {
		c.t.Errorf("the writer ended by itself:\n%s", p.errors.String())
		return numbers
	}
	<-killed
	_ = p.cmd.Wait()
	if s := p.errors.String(); s != "" {
		c.t.Errorf("the writer said:\n%s", s)
	}
	return numbers
}

// watcher is a process that has the file open and receives events while another is killed.
type watcher struct {
	mu      sync.Mutex
	counter int64
	fault   error

	end  chan struct{}
	done chan error
}

func (w *watcher) publish(b store.Batch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.Counter < w.counter {
		w.fault = fmt.Errorf("batches go back from %d to %d", w.counter, b.Counter)
	}
	w.counter = b.Counter
}

// start polls as a process with subscribers does, only more often.
func (w *watcher) start(s *store.Store) {
	w.end, w.done = make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if err := s.Poll(context.Background()); err != nil {
					w.done <- err
					return
				}
			case <-w.end:
				w.done <- s.Poll(context.Background())
				return
			}
		}
	}()
}

func (w *watcher) stop(t testing.TB) {
	t.Helper()
	close(w.end)
	if err := errors.Join(<-w.done, w.fault); err != nil {
		t.Errorf("beside the writer: %v", err)
	}
}

// memory is the promised data.
type memory struct {
	sessions map[string]*promisedSession
	top      int64 // the highest reported number
	counter  int64 // of the last look
}

// Each may be leaving: a child has started to remove it, so it is there whole or gone.
type (
	promisedSession struct {
		title    int64
		leaving  bool
		messages map[string]*said
	}
	said struct {
		leaving, promoted bool
		parts             map[string]*grown
	}
	grown struct {
		leaving         bool
		length, version int
	}
)

func (m *memory) learn(t testing.TB, line string) int64 {
	t.Helper()
	var op, session, message, part string
	var n int
	var seq int64
	if _, err := fmt.Sscan(line, &op, &session, &message, &part, &n, &seq); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	m.top = max(m.top, seq)
	if op == "created" {
		m.sessions[session] = &promisedSession{messages: map[string]*said{}}
		return seq
	}
	s := m.sessions[session]
	if s == nil {
		return seq
	}
	msg := s.messages[message]
	if msg == nil && message != "-" {
		msg = &said{parts: map[string]*grown{}}
		s.messages[message] = msg
	}
	var p *grown
	if part != "-" {
		if p = msg.parts[part]; p == nil {
			p = &grown{}
			msg.parts[part] = p
		}
	}
	switch op {
	case "titled":
		s.title = int64(n)
	case "promoted":
		msg.promoted = true
	case "grown":
		p.length = n
	case "rewritten":
		p.version = n
	case "removing":
		s.leaving = true
	case "removed":
		delete(m.sessions, session)
	case "dropping":
		msg.leaving = true
	case "dropped":
		delete(s.messages, message)
	case "cutting":
		p.leaving = true
	case "cut":
		delete(msg.parts, part)
	}
	return seq
}

// verify looks at everything.
func (c *campaign) verify(s *store.Store, d *Driver, numbers []int64) {
	t, ctx := c.t, context.Background()
	t.Helper()
	found, err := s.Check(ctx)
	if err != nil || len(found) > 0 {
		t.Fatalf("check: %q, %v", found, err)
	}
	c.checkNumbers(d)
	all, err := s.Sessions(ctx, lathe.Query{Archived: lathe.WithArchived})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{} // every message and part
	left := map[string]bool{}
	for _, rec := range all {
		left[string(rec.ID)] = true
		page, err := s.History(ctx, rec.ID, lathe.Position{}, 0)
		if err != nil {
			t.Fatalf("history of %s: %v", rec.ID, err)
		}
		checkWholeness(t, rec, page.Messages)
		waiting, _, err := s.Inbox(ctx, rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		c.known.compare(t, rec, page.Messages, waiting)
		for _, m := range page.Messages {
			rows[string(m.ID)] = true
			for _, p := range m.Parts {
				rows[string(p.ID)] = true
			}
		}
	}
	for id, k := range c.known.sessions {
		if !left[id] && !k.leaving {
			t.Errorf("session %s is gone", id)
		}
		if k.leaving = false; !left[id] {
			delete(c.known.sessions, id)
		}
	}
	c.checkFeed(s, rows, numbers)
	checkLeases(t, s)
}

// checkNumbers looks at the numbers of all rows: none of the future, none twice.
func (c *campaign) checkNumbers(d *Driver) {
	c.t.Helper()
	counter := number(c.t, d, `SELECT counter FROM feed`)
	if counter < c.known.top || counter < c.known.counter {
		c.t.Errorf("the counter is %d; told were %d, and it was %d", counter, c.known.top, c.known.counter)
	}
	c.known.counter = counter
	const rows = `(SELECT born, seq FROM session UNION ALL SELECT born, seq FROM message UNION ALL SELECT born, seq FROM part
		UNION ALL SELECT born, seq FROM status UNION ALL SELECT born, seq FROM list UNION ALL SELECT born, seq FROM ask
		UNION ALL SELECT born, seq FROM tomb UNION ALL SELECT born, seq FROM project)`
	if n := number(c.t, d, `SELECT count(*) FROM `+rows+` WHERE seq > $1 OR born > seq OR born < 1`, counter); n > 0 {
		c.t.Errorf("%d rows have impossible numbers", n)
	}
	if n := number(c.t, d, `SELECT count(*) - count(DISTINCT seq) FROM `+rows); n > 0 {
		c.t.Errorf("%d numbers were given twice", n)
	}
}

// checkWholeness looks for halves: a message knows how many parts were written with it,
// a part what its text must be, and a session what its steps cost.
func checkWholeness(t testing.TB, rec lathe.Session, messages []lathe.Message) {
	t.Helper()
	cost := lathe.Money(0)
	for i, m := range messages {
		want := 0
		switch said := m.Data.(type) {
		case *lathe.User:
			want, _ = strconv.Atoi(said.System)
		case *lathe.Assistant:
			want, _ = strconv.Atoi(string(said.Structured))
		}
		if len(m.Parts) != want {
			t.Errorf("message %s has %d of %d parts", m.ID, len(m.Parts), want)
		}
		if i > 0 && !messages[i-1].Before(m) {
			t.Errorf("messages %s and %s are out of order", messages[i-1].ID, m.ID)
		}
		for _, p := range m.Parts {
			if f, ok := p.Body.(*lathe.StepFinish); ok {
				cost = cost.Add(f.Cost)
				continue
			}
			if err := checkText(p); err != nil {
				t.Errorf("part %s: %v", p.ID, err)
			}
		}
	}
	var have lathe.Money
	if rec.Cost != nil {
		have = *rec.Cost
	}
	if have != cost {
		t.Errorf("session %s says that it cost %d, its steps %d", rec.ID, have, cost)
	}
}

// content is the text of a part: version, size (-1 while it grows), the id it was made
// for (a fork has another) and the flow of that id.
func content(id lathe.PartID, version, size int) string {
	return fmt.Sprintf("%d:%06d:%s:", version, size, id) + flow(string(id), max(size, 0))
}

var errAltered = errors.New("other bytes than written")

func checkText(p lathe.Part) error {
	words := strings.SplitN(p.GrowingText(), ":", 4)
	if len(words) < 4 {
		return fmt.Errorf("%w: %.40q", errAltered, p.GrowingText())
	}
	if size, _ := strconv.Atoi(words[1]); size >= 0 && size != len(words[3]) {
		return fmt.Errorf("%w: %d of %d", errAltered, len(words[3]), size)
	}
	if words[3] != flow(words[2], len(words[3])) {
		return errAltered
	}
	return nil
}

// compare looks for the promised data of a session.
func (m *memory) compare(t testing.TB, rec lathe.Session, messages []lathe.Message, waiting []store.QueuedPrompt) {
	t.Helper()
	k := m.sessions[string(rec.ID)]
	if k == nil {
		return
	}
	if rec.Title < title(k.title) {
		t.Errorf("session %s is titled %s, promised was %s", rec.ID, rec.Title, title(k.title))
	}
	have := map[string]lathe.Message{}
	for _, msg := range messages {
		have[string(msg.ID)] = msg
	}
	for id, promised := range k.messages {
		msg, ok := have[id]
		if !ok && !promised.leaving {
			t.Errorf("message %s is gone", id)
		}
		if promised.leaving = false; !ok {
			delete(k.messages, id)
			continue
		}
		waits := slices.ContainsFunc(waiting, func(w store.QueuedPrompt) bool { return string(w.Message) == id })
		if waits && promised.promoted {
			t.Errorf("prompt %s waits again", id)
		}
		promised.compareParts(t, msg)
	}
}

func (s *said) compareParts(t testing.TB, msg lathe.Message) {
	t.Helper()
	for id, want := range s.parts {
		i := slices.IndexFunc(msg.Parts, func(p lathe.Part) bool { return string(p.ID) == id })
		if i < 0 && !want.leaving {
			t.Errorf("part %s is gone", id)
		}
		if want.leaving = false; i < 0 {
			delete(s.parts, id)
			continue
		}
		text := msg.Parts[i].GrowingText()
		version, _, _ := strings.Cut(text, ":")
		// A later version may be shorter.
		if v, _ := strconv.Atoi(version); v < want.version || v == 1 && len(text) < want.length {
			t.Errorf("part %s has %d bytes of version %d, promised were %d of %d", id, len(text), v, want.length, want.version)
		}
	}
}

// checkFeed resumes from numbers that were reported, a few others in each round, and tells
// everything once from the start.
func (c *campaign) checkFeed(s *store.Store, rows map[string]bool, numbers []int64) {
	t, ctx, enough := c.t, context.Background(), errors.New("enough")
	t.Helper()
	c.dice.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
	for _, n := range numbers[:min(len(numbers), 4)] {
		res, err := s.Since(ctx, lathe.Cursor{Seq: n, Feed: s.Feed()}, lathe.Scope{}, func(lathe.Event) error { return enough })
		if err != nil && !errors.Is(err, enough) || res.Resync {
			t.Fatalf("since %d: %+v, %v", n, res, err)
		}
	}
	reported := map[string]bool{}
	_, err := s.Since(ctx, lathe.Cursor{}, lathe.Scope{}, func(e lathe.Event) error {
		switch f := e.Fact.(type) {
		case *lathe.MessageChanged:
			reported[string(f.Info.ID)] = true
		case *lathe.PartChanged:
			if reported[string(f.Part.ID)] = true; !reported[string(f.Part.Message)] {
				return fmt.Errorf("part %s comes before its message", f.Part.ID)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("since 0: %v", err)
	}
	for id := range rows {
		if !reported[id] {
			t.Errorf("the feed does not tell of %s", id)
		}
	}
	if len(reported) != len(rows) {
		t.Errorf("the feed tells of %d rows, there are %d", len(reported), len(rows))
	}
}

// checkLeases takes over from the dead.
func checkLeases(t testing.TB, s *store.Store) {
	t.Helper()
	ctx := context.Background()
	held, err := s.Leases(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range held {
		if h.Alive || h.Here {
			t.Errorf("the lease of %s is alive after its process was killed: %+v", h.Session, h)
		}
		if i > 1 {
			continue
		}
		l, err := s.Acquire(ctx, h.Session)
		if err != nil {
			t.Errorf("take %s: %v", h.Session, err)
			continue
		}
		if err := s.Release(ctx, l); err != nil {
			t.Errorf("release %s: %v", h.Session, err)
		}
	}
}

// crashChild writes until it is killed: a few goroutines, each with sessions of its own.
func crashChild(args []string) error {
	seed, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	s, err := OpenStore(context.Background(), Options{Path: filepath.Join(args[0], "lathe.db")}, store.Options{})
	if err != nil {
		return err
	}
	var all [3]*scribe
	for i := range all {
		all[i] = &scribe{store: s, dice: dice(seed, i), ids: lathe.NewIDs()}
		if err := all[i].adopt(i, len(all)); err != nil {
			return err
		}
	}
	done := make(chan error, len(all))
	for _, w := range all {
		go func() { done <- w.run() }()
	}
	return <-done
}

// scribe is one of the goroutines that write.
type scribe struct {
	store *store.Store
	dice  *rand.Rand
	ids   *lathe.IDs
	mine  []*page
}

// page is a session of a scribe.
type page struct {
	id    lathe.SessionID
	lease store.Lease
	title int64
}

// adopt continues the sessions of dead processes.
func (w *scribe) adopt(i, workers int) error {
	all, err := w.store.Sessions(context.Background(), lathe.Query{})
	if err != nil {
		return err
	}
	for _, rec := range all {
		h := fnv.New32a()
		_, _ = h.Write([]byte(rec.ID))
		if int(h.Sum32())%workers == i {
			n, _ := strconv.ParseInt(strings.TrimPrefix(rec.Title, "t"), 10, 64)
			w.mine = append(w.mine, &page{id: rec.ID, title: n})
		}
	}
	return nil
}

// reported reports a completed write, which is a promise from then on.
func (w *scribe) reported(op string, session, message, part string, n int) error {
	for _, s := range []*string{&message, &part} {
		if *s == "" {
			*s = "-"
		}
	}
	return say(fmt.Sprintf("%s %s %s %s %d %d", op, session, message, part, n, w.store.Last()))
}

func (w *scribe) run() error {
	ctx := context.Background()
	for {
		if len(w.mine) == 0 || len(w.mine) < 3 && w.dice.IntN(10) == 0 {
			if err := w.create(ctx); err != nil {
				return fmt.Errorf("create: %w", err)
			}
			continue
		}
		i := w.dice.IntN(len(w.mine))
		p := w.mine[i]
		var op string
		var do func() error
		switch n := w.dice.IntN(100); {
		case n < 25:
			op, do = "prompt", func() error { return w.prompt(ctx, p) }
		case n < 50:
			op, do = "answer", func() error { return w.answer(ctx, p) }
		case n < 62:
			op, do = "stream", func() error { return w.stream(ctx, p) }
		case n < 72:
			op, do = "edit", func() error { return w.edit(ctx, p) }
		case n < 80:
			op, do = "rewrite", func() error { return w.change(ctx, p, w.rewrite) }
		case n < 84:
			op, do = "cut", func() error { return w.change(ctx, p, w.cut) }
		case n < 88:
			op, do = "drop", func() error { return w.drop(ctx, p) }
		case n < 92:
			op, do = "fork", func() error { return w.fork(ctx, p) }
		case n < 95:
			op, do = "release", func() error { return w.release(ctx, p) }
		case n < 99:
			op, do = "remove", func() error { return w.remove(ctx, i) }
		default:
			op, do = "vacuum", func() error { return w.store.Vacuum(ctx, nil) }
		}
		if err := do(); err != nil {
			return fmt.Errorf("%s in %s: %w", op, p.id, err)
		}
	}
}

func (w *scribe) create(ctx context.Context) error {
	rec := newSession(w.ids, "/work")
	if err := w.store.Create(ctx, rec); err != nil {
		return err
	}
	w.mine = append(w.mine, &page{id: rec.ID})
	return w.reported("created", string(rec.ID), "", "", 0)
}

// size is mostly small, sometimes larger than a page of the file, rarely its own file.
func (w *scribe) size() int {
	switch w.dice.IntN(30) {
	case 0:
		return 65<<10 + w.dice.IntN(20<<10)
	case 1:
		return w.dice.IntN(60 << 10)
	default:
		return w.dice.IntN(1500)
	}
}

func (w *scribe) parts(session lathe.SessionID, message lathe.MessageID) []lathe.Part {
	out := make([]lathe.Part, 1+w.dice.IntN(3))
	for i := range out {
		id := w.ids.Part()
		out[i] = lathe.Part{ID: id, Session: session, Message: message, Body: &lathe.Text{Text: content(id, 1, w.size())}}
	}
	return out
}

func (w *scribe) prompt(ctx context.Context, p *page) error {
	m := lathe.Message{ID: w.ids.Message(), Session: p.id}
	m.Parts = w.parts(p.id, m.ID)
	m.Data = &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}, System: strconv.Itoa(len(m.Parts))}
	if _, err := w.store.Admit(ctx, p.id, lathe.Submission{Message: m, Digest: "d"}); err != nil {
		return err
	}
	return w.reported("admitted", string(p.id), string(m.ID), "", 0)
}

// hold takes the lease, which no live process can have.
func (w *scribe) hold(ctx context.Context, p *page) (err error) {
	if p.lease.Epoch == 0 {
		p.lease, err = w.store.Acquire(ctx, p.id)
	}
	return err
}

func (w *scribe) release(ctx context.Context, p *page) error {
	if p.lease.Epoch == 0 {
		return nil
	}
	err := w.store.Release(ctx, p.lease)
	p.lease = store.Lease{}
	return err
}

func answerOf(session lathe.SessionID, id lathe.MessageID, created lathe.Time, parts int) lathe.Message {
	return lathe.Message{ID: id, Session: session, Created: created, Data: &lathe.Assistant{
		Agent: "build", Mode: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}, Completed: created,
		Structured: json.RawMessage(strconv.Itoa(parts)),
	}}
}

// answer promotes what waits and writes a message with all its parts in one commit.
func (w *scribe) answer(ctx context.Context, p *page) error {
	if err := w.hold(ctx, p); err != nil {
		return err
	}
	waiting, _, err := w.store.Inbox(ctx, p.id)
	if err != nil {
		return err
	}
	var facts []lathe.Fact
	for _, m := range waiting {
		facts = append(facts, &lathe.Promote{Session: p.id, Message: m.Message})
	}
	id := w.ids.Message()
	parts := append(w.parts(p.id, id), lathe.Part{
		ID: w.ids.Part(), Session: p.id, Message: id, Body: &lathe.StepFinish{Reason: "stop", Cost: lathe.Money(1 + w.dice.IntN(1000))},
	})
	facts = append(facts, &lathe.StatusChanged{Session: p.id, Status: lathe.Status{Type: lathe.Busy}},
		&lathe.MessageChanged{Info: answerOf(p.id, id, lathe.Now(), len(parts))})
	for _, part := range parts {
		facts = append(facts, &lathe.PartChanged{Part: part})
	}
	if _, err := w.store.Commit(ctx, p.lease, facts...); err != nil {
		return err
	}
	for _, m := range waiting {
		if err := w.reported("promoted", string(p.id), string(m.Message), "", 0); err != nil {
			return err
		}
	}
	return w.reported("answered", string(p.id), string(id), "", 0)
}

// stream lets a part grow and closes it.
func (w *scribe) stream(ctx context.Context, p *page) error {
	if err := w.hold(ctx, p); err != nil {
		return err
	}
	id, part := w.ids.Message(), w.ids.Part()
	text := func(size int, end lathe.Time) *lathe.PartChanged {
		return &lathe.PartChanged{Part: lathe.Part{ID: part, Session: p.id, Message: id, Body: &lathe.Text{
			Text: content(part, 1, size), Time: &lathe.Span{Start: 1, End: end},
		}}}
	}
	open := text(-1, 0)
	if _, err := w.store.Commit(ctx, p.lease, &lathe.MessageChanged{Info: answerOf(p.id, id, lathe.Now(), 1)}, open); err != nil {
		return err
	}
	head := open.Part.GrowingText()
	length := len(head)
	all := flow(string(part), 20<<10)
	for range w.dice.IntN(6) {
		more := all[length-len(head):][:w.dice.IntN(3<<10)]
		if _, err := w.store.Commit(ctx, p.lease, &lathe.Checkpoint{Session: p.id, Part: part, Offset: length, Text: more}); err != nil {
			return err
		}
		length += len(more)
		if err := w.reported("grown", string(p.id), string(id), string(part), length); err != nil {
			return err
		}
	}
	if w.dice.IntN(4) == 0 {
		return nil // left open
	}
	if _, err := w.store.Commit(ctx, p.lease, text(length-len(head), 2)); err != nil {
		return err
	}
	return w.reported("closed", string(p.id), string(id), string(part), length)
}

func (w *scribe) edit(ctx context.Context, p *page) error {
	p.title++
	if _, err := w.store.Edit(ctx, p.id, lathe.Edit{Title: lathe.Some(title(p.title)), Touch: w.dice.IntN(2) == 0}); err != nil {
		return err
	}
	return w.reported("titled", string(p.id), "", "", int(p.title))
}

// change picks an answer of the session and does something to it.
func (w *scribe) change(ctx context.Context, p *page, do func(context.Context, *page, lathe.Message) error) error {
	if err := w.hold(ctx, p); err != nil {
		return err
	}
	last, err := w.store.History(ctx, p.id, lathe.Position{}, 8)
	if err != nil {
		return err
	}
	answers := slices.DeleteFunc(last.Messages, func(m lathe.Message) bool { return m.Data.Role() != "assistant" || len(m.Parts) == 0 })
	if len(answers) == 0 {
		return nil
	}
	return do(ctx, p, answers[w.dice.IntN(len(answers))])
}

// rewrite gives a part another text, which may move it into a file or out of one.
func (w *scribe) rewrite(ctx context.Context, p *page, m lathe.Message) error {
	part := m.Parts[w.dice.IntN(len(m.Parts))]
	words := strings.SplitN(part.GrowingText(), ":", 4)
	if len(words) < 4 || part.Open() {
		return nil
	}
	version, _ := strconv.Atoi(words[0])
	part.Body = &lathe.Text{Text: content(lathe.PartID(words[2]), version+1, w.size())}
	if _, err := w.store.Commit(ctx, p.lease, &lathe.PartChanged{Part: part}); err != nil {
		return err
	}
	return w.reported("rewritten", string(p.id), string(m.ID), string(part.ID), version+1)
}

// cut removes a part and counts it off in the same commit.
func (w *scribe) cut(ctx context.Context, p *page, m lathe.Message) error {
	part := m.Parts[w.dice.IntN(len(m.Parts))].ID
	if err := w.reported("cutting", string(p.id), string(m.ID), string(part), 0); err != nil {
		return err
	}
	_, err := w.store.Commit(ctx, p.lease, &lathe.PartRemoved{Session: p.id, Message: m.ID, Part: part},
		&lathe.MessageChanged{Info: answerOf(p.id, m.ID, m.Created, len(m.Parts)-1)})
	if err != nil {
		return err
	}
	return w.reported("cut", string(p.id), string(m.ID), string(part), 0)
}

func (w *scribe) drop(ctx context.Context, p *page) error {
	return w.change(ctx, p, func(ctx context.Context, p *page, m lathe.Message) error {
		if err := w.reported("dropping", string(p.id), string(m.ID), "", 0); err != nil {
			return err
		}
		if _, err := w.store.Commit(ctx, p.lease, &lathe.MessageRemoved{Session: p.id, Message: m.ID}); err != nil {
			return err
		}
		return w.reported("dropped", string(p.id), string(m.ID), "", 0)
	})
}

func (w *scribe) fork(ctx context.Context, p *page) error {
	if len(w.mine) > 3 {
		return nil
	}
	rec := newSession(w.ids, "/work")
	if err := w.store.Fork(ctx, p.id, "", rec); err != nil {
		return err
	}
	w.mine = append(w.mine, &page{id: rec.ID})
	return w.reported("created", string(rec.ID), "", "", 0)
}

func (w *scribe) remove(ctx context.Context, i int) error {
	p := w.mine[i]
	w.mine = slices.Delete(w.mine, i, i+1)
	if err := w.reported("removing", string(p.id), "", "", 0); err != nil {
		return err
	}
	if err := w.store.Remove(ctx, p.id); err != nil {
		return err
	}
	return w.reported("removed", string(p.id), "", "", 0)
}
