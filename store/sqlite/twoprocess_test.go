//go:build unix

package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// Two processes share a file. There is no bus between them: each polls, and sees what the
// other has settled.

// partner is a child that runs commands.
type partner struct {
	store  *store.Store
	ids    *lathe.IDs
	leases map[lathe.SessionID]store.Lease
	ear    ear
}

// ear collects published events.
type ear struct {
	mu       sync.Mutex
	received []received
	last     int64
	fault    error
}

// received is an event in short.
type received struct {
	Foreign bool
	Type    string
	ID      string // of the message or part, if it is about one
	Text    string // of a part
}

func (e *ear) publish(b store.Batch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b.Counter < e.last {
		e.fault = fmt.Errorf("batches go back from %d to %d", e.last, b.Counter)
	}
	for _, ev := range b.Events {
		if ev.Seq != 0 && ev.Seq <= e.last {
			e.fault = fmt.Errorf("number %d comes after %d", ev.Seq, e.last)
		}
		h := received{Foreign: b.Foreign, Type: ev.Fact.Type()}
		switch f := ev.Fact.(type) {
		case *lathe.MessageChanged:
			h.ID = string(f.Info.ID)
		case *lathe.PartChanged:
			h.ID, h.Text = string(f.Part.ID), f.Part.GrowingText()
		}
		e.received = append(e.received, h)
	}
	e.last = b.Counter
}

// take returns the events since the last call.
func (e *ear) take() ([]received, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := e.received
	e.received = nil
	return out, e.fault
}

// pairChild serves the commands of the tests below.
func pairChild(args []string) error {
	p := &partner{ids: lathe.NewIDs(), leases: map[lathe.SessionID]store.Lease{}}
	s, _, err := openAt(args[0], store.Options{Publish: p.ear.publish})
	if err != nil {
		return err
	}
	p.store = s
	err = serve(map[string]func([]json.RawMessage) (string, error){
		"take": p.take, "admit": p.admit, "cancel": p.cancel, "holdings": p.holdings, "inbox": p.inbox, "poll": p.poll,
		"await": p.await, "open": p.open, "grow": p.grow, "hammer": p.hammer,
		"orphan": func([]json.RawMessage) (string, error) {
			cat := exec.Command("cat")
			cat.Stdin = os.Stdin
			return "", cat.Start()
		},
	})
	return errors.Join(err, s.Close())
}

// arg reads the i-th argument of a command.
func arg[T any](args []json.RawMessage, i int) (v T) {
	if err := json.Unmarshal(args[i], &v); err != nil {
		panic(err)
	}
	return v
}

func (p *partner) take(args []json.RawMessage) (string, error) {
	id := arg[lathe.SessionID](args, 0)
	l, err := p.store.Acquire(context.Background(), id)
	p.leases[id] = l
	return strconv.FormatInt(l.Epoch, 10), err
}

func (p *partner) admit(args []json.RawMessage) (string, error) {
	done, err := admitOne(p.store, p.ids, arg[lathe.SessionID](args, 0), arg[int](args, 1))
	return string(done.message), err
}

func (p *partner) cancel(args []json.RawMessage) (string, error) {
	_, err := p.store.Admit(context.Background(), arg[lathe.SessionID](args, 0), lathe.Cancel{})
	return "", err
}

func asJSON(v any, err error) (string, error) {
	out, _ := json.Marshal(v)
	return string(out), err
}

func (p *partner) holdings([]json.RawMessage) (string, error) {
	return asJSON(p.store.Leases(context.Background()))
}

func (p *partner) inbox(args []json.RawMessage) (string, error) {
	waiting, _, err := p.store.Inbox(context.Background(), arg[lathe.SessionID](args, 0))
	return asJSON(waiting, err)
}

// poll polls once and returns the events since the last call.
func (p *partner) poll([]json.RawMessage) (string, error) {
	if err := p.store.Poll(context.Background()); err != nil {
		return "", err
	}
	return asJSON(p.ear.take())
}

