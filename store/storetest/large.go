package storetest

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// Large values in a store that many machines share: rows in the database, values elsewhere, and no lock for both. The
// tests use files as such a store.
func largeTests() map[string]func(*env) {
	return map[string]func(*env){
		"ValuesAreReadByOtherNodes":           testLargeShared,
		"AValueStaysForADayWithoutARow":       testLargeDay,
		"AValueThatIsNeededAgainStays":        testLargeAgain,
		"ADeletedValueIsStoredAgain":          testLargeDeleted,
		"DeletionBetweenPutAndCommit":         testLargeRace,
		"DeletionWhileAnImportIsStaged":       testLargeImport,
		"ValuesWithoutARowGoADayAfterVacuum":  testLargeStrays,
		"AReadThatMissesIsRepeated":           testLargeMissing,
		"AStoreThatIsDownFailsOnlyThoseWrite": testLargeDown,
		"AFailedDeletionIsRepeated":           testLargeFailedDelete,
		"AStoreThatHangsDelaysNoOtherWrite":   testLargeHangs,
	}
}

// valueStore is a store of large values with faults.
type valueStore struct {
	store.Blobs
	put    func(hash string) error // after a value was stored
	get    func(hash string) error // before a value is read
	hang   func(context.Context)   // before a value is read
	delete func(hash string) error // before a value is deleted
}

func (v *valueStore) Put(ctx context.Context, hash string, data []byte) error {
	err := v.Blobs.Put(ctx, hash, data)
	if f := v.put; f != nil && err == nil {
		err = f(hash)
	}
	return err
}

func (v *valueStore) Get(ctx context.Context, hash string) ([]byte, error) {
	if f := v.hang; f != nil {
		f(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if f := v.get; f != nil {
		if err := f(hash); err != nil {
			return nil, err
		}
	}
	return v.Blobs.Get(ctx, hash)
}

func (v *valueStore) Delete(ctx context.Context, hash ...string) error {
	for _, h := range hash {
		if f := v.delete; f != nil {
			if err := f(h); err != nil {
				return err
			}
		}
	}
	return v.Blobs.Delete(ctx, hash...)
}

// node opens the database with large values in another store.
func (r *env) node() (*env, *valueStore) {
	v := &valueStore{Blobs: store.NewFiles(filepath.Join(filepath.Dir(r.blobs), "bucket"))}
	other := *r
	other.Store = r.again(store.Options{Large: v})
	return &other, v
}

// values counts the stored values.
func (v *valueStore) values(r *env) (n int) {
	r.ok(v.List(ctx(), func(string) error { n++; return nil }))
	return n
}

const hour = lathe.Time(3600 * 1000)

func testLargeShared(r *env) {
	one, v := r.node()
	two, _ := r.node()
	l := one.held()
	m, _ := one.said(l, big('x'))
	r.same("files", len(r.files()), 0)
	r.same("values", v.values(r), 2)
	r.same("message", must(two.Message(ctx(), l.Session, m.ID))(r), m)
	two.ok(two.Remove(ctx(), l.Session))
	r.same("values after a removal", v.values(r), 2)
}

func testLargeDay(r *env) {
	one, v := r.node()
	l := one.held()
	one.said(l, big('x'))
	kept := one.held()
	one.said(kept, big('y'))
	r.ok(one.Remove(ctx(), l.Session))
	r.ok(one.RemoveUnused(ctx()))
	r.clock.forward(day - hour)
	r.ok(one.RemoveUnused(ctx()))
	r.same("values after 23 hours", v.values(r), 4)
	r.clock.forward(2 * hour)
	r.ok(one.RemoveUnused(ctx()))
	r.same("values after 25 hours", v.values(r), 2)
	r.same("messages that stay", len(one.history(kept.Session)), 2)
	r.same("large values", must(one.Stats(ctx()))(r).Blobs, int64(2))
	r.clock.forward(day + hour)
	r.ok(one.RemoveUnused(ctx()))
	r.same("values in the end", v.values(r), 2)
}

func testLargeAgain(r *env) {
	one, v := r.node()
	l := one.held()
	m, _ := one.said(l, "Hello")
	p := one.text(m, big('x'))
	one.commit(l, changed(p))
	one.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: p.ID})
	r.ok(one.RemoveUnused(ctx()))
	r.clock.forward(day - hour)
	one.commit(l, changed(p))
	r.clock.forward(2 * hour)
	r.ok(one.RemoveUnused(ctx()))
	r.same("values", v.values(r), 1)
	r.same("part", must(one.Part(ctx(), l.Session, m.ID, p.ID))(r), p)
}

// expire removes a value of a message as one that had no row for a day.
func (r *env) expire(l store.Lease, p lathe.Part) {
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: p.Message, Part: p.ID})
	r.ok(r.RemoveUnused(ctx()))
	r.clock.forward(day + hour)
}

func testLargeDeleted(r *env) {
	one, v := r.node()
	l := one.held()
	m, _ := one.said(l, "Hello")
	p := one.text(m, big('x'))
	one.commit(l, changed(p))
	one.expire(l, p)
	r.ok(one.RemoveUnused(ctx()))
	r.same("values", v.values(r), 0)
	one.commit(l, changed(p))
	r.same("part", must(one.Part(ctx(), l.Session, m.ID, p.ID))(r), p)
	r.clock.forward(day + hour)
	r.ok(one.RemoveUnused(ctx()))
	r.same("part later", must(one.Part(ctx(), l.Session, m.ID, p.ID))(r), p)
}

