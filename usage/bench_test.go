package usage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/usage"
)

// BenchmarkWalk counts 10,000 messages of a hundred sessions, two calls with four kilobytes of
// output in each answer: about a hundred megabytes on disk.
func BenchmarkWalk(b *testing.B) {
	ctx := context.Background()
	dir := b.TempDir()
	driver, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "lathe.db")})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(ctx, driver, store.Options{Blobs: filepath.Join(dir, "blobs")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for i := range 100 {
		fill(b, s, lathe.SessionID(fmt.Sprintf("ses_%03d", i)))
	}
	for _, harness := range []bool{false, true} {
		b.Run(fmt.Sprintf("harness=%v", harness), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t := usage.NewCounter(time.UTC, harness)
				err := s.Walk(ctx, lathe.Query{}, 0, func(rec lathe.Session, m lathe.Message) error {
					t.Add(rec, m)
					return nil
				})
				if got := t.Stats().Messages; err != nil || got != 10_000 {
					b.Fatal(got, err)
				}
			}
		})
	}
}

func fill(b *testing.B, s *store.Store, id lathe.SessionID) {
	b.Helper()
	ctx := context.Background()
	if err := s.Create(ctx, lathe.Session{ID: id, Project: "prj", Directory: "/w", Created: 1, Updated: 1}); err != nil {
		b.Fatal(err)
	}
	l, err := s.Acquire(ctx, id)
	if err != nil {
		b.Fatal(err)
	}
	var facts []lathe.Fact
	output := strings.Repeat("a line of output\n", 4096/17)
	for i := range 100 {
		m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%s_%03d", id, i)), Session: id, Created: lathe.Time(i + 1), Data: &lathe.User{}}
		bodies := []lathe.Body{text("do it")}
		if i%10 > 0 {
			m.Data = &lathe.Assistant{Model: lathe.ModelRef{Provider: "acme", Model: "big"}, Finish: "tool-calls"}
			input := json.RawMessage(fmt.Sprintf(`{"filePath":"/w/%d.go","command":"go test ./..."}`, i%7))
			bodies = append(bodies, called("read", string(input), output, `{"truncated":false}`), called("bash", string(input), output, `{"exit":0}`), used(0.01, 10, 1000, 10))
		}
		facts = append(facts, &lathe.MessageChanged{Info: m})
		for j, body := range bodies {
			facts = append(facts, &lathe.PartChanged{Part: lathe.Part{ID: lathe.PartID(fmt.Sprintf("prt_%s_%d", m.ID, j)), Session: id, Message: m.ID, Body: body}})
		}
	}
	if _, err := s.Commit(ctx, l, facts...); err != nil {
		b.Fatal(err)
	}
}
