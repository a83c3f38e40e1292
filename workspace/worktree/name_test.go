package worktree_test

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/workspace/worktree"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"parser": true, "try-1": true, "A.b_c": true, "7": true, strings.Repeat("x", 64): true,
		"": false, ".": false, "..": false, "a..b": false, "a/b": false, `a\b`: false, "-x": false, "_x": false, ".x": false, "x.": false, "x.LOCK": false,
		"é": false, "a b": false, "a\x00": false, "a\n": false, strings.Repeat("x", 65): false,
	} {
		if err := worktree.CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
