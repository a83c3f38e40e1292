package inline

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/inline/inlinetest"
	"github.com/lathe-agent/lathe/tui/style"
)

// painter is a screen without its goroutine, and the terminal that it writes to.
type painter struct {
	*Screen
	sent  *bytes.Buffer
	glass *inlinetest.Terminal
}

func newPainter(width, height int) *painter {
	p := &painter{sent: new(bytes.Buffer), glass: inlinetest.New(width, height)}
	p.Screen = NewScreen(Options{
		Out: bufio.NewWriter(p.sent), Now: func() time.Time { return time.UnixMilli(0) },
		Size: func() (int, int) { return p.glass.Width, height },
	})
	return p
}

func (p *painter) paint() string {
	p.Draw()
	p.glass.Write(strings.ReplaceAll(p.sent.String(), "\n", "\r\n")) // as the line discipline does
	p.sent.Reset()
	return p.glass.String()
}

// sampleText has every kind of block, and marks that are not what they seem.
const sampleText = "# One\n\nWords **with *both*** and `co**de` in it, " +
	"[a link](http://x.test) and 2 * 3 * 4.\n\n\n- item\n   - below it 日本語日本語\n10) ten\n> quote\n> > deeper\n```\n**code**\n\n\ttab\n```\n***\n| Name | Bytes |  |\n|:--|--:|---|\n| `a` and **b** 日本 | 12 |\n| c \\| d | 1234567 | long words that have to be broken | more |\n|no table\nAt \\*last\\* é 👩‍💻 🇫🇷 ~~gone~~."

// However a text is cut into pieces, and whenever it is drawn meanwhile, the screen holds the same at
// its end: nothing is lost, and nothing is there twice.
func TestView_Pieces(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		width := 12 + random.IntN(90)
		whole := newPainter(width, 200)
		whole.AppendText("prt_1", sampleText, false)
		whole.End()
		want := whole.paint()

		p := newPainter(width, 200)
		for rest := []rune(sampleText); len(rest) > 0; {
			n := 1 + random.IntN(min(len(rest), 1+random.IntN(60)))
			p.AppendText("prt_1", string(rest[:n]), false)
			rest = rest[n:]
			if random.IntN(2) == 0 {
				p.paint()
			}
		}
		p.End()
		if got := p.paint(); got != want {
			t.Fatalf("seed %d, width %d: got:\n%s\nwant:\n%s", seed, width, got, want)
		}
	}
}

// A line that is longer than the screen is high is written down piece by piece, every word of it once.
func TestView_TallLine(t *testing.T) {
	for _, height := range []int{2, 5, 10} {
		p := newPainter(30, height)
		words := ""
		for i := range 400 {
			word := "w" + termtext.Count(i) + " "
			words += word
			p.AppendText("prt_1", word, false)
			p.paint()
		}
		p.End()
		p.paint()
		if got := strings.Join(strings.Fields(p.glass.Plain()), " "); got != strings.TrimSpace(words) {
			t.Errorf("height %d: got\n%s", height, got)
		}
	}
	const longest = 12 << 10
	p := newPainter(30, 10)
	p.AppendText("prt_1", strings.Repeat("x", longest), false)
	p.End()
	p.paint()
	if got := strings.Count(p.glass.Plain(), "x"); got != longest {
		t.Errorf("%d of %d characters of a word without end", got, longest)
	}
}

