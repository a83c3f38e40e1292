package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tui/status"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
	"pgregory.net/rapid"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func hints() []status.Hint {
	return []status.Hint{{"ctrl+p", "commands"}, {"tab", "agents"}, {"ctrl+t", "variants"}}
}

// view is what is above and below the prompt.
func view(th *style.Theme, v status.Values, width int, now time.Time) []style.Line {
	return []style.Line{status.Activity(th, v, width, now), status.Line(th, v, width)}
}

func idle() status.Values {
	return status.Values{
		Agent: "Build", Model: "Claude Sonnet 4.5", Provider: "Anthropic", Variant: "high",
		Tokens: 48_231, Percent: 24, Cost: 0.42, Hints: hints(),
	}
}

func busy() status.Values {
	v := idle()
	v.Busy, v.Frame, v.Queued, v.Auto = true, 3, 2, true
	return v
}

func TestGolden(t *testing.T) {
	retry := busy()
	retry.Interrupting, retry.Retry = true, &status.Retry{Attempt: 2, Of: 5, Message: "The provider is overloaded\nrequest 123", At: now.Add(7500 * time.Millisecond)}
	shell := idle()
	shell.Shell = true
	for name, v := range map[string]status.Values{
		"idle": idle(), "busy": busy(), "retry": retry, "shell": shell,
		"long": {Agent: "Build", Model: "A model with a very long name of its own (preview 2026-11)", Variant: "high", Tokens: 48_231, Percent: 24, Cost: 0.42, Auto: true, Hints: hints()},
		"new":  {Agent: "Plan", Percent: -1, Hints: hints()},
	} {
		styletest.Frames(t, name, func(width int) []style.Line { return view(style.Default(true), v, width, now) })
	}
	for name, q := range map[string]status.Search{"search": {Query: "store", Found: true, Older: "ctrl+r"}, "search-none": {Query: strings.Repeat("wörter ", 20), Older: "ctrl+r"}} {
		styletest.Frames(t, name, func(width int) []style.Line {
			l, x := status.SearchLine(style.Default(true), q, width)
			return []style.Line{l, style.Plain(strings.Repeat(" ", x) + "^")}
		})
	}
	child := child()
	styletest.Frames(t, "child", func(width int) []style.Line { return status.Footer(style.Default(true), child, width) })
}

func child() status.Child {
	return status.Child{
		Agent: "explore", Title: "Find where sessions are stored", Number: 2, Of: 3, Busy: true, Frame: 9, Tokens: 9200, Percent: 4, Cost: 0.013,
		ParentKey: "up", PrevKey: "left", NextKey: "right",
	}
}

