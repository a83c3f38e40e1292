package git_test

import (
	"fmt"
	"testing"

	"github.com/lathe-agent/lathe/workspace/git"
)

// A project of 2,000 files of which three have changed.
func BenchmarkDiff(b *testing.B) {
	c := begin(b)
	for i := range 2000 {
		c.write(fmt.Sprintf("d%02d/f%04d", i%50, i), fmt.Sprintf("line %d\n", i))
	}
	c.commit()
	for i := range 3 {
		c.write(fmt.Sprintf("d%02d/f%04d", i%50, i), "changed\n")
	}
	at := c.at("")
	b.Run("diff", func(b *testing.B) {
		for b.Loop() {
			if all, err := c.git.Diff(b.Context(), at, git.DiffOptions{Context: 3}); err != nil || len(all) != 3 {
				b.Fatal(all, err)
			}
		}
	})
	b.Run("branch", func(b *testing.B) {
		for b.Loop() {
			if git.Branch(at) != "main" {
				b.Fatal("another branch")
			}
		}
	})
}
