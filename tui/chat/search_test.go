package chat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/style"
)

// searched begins a search from the end of a history.
func searched(t *testing.T, h *lathe.Transcript, e chat.Env, pattern string) *chat.Chat {
	t.Helper()
	c := chat.New()
	c.View(h, e)
	c.StartCursor()
	c.Search(pattern)
	if !c.Reader(h, e).SearchOn(func() bool { return true }) {
		t.Fatal("the search is not done")
	}
	c.Reader(h, e).ToNearest(true)
	return c
}

// marked are the highlighted texts on the screen: the current match in brackets.
func marked(lines []style.Line) (out []string) {
	for _, l := range lines {
		for _, s := range l {
			switch {
			case s.Attr.Invert && s.Attr.Bold:
				out = append(out, "["+s.Text+"]")
			case s.Attr.Underline:
				out = append(out, s.Text)
			}
		}
	}
	return out
}

func TestSearch_NextAndPrevious(t *testing.T) {
	h := newTalk().user(text("Find the needle.")).answer("stop", text("A needle, and another Needle.")).user(text("Thanks")).transcript()
	e := env(60, 20)
	c := searched(t, h, e, "needle")
	steps := func(want string, marks ...string) {
		t.Helper()
		n, all := c.Found().Current, c.Found().Total
		if got := fmt.Sprintf("%d/%d", n, all); got != want {
			t.Errorf("at %s, want %s", got, want)
		}
		if got := marked(c.View(h, e)); !slices.Equal(got, marks) {
			t.Errorf("%s: highlighted %q, want %q", want, got, marks)
		}
	}
	steps("3/3", "needle", "needle", "[Needle]")
	c.Reader(h, e).NextMatch(true)
	steps("2/3", "needle", "[needle]", "Needle")
	c.Reader(h, e).NextMatch(true)
	steps("1/3", "[needle]", "needle", "Needle")
	if !c.Reader(h, e).NextMatch(true) {
		t.Error("the search does not wrap")
	}
	steps("3/3", "needle", "needle", "[Needle]")
	if c = searched(t, h, e, "Needle"); len(marked(c.View(h, e))) != 1 {
		t.Error("a pattern with upper case ignores case")
	}
}

// What arrives after the search began is found by the next step, and the current match stays.
func TestSearch_FindsWhatArrives(t *testing.T) {
	k := newTalk().user(text("Find the needle.")).answer("", &lathe.Text{Text: "A needle.", Time: &lathe.Span{Start: 1}})
	h, e := k.transcript(), env(60, 20)
	c := searched(t, h, e, "needle")
	at := func(want string) {
		t.Helper()
		if f := c.Found(); fmt.Sprintf("%d/%d", f.Current, f.Total) != want {
			t.Errorf("%d/%d, want %s", f.Current, f.Total, want)
		}
	}
	at("2/2")
	answer := k.messages[1]
	h.Apply(lathe.Event{Fact: &lathe.PartDelta{Session: "ses_1", Message: answer.ID, Part: answer.Parts[0].ID, Field: "text", Delta: " Another needle.", Offset: 9}})
	m := lathe.Message{ID: "msg_9", Session: "ses_1", Created: k.at, Data: &lathe.User{}}
	h.Apply(lathe.Event{Fact: &lathe.MessageChanged{Info: m}})
	h.Apply(lathe.Event{Fact: &lathe.PartChanged{Part: lathe.Part{ID: "prt_9", Session: "ses_1", Message: m.ID, Body: text("One more needle")}}})
	c.Reader(h, e).NextMatch(false)
	at("3/4")
	c.Reader(h, e).NextMatch(false)
	at("4/4")
	c.Reader(h, e).NextMatch(false)
	at("1/4")
}

