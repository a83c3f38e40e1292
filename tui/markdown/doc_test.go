package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/tui/style"
)

// attr finds how a text looks.
func attr(t *testing.T, lines []style.Line, text string) style.Attr {
	t.Helper()
	for _, l := range lines {
		for _, s := range l {
			if strings.TrimSpace(s.Text) == text {
				return s.Attr
			}
		}
	}
	t.Fatalf("no piece %q in\n%s", text, style.Text(lines))
	return style.Attr{}
}

func TestDoc_Colors(t *testing.T) {
	th := style.Default(true)
	lines := drawn("# Head\n\nSome **strong** and *soft* and `span` and [text](https://example.com/é) and ~~gone~~.\n\n> quoted\n\n1. item\n\n```go\nreturn \"x\"\n```\n\n[bad](javascript:x)", look(80))
	for text, want := range map[string]style.Attr{
		"Head":   {FG: th.MarkdownHeading, Bold: true, Underline: true},
		"strong": {FG: th.MarkdownStrong, Bold: true},
		"soft":   {FG: th.MarkdownEmph, Italic: true},
		"span":   {FG: th.MarkdownCode, BG: th.BackgroundElement},
		"text":   {FG: th.MarkdownLinkText, Underline: true, Link: "https://example.com/%C3%A9"},
		"gone":   {FG: th.MarkdownText, Strike: true},
		"│":      {FG: th.MarkdownBlockQuote},
		"1.":     {FG: th.MarkdownListEnumeration},
		"return": {FG: th.SyntaxKeyword, BG: th.BackgroundElement},
		`"x"`:    {FG: th.SyntaxString, BG: th.BackgroundElement},
		"bad":    {FG: th.MarkdownLinkText, Underline: true},
	} {
		if got := attr(t, lines, text); got != want {
			t.Errorf("%q looks %+v, want %+v", text, got, want)
		}
	}
}

// A comment goes on over the lines of code that is still being written, and ends with the code.
func TestDoc_OpenCode(t *testing.T) {
	th := style.Default(true)
	c, k := th.SyntaxComment, th.SyntaxKeyword
	var d Doc
	text := ""
	for _, step := range []struct {
		more string
		want map[string]style.Color
	}{
		{"```go\n/* one\ntwo", map[string]style.Color{"/* one": c, "two": c}},
		{" and", map[string]style.Color{"two and": c}},
		{"\nthree", map[string]style.Color{"two and": c, "three": c}},
		{" */\nreturn", map[string]style.Color{"three */": c, "return": k}},
		{"\n/* open\n```\n\n```go\nbreak", map[string]style.Color{"/* open": c, "break": k}},
	} {
		text += step.more
		d.Set(text)
		lines := d.Lines(look(40))
		for text, want := range step.want {
			if got := attr(t, lines, text); got.FG != want {
				t.Errorf("%q has the color %v, want %v", text, got.FG, want)
			}
		}
	}
}

// A line about as long as what is drawn at once is still one line.
func TestDoc_LineAtTheLimit(t *testing.T) {
	for n := maxPara - 5; n < maxPara+10; n++ {
		lines := drawn("```\n"+strings.Repeat("x", n)+"\ny", look(5000))
		if got := style.Text(lines); got != " "+strings.Repeat("x", n)+"\n y" {
			t.Errorf("%d characters and one below give %d rows", n, len(lines))
		}
	}
}

// A line that is longer than what is drawn at once shows no seam.
func TestDoc_LongLine(t *testing.T) {
	text := strings.Repeat("words of one line ", 2000)
	var d Doc
	for at := 0; at < len(text); at += 997 {
		d.Set(text[:at])
		d.Lines(look(50))
	}
	d.Set(text)
	lines := d.Lines(look(50))
	want := style.Plain(strings.TrimRight(text, " ")).Wrap(50, nil)
	if style.Text(lines) != style.Text(want) {
		t.Errorf("%d rows, want %d as if wrapped at once", len(lines), len(want))
	}
	code := drawn("```\n"+strings.Repeat("x", 20_000), look(52))
	for i, l := range code[:len(code)-1] {
		if got := strings.Count(l.Text(), "x"); got != 50 {
			t.Errorf("row %d of a long line of code has %d characters", i, got)
		}
	}
}