// What matters most is still there when nothing else is.
func TestView_Narrow(t *testing.T) {
	rows := view(style.Default(true), busy(), 20, now)
	text := style.Text(rows)
	for _, want := range []string{"Build", "auto-approve", "■"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	v := idle()
	v.Hints = append(v.Hints, status.Hint{Label: "nothing"})
	if text := style.Text(view(style.Default(true), v, 120, now)); strings.Contains(text, "nothing") {
		t.Errorf("a hint without a key:\n%s", text)
	}
	// Hints go from the last on.
	for width := 20; width < 120; width++ {
		text := style.Text(view(style.Default(true), idle(), width, now))
		if strings.Contains(text, "variants") && !strings.Contains(text, "commands") {
			t.Errorf("at %d the last hint is there and the first is not:\n%s", width, text)
		}
	}
}

func TestView_Colors(t *testing.T) {
	th := style.Default(true)
	v := busy()
	v.AgentColor, v.Percent = style.Hex(0x123456), 93
	rows := view(th, v, 120, now)
	for text, want := range map[string]style.Color{
		"Build": v.AgentColor, "48.2K": th.Error, "auto-approve": th.Error, "Anthropic": th.TextMuted, "2 queued": th.Warning, "commands": th.TextMuted,
	} {
		if got := styletest.Look(t, rows, text).FG; got != want {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
	v.Percent = 80
	if got := styletest.Look(t, view(th, v, 120, now), "48.2K").FG; got != th.Warning {
		t.Errorf("a window that is nearly full is %v", got)
	}
	v.Interrupting = true
	if got := styletest.Look(t, view(th, v, 120, now), "esc again to interrupt"); got.FG != th.Error || !got.Bold {
		t.Errorf("the second press: %+v", got)
	}
}

func TestView_BarMoves(t *testing.T) {
	th := style.Default(true)
	v := busy()
	seen := map[string]bool{}
	for f := range 28 {
		v.Frame = f
		rows := view(th, v, 80, now)
		if w := strings.Count(rows[0].Text(), "■") + strings.Count(rows[0].Text(), "·"); w != 8 {
			t.Fatalf("frame %d: %q", f, rows[0].Text())
		}
		seen[style.Render(rows[:1])] = true
	}
	if len(seen) != 14 {
		t.Errorf("%d pictures, want 14", len(seen))
	}
	v.Frame = -1
	if text := style.Text(view(th, v, 80, now)); !strings.Contains(text, "working…") || strings.Contains(text, "■") {
		t.Errorf("without animation:\n%s", text)
	}
	sys, _ := style.Builtin("system", true)
	v.Frame = 4
	first := style.Render(view(sys, v, 80, now))
	if v.Frame = 5; first == style.Render(view(sys, v, 80, now)) {
		t.Error("nothing moves in the terminal's colors")
	}
}

func TestView_Countdown(t *testing.T) {
	for left, want := range map[time.Duration]string{
		-time.Second: "Retrying", 0: "Retrying", 100 * time.Millisecond: "Retrying in 1s", 1500 * time.Millisecond: "Retrying in 2s",
		42 * time.Second: "Retrying in 42s", 200 * time.Second: "Retrying in 3m 20s",
	} {
		v := busy()
		v.Retry = &status.Retry{At: now.Add(left)}
		if text := style.Text(view(style.Default(true), v, 120, now)); !strings.Contains(text, want) {
			t.Errorf("%v left: %q is not in\n%s", left, want, text)
		}
	}
}

func TestFooter_Hit(t *testing.T) {
	th := style.Default(true)
	c := child()
	for _, width := range []int{20, 40, 120} {
		row := status.Footer(th, c, width)[1].Text()
		for name, want := range map[string]status.Part{"Parent": status.Parent, "Prev": status.Prev, "Next": status.Next} {
			x := strings.Index(row, name)
			if x < 0 {
				continue
			}
			if got := status.FooterHit(th, c, width, x+1, 1); got != want {
				t.Errorf("%s at %d of %d: part %d", name, x, width, got)
			}
			if got := status.FooterHit(th, c, width, x+1, 0); got != status.None {
				t.Errorf("the row above is part %d", got)
			}
		}
	}
	if got := status.FooterHit(th, c, 120, 119, 1); got != status.None {
		t.Errorf("the right edge is part %d", got)
	}
}

func TestAnything(t *testing.T) {
	text := rapid.OneOf(rapid.SampledFrom(styletest.Hostile()), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		v := status.Values{
			Agent: text.Draw(t, "agent"), Model: text.Draw(t, "model"), Provider: text.Draw(t, "provider"), Variant: text.Draw(t, "variant"),
			Busy: rapid.Bool().Draw(t, "busy"), Frame: rapid.IntRange(-1, 100).Draw(t, "frame"), Queued: rapid.IntRange(0, 5).Draw(t, "queued"),
			Tokens: rapid.Int64().Draw(t, "tokens"), Percent: rapid.IntRange(-1, 1000).Draw(t, "percent"), Cost: rapid.Float64().Draw(t, "cost"), Auto: rapid.Bool().Draw(t, "auto"),
			Retry: &status.Retry{Message: text.Draw(t, "message"), At: now.Add(time.Hour)}, Hints: hints(),
		}
		width := rapid.IntRange(1, 130).Draw(t, "width")
		rows := view(style.Default(true), v, width, now)
		styletest.CheckWidth(t, rows, width)
		for _, l := range rows {
			if text := l.Text(); width >= 3 && text != "" && (text[0] != ' ' || l.Width() == width) {
				t.Fatalf("it touches an edge of %d columns: %q", width, text)
			}
		}
		c := status.Child{Agent: v.Agent, Title: v.Model, Of: rapid.IntRange(0, 3).Draw(t, "of"), Busy: v.Busy, Frame: v.Frame, Tokens: v.Tokens, Cost: v.Cost}
		styletest.CheckWidth(t, status.Footer(style.Default(true), c, width), width)
		status.FooterHit(style.Default(true), c, width, rapid.IntRange(-5, 150).Draw(t, "x"), 1)
	})
	v := busy()
	v.Agent, v.Model = styletest.Megabyte(), styletest.Megabyte()
	styletest.CheckWidth(t, view(style.Default(true), v, 40, now), 40)
}

func BenchmarkView(b *testing.B) {
	th, v := style.Default(true), busy()
	b.ReportAllocs()
	for b.Loop() {
		view(th, v, 120, now)
	}
}
