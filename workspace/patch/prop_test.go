package patch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/workspace/patch"
	"pgregory.net/rapid"
)

// text draws a content with few different lines, so that much of it repeats.
func text(t *rapid.T, label string) string {
	line := rapid.SampledFrom([]string{"", "a", "b", "  a", "\ta = 1", "a = 1", "}", "\t}", "say(\"x  y\")", `\n`, "é “q”", "x\r"})
	ending := rapid.SampledFrom([]string{"\n", "\n", "\r\n"})
	var out strings.Builder
	for range rapid.IntRange(0, 12).Draw(t, label+" lines") {
		out.WriteString(line.Draw(t, label) + ending.Draw(t, label+" ending"))
	}
	if rapid.Bool().Draw(t, label+" tail") {
		out.WriteString(line.Draw(t, label))
	}
	return out.String()
}

// TestReplace_Unique changes exactly the one place where the old text is.
func TestReplace_Unique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := strings.ReplaceAll(text(t, "content"), "\r", "")
		if content == "" {
			t.Skip("nothing to replace")
		}
		from := rapid.IntRange(0, len(content)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(content)).Draw(t, "to")
		old := content[from:to]
		put := strings.ReplaceAll(rapid.OneOf(rapid.Just(""), rapid.StringN(0, 20, -1)).Draw(t, "new"), "\r", "")
		if old == put || strings.Index(content, old) != strings.LastIndex(content, old) {
			t.Skip("not unique")
		}
		got, err := patch.Replace(content, old, put, rapid.Bool().Draw(t, "all"))
		if err != nil || got.Matcher != patch.Exact || got.Content != content[:from]+put+content[to:] {
			t.Fatalf("%q → %v, %v", old, got, err)
		}
	})
}

// TestReplace_Outside leaves everything but the place it names as it was, however it was found.
func TestReplace_Outside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content, old, put := text(t, "content"), text(t, "old"), text(t, "new")
		got, err := patch.Replace(content, old, put, false)
		if err != nil {
			if r := new(patch.Refusal); !asRefusal(err, &r) || r.Text == "" {
				t.Fatal(err)
			}
			return
		}
		was := got.Passages[0].Old
		before, after, found := strings.Cut(plain(content), was)
		if !found || got.Count != 1 || len(got.Passages) != 1 {
			t.Fatalf("%+v", got)
		}
		if strings.Count(plain(content), was) > 1 { // then the line decides
			lines := strings.SplitAfter(plain(content), "\n")
			head := strings.Join(lines[:got.Passages[0].Line-1], "")
			at := len(head) + strings.Index(plain(content)[len(head):], was)
			before, after = plain(content)[:at], plain(content)[at+len(was):]
		}
		if !strings.HasPrefix(plain(got.Content), before) || !strings.HasSuffix(plain(got.Content), after) {
			t.Fatalf("by %s: %q became %q; was %q", got.Matcher, content, got.Content, was)
		}
	})
}

func plain(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func asRefusal(err error, r **patch.Refusal) bool {
	var ok bool
	*r, ok = err.(*patch.Refusal)
	return ok
}

// lines draws a list of lines; few kinds of them if they may repeat.
func lines(t *rapid.T, label string, repeat bool) []string {
	n := rapid.IntRange(0, 15).Draw(t, label)
	out := make([]string, n)
	for i := range out {
		if repeat {
			out[i] = rapid.SampledFrom([]string{"", "a", "b", " a", "}", "*** x", "-a", "@@"}).Draw(t, "line")
		} else {
			out[i] = fmt.Sprintf("%sline %d of %s", strings.Repeat("\t", i%3), i, label)
		}
	}
	return out
}

// diffPatch makes a patch that turns one list of lines into another, by the longest common lines,
// with three lines of context.
func diffPatch(before, after []string) string {
	type op struct {
		sign byte
		text string
	}
	common := make([][]int, len(before)+1)
	for i := range common {
		common[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if before[i] == after[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var ops []op
	for i, j := 0, 0; i < len(before) || j < len(after); {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			ops = append(ops, op{' ', before[i]})
			i, j = i+1, j+1
		case j == len(after) || i < len(before) && common[i+1][j] >= common[i][j+1]:
			ops = append(ops, op{'-', before[i]})
			i++
		default:
			ops = append(ops, op{'+', after[j]})
			j++
		}
	}
	near := func(k int) bool {
		return slices.ContainsFunc(ops[max(0, k-3):min(len(ops), k+4)], func(o op) bool { return o.sign != ' ' })
	}
	var out strings.Builder
	open := false
	for k, o := range ops {
		if !near(k) {
			open = false
			continue
		}
		if !open {
			out.WriteString("@@\n")
			open = true
		}
		out.WriteString(string(o.sign) + o.text + "\n")
	}
	return out.String()
}

// TestApply_Diff applies the difference of two texts to the first, which gives the second. Where
// lines repeat it may be refused, but is never another.
func TestApply_Diff(t *testing.T) {
	for _, repeat := range []bool{false, true} {
		t.Run(fmt.Sprintf("repeat=%v", repeat), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				before := lines(t, "before", repeat)
				after := slices.Clone(before)
				for range rapid.IntRange(1, 4).Draw(t, "changes") {
					at := rapid.IntRange(0, len(after)).Draw(t, "at")
					switch {
					case at < len(after) && rapid.Bool().Draw(t, "remove"):
						after = slices.Delete(after, at, at+1)
					default:
						after = slices.Insert(after, at, rapid.SampledFrom([]string{"new", "", "+", "other"}).Draw(t, "new"))
					}
				}
				hunks := diffPatch(before, after)
				if hunks == "" {
					t.Skip("no change")
				}
				join := func(list []string) string {
					if len(list) == 0 {
						return ""
					}
					return strings.Join(list, "\n") + "\n"
				}
				got, err := apply(tree{"f": join(before)}, "*** Update File: f\n"+hunks)
				if err != nil {
					if r := new(patch.Refusal); !repeat || !asRefusal(err, &r) || r.Reason == patch.Syntax {
						t.Fatalf("%s\n%v", hunks, err)
					}
					return
				}
				if got[0].After != join(after) {
					t.Fatalf("%q\n%s\ngave %q, not %q", join(before), hunks, got[0].After, join(after))
				}
			})
		})
	}
}

// TestApply_Nothing gives no changes at all where one section fails.
func TestApply_Nothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := tree{"a": "1\n2\n", "b": "3\n"}
		sections := []string{"*** Add File: c\n+4\n", "*** Delete File: b\n", "*** Update File: a\n@@\n-1\n+x\n"}
		bad := rapid.SampledFrom([]string{"*** Update File: a\n@@\n-none\n", "*** Delete File: none\n", "*** Update File: a\n*** Move to: b\n"}).Draw(t, "bad")
		at := rapid.IntRange(0, 1).Draw(t, "at")
		got, err := apply(files, strings.Join(slices.Insert(sections, at, bad), ""))
		if err == nil || got != nil {
			t.Fatalf("%v, %v", got, err)
		}
	})
}
