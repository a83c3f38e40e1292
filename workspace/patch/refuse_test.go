package patch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe/workspace/patch"
)

// TestReplace_Refusals has edits that must be refused, and the messages to the model.
func TestReplace_Refusals(t *testing.T) {
	const block = "begin {\n\talpha := compute(a, b, c)\n\tbeta := other(alpha)\n\tgamma := third(beta)\n}\n"
	tests := []struct {
		name, content, old, new string
		why                     patch.Reason
		says                    []string
	}{
		{"same", "a\nb\n", "b", "b", patch.Same, []string{"line 2", "newString"}},
		{"differ in line endings only", "a\nb\n", "a\nb", "a\r\nb", patch.Same, []string{"line endings"}},
		{"empty", "a\n", "", "b", patch.Empty, []string{"oldString is empty"}},
		{"only white space", "a\n", "   ", "b", patch.Missing, []string{"only white space"}},
		{"empty file", "", "a", "b", patch.Missing, []string{"the file is empty", "write"}},
		{"not text", "\xff\xfea\x00b\x00", "ab", "b", patch.Missing, []string{"not text in UTF-8"}},
		{"nothing similar", "a\nb\n", "quite another text", "b", patch.Missing, []string{"No line of the file is similar", "grep"}},
		{"several", "x\nif a {\n\treturn\n}\ny\nif a {\n\treturn\n}\n", "if a {\n\treturn\n}", "b", patch.Ambiguous, []string{"2 times", "lines 2, 6", "replaceAll", "1: x", "5: y"}},
		{"overlapping", "x\nx\nx\n", "x\nx", "y", patch.Ambiguous, []string{"2 times"}},
		{"more than ten", strings.Repeat("a\nb\n", 12), "a", "c", patch.Ambiguous, []string{"12 times", "lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, …"}},
		{"several by white space", "\tx = 1\nif y {\n\t\tx = 1\n}\n", "x = 1 ", "x = 2", patch.Ambiguous, []string{"lines 1, 3", "trimmed lines"}},
		{"a line that is part of others", "a\nb\n\na\nbc\n", "a \nb", "x = 2", patch.Ambiguous, []string{"part of other lines"}},
		{"done already", "a\nnew text here\n", "old text here", "new text here", patch.Missing, []string{"seems to be done", "line 2"}},
		{"line numbers", "func f() {\n\treturn 1\n}\n", "1: func f() {\n2: \treturn 1\n3: }", "x", patch.Missing, []string{"line numbers", "lines 1–3", "1: func f() {"}},
		{"curly quotes", "say('hello there')\n", "say(‘hello there’)", "x", patch.Missing, []string{"U+2018", `where the file has "'"`, "line 1"}},
		{"curly quotes in a part of a line", "if x { say('hello there') }\n", "say(‘hello there’)", "x", patch.Missing, []string{"U+2018", "line 1"}},
		{"straight quotes for curly ones", "say(“hello there”)\n", "say(\"hello there\")", "x", patch.Missing, []string{"the file has “ (U+201C)"}},
		{"case", "const MaxWidth = 3\n", "const maxWidth = 3", "x", patch.Missing, []string{"upper and lower case"}},
		{"other word", "a\nfirst := compute(1)\nsecond := compute(2)\nz\n", "first := compute(1)\nsecond := compute(7)", "x", patch.Missing, []string{"lines 2–3", "oldString |second := compute(7)\n          |                  ^", "3: second := compute(2)   <- here"}},

		{"anchors: a line new would lose", block, "begin {\n\talpha := compute(a, b, c)\n\tgamma := third(beta)\n}", "begin {\n\talpha := compute(a)\n\tgamma := third(beta)\n}", patch.Doubtful, []string{"not in oldString", "remove it", "beta := other(alpha)"}},
		{"anchors: a line new would invent", "begin {\n\tone()\n\tthree()\n}\n", "begin {\n\tone()\n\tthrees()\n\tthree()\n}", "begin {\n\tone()\n\tthrees()\n\tfour()\n}", patch.Doubtful, []string{"that the file does not have"}},
		{"anchors: a kept line badly remembered", block, "begin {\n\talpha := compute(a, b)\n\tbeta := other(alpha)\n\tgamma := third(beta)\n}", "begin {\n\talpha := compute(a, b)\n\tbeta := other(alpha)\n\tdelta()\n}", patch.Doubtful, []string{"line 2", "differs"}},
		{"anchors: a changed line badly remembered", block, "begin {\n\talpha := compute(a, b)\n\tbeta := other(alpha)\n\tgamma := third(beta)\n}", "begin {\n\talpha := calculate(a, b)\n\tbeta := other(alpha)\n\tgamma := third(beta)\n}", patch.Doubtful, []string{"line 2", "differs"}},
		{"anchors: a line badly remembered, and all new", block, "begin {\n\talpha := compute(a, b)\n\tbeta := other(alpha)\n\tgamma := third(beta)\n}", "nothing()", patch.Doubtful, []string{"line 2", "differs"}},
		{"anchors: another place", "\tb()\n\treturn sum\n}\n", "\tb()\n\treturn nil\n}", "", patch.Doubtful, []string{"line 2", "differs"}},
		{"a space that does not break", "a b\n", "a\u00a0b", "a\u00a0c", patch.Doubtful, []string{"differs"}},
		{"anchors: two alike", block + "x\n" + strings.Replace(block, "a, b, c", "a, d, c", 1), "begin {\n\talpha := compute(a, f, c)\n\tbeta := other(alpha)\n\tgamma := third(beta)\n}", "x", patch.Ambiguous, []string{"2 places"}},
		{"white space in quotes", "print(\"a  b\",  1)\n", "print(\"a b\", 1)", "print(\"a b\", 2)", patch.Doubtful, []string{"line 1", "differs"}},
		{"spaces within a word", "maxx  = 10\n", "x = 1", "y = 2", patch.Missing, nil},
		{"escaped twice, both", "one\ntwo\nthree\n", `one\ntwo`, `one\ntwo\n2`, patch.Doubtful, []string{"escaped once too often", "real line breaks"}},
		{"escapes left out, both", `x := "say \"hi\" now" + y` + "\n", `x := "say "hi" now" + y`, `x := "say "ho" now" + y`, patch.Doubtful, []string{"differs"}},
		{"outer white space within a word", "prefixfoosuffix\n", " foo ", "bar", patch.Missing, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := patch.Replace(tt.content, tt.old, tt.new, false)
			if err == nil {
				t.Fatalf("by %s: %q", got.Matcher, got.Content)
			}
			r := refusal(t, err)
			if r.Reason != tt.why {
				t.Errorf("reason %q, want %q", r.Reason, tt.why)
			}
			for _, s := range tt.says {
				if !strings.Contains(r.Error(), s) {
					t.Errorf("does not say %q:\n%s", s, r)
				}
			}
		})
	}
}

