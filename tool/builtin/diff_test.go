package builtin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestChangeOf(t *testing.T) {
	head := "Index: f\n" + strings.Repeat("=", 67) + "\n--- f\n+++ f\n"
	tests := []struct {
		name, before, after string
		want                change
	}{
		{"nothing", "a\n", "a\n", change{head, 0, 0}},
		{"new file", "", "a\nb\n", change{head + "@@ -0,0 +1,2 @@\n+a\n+b\n", 2, 0}},
		{"emptied", "a\nb", "", change{head + "@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n", 0, 2}},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", change{head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", 1, 1}},
		{"final newline", "a", "a\n", change{head + "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n", 1, 1}},
		{
			"four lines around", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n", "1\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\n",
			change{head + "@@ -2,9 +2,9 @@\n 2\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n 10\n", 1, 1},
		},
		{"common indentation goes", "\t\ta\n\n\t\t\tb\n", "\t\ta\n\n\t\t\tc\n", change{head + "@@ -1,3 +1,3 @@\n a\n \n-\tb\n+\tc\n", 1, 1}},
		{"byte-order marks do not count", "\ufeffa\n", "a\n", change{head, 0, 0}},
		{"bytes that are no characters", "a\xff\n", "b\n", change{head + "@@ -1,1 +1,1 @@\n-a\ufffd\n+b\n", 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, changeOf("f", tt.before, tt.after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A diff, applied as any program would, makes the new text of the old one.
func TestChangeOf_Applies(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "d", "e\r"}), 0, 60).Draw(t, "lines")
		return strings.Join(lines, "\n")
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		if rapid.Bool().Draw(t, "near") { // most changes leave most of a file
			at := rapid.IntRange(0, len(before)).Draw(t, "at")
			after = before[:at] + rapid.SampledFrom([]string{"x", "x\ny\n", "\n"}).Draw(t, "new") + before[min(len(before), at+rapid.IntRange(0, 9).Draw(t, "gone")):]
		}
		got := changeOf("f", before, after)
		if back := applyDiff(t, before, got.Diff); back != after {
			t.Fatalf("%q becomes %q instead of %q by\n%s", before, back, after, got.Diff)
		}
		if added, removed := strings.Count(got.Diff, "\n+"), strings.Count(got.Diff, "\n-"); got.Additions != added-1 || got.Deletions != removed-1 {
			t.Fatalf("+%d -%d for\n%s", got.Additions, got.Deletions, got.Diff)
		}
	})
}

func applyDiff(t *rapid.T, before, diff string) string {
	old := splitLines(before)
	var out []string
	at := 0
	lines := strings.SplitAfter(strings.TrimSuffix(diff, "\n"), "\n")[4:]
	for i := 0; i < len(lines); {
		var from, gone, to, come int
		if _, err := fmt.Sscanf(lines[i], "@@ -%d,%d +%d,%d @@", &from, &gone, &to, &come); err != nil {
			t.Fatalf("%q: %v", lines[i], err)
		}
		if gone > 0 {
			from--
		}
		out = append(out, old[at:from]...)
		at = from
		if come > 0 && to != len(out)+1 {
			t.Fatalf("%q begins at line %d", lines[i], len(out)+1)
		}
		for i++; i < len(lines) && !strings.HasPrefix(lines[i], "@@"); i++ {
			text := strings.TrimSuffix(lines[i][1:], "\n") + "\n"
			if i+1 < len(lines) && lines[i+1][0] == '\\' {
				text = strings.TrimSuffix(text, "\n")
			}
			switch lines[i][0] {
			case ' ', '-':
				if old[at] != text {
					t.Fatalf("line %d is %q, not %q", at+1, old[at], text)
				}
				at++
				gone--
				if lines[i][0] == ' ' {
					out = append(out, text)
					come--
				}
			case '+':
				out = append(out, text)
				come--
			}
		}
		if gone != 0 || come != 0 {
			t.Fatalf("a hunk counts wrong: %d, %d\n%s", gone, come, diff)
		}
	}
	return strings.Join(append(out, old[at:]...), "")
}

// Many changes in a large file take no time to speak of.
func TestChangeOf_Large(t *testing.T) {
	var before, after strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&before, "this is line number %d of the file\n", i)
		if i%10 == 0 {
			fmt.Fprintf(&after, "and this is number %d\n", i)
		} else {
			fmt.Fprintf(&after, "this is line number %d of the file\n", i)
		}
	}
	start := time.Now()
	got := changeOf("f", before.String(), after.String())
	if took := time.Since(start); took > 5*time.Second || got.Additions != 10_000 || got.Deletions != 10_000 {
		t.Errorf("+%d -%d in %v", got.Additions, got.Deletions, took)
	}
}
