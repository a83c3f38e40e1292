package diff_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"github.com/lathe-agent/lathe/tui/diff"
)

// A patch with whole files is cut to the lines around its changes, and still says the same.
func TestNarrow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString([]string{"a\n", "b\n", "--- c\n", "+++ d\n", "@@ x\n", "\n", "\\ no\n"}[random.IntN(7)])
		}
		return b.String() + []string{"", "end"}[random.IntN(2)]
	}
	for range 2000 {
		before, after, context := "first\n"+text(), "first\n"+text(), random.IntN(6)
		edits := udiff.Lines(before, after)
		whole, err := udiff.ToUnified("f", "f", before, edits, 100)
		if err != nil {
			t.Fatal(err)
		}
		lines := diff.Narrow(whole, context)
		if got, want := changesIn(strings.Join(lines, "\n")), changesIn(whole); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		if run := longestEqual(lines); run > 2*context {
			t.Fatalf("%d lines in a row that did not change, with a context of %d", run, context)
		}
	}
}

// longestEqual is the longest run of lines that did not change within a hunk.
func longestEqual(lines []string) (most int) {
	run := 0
	for _, l := range lines {
		if run++; !strings.HasPrefix(l, " ") {
			run = 0
		}
		most = max(most, run)
	}
	return most
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@$`)

// changesIn lists the hunks of a patch by where their changed lines stand.
func changesIn(patch string) string {
	var out []string
	old, now := 0, 0
	body := false
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		if head := hunkHead.FindStringSubmatch(line); head != nil {
			old, _ = strconv.Atoi(head[1])
			now, _ = strconv.Atoi(head[2])
			body = true
			continue
		}
		if !body || strings.HasPrefix(line, `\`) {
			continue
		}
		switch {
		case strings.HasPrefix(line, "-"):
			out = append(out, fmt.Sprintf("%d-%s", old, line))
			old++
		case strings.HasPrefix(line, "+"):
			out = append(out, fmt.Sprintf("%d+%s", now, line))
			now++
		default:
			old, now = old+1, now+1
		}
	}
	return strings.Join(out, "\n")
}