// Marks that are half written look at once as they will.
func TestDoc_HalfMarks(t *testing.T) {
	for _, c := range []struct{ text, growing, ended string }{
		{"some **bo", "some bo", "some **bo"},
		{"some **bold*", "some bold", "some *bold"},
		{"some *", "some", "some *"},
		{"some `co", "some co", "some `co"},
		{"some ``a`b", "some a`b", "some ``a`b"},
		{"a [link](htt", "a link", "a [link](htt"},
		{"a **b [link](htt", "a b link", "a **b [link](htt"},
		{"a ~~go", "a go", "a ~~go"},
		{"snake_case and 2 * 3", "snake_case and 2 * 3", "snake_case and 2 * 3"},
		{"text\n-", "text", "text"},
		{"text\n==", "text", "text"},
		{"text\n\n``", "text", "text\n\n``"},
		{"text\n\n##", "text", "text\n\n"},
		{"a *" + strings.Repeat("b ", 100) + "x", "", ""},
	} {
		o := look(300)
		ended := style.Text(drawn(c.text, o))
		o.Growing = true
		growing := style.Text(drawn(c.text, o))
		if c.growing == "" {
			if growing != ended {
				t.Errorf("%q: a star far back counts as open:\n%s", c.text, growing)
			}
			continue
		}
		if growing != c.growing || ended != c.ended {
			t.Errorf("%q: growing %q, want %q; ended %q, want %q", c.text, growing, c.growing, ended, c.ended)
		}
	}
	o := look(80)
	o.Growing = true
	if a := attr(t, drawn("some **bo", o), "bo"); !a.Bold {
		t.Errorf("half of a bold word is not bold: %+v", a)
	}
	if a := attr(t, drawn("text\n-", o), "text"); a.Bold {
		t.Error("a dash below a paragraph makes it a heading while it is written")
	}
}

// While a text grows, only its last rows change.
func TestDoc_NoFlicker(t *testing.T) {
	text := "A paragraph of words with **some bold words in it** and `code that is here`, and then *slanted text* and [a link](https://example.com/page) and more.\n" +
		"- an item with **bold** in it\n- another with `code`\n\n```go\nfunc f() {\n\treturn\n}\n```\n\nAnd **an end** to it all, after which nothing comes."
	var d Doc
	o := look(40)
	o.Growing = true
	var before []string
	for at := range text {
		d.Set(text[:at])
		var now []string
		for _, l := range d.Lines(o) {
			now = append(now, strings.TrimRight(l.Text(), " "))
		}
		for i := 0; i < len(before)-1; i++ {
			if i >= len(now) || now[i] != before[i] {
				t.Fatalf("after %q row %d of %d changed from %q to %q", text[:at], i, len(before), before[i], strings.Join(now[min(i, len(now)):], "\n"))
			}
		}
		before = now
	}
}

func TestDoc_SetAgain(t *testing.T) {
	var d Doc
	o := look(40)
	if got := d.Lines(o); len(got) != 0 {
		t.Errorf("nothing gives %d rows", len(got))
	}
	d.Set("# One\n\ntwo\n")
	first := d.Lines(o)
	if again := d.Lines(o); &first[0] != &again[0] {
		t.Error("rows were drawn again though nothing changed")
	}
	d.Set("other")
	if got := style.Text(d.Lines(o)); got != "other" {
		t.Errorf("another text gives %q", got)
	}
	d.Set("")
	if got := d.Lines(o); len(got) != 0 {
		t.Errorf("an empty text gives %d rows", len(got))
	}
	d.Set("again")
	if got := style.Text(d.Lines(o)); got != "again" {
		t.Errorf("a text after an empty one gives %q", got)
	}
}

func TestDoc_LinksDefinedLater(t *testing.T) {
	var d Doc
	o := look(60)
	d.Set("see [this][x] and [x]\n\nmore\n\n")
	if got := style.Text(d.Lines(o)); got != "see [this][x] and [x]\n\nmore" {
		t.Errorf("before: %q", got)
	}
	d.Set("see [this][x] and [x]\n\nmore\n\n[x]: https://example.com/x\n\nend")
	lines := d.Lines(o)
	if got := style.Text(lines); got != "see this and x\n\nmore\n\nend" {
		t.Errorf("after: %q", got)
	}
	if a := attr(t, lines, "this"); a.Link != "https://example.com/x" {
		t.Errorf("the link leads to %q", a.Link)
	}
}

