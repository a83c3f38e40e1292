package gitobj

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// longHistory is a repository of so many commits in one pack, with branches and merges.
func longHistory(t testing.TB, commits int) (git gitRunner, dir string) {
	git = newGit(t)
	dir = git.repo("sha1")
	var b bytes.Buffer
	rng := rand.New(rand.NewPCG(1, 1))
	for mark := 1; mark <= commits; mark++ {
		message := fmt.Sprintf("package: do thing %d\n\nBecause of %d things that were %d before and need words.\n", rng.IntN(1e6), rng.IntN(1e6), rng.IntN(1e6))
		fmt.Fprintf(&b, "commit refs/heads/main\nmark :%d\nauthor Somebody Else <somebody@example.org> %d +0100\ncommitter C <c@example.org> %d +0200\ndata %d\n%s\n",
			mark, 1_600_000_000+mark*600, 1_600_000_000+mark*601, len(message), message)
		if mark > 10 && mark%10 == 0 {
			fmt.Fprintf(&b, "merge :%d\n", mark-2-rng.IntN(8))
		}
		fmt.Fprintf(&b, "M 100644 inline f%d\ndata %d\n%s\n", mark%50, len(message), message)
	}
	git.load(dir, b.Bytes(), false)
	return git, dir
}

func BenchmarkRoots(b *testing.B) {
	_, dir := longHistory(b, 50_000)
	b.ReportAllocs()
	for b.Loop() {
		r := open(b, dir, dir)
		refs, err := r.Refs(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		roots, err := r.Roots(b.Context(), refs)
		if err != nil || len(roots) != 1 {
			b.Fatalf("roots %v, %v", roots, err)
		}
	}
}

func BenchmarkObject(b *testing.B) {
	git, dir := longHistory(b, 2_000)
	git.Run(dir, "repack", "-adfq", "--depth=50")
	var ids []ID
	for name := range bytes.SplitSeq([]byte(git.Run(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")), []byte("\n")) {
		id, ok := parseHex(name)
		if !ok {
			b.Fatalf("%q", name)
		}
		ids = append(ids, id)
	}
	r := open(b, dir, dir)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, _, err := r.Object(ids[i%len(ids)]); err != nil {
			b.Fatal(err)
		}
	}
}
