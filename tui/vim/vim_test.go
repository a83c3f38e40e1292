package vim_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/tui/vim"
)

// page is a text of plain characters with undo.
type page struct {
	lines        [][]string
	cursor       vim.Pos
	from, to     vim.Pos
	past, future []snapshot
	grouped      bool
}

type snapshot struct {
	lines  [][]string
	cursor vim.Pos
}

func newPage(text string) *page { return &page{lines: split(text)} }

func split(text string) [][]string {
	var out [][]string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, strings.Split(line, ""))
	}
	return out
}

func (p *page) String() string {
	var out []string
	for _, l := range p.lines {
		out = append(out, strings.Join(l, ""))
	}
	return strings.Join(out, "\n")
}

func (p *page) Lines() int               { return len(p.lines) }
func (p *page) Line(n int) []string      { return p.lines[n] }
func (p *page) Cursor() vim.Pos          { return p.cursor }
func (p *page) MoveTo(at vim.Pos)        { p.cursor = at }
func (p *page) Select(from, to vim.Pos)  { p.from, p.to = from, to }
func (p *page) Piece(text string) string { return text }

func (p *page) Copy(from, to vim.Pos) string {
	if from.Line == to.Line {
		return strings.Join(p.lines[from.Line][from.Col:to.Col], "")
	}
	out := []string{strings.Join(p.lines[from.Line][from.Col:], "")}
	for n := from.Line + 1; n < to.Line; n++ {
		out = append(out, strings.Join(p.lines[n], ""))
	}
	return strings.Join(append(out, strings.Join(p.lines[to.Line][:to.Col], "")), "\n")
}

func (p *page) Replace(from, to vim.Pos, with string) vim.Pos {
	if !p.grouped {
		p.note()
	}
	made := split(with)
	last := len(made) - 1
	tail := slices.Clone(p.lines[to.Line][to.Col:])
	end := vim.Pos{Line: from.Line + last, Col: len(made[last])}
	if last == 0 {
		end.Col += from.Col
	}
	made[0] = append(slices.Clone(p.lines[from.Line][:from.Col]), made[0]...)
	made[last] = append(slices.Clone(made[last]), tail...)
	p.lines = slices.Replace(slices.Clone(p.lines), from.Line, to.Line+1, made...)
	return end
}

func (p *page) note() { p.past, p.future = append(p.past, snapshot{p.lines, p.cursor}), nil }

func (p *page) Group(open bool) {
	if open && !p.grouped {
		p.note()
	}
	p.grouped = open
}

func (p *page) Undo() { p.swap(&p.past, &p.future) }
func (p *page) Redo() { p.swap(&p.future, &p.past) }

func (p *page) swap(from, to *[]snapshot) {
	if k := len(*from) - 1; k >= 0 {
		*to = append(*to, snapshot{p.lines, p.cursor})
		p.lines, p.cursor = (*from)[k].lines, (*from)[k].cursor
		*from = (*from)[:k]
	}
}