// Another node deletes a value after a writer has stored it, and before the writer's row is there.
func testLargeRace(r *env) {
	one, v := r.node()
	two, _ := r.node()
	l := one.held()
	m, _ := one.said(l, "Hello")
	p := one.text(m, big('x'))
	one.commit(l, changed(p))
	one.expire(l, p)
	v.put = func(string) error {
		v.put = nil
		r.ok(two.RemoveUnused(ctx()))
		r.same("values after the other's deletion", v.values(r), 0)
		return nil
	}
	one.commit(l, changed(p))
	r.same("part", must(two.Part(ctx(), l.Session, m.ID, p.ID))(r), p)
}

func testLargeImport(r *env) {
	one, v := r.node()
	two, _ := r.node()
	l := one.held()
	m, _ := one.said(l, "Hello")
	p := one.text(m, big('x'))
	one.commit(l, changed(p))
	one.expire(l, p)
	rec, messages := foreign()
	messages[0].Parts = []lathe.Part{{ID: "prt_big", Session: rec.ID, Message: messages[0].ID, Body: &lathe.Text{Text: big('x')}}}
	stage := func() *store.Staged {
		g := must(one.Stage())(r)
		r.ok(g.Add(messages[0]))
		return g
	}
	g := stage()
	r.ok(two.RemoveUnused(ctx()))
	_, err := g.Commit(ctx(), rec)
	r.is(err, lathe.Unavailable)
	if !strings.Contains(err.Error(), "import again") {
		r.Fatalf("the error does not say what to do: %v", err)
	}
	r.ok(g.Close())
	g = stage()
	must(g.Commit(ctx(), rec))(r)
	r.ok(g.Close())
	r.same("values", v.values(r), 1)
	r.same("message", must(one.Message(ctx(), rec.ID, messages[0].ID))(r), messages[0])
}

func testLargeStrays(r *env) {
	one, v := r.node()
	l := one.held()
	one.said(l, big('x'))
	r.ok(v.Put(ctx(), strings.Repeat("ab", 32), []byte("left by a crash")))
	r.ok(one.Vacuum(ctx(), nil))
	r.same("values", v.values(r), 3)
	r.clock.forward(day + hour)
	r.ok(one.Vacuum(ctx(), nil))
	r.same("values a day later", v.values(r), 2)
	r.same("messages", len(one.history(l.Session)), 2)
}

func testLargeMissing(r *env) {
	one, v := r.node()
	l := one.held()
	m, _ := one.said(l, big('x'))
	misses := 2
	v.get = func(string) error {
		if misses--; misses >= 0 {
			return fs.ErrNotExist
		}
		return nil
	}
	r.same("message", must(one.Message(ctx(), l.Session, m.ID))(r), m)
	v.get = func(string) error { return fs.ErrNotExist }
	r.is(second(one.Message(ctx(), l.Session, m.ID)), lathe.Internal)
}

func testLargeDown(r *env) {
	one, v := r.node()
	l := one.held()
	m, _ := one.said(l, "Hello")
	large, _ := one.said(l, big('y'))
	for _, code := range []lathe.Code{lathe.Unavailable, lathe.Unauthorized, lathe.Invalid} {
		down := func(string) error { return lathe.Errorf(code, "the store of large values does not work") }
		v.put, v.get = down, down
		r.is(second(one.Message(ctx(), l.Session, large.ID)), lathe.Unavailable)
		_, err := one.Commit(ctx(), l, changed(one.text(m, big('x'))))
		r.is(err, lathe.Unavailable)
	}
	v.get = nil
	one.said(l, "small values need no other store")
	r.same("messages", len(one.history(l.Session)), 6)
}

// A reader of changes that waits for a value must not hold up the writer, which all sessions share.
func testLargeHangs(r *env) {
	published := &listener{}
	v := &valueStore{Blobs: store.NewFiles(filepath.Join(filepath.Dir(r.blobs), "bucket"))}
	here := r.again(store.Options{Large: v, Publish: published.publish, HasListeners: published.wanted})
	there, _ := r.node()
	mine, theirs := must(here.Acquire(ctx(), r.session()))(r), there.held()
	var hangs atomic.Bool
	hangs.Store(true)
	v.hang = func(ctx context.Context) {
		if hangs.Load() {
			<-ctx.Done() // never, without a limit
		}
	}
	there.said(theirs, big('x'))
	published.take()
	m := r.user(mine.Session)
	must(here.Commit(ctx(), mine, wrote(m)...))(r)
	r.same("messages", messageIDs(must(here.History(ctx(), mine.Session, lathe.Position{}, 0))(r).Messages), []lathe.MessageID{m.ID})
	hangs.Store(false)
	told := func() (ids []lathe.MessageID) {
		for _, e := range published.events() {
			if c, ok := e.Fact.(*lathe.MessageChanged); ok && !slices.Contains(ids, c.Info.ID) {
				ids = append(ids, c.Info.ID)
			}
		}
		return ids
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 { // it does not ask at once
		if err := here.Poll(ctx()); err == nil {
			break
		}
		<-tick.C
	}
	r.same("messages that were published, those of others first", told(), append(messageIDs(there.history(theirs.Session)), m.ID))
}

func testLargeFailedDelete(r *env) {
	one, v := r.node()
	l := one.held()
	one.said(l, big('x'))
	r.ok(one.Remove(ctx(), l.Session))
	r.ok(one.RemoveUnused(ctx()))
	r.clock.forward(day + hour)
	v.delete = func(string) error { return lathe.Errorf(lathe.Unavailable, "the store of large values is down") }
	r.is(one.RemoveUnused(ctx()), lathe.Unavailable)
	v.delete = nil
	r.ok(one.RemoveUnused(ctx()))
	r.same("values", v.values(r), 0)
}