// What a line looks like.
func TestView_Inline(t *testing.T) {
	for text, want := range map[string]string{
		"a **b** c":                   "a ‹1›b‹› c",
		"**b *c* d**":                 "‹1›b ‹1;3›c‹1› d‹›",
		"`a*b*` ``c`d``":              "‹36›a*b*‹› ‹36›c`d‹›",
		"snake_case_name _it_ __b__":  "snake_case_name ‹3›it‹› ‹1›b‹›",
		"2 * 3 * 4, a*, **open `open": "2 * 3 * 4, a*, **open `open",
		`\*not\* \_this\_`:            "*not* _this_",
		"[l](u) [x] [y](a b) [z]()":   "‹4›l‹2› (u)‹› [x] [y](a b) ‹4›z‹›",
		"~~gone~~ ~5":                 "‹9›gone‹› ~5",
		"## Head `x` ##":              "‹1›Head ‹1;36›x‹›",
		"#hash and 1.5 -no":           "#hash and 1.5 -no",
		"- [ ] todo":                  "‹2›[ ] ‹›todo",
		"> - a **b**":                 "‹2›│ ‹›• a ‹1›b‹›",
	} {
		p := newPainter(80, 24)
		p.AppendText("prt_1", text+"\n", false)
		p.End()
		got, _, _ := strings.Cut(p.paint(), "\n")
		if got != want {
			t.Errorf("%q is\n%s, not\n%s", text, got, want)
		}
	}
}

// Nothing a model says moves the cursor, and an escape that comes in two pieces is none either.
func TestView_Hostile(t *testing.T) {
	p := newPainter(40, 24)
	for _, piece := range []string{"a\x1b", "[2Jb\x07\r", "\nc\u202e"} {
		p.AppendText("prt_1", termtext.PlainText(piece), false)
		p.paint()
	}
	p.End()
	p.paint()
	if got := p.glass.String(); len(p.glass.Unknown) > 0 || !strings.HasPrefix(got, "a␛[2Jb␇\nc\uFFFD\n") {
		t.Errorf("%q", got)
	}
}

// A text that is taken back while it was only below is gone without a word; else people are told.
func TestView_TakenBack(t *testing.T) {
	p := newPainter(60, 24)
	p.AppendText("prt_1", "Half a", false)
	p.paint()
	p.DiscardText("prt_1")
	p.AppendText("prt_2", "Whole.\n\nAnd\n\nmore", false)
	p.paint()
	p.DiscardText("prt_2")
	p.End()
	if got, want := p.paint(), "Whole.\n\nAnd\n\nmore\n\n‹2›(connection lost; the text above is repeated)‹›\n\n"; got != want {
		t.Errorf("%q", got)
	}
}

// Who waits sees that, but not between the words of an answer.
func TestView_Waiting(t *testing.T) {
	p := newPainter(60, 24)
	now := time.UnixMilli(1000)
	p.Now = func() time.Time { return now }
	p.SetWaiting(true)
	for _, step := range []struct {
		after  time.Duration
		change func()
		want   string
	}{
		{100 * time.Millisecond, func() {}, "\n"},
		{time.Second, func() {}, "⠋ working · 1.1s\n"},
		{0, func() { p.SetThinking(true) }, "⠋ thinking · 1.1s\n"},
		{0, func() { p.AppendText("prt_1", "One.\n", false) }, "One.\n"},
		{time.Second, func() {}, "One.\n\n⠋ thinking · 1.0s\n"},
		{0, func() { p.AppendText("prt_1", "Two", false) }, "One.\nTwo\n"},
		{14 * time.Second, func() {}, "One.\nTwo\n"},
		{6 * time.Second, func() {}, "One.\nTwo\n\n⠋ no data for 20s\n"},
		{0, func() { p.giveUp = 5 * time.Minute }, "One.\nTwo\n\n⠋ no data for 20s, gives up at 5m\n"},
		{0, func() { p.hear(now, 5*time.Minute) }, "One.\nTwo\n"},
	} {
		now = now.Add(step.after)
		step.change()
		p.paint()
		if got := p.glass.Plain(); got != step.want {
			t.Errorf("%q, not %q", got, step.want)
		}
	}
}