// keys splits "dw<esc>2j" into keys.
func keys(s string) []string {
	var out []string
	for s != "" {
		if end := strings.IndexByte(s, '>'); s[0] == '<' && end > 1 {
			out = append(out, s[1:end])
			s = s[end+1:]
			continue
		}
		_, n := utf8.DecodeRuneInString(s)
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// press gives keys to the machine, and what it passes on to the page as an editor would.
func press(m *vim.Machine[string], p *page, s string) vim.Result {
	var result vim.Result
	for _, k := range keys(s) {
		if result = m.Key(k, p); result != vim.Pass || m.Mode() != vim.Insert {
			continue
		}
		switch k {
		case "enter":
			k = "\n"
		case "backspace":
			if p.cursor.Col == 0 {
				continue
			}
			p.Replace(vim.Pos{Line: p.cursor.Line, Col: p.cursor.Col - 1}, p.cursor, "")
			p.cursor.Col--
			continue
		}
		p.cursor = p.Replace(p.cursor, p.cursor, k)
	}
	return result
}

// A | in a text is where the cursor is.
func TestKeys(t *testing.T) {
	for _, tt := range []struct{ from, keys, want string }{
		{"|one two three", "w", "one |two three"},
		{"|one two three", "2w", "one two |three"},
		{"|one, two", "w", "one|, two"},
		{"|one, two", "W", "one, |two"},
		{"one two |three", "b", "one |two three"},
		{"one two |three", "bb", "|one two three"},
		{"|one two", "e", "on|e two"},
		{"|one two", "ee", "one tw|o"},
		{"one t|wo", "ge", "on|e two"},
		{"one\n\n|two", "b", "one\n|\ntwo"},
		{"|one\n\ntwo", "w", "one\n|\ntwo"},
		{"  one t|wo", "0", "|  one two"},
		{"  one t|wo", "^", "  |one two"},
		{"|one two", "$", "one tw|o"},
		{"|a\nb\nc", "G", "a\nb\n|c"},
		{"a\nb\n|c", "gg", "|a\nb\nc"},
		{"|a\nb\nc", "2G", "a\n|b\nc"},
		{"lo|ng line\nab\nlong line", "jj", "long line\nab\nlo|ng line"},
		{"long lin|e\nab\nlong line", "jj", "long line\nab\nlong lin|e"},
		{"|long line\nab\nlonger line", "$jj", "long line\nab\nlonger lin|e"},
		{"|a,b,c", "f,", "a|,b,c"},
		{"|a,b,c", "2f,", "a,b|,c"},
		{"|a,b,c", "t,", "|a,b,c"},
		{"|ab,cd,e", "t,;", "ab,c|d,e"},
		{"a,b,|c", "F,", "a,b|,c"},
		{"a,b,|c", "F,;", "a|,b,c"},
		{"a|,b,c", "f,,", "a|,b,c"},
		{"f|(a, (b))", "%", "f(a, (b)|)"},
		{"f(a, (b)|)", "%", "f|(a, (b))"},
		{"|a\n\nb\n\nc", "}", "a\n|\nb\n\nc"},
		{"a\n\nb\n\n|c", "{", "a\n\nb\n|\nc"},
		{"wide 日|本語", "h", "wide |日本語"},

		{"|one two three", "dw", "|two three"},
		{"|one two three", "d2w", "|three"},
		{"|one two three", "2dw", "|three"},
		{"|one two", "de", "| two"},
		{"one |two", "dw", "one| "},
		{"one |two\nthree", "dw", "one| \nthree"},
		{"one two |three", "db", "one |three"},
		{"|one two", "d$", "|"},
		{"one |two", "D", "one| "},
		{"one |two", "d0", "|two"},
		{"|one\ntwo\nthree", "dd", "|two\nthree"},
		{"one\ntwo\n|three", "dd", "one\n|two"},
		{"|one\ntwo\nthree", "2dd", "|three"},
		{"|one\ntwo\nthree", "dj", "|three"},
		{"one\ntwo\n|three", "dk", "|one"},
		{"|only", "dd", "|"},
		{"a\n|b\nc\nd", "dG", "|a"},
		{"a\nb\n|c\nd", "dgg", "|d"},
		{"|a(b)c", "df)", "|c"},
		{"|a(b)c", "dt)", "|)c"},
		{"|abc", "x", "|bc"},
		{"|abc", "2x", "|c"},
		{"ab|c", "x", "a|b"},
		{"ab|c", "X", "a|c"},
		{"f(|a, b)", "di(", "f(|)"},
		{"f(a, |b) x", "da(", "f| x"},
		{"say \"|hi there\" now", `di"`, "say \"|\" now"},
		{"|say \"hi\" now", `di"`, "say \"|\" now"},
		{"one t|wo three", "diw", "one | three"},
		{"one t|wo three", "daw", "one |three"},
		{"one t|wo", "daw", "on|e"},
		{"one\n|two\n\nthree", "dip", "|\nthree"},
		{"one\n|two\n\nthree", "dap", "|three"},
		{"one |two", "d<esc>", "one |two"},
		{"one |two", "dq", "one |two"},

		{"|one two", "cwfive<esc>", "fiv|e two"},
		{"|one two three", "c2wx<esc>", "|x three"},
		{"|a b", "cwxy<esc>", "x|y b"},
		{"  on|e\ntwo", "ccnew<esc>", "  ne|w\ntwo"},
		{"one |two", "Cx<esc>", "one |x"},
		{"|abc", "sxy<esc>", "x|ybc"},
		{"|one two", "ciwx<esc>", "|x two"},
		{"one|", "A two<esc>", "one tw|o"},
		{"  o|ne", "Ix<esc>", "  |xone"},
		{"|one", "otwo<esc>", "one\ntw|o"},
		{"|one", "Otwo<esc>", "tw|o\none"},
		{"|b", "3ia<esc>", "aa|ab"},
		{"|b", "ia<backspace>c<esc>", "|cb"},

		{"|one two", "yiwP", "on|eone two"},
		{"|one\ntwo", "yyp", "one\n|one\ntwo"},
		{"|one\ntwo", "yyP", "|one\none\ntwo"},
		{"|one\ntwo", "ddp", "two\n|one"},
		{"|one\ntwo", "yy2p", "one\n|one\none\ntwo"},
		{"|ab", "xp", "b|a"},
		{"|one two", `"ayw"bdw"aP`, "one| two"},
		{"|a b", `"_dwp`, "|b"},
		{"|one\ntwo", `"ayyj"AyyG"ap`, "one\ntwo\n|one\ntwo"},
		{"|ab cd", "ywwdw\"0P", "abab|  "},

		{"|one two", "dwu", "|one two"},
		{"|one two", "dwu<ctrl+r>", "|two"},
		{"|one two", "ixyz<esc>u", "|one two"},
		{"|one two three", "dw.", "|three"},
		{"|a b c", "cwx<esc>w.", "x |x c"},
		{"|a\nb", "A!<esc>j.", "a!\nb|!"},
		{"|aaa", "x..", "|"},
		{"|a\nb\nc", "J", "a| b\nc"},
		{"|a\n  b\nc", "3J", "a b| c"},
		{"|abc", "~~", "AB|c"},
		{"|abc def", "gUiw", "|ABC def"},
		{"|ABC def", "guu", "|abc def"},
		{"|abc", "rx", "|xbc"},
		{"|abc", "2rx", "x|xc"},
		{"|abc", "9rx", "|abc"},
		{"|a\nb", ">>", "  |a\nb"},
		{"  |  a", "<<", "  |a"},

		{"|one two", "vex", "| two"},
		{"|one two", "ved", "| two"},
		{"one |two", "vbd", "|wo"},
		{"|one\ntwo\nthree", "Vjd", "|three"},
		{"|one two", "vecx<esc>", "|x two"},
		{"|one two", "veyP", "on|eone two"},
		{"o|ne two", "viwd", "| two"},
		{"|one two", "veU", "|ONE two"},
		{"|one two", "vlrx", "x|xe two"},
		{"|one two three", "yiwwviwp", "one on|e three"},
		{"|a b", "v<esc>x", "| b"},
		{"|abc", "vlohd", "|c"},
		{"f(|a)", "va(d", "|f"},
	} {
		at := strings.Split(tt.from, "|")
		before := split(at[0])
		p := newPage(at[0] + at[1])
		p.cursor = vim.Pos{Line: len(before) - 1, Col: len(before[len(before)-1])}
		var m vim.Machine[string]
		if tt.from[len(tt.from)-1] != '|' || len(tt.from) == 1 {
			p.cursor.Col++ // leaving insert mode moves the cursor back
		} else {
			p.cursor.Col = max(1, p.cursor.Col)
		}
		p.cursor.Col = min(p.cursor.Col, len(p.lines[p.cursor.Line]))
		press(&m, p, "<esc>")
		p.cursor = clampTo(p, len(before)-1, len(before[len(before)-1]))
		p.past = nil
		press(&m, p, tt.keys)
		if got := withCursor(p); got != tt.want {
			t.Errorf("%q %s: %q, want %q", tt.from, tt.keys, got, tt.want)
		}
	}
}

func clampTo(p *page, line, col int) vim.Pos {
	return vim.Pos{Line: line, Col: max(0, min(col, len(p.lines[line])-1))}
}

func withCursor(p *page) string {
	q := newPage("")
	q.lines = p.lines
	q.Replace(p.cursor, p.cursor, "|")
	return q.String()
}

// The caller gets keys that are not vi's, and the edges of the text.
func TestResults(t *testing.T) {
	p := newPage("one")
	var m vim.Machine[string]
	for _, tt := range []struct {
		key  string
		want vim.Result
		mode vim.Mode
	}{
		{"a", vim.Pass, vim.Insert},
		{"ctrl+s", vim.Pass, vim.Insert},
		{"<esc>", vim.Handled, vim.Normal},
		{"<esc>", vim.Pass, vim.Normal}, // so that it can interrupt a turn
		{"<enter>", vim.Pass, vim.Normal},
		{"<ctrl+x>", vim.Pass, vim.Normal},
		{"Q", vim.Handled, vim.Normal},
		{"k", vim.Older, vim.Normal},
		{"j", vim.Newer, vim.Normal},
		{"v", vim.Handled, vim.Visual},
		{"V", vim.Handled, vim.VisualLine},
		{"<esc>", vim.Handled, vim.Normal},
		{"2", vim.Handled, vim.Normal},
	} {
		if got := press(&m, p, tt.key); got != tt.want || m.Mode() != tt.mode {
			t.Errorf("%s: %v in %s, want %v in %s", tt.key, got, m.Mode(), tt.want, tt.mode)
		}
	}
	if press(&m, p, "d"); m.Pending() != "2d" {
		t.Errorf("pending %q", m.Pending())
	}
}

// Whatever is typed, the cursor is in the text and undoing everything brings the text back.
func TestAnyKeys(t *testing.T) {
	all := append(strings.Split("hjklwbeWBEGgg0^$fFtT;,%{}dcyiaIAoOxXsSDCYpPrJuvV~.><\"123a(b)", ""), "esc", "enter", "ctrl+r", "backspace", "日")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-c (,日\n]{0,20}`).Draw(t, "text")
		p := newPage(text)
		var m vim.Machine[string]
		m.Key("esc", p)
		typed := rapid.SliceOfN(rapid.SampledFrom(all), 0, 40).Draw(t, "keys")
		for _, k := range typed {
			press(&m, p, "<"+k+">")
			if p.cursor.Line < 0 || p.cursor.Line >= len(p.lines) || p.cursor.Col < 0 || p.cursor.Col > len(p.lines[p.cursor.Line]) {
				t.Fatalf("the cursor is at %v of %q", p.cursor, p)
			}
		}
		press(&m, p, "<esc><esc>")
		for len(p.past) > 0 {
			p.Undo()
		}
		if p.String() != text {
			t.Fatalf("undone to %q", p)
		}
	})
}
