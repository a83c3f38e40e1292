//go:build unix

package sqlite

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// searchChild writes messages with a word of their own until it is killed, and says the number of each that is saved. With a
// second argument it has no index: its messages are old data for the next one, which indexes them between its own.
func searchChild(args []string) error {
	ctx := context.Background()
	s, _, err := openAt(args[0], store.Options{Search: len(args) < 3})
	if err != nil {
		return err
	}
	ids := lathe.NewIDs()
	rec := newSession(ids, "/work")
	if err := s.Create(ctx, rec); err != nil {
		return err
	}
	lease, err := s.Acquire(ctx, rec.ID)
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(args[1])
	for i := first; err == nil; i++ {
		m := lathe.Message{ID: ids.Message(), Session: rec.ID, Created: lathe.Time(i + 1), Data: &lathe.User{Agent: "build"}}
		part := lathe.Part{ID: ids.Part(), Session: rec.ID, Message: m.ID, Body: &lathe.Text{Text: fmt.Sprintf("needle%d in the hay", i)}}
		if _, err = s.Commit(ctx, lease, &lathe.MessageChanged{Info: m}, &lathe.PartChanged{Part: part}); err == nil {
			err = say(strconv.Itoa(i))
		}
		if err == nil && i%5 == 4 && len(args) < 3 {
			_, _, err = store.IndexBatch(ctx, s)
		}
	}
	return err
}

// A process that is killed while it writes and indexes leaves an index that finds all saved messages: at once those of processes
// with the index, the others after the next batches.
func TestSearch_Killed(t *testing.T) {
	t.Parallel()
	dir, next := t.TempDir(), 0
	var indexed []int
	for round := range 6 {
		args := []string{dir, strconv.Itoa(next)}
		if round%3 == 1 {
			args = append(args, "off")
		}
		c := spawn(t, "search", args...)
		for range 7 + 6*round {
			line, err := c.line()
			if err != nil {
				t.Fatalf("%v\n%s", err, c.errors.String())
			}
			if next, err = strconv.Atoi(line); err != nil {
				t.Fatal(err)
			}
			if len(args) < 3 {
				indexed = append(indexed, next)
			}
		}
		c.kill()
		next += 100 // it may have saved some more before it was killed
		expectNeedles(t, dir, indexed, round)
	}
}

// expectNeedles expects the messages of processes with the index to be found, and after the batches that all is indexed.
func expectNeedles(t *testing.T, dir string, want []int, round int) {
	t.Helper()
	s, _, err := openAt(dir, store.Options{Search: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, n := range want {
		res, err := store.Search(t.Context(), s, lathe.SearchQuery{Text: fmt.Sprintf("needle%d", n)})
		if err != nil || len(res.Hits) != 1 {
			t.Fatalf("round %d: message %d: %d places, %v", round, n, len(res.Hits), err)
		}
	}
	if round%3 == 1 { // the next process indexes the messages of this one
		return
	}
	for more := true; more; {
		if more, _, err = store.IndexBatch(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	res, err := store.Search(t.Context(), s, lathe.SearchQuery{Text: "hay", Limit: 1})
	if err != nil || res.Indexed != 1 {
		t.Fatalf("round %d: indexed %v, %v", round, res.Indexed, err)
	}
	if found, err := s.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("round %d: the check found %q, %v", round, found, err)
	}
}