// await polls as often as a process does that has subscribers, until it hears of a
// message, and returns how often it looked and how long ago that message was admitted.
func (p *partner) await(args []json.RawMessage) (string, error) {
	id := arg[string](args, 0)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for n := 1; n < 100; n++ {
		<-tick.C
		if err := p.store.Poll(context.Background()); err != nil {
			return "", err
		}
		all, err := p.ear.take()
		if slices.ContainsFunc(all, func(h received) bool { return h.ID == id && h.Foreign }) {
			return strconv.Itoa(n), err
		}
	}
	return "", errors.New("never heard of it")
}

// open begins a part that grows, and says its id.
func (p *partner) open(args []json.RawMessage) (string, error) {
	session := arg[lathe.SessionID](args, 0)
	message, part := p.ids.Message(), p.ids.Part()
	_, err := p.store.Commit(context.Background(), p.leases[session],
		&lathe.MessageChanged{Info: answerOf(session, message, lathe.Now(), 1)},
		&lathe.PartChanged{Part: lathe.Part{ID: part, Session: session, Message: message, Body: &lathe.Text{Time: &lathe.Span{Start: 1}}}})
	return string(part), err
}

func (p *partner) grow(args []json.RawMessage) (string, error) {
	session := arg[lathe.SessionID](args, 0)
	_, err := p.store.Commit(context.Background(), p.leases[session],
		&lathe.Checkpoint{Session: session, Part: arg[lathe.PartID](args, 1), Offset: arg[int](args, 2), Text: arg[string](args, 3)})
	return "", err
}

// work is what a child did while it hammered.
type work struct {
	Commits, Turns, Edits, Admits, Removes, Polls int
	Slowest                                       time.Duration
}

// hammer writes as fast as it can for a while: to its own session, to one that both edit, and
// to one that both take in turn.
func (p *partner) hammer(args []json.RawMessage) (string, error) {
	own, both, turns := arg[lathe.SessionID](args, 0), arg[lathe.SessionID](args, 1), arg[lathe.SessionID](args, 2)
	column, span := arg[string](args, 3), time.Duration(arg[int](args, 4))*time.Millisecond
	ctx := context.Background()
	lease, err := p.store.Acquire(ctx, own)
	if err != nil {
		return "", err
	}
	var w work
	var mu sync.Mutex
	var errs []error
	var all sync.WaitGroup
	end := time.Now().Add(span)
	loop := func(count *int, do func(n int) error) {
		all.Go(func() {
			for n := 1; time.Now().Before(end); n++ {
				began := time.Now()
				err := do(n)
				took := time.Since(began)
				mu.Lock()
				if w.Slowest = max(w.Slowest, took); err != nil {
					errs = append(errs, err)
					mu.Unlock()
					return
				}
				*count = n
				mu.Unlock()
			}
		})
	}
	loop(&w.Commits, func(int) error { return p.step(own, lease) })
	loop(&w.Turns, func(int) error { return p.turn(turns) })
	loop(&w.Edits, func(n int) error {
		e := lathe.Edit{Title: lathe.Some(title(int64(n)))}
		if column == "metadata" {
			e = lathe.Edit{Metadata: lathe.Some(json.RawMessage(strconv.Itoa(n)))}
		}
		_, err := p.store.Edit(ctx, both, e)
		return err
	})
	loop(&w.Admits, func(n int) error {
		_, err := admitOne(p.store, p.ids, both, sizeOf(n))
		return err
	})
	loop(&w.Removes, func(n int) error {
		q, err := fillOne(p.store, p.ids, sizeOf(n))
		if err != nil {
			return err
		}
		return p.store.Remove(ctx, q.session)
	})
	loop(&w.Polls, func(int) error { return p.store.Poll(ctx) })
	all.Wait()
	errs = append(errs, p.store.Poll(ctx), p.store.Release(ctx, lease), p.ear.fault)
	return asJSON(w, errors.Join(errs...))
}

