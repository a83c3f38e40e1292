package patch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe/workspace/patch"
)

// TestReplace_Matchers has at least one find of each matcher, and what is put in.
func TestReplace_Matchers(t *testing.T) {
	const goFile = "package a\n\nfunc f() {\n\tx := 1\n\ty := 2\n\treturn x + y\n}\n"
	tests := []struct {
		name, content, old, new string
		want                    string
		how                     patch.Matcher
	}{
		{"exact", goFile, "x := 1", "x := 3", strings.Replace(goFile, "x := 1", "x := 3", 1), patch.Exact},
		{"exact over lines", "a\nb\nc\n", "a\nb", "z", "z\nc\n", patch.Exact},
		{"exact, regular expression signs", "a.*b$1\n", "a.*b$1", "$&\\1", "$&\\1\n", patch.Exact},

		{"trimmed: trailing space in old", goFile, "\tx := 1  \n\ty := 2", "\tz := 3", "package a\n\nfunc f() {\n\tz := 3\n\treturn x + y\n}\n", patch.Trimmed},
		{"trimmed: trailing space in file", "a  \nb\nc\n", "a\nb\n", "z\n", "z\nc\n", patch.Trimmed},
		{"trimmed: the last newline is not doubled", "  a\n  b\nc\n", "a\nb\n", "x\n", "  x\nc\n", patch.Trimmed},
		{"trimmed: no newline at the end stays so", "a\nb", "b\n", "c\n", "a\nc", patch.Trimmed},
		{"trimmed: starts after the indentation", "if x {\n    foo(a)\n}\n", "foo(a)  ", "bar(a)", "if x {\n    bar(a)\n}\n", patch.Trimmed},

		{
			"anchors: a line badly remembered that new has right", "func f() {\n\talpha := compute(1)\n\tbeta := compute(2)\n\treturn alpha\n}\n",
			"func f() {\n\talpha := compute(1)\n\tbeta := computes(2)\n\treturn alpha\n}", "func f() {\n\tbeta := compute(2)\n\treturn 7\n}",
			"func f() {\n\tbeta := compute(2)\n\treturn 7\n}\n", patch.Anchors,
		},
		{
			"anchors: a line badly remembered, and new made of the right one", "func f() {\n\talpha := compute(1, 2)\n\treturn alpha\n}\n",
			"func f() {\n\talpha := compute(1)\n\treturn alpha\n}", "func f() {\n\talpha := calculate(1, 2)\n\treturn alpha\n}",
			"func f() {\n\talpha := calculate(1, 2)\n\treturn alpha\n}\n", patch.Anchors,
		},
		{
			"anchors: a line left out that new has", "begin {\n\tone := first(1)\n\ttwo := first(2)\n\tthree := first(3)\n}\n",
			"begin {\n\tone := first(1)\n\tthree := first(3)\n}", "begin {\n\tone := first(1)\n\ttwo := first(2)\n\tthree := first(4)\n}",
			"begin {\n\tone := first(1)\n\ttwo := first(2)\n\tthree := first(4)\n}\n", patch.Anchors,
		},

		{"spaces: in one line", "x  =   1\ny = 2\n", "x = 1", "x = 3", "x = 3\ny = 2\n", patch.Spaces},
		{"spaces: part of a line", "call(a,   b); next()\n", "call(a, b);", "go(a);", "go(a); next()\n", patch.Spaces},
		{"spaces: line broken in old", "\tcall(a, b)\n", "call(a,\n  b)", "call(c)", "\tcall(c)\n", patch.Spaces},
		{"spaces, lines", "if  a {\n\tb  = 1\n}\n", "if a {\n\tb = 1", "if c {", "if c {\n}\n", patch.SpacedLines},
		{"spaces, lines: broken elsewhere", "call(a, b,\n  c)\n", "call(a,\n  b, c)", "call()", "call()\n", patch.SpacedLines},

		{"indentation decides between two", "    a\n  b\nx\n    a\n    b\n", " a\n b", " c\n d", "    a\n  b\nx\n    c\n    d\n", patch.Indentation},

		{"unescaped newline", "one\ntwo\nthree\n", `one\ntwo`, "1", "1\nthree\n", patch.Unescaped},
		{"unescaped quotes", `say("hi")` + "\n", `say(\"hi\")`, "quiet()", "quiet()\n", patch.Unescaped},
		{"unescaped backslash at a line's end", "a\nb\n", "a\\\nb", "c", "c\n", patch.Unescaped},
		{"escapes in the file", `x := "a\tb" + y` + "\n", "x := \"a\tb\" + y", "x := y", "x := y\n", patch.EscapedFile},

		{"spaces: blank lines around that new has too", "a\nfoo(b)\nc\n", "\n\n\nfoo(b)\n\n", "\n\n\nbar(b)\n\n", "a\nbar(b)\nc\n", patch.Spaces},
		{"outer white space", "go foo(b,\n\tc) on\n", "\n  foo(b,\n\tc)\n", "bar", "go bar on\n", patch.Boundary},
		{"outer white space that new has too", "(foo(b,\n\tc))\n", "\n\n\nfoo(b,\n\tc)\n\n", "\n\n\nbar(b)\n\n", "(bar(b))\n", patch.Boundary},
		{
			"outer white space, whole lines", "x foo(b,\n\tc) y\n\nfoo(b,\n\tc)\n\nz\n", "\n\n\nfoo(b,\n\tc)", "\n\n\nbar(b)",
			"x foo(b,\n\tc) y\n\nbar(b)\n\nz\n", patch.Alone,
		},

		{
			"context: half of the middle", "begin {\n\tone()\n\tsomething else entirely\n}\nrest\n",
			"begin {\n\tone()\n\tqqqqq()\n}", "begin {\n\tone()\n\tsomething else entirely\n\tmore()\n}",
			"begin {\n\tone()\n\tsomething else entirely\n\tmore()\n}\nrest\n", patch.Context,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := patch.Replace(tt.content, tt.old, tt.new, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Content); diff != "" {
				t.Errorf("by %s (-want +got):\n%s", got.Matcher, diff)
			}
			if got.Matcher != tt.how {
				t.Errorf("found by %q, want %q", got.Matcher, tt.how)
			}
		})
	}
}

func refusal(t *testing.T, err error) *patch.Refusal {
	t.Helper()
	var r *patch.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal", err)
	}
	return r
}