func TestReplace_Disproportionate(t *testing.T) {
	content := "a {\n" + strings.Repeat("x", 3000) + "\nmid\nmid2\n}\n"
	_, err := patch.Replace(content, "a {\ny\nmid\nmid2\n}", "b", false)
	if err == nil {
		t.Fatal("replaced a passage that is much longer than what was quoted")
	}
	if r := refusal(t, err); r.Reason != patch.Missing && r.Reason != patch.Doubtful {
		t.Error(r.Reason)
	}
}

func TestReplace_All(t *testing.T) {
	tests := []struct{ name, content, old, new, want string }{
		{"exact", "a b a\na\n", "a", "x", "x b x\nx\n"},
		{"exact, not overlapping", "aaa\n", "aa", "b", "ba\n"},
		{"once", "a\n", "a", "b", "b\n"},
		{"new contains old", "a a\n", "a", "aa", "aa aa\n"},
		{"by white space, all alike", "f(1,  2)\ng\nf(1,  2)\n", "f(1, 2)", "h()", "h()\ng\nh()\n"},
		{"CRLF", "a\r\nb\r\na\r\nb\r\n", "a\nb\n", "c\n", "c\r\nc\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := patch.Replace(tt.content, tt.old, tt.new, true)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Content); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("not alike", func(t *testing.T) {
		_, err := patch.Replace("f(1,  2)\ng\nf(1,\t2)\n", "f(1, 2)", "h()", true)
		if err == nil {
			t.Fatal("changed only some of the places")
		}
		if r := refusal(t, err); r.Reason != patch.Ambiguous || !strings.Contains(r.Text, "lines 1, 3") {
			t.Error(r)
		}
	})
	t.Run("part of others", func(t *testing.T) {
		if got, err := patch.Replace("  x = 1\n  x = 10\n  x = 1\n", "x = 1 \n", "y\n", true); err == nil {
			t.Errorf("got %q", got.Content)
		}
	})
}

