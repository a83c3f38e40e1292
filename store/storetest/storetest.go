// Package storetest is the test suite for every store driver: stored data and its order,
// events for a resuming reader, and concurrent writes from one process or two.
//
// It owns the contract of package store, sentence by sentence, and a generator of
// realistic sessions for benchmarks ([Generate]). It does not know any database: how one
// is made, damaged or killed is tested beside its driver.
//
// Each test has its own environment: a new database, a clock that only moves forward, ids
// that are the same each time, and a listener that records published events. Tests share
// nothing, so they run in parallel.
//
// Start reading at [Run]; feed.go has the contract of the feed, property.go what must hold
// over random histories.
package storetest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
)

// Database opens a store on one database. Each call is like another process: leases,
// connections and the writer are its own.
type Database func(o store.Options) (*store.Store, error)

// Run tests the store. Fresh makes a new database, in or beside the empty folder it is given.
func Run(t *testing.T, fresh func(tb testing.TB, dir string) Database) {
	s := &suite{fresh: fresh}
	s.groups(t)
	fewer()
	t.Run("Property", func(t *testing.T) {
		t.Run("OneProcess", func(t *testing.T) { s.property(t, 1) })
		t.Run("TwoProcesses", func(t *testing.T) { s.property(t, 2) })
	})
}

// RunGroups is Run without the properties of random histories, for another kind of the same database.
func RunGroups(t *testing.T, fresh func(tb testing.TB, dir string) Database) {
	(&suite{fresh: fresh}).groups(t)
}

// groups runs all but the properties.
func (s *suite) groups(t *testing.T) {
	for _, group := range []struct {
		name  string
		tests map[string]func(*env)
	}{
		{"Session", sessionTests()},
		{"Sessions", listTests()},
		{"Project", projectTests()},
		{"History", historyTests()},
		{"Walk", walkTests()},
		{"Commit", commitTests()},
		{"Usage", usageTests()},
		{"Budget", budgetTests()},
		{"OpenPart", openPartTests()},
		{"Lease", leaseTests()},
		{"Interruption", interruptionTests()},
		{"SystemPrompt", systemPromptTests()},
		{"Task", taskTests()},
		{"Board", boardTests()},
		{"Admit", admitTests()},
		{"Approval", approvalTests()},
		{"TestRun", testRunTests()},
		{"Status", statusTests()},
		{"Fork", forkTests()},
		{"Import", importTests()},
		{"Remove", removeTests()},
		{"LargeValue", blobTests()},
		{"SharedLargeValue", largeTests()},
		{"Feed", feedTests()},
		{"Live", liveTests()},
		{"Writer", writerTests()},
		{"Upkeep", upkeepTests()},
		{"Bytes", bytesTests()},
		{"Search", searchTests()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for name, test := range group.tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(s.newEnv(t))
				})
			}
		})
	}
}

// fewer lets rapid try thirty histories instead of a hundred, unless the command line says
// how many: each makes a database. Long campaigns pass -rapid.checks.
func fewer() {
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		_ = f.Value.Set("30")
	}
}

type suite struct {
	fresh func(tb testing.TB, dir string) Database
}

// env is a new database with one open store, a clock, ids and a listener.
type env struct {
	rapid.TB
	*store.Store
	clock     *clock
	ids       *lathe.IDs
	published *listener // published by Store
	blobs     string    // the folder of large values
	again     func(o store.Options) *store.Store
}

func (s *suite) newEnv(t *testing.T) *env {
	dir := t.TempDir()
	return s.newEnvIn(t, dir, s.fresh(t, dir))
}

// newEnvIn makes an environment that reports failures to tb.
func (s *suite) newEnvIn(tb rapid.TB, dir string, db Database) *env {
	c := &clock{now: lathetest.Now}
	r := &env{TB: tb, clock: c, published: &listener{}, blobs: filepath.Join(dir, "large")}
	random := byte(0)
	r.ids = lathe.NewIDsFrom(c.tick, func(b []byte) {
		for i := range b {
			random++
			b[i] = random
		}
	})
	var open []*store.Store
	r.again = func(o store.Options) *store.Store {
		r.Helper()
		if o.Now == nil {
			o.Now = c.tick
		}
		o.IDs, o.Blobs = r.ids, r.blobs
		st, err := db(o)
		r.ok(err)
		open = append(open, st)
		return st
	}
	r.Store = r.again(store.Options{Publish: r.published.publish, Search: true})
	r.closers(func() {
		for _, st := range open {
			r.ok(st.Close())
		}
	})
	return r
}

// closers lets the stores be closed when the test ends, before its folder goes.
func (r *env) closers(f func()) {
	if t, ok := r.TB.(interface{ Cleanup(func()) }); ok {
		t.Cleanup(f)
	}
}

// clock moves a millisecond each time it is looked at.
type clock struct {
	mu  sync.Mutex
	now lathe.Time
}

func (c *clock) tick() lathe.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	return c.now
}

func (c *clock) forward(ms lathe.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += ms
}

// listener records the events that a store publishes.
type listener struct {
	mu      sync.Mutex
	batches []store.Batch
	ignores bool // no subscribers
}

func (l *listener) publish(b store.Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batches = append(l.batches, b)
}

func (l *listener) wanted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.ignores
}

// events returns the events since the last call of take.
func (l *listener) events() []lathe.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []lathe.Event
	for _, b := range l.batches {
		out = append(out, b.Events...)
	}
	return out
}

// take returns the recorded events and clears them.
func (l *listener) take() []lathe.Event {
	out := l.events()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batches = nil
	return out
}

func ctx() context.Context { return context.Background() }

func (r *env) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("unexpected error: %v", err)
	}
}

// is checks the code of an error.
func (r *env) is(err error, code lathe.Code) {
	r.Helper()
	if got := lathe.CodeOf(err); got != code {
		r.Fatalf("got code %q (%v), want %q", got, err, code)
	}
}

// must returns the value or fails the test.
func must[T any](v T, err error) func(r *env) T {
	return func(r *env) T {
		r.Helper()
		r.ok(err)
		return v
	}
}

// same compares whole values. What has two spellings in Go and one on the wire is equal.
func (r *env) same(what string, got, want any) {
	r.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		r.Fatalf("%s differs (-want +got):\n%s", what, d)
	}
}

// kinds lists the types of events.
func kinds(events []lathe.Event) []string {
	out := []string{}
	for _, e := range events {
		out = append(out, e.Fact.Type())
	}
	return out
}

// numbers writes events as their numbers; the last of a commit has a star.
func numbers(events []lathe.Event) []string {
	out := []string{}
	for _, e := range events {
		s := fmt.Sprint(e.Seq)
		if e.Last {
			s += "*"
		}
		out = append(out, s)
	}
	return out
}

// files lists the files of large values, by name below their folder.
func (r *env) files() []string {
	r.Helper()
	out := []string{}
	err := filepath.WalkDir(r.blobs, func(path string, d os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err == nil && !d.IsDir() {
			name, rel := filepath.Rel(r.blobs, path)
			out, err = append(out, name), rel
		}
		return err
	})
	r.ok(err)
	return out
}
