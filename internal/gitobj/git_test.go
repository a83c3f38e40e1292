package gitobj

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// gitRunner runs the real git, which is the judge here.
type gitRunner struct{ gittest.Git }

func newGit(t testing.TB) gitRunner {
	t.Helper()
	return gitRunner{gittest.New(t, "GIT_NO_REPLACE_OBJECTS=1")}
}

// repo makes a bare repository, whose git directory is the folder itself.
func (g gitRunner) repo(format string) string {
	g.Helper()
	dir := filepath.Join(gittest.RealTemp(g), "repo.git")
	if _, err := g.Try(filepath.Dir(dir), "init", "-q", "--bare", "-b", "main", "--object-format="+format, dir); err != nil {
		g.Skip("this git knows no "+format+": ", err)
	}
	return dir
}

// load feeds a stream to git fast-import. Few objects stay loose, many become a pack.
func (g gitRunner) load(dir string, stream []byte, loose bool) {
	g.Helper()
	limit := "1"
	if loose {
		limit = "100000000"
	}
	if _, err := g.Pipe(dir, stream, "-c", "fastimport.unpackLimit="+limit, "-c", "core.fsync=none", "fast-import", "--quiet", "--force"); err != nil {
		g.Fatal(err)
	}
}

// history writes a random history for git fast-import: branches, merges, several roots,
// files that change a little from one commit to the next.
func history(rng *rand.Rand, commits int) []byte {
	var b bytes.Buffer
	text := make([][]string, 4)
	for i := range text {
		for range 40 + rng.IntN(200) {
			text[i] = append(text[i], fmt.Sprintf("line %d of the beginning\n", rng.IntN(1000)))
		}
	}
	for mark := 1; mark <= commits; mark++ {
		branch := fmt.Sprintf("refs/heads/b%d", rng.IntN(6))
		if mark == 1 {
			branch = "refs/heads/main"
		}
		message := strings.Repeat(fmt.Sprintf("commit %d\n", mark), 1+rng.IntN(4))
		fmt.Fprintf(&b, "reset %s\ncommit %s\nmark :%d\ncommitter C <c@example.org> %d +0200\ndata %d\n%s\n", branch, branch, mark, 1_700_000_000+mark*60, len(message), message)
		if mark > 1 && rng.IntN(20) > 0 {
			fmt.Fprintf(&b, "from :%d\n", max(1, mark-1-rng.IntN(min(mark, 5))))
			for range rng.IntN(6) - 3 {
				fmt.Fprintf(&b, "merge :%d\n", 1+rng.IntN(mark-1))
			}
		}
		file := rng.IntN(len(text))
		text[file][rng.IntN(len(text[file]))] = fmt.Sprintf("line %d, changed by %d\n", rng.IntN(1000), mark)
		content := strings.Join(text[file], "")
		fmt.Fprintf(&b, "M 100644 inline dir/%d/file%d\ndata %d\n%s\n", file%2, file, len(content), content)
		if rng.IntN(10) == 0 {
			fmt.Fprintf(&b, "tag v%d\nfrom :%d\ntagger T <t@example.org> %d +0000\ndata 4\ntag\n\n", mark, mark, 1_700_000_000+mark)
		}
		if rng.IntN(15) == 0 {
			fmt.Fprintf(&b, "reset refs/remotes/origin/r%d\nfrom :%d\n\n", mark, mark)
		}
	}
	return b.Bytes()
}

func open(t testing.TB, gitDir, commonDir string) *Repo {
	t.Helper()
	r, err := Open(gitDir, commonDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// agree compares all that can be read of a repository with what git reads. The checkout is
// where git is asked.
func agree(t *testing.T, git gitRunner, checkout, gitDir, commonDir string) {
	t.Helper()
	r := open(t, gitDir, commonDir)
	agreeObjects(t, git, checkout, r)
	agreeCommits(t, git, checkout, r)
	agreeRefs(t, git, checkout, r)
	agreeRoots(t, git, checkout, r)
}

func agreeObjects(t *testing.T, git gitRunner, checkout string, r *Repo) {
	t.Helper()
	out, err := git.Try(checkout, "cat-file", "--batch-all-objects", "--batch")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for out != "" {
		head, rest, _ := strings.Cut(out, "\n")
		var name, kind string
		var size int
		if _, err := fmt.Sscan(head, &name, &kind, &size); err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		id, err := ParseID(name)
		if err != nil {
			t.Fatal(err)
		}
		gotKind, data, err := r.Object(id)
		if err != nil || gotKind.String() != kind || string(data) != rest[:size] {
			t.Fatalf("%s: got a %s of %d bytes, %v; want a %s of %d", name, gotKind, len(data), err, kind, size)
		}
		out = rest[size+1:]
		count++
	}
	if count == 0 {
		t.Error("there was nothing to compare")
	}
}

func agreeCommits(t *testing.T, git gitRunner, checkout string, r *Repo) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(r.common, "shallow")); err == nil {
		return // git shows no parents there
	}
	for line := range strings.Lines(git.Run(checkout, "log", "--all", "--format=%H %P")) {
		f := strings.Fields(line)
		id, err := ParseID(f[0])
		if err != nil {
			t.Fatal(err)
		}
		_, data, err := r.Object(id)
		if err != nil {
			t.Fatal(err)
		}
		parents, err := parseCommit(data, r.hash)
		got := []string{id.String()}
		for _, p := range parents {
			got = append(got, p.String())
		}
		if err != nil || !slices.Equal(got, f) {
			t.Fatalf("commit %q, %v; want %q", got, err, f)
		}
	}
}

func agreeRefs(t *testing.T, git gitRunner, checkout string, r *Repo) {
	t.Helper()
	refs, err := r.Refs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, ref := range refs {
		if strings.HasPrefix(ref.Name, "refs/") {
			got = append(got, ref.Name+" "+ref.ID.String()+" "+ref.Target)
		}
	}
	slices.Sort(got)
	var want []string
	for line := range strings.Lines(git.Run(checkout, "for-each-ref", "--format=%(refname) %(objectname) %(symref)")) {
		want = append(want, strings.TrimRight(line, "\n"))
	}
	for i := range want {
		if strings.Count(want[i], " ") == 1 {
			want[i] += " " // the last line was trimmed
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("refs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	head, err := r.Head()
	if err != nil {
		t.Fatal(err)
	}
	symbolic, _ := git.Try(checkout, "symbolic-ref", "HEAD")
	hash, _ := git.Try(checkout, "rev-parse", "--verify", "--quiet", "HEAD^{}")
	if strings.TrimSpace(symbolic) != head.Target || strings.TrimSpace(hash) != head.ID.String() {
		t.Errorf("HEAD %+v, want %s %s", head, symbolic, hash)
	}
}

func agreeRoots(t *testing.T, git gitRunner, checkout string, r *Repo) {
	t.Helper()
	refs, err := r.Refs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	roots, err := r.Roots(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, id := range roots {
		got = append(got, id.String())
	}
	want := strings.Fields(git.Run(checkout, "rev-list", "--max-parents=0", "--all"))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("roots %q, want %q", got, want)
	}
}