// A match in folded output, in the rest of a command or in reasoning unfolds it; the cursor stands on its row.
func TestSearch_UnfoldsTheMatch(t *testing.T) {
	lines := make([]string, 60)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d", i)
	}
	lines[47] = "here is haystack47"
	output := strings.Join(lines, "\n")
	for _, b := range []lathe.Body{
		done("grep", `{"pattern":"x"}`, `{}`, output), done("bash", `{"command":"ls"}`, `{}`, output),
		done("bash", `{"command":"cat <<E\nhaystack47\nE"}`, `{}`, "ok"),
		done("mine", `{}`, `{}`, output), failed("read", `{}`, output),
		&lathe.Reasoning{Text: "I think.\n\nOf haystack47.", Time: lathe.Span{Start: 1, End: 5000}},
	} {
		h := newTalk().user(text("Go")).answer("stop", b, text("Done.")).transcript()
		e := env(60, 12)
		c := searched(t, h, e, "haystack47")
		if got := marked(c.View(h, e)); !slices.Equal(got, []string{"[haystack47]"}) {
			t.Errorf("%#v: highlighted %q:\n%s", b, got, style.Text(c.View(h, e)))
		}
		c.Reader(h, e).Select()
		if got := c.Reader(h, e).Selected(); !strings.Contains(got, "haystack47") {
			t.Errorf("the cursor is on %q", got)
		}
	}
}

// A match that a line break of the screen divides is highlighted in both rows.
func TestSearch_OverLineBreaks(t *testing.T) {
	h := newTalk().user(text("Go")).answer("stop", text(strings.Repeat("word ", 5)+"alpha beta gamma")).transcript()
	e := env(36, 12)
	c := searched(t, h, e, "alpha beta")
	got := strings.Join(marked(c.View(h, e)), " ")
	if got != "[alpha beta]" && got != "[alpha] [beta]" {
		t.Errorf("highlighted %q:\n%s", got, style.Text(c.View(h, e)))
	}
}

func TestCursor_SelectsRows(t *testing.T) {
	h := newTalk().user(text("one\ntwo\nthree")).answer("stop", done("bash", `{"command":"ls"}`, `{}`, "a\nb")).transcript()
	e := env(60, 20)
	c := chat.New()
	c.View(h, e)
	c.StartCursor()
	c.ToTop(h)
	c.Reader(h, e).Select()
	c.Reader(h, e).Move(5)
	if got, want := c.Reader(h, e).Selected(), "one\ntwo\nthree\n\n$ ls\na"; got != want {
		t.Errorf("selected %q, want %q", got, want)
	}
	for range 3 { // up past the start of the selection
		c.Reader(h, e).Move(-2)
	}
	if got, want := c.Reader(h, e).Selected(), "\none"; got != want {
		t.Errorf("selected %q, want %q", got, want)
	}
	if text, what := c.Reader(h, e).Text(); text != "one\ntwo\nthree" || what != "message" {
		t.Errorf("%s %q", what, text)
	}
	c.ToEnd()
	c.Reader(h, e).Move(-3)
	if text, what := c.Reader(h, e).Text(); text != "a\nb" || what != "output" {
		t.Errorf("%s %q", what, text)
	}
}

// The cursor walks over every row, up and down, and the view follows it.
func TestCursor_StaysOnTheScreen(t *testing.T) {
	k := everything()
	for _, s := range []lathe.Session{{ID: "ses_1"}, {ID: "ses_1", Revert: &lathe.Revert{Message: k.messages[4].ID}}} {
		walkTheCursor(t, lathe.NewTranscript(s, k.messages))
	}
}

func walkTheCursor(t *testing.T, h *lathe.Transcript) {
	t.Helper()
	e := env(80, 9)
	c := chat.New()
	c.View(h, e)
	c.StartCursor()
	for _, step := range []int{-1, 1, -4, 3} {
		for range 200 {
			c.Reader(h, e).Page(step * 2)
			c.Reader(h, e).Move(step)
			on := 0
			for _, l := range c.View(h, e) {
				if strings.HasPrefix(l.Text(), "▌") {
					on++
				}
			}
			if on != 1 {
				t.Fatalf("%d cursors after moving by %d:\n%s", on, step, style.Text(c.View(h, e)))
			}
		}
	}
}

