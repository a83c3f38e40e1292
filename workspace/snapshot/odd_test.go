package snapshot

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// A name need not be text.
func TestFrame_Names(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	names := []string{"\xff\xfe", "base64:x", "new\nline", " ", "-", ":(top)x", "é", "e\u0301", "\\"}
	for _, name := range names {
		if os.WriteFile(b.path(name), []byte("1"), 0o644) != nil {
			t.Skipf("this file system has no %q", name)
		}
	}
	before := b.files()
	st := b.step()
	b.tool(st, names[0], func() { b.write(names[0], "2") })
	b.command(st, func() {
		for _, name := range names[1:] {
			b.write(name, "2")
		}
	})
	p := must2(st.End(t.Context()))(t)
	if len(p.Files) != len(names) {
		t.Errorf("files %q", p.Files)
	}
	b.undo("ses", StepRef{Key: st.key})
	if got := b.files(); !maps.Equal(got, before) {
		t.Errorf("after undo %q", got)
	}
	b.redo("ses")
	if got := b.files()[names[0]]; got != "2" {
		t.Errorf("after redo %q", got)
	}
}

// In a user's home our own files are not part of the project.
func TestFrame_OwnFiles(t *testing.T) {
	dir := gittest.RealTemp(t)
	b := &bench{t: t, dir: dir}
	b.write(".data/lathe/other.db", "1\n")
	b.open(filepath.Join(dir, ".data", "lathe", "snapshot"))
	st := b.step()
	b.command(st, func() {
		b.write(".data/lathe/other.db", "2\n")
		b.write("f", "2\n")
	})
	if got := b.rels(b.end(st).Files); !slices.Equal(got, []string{"f"}) {
		t.Errorf("files %q", got)
	}
}

// A tree that is too large is refused once, not read again and again.
func TestFrame_TooMuch(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.store.o.MaxBytes = 1000
	b.write("f", strings.Repeat("x", 2000))
	st := b.step()
	_, err := st.BeginCommand(t.Context())
	if !errors.Is(err, errTooMuch) {
		t.Fatalf("error %v", err)
	}
	b.remove("f")
	if _, again := st.BeginCommand(t.Context()); !errors.Is(again, errTooMuch) {
		t.Errorf("it was tried again: %v", again)
	}
	b.tool(st, "g", func() { b.write("g", "tools still work\n") })
	if got := b.rels(b.end(st).Files); !slices.Equal(got, []string{"g"}) {
		t.Errorf("files %q", got)
	}
}
