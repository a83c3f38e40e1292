package engine_test

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store/sqlite"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMain gives the git that the engine asks an empty home, so that no test depends on the
// user's configuration.
func TestMain(m *testing.M) {
	if orders := os.Getenv(rewindChild); orders != "" {
		os.Exit(playRewindChild(orders))
	}
	flag.Parse()
	fewer("rapid.checks", "20") // each writes to a disk; ask for more with the flag
	home, err := os.MkdirTemp("", "engine-home-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "USERPROFILE"} {
		os.Setenv(name, home)
	}
	// A file of our own: the administrator's git could replace the null device.
	os.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "none.gitconfig"))
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// fewer sets a flag that was not given.
func fewer(name, value string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		_ = flag.Set(name, value)
	}
}

// tb is what *testing.T and *rapid.T share.
type tb interface {
	rapid.TB
	Cleanup(func())
	Context() context.Context
}

// fixture is an engine on a new database and what a test needs around it. The clock stands
// still unless it is moved; ids are the same each time.
type fixture struct {
	tb
	*engine.Engine
	clock *clock
	ids   *lathe.IDs
	data  string // folder of the database
	dir   string // a directory that belongs to no repository
	opens uint64
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return fixtureIn(t, t.TempDir(), gittest.RealTemp(t))
}

func fixtureIn(t tb, data, dir string) *fixture {
	t.Helper()
	w := &fixture{tb: t, clock: &clock{at: lathetest.Now}, data: data, dir: dir}
	w.Engine, w.ids = w.open()
	return w
}

// open opens the database, as another process would, until the test ends.
func (w *fixture) open() (*engine.Engine, *lathe.IDs) {
	w.Helper()
	e, ids := w.openEngine()
	w.Cleanup(func() { w.ok(e.Close()) })
	return e, ids
}

func (w *fixture) openEngine() (*engine.Engine, *lathe.IDs) {
	w.Helper()
	w.opens++
	ids := lathe.NewIDsFrom(w.clock.now, randomness(w.opens))
	d, err := sqlite.Open(w.Context(), sqlite.Options{Path: filepath.Join(w.data, "lathe.db")})
	w.ok(err)
	e, err := engine.Open(w.Context(), engine.Options{
		Driver: d, Blobs: filepath.Join(w.data, "blobs"), Version: "1.2.3", Now: w.clock.now, IDs: ids,
	})
	w.ok(err)
	return e, ids
}

// another is the same fixture seen by another process.
func (w *fixture) another() *fixture {
	w.Helper()
	other := *w
	other.Engine, other.ids = w.open()
	w.opens = other.opens
	return &other
}

// in is the same fixture for a subtest.
func (w *fixture) in(t *testing.T) *fixture {
	inner := *w
	inner.tb = t
	return &inner
}

// clock moves only on request.
type clock struct {
	mu sync.Mutex
	at lathe.Time
}

func (c *clock) now() lathe.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) forward(ms lathe.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at += ms
}

func randomness(seed uint64) func([]byte) {
	var mu sync.Mutex
	r := rand.NewChaCha8([32]byte{byte(seed)})
	return func(b []byte) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = r.Read(b)
	}
}

func (w *fixture) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("unexpected error: %v", err)
	}
}

// is checks the code of an error.
func (w *fixture) is(err error, code lathe.Code) {
	w.Helper()
	if got := lathe.CodeOf(err); got != code {
		w.Fatalf("got code %q (%v), want %q", got, err, code)
	}
}

// must returns the value or fails the test: must(f())(w).
func must[T any](v T, err error) func(w *fixture) T {
	return func(w *fixture) T {
		w.Helper()
		w.ok(err)
		return v
	}
}

// same compares whole values. What has two spellings in Go and one on the wire is equal.
func (w *fixture) same(what string, got, want any) {
	w.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		w.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// session creates a session in the fixture's directory.
func (w *fixture) session(in ...lathe.NewSession) lathe.Session {
	w.Helper()
	return must(w.Create(w.Context(), w.dir, append(in, lathe.NewSession{})[0]))(w)
}

// user writes a user message with a text.
func (w *fixture) user(id lathe.SessionID, words string) lathe.Message {
	w.Helper()
	m := must(w.UpdateMessage(w.Context(), lathe.Message{
		ID: w.ids.Message(), Session: id,
		Data: &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}},
	}))(w)
	m.Parts = append(m.Parts, w.text(m, words))
	return m
}

// answer writes an answer to a message, without parts.
func (w *fixture) answer(to lathe.Message) lathe.Message {
	w.Helper()
	return must(w.UpdateMessage(w.Context(), lathe.Message{
		ID: w.ids.Message(), Session: to.Session,
		Data: &lathe.Assistant{Parent: to.ID, Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}, Agent: "build", Mode: "build"},
	}))(w)
}

// put writes a part.
func (w *fixture) put(of lathe.Message, b lathe.Body) lathe.Part {
	w.Helper()
	return must(w.UpdatePart(w.Context(), lathe.Part{ID: w.ids.Part(), Session: of.Session, Message: of.ID, Body: b}, ""))(w)
}

// text writes a settled text part.
func (w *fixture) text(of lathe.Message, words string) lathe.Part {
	w.Helper()
	now := w.clock.now()
	return w.put(of, &lathe.Text{Text: words, Time: &lathe.Span{Start: now, End: now + 1}})
}

