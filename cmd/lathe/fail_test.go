package main

import (
	"slices"
	"testing"

	"github.com/lathe-agent/lathe/cli"
)

// Errors are joined on one line; what they show of a file stands below it as it is, with the mark under its place.
func TestFail_ShowsThePlace(t *testing.T) {
	said, excerpt := cli.SplitExcerpt("f.json:1:4: no\n  {\"\x1bx\"}\n    ^\nand more")
	if want := "f.json:1:4: no; and more"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
	if want := []string{"  {\"␛x\"}", "    ^"}; !slices.Equal(excerpt, want) {
		t.Errorf("%q, want %q", excerpt, want)
	}
}
