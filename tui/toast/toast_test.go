package toast_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
	"github.com/lathe-agent/lathe/tui/toast"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestGolden(t *testing.T) {
	styletest.Frames(t, "three", func(width int) []style.Line {
		var s toast.Stack
		s.Add(toast.Note{Text: "Copied to the clipboard."}, start)
		s.Add(toast.Note{Variant: toast.Success, Title: "Shared", Text: "The address is in the clipboard: https://example.com/s/abc123"}, start)
		s.Add(toast.Note{Variant: toast.Error, Text: "Could not read the file /home/usr/project/some/where/deep/notes.txt: permission denied"}, start)
		s.Add(toast.Note{Variant: toast.Warning, Text: "This one waits."}, start)
		return s.View(style.Default(true), width, 24)
	})
}

func TestStack_TimesAndPlaces(t *testing.T) {
	var s toast.Stack
	th := style.Default(true)
	for _, text := range []string{"one", "two", "three", "four"} {
		s.Add(toast.Note{Text: text}, start)
	}
	says := func() string { return strings.Join(strings.Fields(style.Text(s.View(th, 40, 24))), " ") }
	if got := says(); got != "▌ i one ▌ i two ▌ i three" {
		t.Errorf("shown: %s", got)
	}
	s.Add(toast.Note{Text: "two"}, start.Add(4*time.Second)) // said again
	at, ok := s.Next()
	if !ok || at != start.Add(5*time.Second) {
		t.Errorf("Next() = %v, %v", at, ok)
	}
	if s.Expire(at.Add(-time.Millisecond)) {
		t.Error("something went too early")
	}
	if !s.Expire(at) {
		t.Error("nothing went")
	}
	if got := says(); got != "▌ i two ▌ i four" {
		t.Errorf("after five seconds: %s", got)
	}
	if !s.Expire(start.Add(9*time.Second)) || says() != "▌ i four" {
		t.Errorf("after nine seconds: %s", says())
	}
	if s.Expire(start.Add(10 * time.Second)); s.Len() != 0 || s.View(th, 40, 24) != nil {
		t.Errorf("after ten seconds: %s", says())
	}
	if at, ok := s.Next(); ok {
		t.Errorf("Next() of nothing = %v", at)
	}
}

// A note on the same topic takes the place of the earlier one.
func TestStack_Topic(t *testing.T) {
	var s toast.Stack
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	s.Add(toast.Note{Text: "other"}, now)
	for _, text := range []string{"one", "two", "three"} {
		s.Add(toast.Note{Text: text, Topic: "mode"}, now)
	}
	if text := style.Text(s.View(style.Default(true), 60, 20)); s.Len() != 2 || !strings.Contains(text, "three") || strings.Contains(text, "two") {
		t.Errorf("%d notes:\n%s", s.Len(), text)
	}
}

func TestStack_Click(t *testing.T) {
	var s toast.Stack
	th := style.Default(false)
	s.Add(toast.Note{Text: strings.Repeat("long ", 20)}, start)
	s.Add(toast.Note{Text: "short"}, start)
	rows := s.View(th, 40, 24)
	if s.Click(len(rows), start) || s.Click(-1, start) {
		t.Error("a click beside the notes took one")
	}
	if !s.Click(len(rows)-1, start) || strings.Contains(style.Text(s.View(th, 40, 24)), "short") {
		t.Errorf("still there:\n%s", style.Text(s.View(th, 40, 24)))
	}
	if !s.Click(0, start) || s.Len() != 0 {
		t.Error("the first is still there")
	}
}

func TestStack_Colors(t *testing.T) {
	th := style.Default(true)
	for v, want := range map[toast.Variant]style.Color{toast.Info: th.Info, toast.Success: th.Success, toast.Warning: th.Warning, toast.Error: th.Error} {
		var s toast.Stack
		s.Add(toast.Note{Variant: v, Text: "text"}, start)
		rows := s.View(th, 40, 24)
		if got := styletest.Look(t, rows, "▌").FG; got != want {
			t.Errorf("variant %d: bar %v, want %v", v, got, want)
		}
		if got := styletest.Look(t, rows, "text"); got.FG != th.Text || got.BG != th.BackgroundMenu {
			t.Errorf("variant %d: text %+v", v, got)
		}
	}
}

func TestStack_Anything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s toast.Stack
		now := start
		th := style.Default(true)
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				s.Add(toast.Note{Variant: toast.Variant(rapid.IntRange(0, 5).Draw(t, "v")), Title: rapid.String().Draw(t, "title"), Text: rapid.String().Draw(t, "text")}, now)
			case 1:
				s.Expire(now)
			case 2:
				s.Click(rapid.IntRange(-2, 30).Draw(t, "y"), now)
			}
			w := rapid.IntRange(0, 100).Draw(t, "w")
			styletest.CheckWidth(t, s.View(th, w, 24), min(w, 60))
		}
	})
	for _, text := range append(styletest.Hostile(), styletest.Megabyte()) {
		var s toast.Stack
		s.Add(toast.Note{Title: text, Text: text}, start)
		rows := s.View(style.Default(true), 20, 24)
		styletest.CheckWidth(t, rows, 20)
		if len(rows) > 8 {
			t.Errorf("%d rows of %.20q", len(rows), text)
		}
	}
}