// step commits an answer that cost something.
func (p *partner) step(session lathe.SessionID, lease store.Lease) error {
	id, part := p.ids.Message(), p.ids.Part()
	_, err := p.store.Commit(context.Background(), lease, &lathe.MessageChanged{Info: answerOf(session, id, lathe.Now(), 2)},
		&lathe.PartChanged{Part: lathe.Part{ID: part, Session: session, Message: id, Body: &lathe.Text{Text: content(part, 1, 500)}}},
		&lathe.PartChanged{Part: lathe.Part{ID: p.ids.Part(), Session: session, Message: id, Body: &lathe.StepFinish{Reason: "stop", Cost: 1}}})
	return err
}

// turn takes the lease when the other has given it back, and commits one step.
func (p *partner) turn(session lathe.SessionID) error {
	ctx := context.Background()
	for {
		l, err := p.store.Acquire(ctx, session)
		if lathe.CodeOf(err) == lathe.Conflict {
			continue
		}
		if err != nil {
			return err
		}
		return errors.Join(p.step(session, l), p.store.Release(ctx, l))
	}
}

// pair is two children on one file, which this process has made and closed again.
type pair struct {
	dir      string
	sessions []lathe.SessionID
	a, b     *child
}

func newPair(t *testing.T, sessions int) *pair {
	t.Helper()
	p := &pair{dir: t.TempDir()}
	s, _, err := openAt(p.dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range sessions {
		rec := newSession(lathe.NewIDs(), "/work")
		if err := s.Create(context.Background(), rec); err != nil {
			t.Fatal(err)
		}
		p.sessions = append(p.sessions, rec.ID)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p.a, p.b = spawn(t, "pair", p.dir), spawn(t, "pair", p.dir)
	return p
}

// hear lets a child poll once.
func hear(t *testing.T, c *child) (out []received) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.ask(t, "poll")), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTwoProcesses_WriteAtOnce(t *testing.T) {
	t.Parallel()
	p := newPair(t, 4)
	type result struct {
		work
		err error
	}
	results := make(chan result, 2)
	for i, c := range []*child{p.a, p.b} {
		command, _ := json.Marshal([]any{"hammer", p.sessions[i], p.sessions[2], p.sessions[3], []string{"title", "metadata"}[i], 2000})
		if _, err := c.in.Write(append(command, '\n')); err != nil {
			t.Fatal(err)
		}
		go func() {
			var r result
			line, err := c.line()
			if r.err = err; err == nil && strings.HasPrefix(line, "!") {
				r.err = errors.New(line)
			}
			_ = json.Unmarshal([]byte(line), &r.work)
			results <- r
		}()
	}
	var sum work
	for range 2 {
		r := <-results
		if r.err != nil {
			t.Errorf("a writer failed: %v\n%s%s", r.err, p.a.errors.String(), p.b.errors.String())
		}
		t.Logf("%+v", r.work)
		sum.Commits += r.Commits
		sum.Turns += r.Turns
		sum.Admits += r.Admits
		if r.Slowest > 5*time.Second {
			t.Errorf("one write took %s", r.Slowest)
		}
	}
	p.a.wait(t)
	p.b.wait(t)
	if t.Failed() {
		return
	}
	s, d := mustOpen(t, p.dir, store.Options{})
	found, err := s.Check(context.Background())
	if err != nil || len(found) > 0 {
		t.Errorf("check: %q, %v", found, err)
	}
	(&campaign{t: t}).checkNumbers(d)
	costs, messages := make([]int, 4), make([]int, 4)
	var shared lathe.Session
	for i, id := range p.sessions {
		rec, err := s.Session(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		page, err := s.History(context.Background(), id, lathe.Position{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		checkWholeness(t, rec, page.Messages)
		if rec.Cost != nil {
			costs[i] = int(*rec.Cost)
		}
		if messages[i] = len(page.Messages); i == 2 {
			shared = rec
		}
	}
	if costs[0]+costs[1] != sum.Commits || costs[3] != sum.Turns || messages[2] != sum.Admits {
		t.Errorf("lost updates: costs %v, messages %v, done was %+v", costs, messages, sum)
	}
	if shared.Title == title(0) || shared.Metadata == nil {
		t.Errorf("a column was overwritten by the other's edit: %q, %s", shared.Title, shared.Metadata)
	}
}

// TestTwoProcesses_EditsOfOneSession has each change its own column, the last word known:
// neither takes the other's back.
func TestTwoProcesses_EditsOfOneSession(t *testing.T) {
	t.Parallel()
	p := newPair(t, 3)
	for range 3 {
		var said [2]work
		for i, c := range []*child{p.a, p.b} {
			command, _ := json.Marshal([]any{"hammer", p.sessions[i], p.sessions[2], p.sessions[2], []string{"title", "metadata"}[i], 50})
			if _, err := c.in.Write(append(command, '\n')); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range []*child{p.a, p.b} {
			line, err := c.line()
			if err != nil || strings.HasPrefix(line, "!") {
				t.Fatalf("%v %s", err, line)
			}
			if err := json.Unmarshal([]byte(line), &said[i]); err != nil {
				t.Fatal(err)
			}
		}
		s, _, err := openAt(p.dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rec, err := s.Session(context.Background(), p.sessions[2])
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		if rec.Title != title(int64(said[0].Edits)) || string(rec.Metadata) != strconv.Itoa(said[1].Edits) {
			t.Errorf("title %s, metadata %s; the last edits were %d and %d", rec.Title, rec.Metadata, said[0].Edits, said[1].Edits)
		}
	}
}

// TestTwoProcesses_SeeEachOther: what one has settled, the other has at its next look. A
// process looks every 200 ms, so that is well within half a second.
func TestTwoProcesses_SeeEachOther(t *testing.T) {
	t.Parallel()
	p := newPair(t, 1)
	hear(t, p.a)
	hear(t, p.b)
	for i := range 10 {
		from, to := p.a, p.b
		if i%2 == 1 {
			from, to = to, from
		}
		id := from.ask(t, "admit", p.sessions[0], sizeOf(i))
		all := hear(t, to)
		if !slices.ContainsFunc(all, func(h received) bool { return h.ID == id && h.Foreign && h.Type == "message.updated" }) {
			t.Fatalf("the next look does not show %s: %+v", id, all)
		}
		parts := 0
		for _, h := range all {
			if h.Type == "message.part.updated" && h.Foreign {
				parts++
			}
		}
		if parts != 2 {
			t.Errorf("%d of 2 parts came with it", parts)
		}
		if again := hear(t, to); len(again) > 0 {
			t.Errorf("told twice: %+v", again)
		}
		hear(t, from)
	}
	began := time.Now()
	looks := p.b.ask(t, "await", p.a.ask(t, "admit", p.sessions[0], 100))
	t.Logf("seen after %s looks, %s", looks, time.Since(began))
	if looks != "1" {
		t.Errorf("it took %s looks", looks)
	}
}

// TestTwoProcesses_PromptForTheOther: the holder of the session receives a prompt, and a
// request to cancel.
func TestTwoProcesses_PromptForTheOther(t *testing.T) {
	t.Parallel()
	p := newPair(t, 1)
	id := p.sessions[0]
	p.a.ask(t, "take", id)
	hear(t, p.a)
	message := p.b.ask(t, "admit", id, 100)
	if all := hear(t, p.a); !slices.ContainsFunc(all, func(h received) bool { return h.ID == message && h.Foreign }) {
		t.Errorf("the holder heard %+v", all)
	}
	var waiting []store.QueuedPrompt
	if err := json.Unmarshal([]byte(p.a.ask(t, "inbox", id)), &waiting); err != nil {
		t.Fatal(err)
	}
	if len(waiting) != 1 || string(waiting[0].Message) != message {
		t.Errorf("the inbox has %+v", waiting)
	}
	if h := holdings(t, p.a); len(h) != 1 || !h[0].Here || !h[0].Alive || h[0].Canceled {
		t.Errorf("before: %+v", h)
	}
	p.b.ask(t, "cancel", id)
	if h := holdings(t, p.a); len(h) != 1 || !h[0].Canceled {
		t.Errorf("the holder does not see the wish: %+v", h)
	}
	if h := holdings(t, p.b); len(h) != 1 || h[0].Here || !h[0].Alive || !h[0].Canceled {
		t.Errorf("the other sees %+v", h)
	}
}

func holdings(t *testing.T, c *child) (out []store.LeaseInfo) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.ask(t, "holdings")), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTwoProcesses_GrowingPart: checkpoints of one are the other's text so far.
func TestTwoProcesses_GrowingPart(t *testing.T) {
	t.Parallel()
	p := newPair(t, 1)
	id := p.sessions[0]
	p.a.ask(t, "take", id)
	part := p.a.ask(t, "open", id)
	hear(t, p.b)
	text := ""
	for _, more := range []string{"The ", "text ", "grows", ", not rewritten", "."} {
		p.a.ask(t, "grow", id, part, len(text), more)
		text += more
		all := hear(t, p.b)
		i := slices.IndexFunc(all, func(h received) bool { return h.ID == part })
		if i < 0 || !all[i].Foreign || all[i].Text != text {
			t.Errorf("heard %+v, want the part with %q", all, text)
		}
	}
}

// TestTwoProcesses_SuspendedAndKilled: a suspended process keeps its leases, a killed one
// loses them at once.
func TestTwoProcesses_SuspendedAndKilled(t *testing.T) {
	t.Parallel()
	p := newPair(t, 1)
	id := p.sessions[0]
	p.a.ask(t, "take", id)
	part := p.a.ask(t, "open", id)
	if err := p.a.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "the process is suspended", func() bool { return isStopped(p.a.cmd.Process.Pid) })
	if h := holdings(t, p.b); len(h) != 1 || !h[0].Alive {
		t.Errorf("suspended: %+v", h)
	}
	command, _ := json.Marshal([]any{"take", id})
	if _, err := p.b.in.Write(append(command, '\n')); err != nil {
		t.Fatal(err)
	}
	if line, err := p.b.line(); err != nil || !strings.Contains(line, "busy") {
		t.Errorf("the lease of a suspended process was taken: %q, %v", line, err)
	}
	if err := p.a.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.a.ask(t, "grow", id, part, 0, "it goes on")
	p.a.kill()
	if h := holdings(t, p.b); len(h) != 1 || h[0].Alive {
		t.Errorf("killed: %+v", h)
	}
	p.b.ask(t, "take", id)
	if h := holdings(t, p.b); len(h) != 1 || !h[0].Here {
		t.Errorf("taken over: %+v", h)
	}
}

// isStopped asks ps, which every Unix has.
func isStopped(pid int) bool {
	out, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(out)), "T")
}

// TestTwoProcesses_WaitForALongWrite: a write waits while another process has the file for a
// second, and does not fail with a lock error.
func TestTwoProcesses_WaitForALongWrite(t *testing.T) {
	t.Parallel()
	p := newPair(t, 1)
	p.a.ask(t, "admit", p.sessions[0], 100)
	c, err := sqlite.OpenConn(filepath.Join(p.dir, "lathe.db"), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := sqlitex.ExecuteTransient(c, `BEGIN IMMEDIATE`, nil); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	answer := make(chan string, 1)
	go func() { answer <- p.a.ask(t, "admit", p.sessions[0], 100) }()
	p.b.ask(t, "inbox", p.sessions[0]) // reads still work
	select {
	case <-answer:
		t.Error("it was written while another process was writing")
	case <-time.After(time.Second):
	}
	if err := sqlitex.ExecuteTransient(c, `ROLLBACK`, nil); err != nil {
		t.Fatal(err)
	}
	<-answer
	t.Logf("admitted after %s", time.Since(began))
}
