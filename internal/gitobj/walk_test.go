package gitobj

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An index that is too large for memory is searched in its file.
func TestIndex_InFile(t *testing.T) {
	git := newGit(t)
	for _, version := range []string{"1", "2"} {
		dir := git.repo("sha1")
		git.load(dir, history(rand.New(rand.NewPCG(31, 32)), 50), false)
		git.Run(dir, "-c", "pack.indexVersion="+version, "repack", "-adfq")
		r := open(t, dir, dir)
		budget := int64(0)
		p, err := r.openPack(r.packs[0].path, &budget)
		if err != nil || p.indexFile == nil || p.index.data != nil {
			t.Fatalf("%+v, %v", p, err)
		}
		if err := r.packs[0].close(); err != nil {
			t.Fatal(err)
		}
		r.packs[0] = p
		agreeObjects(t, git, dir, r)
		if _, _, err := r.Object(numbered(7)); !errors.Is(err, ErrMissing) {
			t.Errorf("an object that is not there: %v", err)
		}
	}
}

func TestRoots_Damage(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	first := commit(t, git, dir, "")
	second := commit(t, git, dir, first)
	tree := git.Run(dir, "rev-parse", first+"^{tree}")
	for _, c := range []struct {
		name, id string
		want     error
	}{
		{"sound", second, nil},
		{"parent that is not there", commit(t, git, dir, strings.Repeat("1", 40)), ErrMissing},
		{"parent that is a tree", commit(t, git, dir, tree), ErrCorrupt},
		{"parent that is no id", rawCommit(t, git, dir, "tree "+tree+"\nparent xyz\n\nx"), nil},
		{"no tree", rawCommit(t, git, dir, "hello\n"), ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, err := ParseID(c.id)
			if err != nil {
				t.Fatal(err)
			}
			r := open(t, dir, dir)
			if _, err := r.Roots(t.Context(), []Ref{{ID: id}}); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
	// A ref to something else than a commit has no roots.
	for _, name := range []string{tree, strings.Repeat("1", 40)} {
		id, err := ParseID(name)
		if err != nil {
			t.Fatal(err)
		}
		r := open(t, dir, dir)
		if got, err := r.Roots(t.Context(), []Ref{{ID: id}}); err != nil || len(got) > 0 {
			t.Errorf("roots %v, %v", got, err)
		}
	}
}

// commit makes a commit without files, whatever its parent is.
func commit(t *testing.T, git gitRunner, dir, parent string) string {
	t.Helper()
	tree, err := git.Pipe(dir, nil, "mktree")
	if err != nil {
		t.Fatal(err)
	}
	text := "tree " + tree
	if parent != "" {
		text += "parent " + parent + "\n"
	}
	return rawCommit(t, git, dir, text+"author A <a> 1 +0000\ncommitter A <a> 2 +0000\n\nx\n")
}

// rawCommit writes a commit that git would not make.
func rawCommit(t *testing.T, git gitRunner, dir, text string) string {
	t.Helper()
	out, err := git.Pipe(dir, []byte(text), "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func TestRepo_Canceled(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	git.load(dir, history(rand.New(rand.NewPCG(33, 34)), 20), false)
	r := open(t, dir, dir)
	refs, err := r.Refs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user left")
	cancel(why)
	if _, err := r.Refs(ctx); !errors.Is(err, why) {
		t.Errorf("Refs: %v", err)
	}
	if _, err := r.Roots(ctx, refs); !errors.Is(err, why) {
		t.Errorf("Roots: %v", err)
	}
}

func TestBaseCache_Bounded(t *testing.T) {
	c, p := newBaseCache(), &pack{}
	for i := range int64(100) {
		c.put(p, i, BlobKind, make([]byte, 1<<20))
		c.put(p, i, BlobKind, nil) // known already
	}
	c.put(p, 1000, BlobKind, make([]byte, maxCache/2)) // would drive out too much
	if c.bytes > maxCache || len(c.items) != c.order.Len() || len(c.items) < 10 {
		t.Errorf("%d bytes in %d items", c.bytes, len(c.items))
	}
	if _, data, ok := c.get(p, 99); !ok || len(data) != 1<<20 {
		t.Error("the last one is gone")
	}
	for _, off := range []int64{0, 1000} {
		if _, _, ok := c.get(p, off); ok {
			t.Errorf("%d is still there", off)
		}
	}
}

// The data of an object is the caller's, also where it serves as a base for others.
func TestObject_NotShared(t *testing.T) {
	whole := delta(5, 5, 0x90, 5)
	p := packed(t, object(3, 5, nil, []byte("hello")), object(7, len(whole), numbered(1).bytes(), whole))
	r := &Repo{hash: sha1Size, packs: []*pack{p}, cache: newBaseCache()}
	r.pool.New = func() any { return &inflater{} }
	for range 3 {
		for n := 1; n <= 2; n++ {
			_, data, err := r.Object(numbered(n))
			if err != nil || !bytes.Equal(data, []byte("hello")) {
				t.Fatalf("%q, %v", data, err)
			}
			clear(data)
		}
	}
}

func TestOpen_Missing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nowhere")
	r, err := Open(dir, dir)
	if err != nil {
		t.Fatal(err) // an empty repository: what is not there is missing when asked for
	}
	if _, err := r.Head(); !errors.Is(err, ErrMissing) {
		t.Errorf("HEAD of nothing: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "config"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, dir); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder for a configuration: %v", err)
	}
}
