package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// few opens a store that keeps only three tombstones and three answered asks.
func few(t *testing.T) (*store.Store, store.Lease) {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	driver, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "lathe.db")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(ctx, driver, store.Options{Blobs: filepath.Join(dir, "blobs")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.KeepRows(3)
	if err := s.Create(ctx, lathe.Session{ID: "ses_1"}); err != nil {
		t.Fatal(err)
	}
	l, err := s.Acquire(ctx, "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	return s, l
}

func commit(t *testing.T, s *store.Store, l store.Lease, facts ...lathe.Fact) (last int64) {
	t.Helper()
	events, err := s.Commit(context.Background(), l, facts...)
	if err != nil {
		t.Fatal(err)
	}
	return events[len(events)-1].Seq
}

// floorIs checks what is kept, and that readers can resume from the floor and not below.
func floorIs(t *testing.T, s *store.Store, tombstones, floor int64) {
	t.Helper()
	ctx := context.Background()
	if err := s.Vacuum(ctx, nil); err != nil {
		t.Fatal(err)
	}
	st, err := s.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if st.Tombstones != tombstones || st.Floor != floor {
		t.Fatalf("%d tombstones above %d, want %d above %d", st.Tombstones, st.Floor, tombstones, floor)
	}
	for seq, resync := range map[int64]bool{floor: false, floor - 1: true} {
		res, err := s.Since(ctx, lathe.Cursor{Seq: seq}, lathe.Scope{}, func(lathe.Event) error { return nil })
		if err != nil || res.Resync != resync {
			t.Errorf("from %d: resync is %v (%v), want %v", seq, res.Resync, err, resync)
		}
	}
}

func TestTombstone_Limit(t *testing.T) {
	s, l := few(t)
	m := lathe.Message{ID: "msg_1", Data: &lathe.User{}}
	commit(t, s, l, &lathe.MessageChanged{Info: m})
	var numbers []int64
	for i := range 5 {
		id := lathe.PartID(fmt.Sprintf("prt_%d", i))
		commit(t, s, l, &lathe.PartChanged{Part: lathe.Part{ID: id, Message: m.ID, Body: &lathe.Text{Text: "x"}}})
		numbers = append(numbers, commit(t, s, l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: id}))
	}
	floorIs(t, s, 3, numbers[1])
	floorIs(t, s, 3, numbers[1]) // a second time drops nothing more
	numbers = append(numbers, commit(t, s, l, &lathe.MessageRemoved{Session: l.Session, Message: m.ID}))
	floorIs(t, s, 3, numbers[2])
}

func TestTombstone_AnsweredAsksAreCountedToo(t *testing.T) {
	s, l := few(t)
	var numbers []int64
	for i := range 5 {
		id := lathe.AskID(fmt.Sprintf("per_%d", i))
		commit(t, s, l, &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{ID: id, Session: l.Session}})
		if i < 4 {
			numbers = append(numbers, commit(t, s, l, &lathe.PermissionReplied{Session: l.Session, Request: id, Reply: lathe.Once}))
		}
	}
	floorIs(t, s, 0, numbers[0])
	asks, err := s.Asks(context.Background(), lathe.Scope{})
	if err != nil || len(asks) != 1 {
		t.Fatalf("%d asks wait (%v), want 1", len(asks), err)
	}
}
