package sqlite_test

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// searchMB is how much text the benchmark searches; 1024 is what docs/performance.md tells.
var searchMB = flag.Int("search.mb", 32, "megabytes of text to search")

// searchDir keeps the database of the benchmark, to measure again without writing it.
var searchDir = flag.String("search.dir", "", "folder of the database to search, made if it has none")

// realTexts returns outputs as tools have them: pieces of the source files of the Go installation, up to a number of bytes.
func realTexts(tb testing.TB, bytes int) (out []string) {
	tb.Helper()
	const piece = 8 << 10
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skipf("there are no source files of Go to search: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	size := 0
	for round := 0; size < bytes; round++ {
		before := size
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			text, err := os.ReadFile(path)
			for len(text) > 0 && size < bytes {
				n := min(piece, len(text))
				out, size, text = append(out, strings.ToValidUTF8(string(text[:n]), "")), size+n, text[n:]
			}
			if size >= bytes {
				return fs.SkipAll
			}
			return err
		})
		if err != nil || size == before {
			tb.Skipf("there are no source files of Go to search (%v)", err)
		}
	}
	return out
}

// sessionTexts is how many texts a session of fillTexts has.
const sessionTexts = 200

// fillTexts writes the texts as outputs of calls, ten to a message and 200 to a session, again and again up to a number of
// bytes. It returns how long that took.
func fillTexts(tb testing.TB, s *store.Store, texts []string, bytes int) time.Duration {
	tb.Helper()
	ctx, ids := context.Background(), lathe.NewIDs()
	var lease store.Lease
	var rec lathe.Session
	began := time.Now()
	for i := 0; bytes > 0; i += 10 {
		if i%sessionTexts == 0 {
			rec = lathe.Session{ID: ids.Session(), Slug: "x", Project: "prj", Directory: "/src", Title: "Search", Version: "0"}
			ok(tb, s.Create(ctx, rec))
			var err error
			lease, err = s.Acquire(ctx, rec.ID)
			ok(tb, err)
		}
		m := lathe.Message{ID: ids.Message(), Session: rec.ID, Created: lathe.Time(i + 1), Data: &lathe.Assistant{Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}}}
		facts := []lathe.Fact{&lathe.MessageChanged{Info: m}}
		for k := range 10 {
			text := texts[(i+k)%len(texts)]
			bytes -= len(text)
			call := &lathe.ToolCall{CallID: "c", Tool: "read", State: &lathe.Completed{Input: []byte(`{"path":"a.go"}`), Output: text, Start: 1, End: 2}}
			facts = append(facts, &lathe.PartChanged{Part: lathe.Part{ID: ids.Part(), Session: rec.ID, Message: m.ID, Body: call}})
		}
		_, err := s.Commit(ctx, lease, facts...)
		ok(tb, err)
	}
	return time.Since(began)
}

func openSearch(tb testing.TB, dir string, search bool) *store.Store {
	tb.Helper()
	s, err := sqlite.OpenStore(context.Background(), sqlite.Options{Path: filepath.Join(dir, "lathe.db")}, store.Options{Search: search})
	ok(tb, err)
	tb.Cleanup(func() { ok(tb, s.Close()) })
	return s
}

// BenchmarkSearch searches -search.mb of text for words, phrases and beginnings, common and rare ones.
func BenchmarkSearch(b *testing.B) {
	bytes, dir := *searchMB<<20, *searchDir
	if dir == "" {
		dir = b.TempDir()
	}
	_, err := os.Stat(filepath.Join(dir, "lathe.db"))
	s := openSearch(b, dir, true)
	if err != nil {
		took := fillTexts(b, s, realTexts(b, min(bytes, 48<<20)), bytes)
		b.Logf("%d MB of text written in %v, index %d MB", *searchMB, took.Round(time.Millisecond), indexBytes(b, dir)>>20)
	}
	for name, q := range map[string]lathe.SearchQuery{
		"common": {Text: "return"}, "rare": {Text: "zstd"}, "words": {Text: "mutex channel deadlock"}, "none": {Text: "xyzzyplugh"},
		"phrase": {Text: `"use of closed network connection"`}, "common-phrase": {Text: `"return the err"`}, "no-phrase": {Text: `"the return if"`},
		"beginning": {Text: "unmarsh*"}, "short-beginning": {Text: "re*"}, "two-beginnings": {Text: "re* st*"}, "typing": {Text: "if err co", Typing: true},
		"tool": {Text: "return", Tool: "read", Project: "prj", Model: "m-1"}, "since": {Text: "return", Since: 1 << 40},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := store.Search(context.Background(), s, q)
				ok(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
		})
	}
}

// The index takes at most a quarter of the text.
func TestSearch_Size(t *testing.T) {
	t.Parallel()
	const bytes = 6 << 20
	dir := t.TempDir()
	s := openSearch(t, dir, true)
	fillTexts(t, s, realTexts(t, bytes), bytes)
	if share := float64(indexBytes(t, dir)) / bytes; share > 0.25 || share == 0 {
		t.Errorf("the index takes %.0f %% of the text", 100*share)
	} else {
		t.Logf("the index takes %.1f %% of the text", 100*share)
	}
}

// indexBytes is the size of all pages of the index.
func indexBytes(tb testing.TB, dir string) (n int64) {
	tb.Helper()
	err := sqlite.Query(context.Background(), filepath.Join(dir, "lathe.db"), `SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'search%'`, func(_ []string, cells []sqlite.Cell) (err error) {
		n, err = strconv.ParseInt(cells[0].Text, 10, 64)
		return err
	})
	ok(tb, err)
	return n
}