// TestReplace_Form keeps what a text has that a model does not see.
func TestReplace_Form(t *testing.T) {
	const mark = "\ufeff"
	tests := []struct{ name, content, old, new, want string }{
		{"CRLF, plain call", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"},
		{"CRLF, call with it", "a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"},
		{"CRLF, one line", "a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"},
		{"LF, call with CRLF", "a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"},
		{"CRLF, begins with the break", "a\r\nb\r\n", "\nb", "\nc", "a\r\nc\r\n"},
		{"CRLF, ends before the break", "a\r\nb\r\n", "a", "c", "c\r\nb\r\n"},
		{"mixed, CRLF part", "a\r\nb\r\nc\nd\n", "a\nb", "x\ny", "x\r\ny\r\nc\nd\n"},
		{"mixed, LF part", "a\r\nb\r\nc\nd\n", "c\nd", "x\ny", "a\r\nb\r\nx\ny\n"},
		{"mark", mark + "a\nb\n", "a", "x", mark + "x\nb\n"},
		{"mark in the call", mark + "a\nb\n", mark + "a", mark + "x", mark + "x\nb\n"},
		{"no newline at the end", "a\nb", "b", "c", "a\nc"},
		{"one added at the end", "a\nb", "b", "c\n", "a\nc\n"},
		{"bytes that are no UTF-8", "a\xff\xfe\nb\n", "b", "c", "a\xff\xfe\nc\n"},
		{"CR alone", "a\rb\nc\n", "c", "d", "a\rb\nd\n"},
		{"CRLF, inexact", "\ta\r\n\tb\r\nc\r\n", "\ta \n\tb", "\tx\n\ty", "\tx\r\n\ty\r\nc\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := patch.Replace(tt.content, tt.old, tt.new, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Content); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReplace_Account(t *testing.T) {
	got, err := patch.Replace("1\n2\nx\n4\nx\n", "x\n", "a\nb\n", true)
	if err != nil {
		t.Fatal(err)
	}
	want := patch.Replacement{
		Content: "1\n2\na\nb\n4\na\nb\n", Matcher: patch.Exact, Count: 2, First: 3, Last: 7,
		Passages: []patch.Passage{{Line: 3, Old: "x\n"}, {Line: 5, Old: "x\n"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplace_Shift(t *testing.T) {
	const file = "class A:\n        def f(self):\n            return 1\n"
	moved := &patch.Shift{File: "        ", Given: "    ", Uniform: true}
	tests := []struct {
		name, old, new string
		want           *patch.Shift
		content        string
	}{
		{"all lines moved", "    def f(self):\n        return 1", "    def f(self):\n        return 2", moved, "class A:\n        def f(self):\n            return 2\n"},
		{
			"all lines moved, and more put in", "    def f(self):\n        return 1", "    def f(self):\n        if x:\n            return 2\n\n        return 1", moved,
			"class A:\n        def f(self):\n            if x:\n                return 2\n\n            return 1\n",
		},
		{"new has the file's indentation", "    def f(self):\n        return 1", "        def f(self):\n            return 2", nil, "class A:\n        def f(self):\n            return 2\n"},
		{"none moved", "        def f(self): \n            return 1", "        def f(self):\n            return 2", nil, "class A:\n        def f(self):\n            return 2\n"},
		{"one line for one keeps its place", "    return 1  ", "    return 2", nil, "class A:\n        def f(self):\n            return 2\n"},
		{"not by one amount", "    def f(self):\n    return 1", "    def f(self):\n    return 2", &patch.Shift{File: "        ", Given: "    "}, "class A:\n        def f(self):\n            return 2\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := patch.Replace(file, tt.old, tt.new, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Shift); diff != "" {
				t.Errorf("%q (-want +got):\n%s", got.Content, diff)
			}
			if tt.content != got.Content {
				t.Errorf("got %q, want %q", got.Content, tt.content)
			}
		})
	}
}

// TestReplace_Bounded has files made to be slow. The limits of time are loose, for slow machines;
// the benchmarks have the figures.
func TestReplace_Bounded(t *testing.T) {
	many := func(line string) string { return strings.Repeat(line+"\n", 5<<20/(len(line)+1)) }
	long := strings.Repeat("ab ", 5<<20/3)
	tests := []struct{ name, content, old string }{
		{"lines all equal", many("a"), strings.Repeat("a\n", 5000) + "b\n"},
		{"empty lines", many(""), "x\n" + strings.Repeat("\n", 3000) + "y"},
		{"anchors everywhere", many("{"), "{\n" + strings.Repeat("x", 5000) + "\n{ \n"},
		{"one long line", long, strings.ReplaceAll(long[:30000], " ", "  ") + "x"},
		{"long lines between anchors", "{\n" + long[:1<<20] + "\n}\n", "{\n" + strings.Repeat("ba ", 1<<20/3) + "\n}"},
		{"words everywhere", many("a b a b"), "a  b  a  b  c"},
		{"escapes everywhere", many(`\\\\\n\n\t`), `\\\\\\\\\n\n\t`},
		{"white space", many("   "), "  x  \n\t"},
		{"half a text", many("func f() { return 1 }"), "func g() {\n\n\treturn  2\n}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			begin := time.Now()
			got, err := patch.Replace(tt.content, tt.old, "zzz", false)
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("took %v", took)
			} else {
				t.Logf("%v: %v", took.Round(time.Millisecond), err)
			}
			if err == nil {
				t.Fatalf("replaced %q by %s", got.Passages[0].Old, got.Matcher)
			}
			if r := refusal(t, err); len(r.Error()) > 10_000 {
				t.Errorf("%d bytes of words", len(r.Error()))
			}
		})
	}
}