func TestDoc_Blocks(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty item", "-\n- a\n-\n  b", "•\n• a\n• b"},
		{"numbers go on", "3. a\n3. b\n\n   c\n3. d", "3. a\n4. b\n\n   c\n5. d"},
		{"other list", "- a\n+ b", "• a\n• b"},
		{"lazy", "> a\nb\n\nc", "│ a\n│ b\n\nc"},
		{"fence ends with its item", "- ```\n  x\ny", "•  x\n\ny"},
		{"longer fence", "````\n```\nx\n```\n````\ny", " ```\n x\n ```\n\ny"},
		{"no list in a paragraph", "a\n2. b", "a\n2. b"},
		{"rule, not item", "- a\n\n* * *", "• a\n\n" + strings.Repeat("─", 30)},
		{"tabs in code", "- a\n\n  ```\n  \tx\n  ```", "• a\n\n       x"},
		{"html", "<!-- a\n\nb -->\nc", "<!-- a\n\nb -->\n\nc"},
		{"break", "a<br>b", "a\nb"},
		{"wide", "漢字漢字漢字漢字漢字漢字漢字漢字", "漢字漢字漢字漢字漢字漢字漢字漢\n字"},
		{"table with marks", "|a|b|\n|-|-|\n|`x`|**y**|", "a │ b\n──┼──\nx │ y"},
		{"no heading in a task", "- [ ] # a", "[ ] # a"},
		{"table of a short head", "|a|\n|-|-|\n|b|c|", "a │\n──┼──\nb │ c"},
		{"table with a rule below", "|a|\n|-|\n|b|\n\n---", "a\n─\nb\n\n" + strings.Repeat("─", 30)},
		{"piped cell", "|a|\n|-|\n|x\\|y|", "a\n───\nx|y"},
	} {
		if got := style.Text(drawn(c.text, look(30))); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestDoc_TableAsRecords(t *testing.T) {
	got := style.Text(drawn("| name | what it does | cost |\n|---|---|---|\n| read | reads a file | 1 |\n| write | writes | 2 |\n", look(20)))
	want := "name: read\nwhat it does: reads\n  a file\ncost: 1\n────────────\nname: write\nwhat it does: writes\ncost: 2"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The head of a long table is read again for each of its parts; that of something that only looks like one is not.
func TestDoc_LongParagraphIsNoTable(t *testing.T) {
	for _, below := range []string{"| - - |", "|-|"} {
		text := "first | second | third\n" + below + strings.Repeat("\nand | more | of it", 600)
		if got := strings.Count(style.Text(drawn(text, look(80))), "first"); got != 1 {
			t.Errorf("%q: the first line is drawn %d times", below, got)
		}
	}
}

func TestDoc_Hostile(t *testing.T) {
	evil := "\x1b[31mred\x1b]8;;http://x\x07 \u202eturned\u2066 \x00\x07\xff\xfe"
	for _, text := range []string{
		evil, "# " + evil, "- " + evil, "> " + evil, "```" + evil + "\n" + evil, "`" + evil + "`", "[" + evil + "](http://a/" + evil + ")",
		"| " + evil + " |\n|---|\n| " + evil + " |", "<div " + evil, strings.Repeat("> ", 500) + "deep", strings.Repeat("- ", 500) + "deep",
		strings.Repeat("[", 5000), strings.Repeat("*a ", 5000), strings.Repeat("`", 5001), strings.Repeat("| a ", 5000) + "\n" + strings.Repeat("|-", 5000),
		strings.Repeat("x", 1<<20), "```\n" + strings.Repeat("漢", 1<<18),
	} {
		for _, l := range drawn(text, look(40)) {
			s := l.Text()
			if strings.ContainsAny(s, "\x1b\x07\x00\u202e\u2066\n") || !utf8.ValidString(s) {
				t.Errorf("%.20q: a row has characters that a terminal obeys: %q", text, s)
			}
			if l.Width() > 40 {
				t.Errorf("%.20q: a row is %d wide", text, l.Width())
			}
		}
	}
}

func FuzzDoc(f *testing.F) {
	f.Add("# a\n- b\n  1. c\n> d\n```go\ne\n```\n|a|\n|-|\n", 5)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		o := Options{Theme: style.Default(true), Width: 30, Conceal: true, Growing: true}
		var d Doc
		d.Set(text[:max(0, min(cut, len(text)))])
		d.Lines(o)
		d.Set(text)
		got := style.Text(d.Lines(o))
		if want := style.Text(drawn(text, o)); got != want {
			t.Fatalf("in pieces:\n%s\nat once:\n%s", got, want)
		}
		for _, l := range d.Lines(o) {
			if l.Width() > 30 {
				t.Fatalf("a row is %d wide: %q", l.Width(), l.Text())
			}
		}
	})
}