// What arrives while one reads moves nothing; at the last row the end is followed.
func TestCursor_HoldsTheScreen(t *testing.T) {
	k := newTalk().user(text("Go")).answer("stop", text(strings.Repeat("line\n\n", 20)))
	h := k.transcript()
	e := env(40, 10)
	c := chat.New()
	c.View(h, e)
	c.StartCursor()
	c.Reader(h, e).Move(-1)
	was := style.Text(c.View(h, e))
	grow := func(n int) {
		m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_9%04d", n)), Session: "ses_1", Created: k.at + lathe.Time(n), Data: &lathe.User{}}
		h.Apply(lathe.Event{Fact: &lathe.MessageChanged{Info: m}})
		h.Apply(lathe.Event{Fact: &lathe.PartChanged{Part: lathe.Part{ID: lathe.PartID("prt" + string(m.ID)), Session: "ses_1", Message: m.ID, Body: text("more")}}})
	}
	grow(1)
	if got := style.Text(c.View(h, e)); got != was {
		t.Errorf("the screen moved:\n%s\nwas:\n%s", got, was)
	}
	c.ToEnd()
	grow(2)
	if got := style.Text(c.View(h, e)); strings.Count(got, "more") != 2 {
		t.Errorf("the end is not followed:\n%s", got)
	}
}

// hundredThousand is a session of 100,000 parts that was loaded page by page.
func hundredThousand() *lathe.Transcript {
	x := lathetest.Long(100_000)
	last := max(0, len(x.Messages)-100)
	h := lathe.NewTranscript(x.Info, x.Messages[last:])
	for last > 0 {
		from := max(0, last-100)
		h.Include(x.Messages[from:last])
		last = from
	}
	return h
}

// A search of a long session yields in time, however much is left, and a match is drawn at the cost of its block.
func TestSearch_HundredThousandParts(t *testing.T) {
	h := hundredThousand()
	if h.Count() < 8000 {
		t.Fatalf("%d messages", h.Count())
	}
	e := env(120, 40)
	c := chat.New()
	c.View(h, e)
	c.StartCursor()
	c.Search("Prompt 17:")
	slices, left := 0, 0
	for !c.Reader(h, e).SearchOn(func() bool { left--; return left >= 0 }) {
		slices, left = slices+1, 500
	}
	if slices < 10 {
		t.Errorf("the search took %d slices", slices)
	}
	if !c.Reader(h, e).ToNearest(true) || !strings.Contains(style.Text(c.View(h, e)), "Prompt 17:") {
		t.Error("the match is not on the screen")
	}
	if f := c.Found(); f.Current != 1 || f.Total != 1 {
		t.Errorf("%d/%d", f.Current, f.Total)
	}
}

// BenchmarkSearch searches all of 100,000 parts and goes to the first match. In the screen this is done in slices.
func BenchmarkSearch(b *testing.B) {
	h := hundredThousand()
	e := env(120, 40)
	for _, pattern := range []string{"Prompt 17:", "return", "e"} {
		b.Run(pattern, func(b *testing.B) {
			var worst time.Duration
			for b.Loop() {
				c := chat.New()
				c.View(h, e)
				c.StartCursor()
				c.Search(pattern)
				for done := false; !done; {
					began := time.Now()
					done = c.Reader(h, e).SearchOn(func() bool { return time.Since(began) < 4*time.Millisecond })
					worst = max(worst, time.Since(began))
				}
				began := time.Now()
				c.Reader(h, e).ToNearest(true)
				c.Reader(h, e).NextMatch(true)
				worst = max(worst, time.Since(began))
			}
			b.ReportMetric(float64(worst)/float64(time.Millisecond), "worst-ms")
		})
	}
}