// growing makes an open text part, not written yet.
func (w *fixture) growing(of lathe.Message, words string) lathe.Part {
	body := &lathe.Text{Text: words, Time: &lathe.Span{Start: w.clock.now()}}
	return lathe.Part{ID: w.ids.Part(), Session: of.Session, Message: of.ID, Body: body}
}

// closedBody is a growing part with its last text.
func closedBody(p lathe.Part, words string) lathe.Part {
	t := *p.Body.(*lathe.Text)
	t.Text, t.Time = words, &lathe.Span{Start: t.Time.Start, End: t.Time.Start + 10}
	p.Body = &t
	return p
}

func Used(n int64) lathe.Tokens {
	return lathe.Tokens{Input: n, Output: 2 * n, Reasoning: 3 * n, Cache: lathe.CacheTokens{Read: 4 * n, Write: 5 * n}}
}

// finish writes a step-finish part.
func (w *fixture) finish(of lathe.Message, dollars float64, n int64) lathe.Part {
	w.Helper()
	return w.put(of, &lathe.StepFinish{Reason: "stop", Cost: lathe.Dollars(dollars), Tokens: Used(n)})
}

func (w *fixture) history(id lathe.SessionID) []lathe.Message {
	w.Helper()
	return must(w.Messages(w.Context(), id, lathe.Position{}, 0))(w).Messages
}

func (w *fixture) get(id lathe.SessionID) lathe.Session {
	w.Helper()
	return must(w.Get(w.Context(), id))(w)
}

// counter is the last number given.
func (w *fixture) counter() int64 {
	w.Helper()
	return must(w.Store().Stats(w.Context()))(w).Counter
}

// runner takes the lease of a session until the test ends.
func (w *fixture) runner(id lathe.SessionID) engine.Runner {
	w.Helper()
	return must(engine.Take(w.Context(), w.Engine, id))(w)
}

// says are the texts of a history, by message.
func says(messages []lathe.Message) [][]string {
	out := [][]string{}
	for _, m := range messages {
		one := []string{}
		for _, p := range m.Parts {
			one = append(one, p.GrowingText())
		}
		out = append(out, one)
	}
	return out
}

func ids[T any, ID ~string](list []T, id func(T) ID) []ID {
	out := []ID{}
	for _, v := range list {
		out = append(out, id(v))
	}
	return out
}

func sessionID(s lathe.Session) lathe.SessionID { return s.ID }
func messageID(m lathe.Message) lathe.MessageID { return m.ID }

// listener reads a stream one event at a time, only when it is asked to.
type listener struct {
	w     *fixture
	scope lathe.Scope
	next  func() (lathe.Event, error, bool)
	stop  func()
	hello lathe.Event
	at    lathe.Cursor // the last number that may be noted
	marks int
}

// listen begins a stream, with a cursor if one is given, and reads its first event.
func (w *fixture) listen(scope lathe.Scope, after ...lathe.Cursor) *listener {
	w.Helper()
	var from lathe.Opt[lathe.Cursor]
	if len(after) > 0 {
		from = lathe.Some(after[0])
	}
	l := &listener{w: w, scope: scope}
	l.next, l.stop = iter.Pull2(w.Events(w.Context(), scope, from))
	w.Cleanup(l.stop)
	l.hello = l.read()
	if _, ok := l.hello.Fact.(*lathe.ServerConnected); !ok {
		w.Fatalf("the first event is %s", l.hello.Fact.Type())
	}
	return l
}

// read waits for the next event.
func (l *listener) read() lathe.Event {
	l.w.Helper()
	ev, err, ok := l.next()
	switch {
	case !ok:
		l.w.Fatalf("the stream has ended")
	case err != nil:
		l.w.Fatalf("the stream failed: %v", err)
	case ev.ID == "":
		l.w.Fatalf("%s has no id", ev.Fact.Type())
	case ev.Last && ev.Seq < l.at.Seq:
		l.w.Fatalf("after number %d comes %d", l.at.Seq, ev.Seq)
	case ev.Last:
		l.at = lathe.Cursor{Seq: ev.Seq, Feed: l.w.Feed()}
	}
	return ev
}

// received reads all that was published until now. It is not for a stream that has lagged.
func (l *listener) received() []lathe.Event {
	l.w.Helper()
	out := l.upToMark()
	if l.marks == 1 { // of a stream that resumed, the texts so far come after what was queued meanwhile
		out = append(out, l.upToMark()...)
	}
	return out
}

func (l *listener) upToMark() []lathe.Event {
	l.w.Helper()
	l.marks++
	mark := &lathe.UnknownEvent{TypeName: "test.mark"}
	engine.Publish(l.w.Engine, lathe.Event{Session: l.scope.Session, Directory: l.scope.Directory, Fact: mark})
	out := []lathe.Event{}
	for {
		ev := l.read()
		if ev.Fact == lathe.Fact(mark) {
			return out
		}
		if ev.Fact.Type() != "test.mark" { // another listener's
			out = append(out, ev)
		}
	}
}

// kinds writes events as their types, in order.
func kinds(events []lathe.Event) []string {
	out := []string{}
	for _, e := range events {
		out = append(out, e.Fact.Type())
	}
	return out
}

// git runs the real git.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return gittest.New(t).Run(dir, args...)
}

// repo makes a repository with one commit.
func repo(t testing.TB) string {
	t.Helper()
	dir := gittest.RealTemp(t)
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	return dir
}

func mkdir(t testing.TB, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