// Calls are written down in the order they began, those of a task below it, and what did not end says so.
func TestView_Calls(t *testing.T) {
	running := func(tool, input, meta string) *lathe.ToolCall {
		return &lathe.ToolCall{Tool: tool, State: &lathe.Running{Input: []byte(input), Metadata: []byte(meta)}}
	}
	done := func(tool, title, meta string) *lathe.ToolCall {
		return &lathe.ToolCall{Tool: tool, State: &lathe.Completed{Title: title, Metadata: []byte(meta), Start: 1, End: 61_001}}
	}
	p := newPainter(50, 24)
	p.UpdateCall("", "prt_1", running("bash", `{"command":"make"}`, ""))
	p.UpdateCall("", "prt_2", running("task", `{"description":"look"}`, `{"sessionId":"ses_1"}`))
	p.UpdateCall("ses_1", "prt_3", running("grep", `{"pattern":"x"}`, ""))
	p.UpdateCall("ses_1", "prt_3", done("grep", "x", ""))
	p.UpdateCall("ses_1", "prt_4", running("task", `{"description":"deeper"}`, `{"sessionId":"ses_2"}`))
	p.UpdateCall("ses_2", "prt_5", done("read", "a.go", ""))
	p.UpdateCall("", "prt_2", done("task", "look", `{"sessionId":"ses_1"}`))
	want := "⠋ bash make · 0.0s\n✓ task look · 1m01s\n  ✓ grep x · 1m01s\n  ⠋ task deeper · 0.0s\n    ✓ read a.go · 1m01s\n"
	if p.paint(); p.glass.Plain() != want {
		t.Errorf("while they run:\n%s", p.glass.Plain())
	}
	p.AddBackground("ses_9", "beside")
	p.UpdateCall("ses_9", "prt_6", done("bash", "false", `{"exit":1}`))
	p.EndBackground("ses_9")
	p.End()
	want = "✗ bash make · not finished · 0.0s\n✓ task look · 1m01s\n  ✓ grep x · 1m01s\n  ⠋ task deeper · 0.0s\n    ✓ read a.go · 1m01s\n✓ task beside · 0.0s\n  ✗ bash false · exit 1 · 1m01s\n"
	want = strings.Replace(want, "⠋ task deeper", "✗ task deeper · not finished", 1) + "\n"
	if p.paint(); p.glass.Plain() != want {
		t.Errorf("at the end:\n%s\nnot\n%s", p.glass.Plain(), want)
	}
}

// A foot is always below the rest, with the cursor in it. A terminal that becomes narrower keeps all rows above, whether it
// wraps them again or cuts them off.
func TestScreen_Foot(t *testing.T) {
	for _, reflows := range []bool{true, false} {
		var sent strings.Builder
		width := 60
		s := NewScreen(Options{
			Out: bufio.NewWriter(&sent), Size: func() (int, int) { return width, 20 }, Now: time.Now,
			Foot: func(width, _ int) Foot {
				return Foot{Rows: []style.Line{style.Plain("> typed").Fit(width, style.Attr{}), style.Plain("status").Fit(width, style.Attr{})}, X: 7, Y: 0}
			},
		})
		g := inlinetest.New(width, 20)
		draw := func() {
			sent.Reset()
			s.Draw()
			g.Write(strings.ReplaceAll(sent.String(), "\n", "\r\n"))
		}
		s.Prompt("first\nsecond", "(queued)")
		s.Notice("above")
		draw()
		if width = 30; reflows {
			g.Resize(width)
		} else {
			g.Width = width
		}
		s.Notice("below")
		draw()
		if got, want := g.Plain(), "› first\n  second  (queued)\n\nabove\nbelow\n\n> typed\nstatus"; strings.TrimRight(got, "\n") != want {
			t.Errorf("reflows %v:\n%s", reflows, got)
		}
		g.Write("!")
		if !strings.Contains(g.Plain(), "> typed!") || len(g.Unknown) > 0 {
			t.Errorf("the cursor is elsewhere, %v:\n%s", g.Unknown, g.Plain())
		}
	}
}
