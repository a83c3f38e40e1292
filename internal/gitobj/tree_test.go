package gitobj

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The files of a commit are those that git lists.
func TestRepo_Files(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	for _, format := range []string{"sha1", "sha256"} {
		for _, loose := range []bool{true, false} {
			dir := g.repo(format)
			g.load(dir, history(rand.New(rand.NewPCG(1, 2)), 30), loose)
			r, err := Open(dir, dir)
			if err != nil {
				t.Fatal(err)
			}
			id, err := ParseID(strings.TrimSpace(g.Run(dir, "rev-parse", "main")))
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Files(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, f := range got {
				lines = append(lines, f.ID.String()+" "+f.Path)
			}
			want := strings.Split(strings.TrimSpace(g.Run(dir, "ls-tree", "-r", "--format=%(objectname) %(path)", "main")), "\n")
			if !slices.Equal(lines, want) {
				t.Errorf("%s: got %q, want %q", format, lines, want)
			}
			_ = r.Close()
		}
	}
}

// entryOf is an entry of a tree.
func entryOf(mode, name string) []byte {
	return append([]byte(mode+" "+name+"\x00"), bytes.Repeat([]byte{7}, sha1Size)...)
}

// Entries that lead elsewhere or are damaged are refused.
func TestCutEntry_Hostile(t *testing.T) {
	for name, data := range map[string][]byte{
		"no mode": []byte("name\x00" + strings.Repeat("x", 20)), "short id": []byte("100644 a\x00short"), "no end": []byte("100644 a"),
		"no name": entryOf("100644", ""), "octal": entryOf("9", "a"),
	} {
		if _, _, err := cutEntry(data, sha1Size); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	f, rest, err := cutEntry(append(entryOf("100755", "a b"), 1), sha1Size)
	if err != nil || f.Path != "a b" || f.Mode != ModeExec || len(rest) != 1 {
		t.Errorf("got %+v, %d, %v", f, len(rest), err)
	}
}

func FuzzCutEntry(f *testing.F) {
	f.Add(entryOf("40000", "dir"))
	f.Add([]byte("100644 a\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for len(data) > 0 {
			_, rest, err := cutEntry(data, sha1Size)
			if err != nil {
				return
			}
			if len(rest) >= len(data) {
				t.Fatal("no progress")
			}
			data = rest
		}
	})
}

// store writes an object and returns its id.
func (g gitRunner) store(dir, content string, args ...string) string {
	g.Helper()
	out, err := g.Pipe(dir, []byte(content), args...)
	if err != nil {
		g.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// A commit whose tree names the parent folder, git's folder, or a name twice has no files.
func TestRepo_FilesHostile(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	dir := g.repo("sha1")
	blob := g.store(dir, "x", "hash-object", "-w", "--stdin")
	id, _ := parseHex([]byte(blob))
	entry := func(mode, name string) string { return mode + " " + name + "\x00" + string(id.bytes()) }
	for name, tree := range map[string]string{
		"parent": entry("100644", ".."), "git": entry("100644", ".GIT"), "slash": entry("100644", "a/b"), "twice": entry("120000", "a") + entry("40000", "a"),
	} {
		treeID := g.store(dir, tree, "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
		commit := g.store(dir, "tree "+treeID+"\nauthor a <b> 0 +0000\ncommitter a <b> 0 +0000\n\nx\n", "hash-object", "-w", "-t", "commit", "--literally", "--stdin")
		r, err := Open(dir, dir)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := ParseID(commit)
		if files, err := r.Files(context.Background(), at); err == nil {
			t.Errorf("%s: got %v", name, files)
		}
		_ = r.Close()
	}
}
