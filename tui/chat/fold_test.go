package chat_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/style"
)

func pasted(lines int) string {
	out := []string{"Why does this fail?"}
	for i := range lines {
		out = append(out, fmt.Sprintf("log line %d", i))
	}
	return strings.Join(append(out, "Tell me."), "\n")
}

// A long paste is folded between its first and last lines. A click on that row unfolds it; other rows have actions.
func TestView_FoldsALongPrompt(t *testing.T) {
	h := newTalk().user(text(pasted(200))).transcript()
	e := env(60, 40)
	c := chat.New()
	rows := c.View(h, e)
	screen := style.Text(rows)
	for _, want := range []string{"Why does this fail?", "log line 3", "… 194 more lines, click to expand", "log line 199", "Tell me."} {
		if !strings.Contains(screen, want) {
			t.Errorf("no %q in\n%s", want, screen)
		}
	}
	if strings.Contains(screen, "log line 50") || len(rows) > 12 {
		t.Errorf("it is not folded:\n%s", screen)
	}
	for y, r := range rows {
		target, _ := c.At(y)
		note := strings.Contains(r.Text(), "more lines")
		if note != (target.Part != "") || note == target.User {
			t.Errorf("row %d %q: %+v", y, r.Text(), target)
		}
		if note {
			c.Toggle(target.Part)
		}
	}
	c.ToTop(h)
	if screen := style.Text(c.View(h, e)); !strings.Contains(screen, "log line 30") {
		t.Errorf("it is not unfolded:\n%s", screen)
	}
	c.ToEnd()
	if screen := style.Text(c.View(h, e)); !strings.Contains(screen, "click to fold") {
		t.Errorf("it cannot be folded:\n%s", screen)
	}
	c = searched(t, h, e, "log line 77")
	if screen := style.Text(c.View(h, e)); !strings.Contains(screen, "log line 77") {
		t.Errorf("a match does not unfold it:\n%s", screen)
	}
}

// One line of a megabyte is folded too, and drawn fast.
func TestView_FoldsALongLine(t *testing.T) {
	h := newTalk().user(text("Look: " + strings.Repeat("word ", 200_000))).transcript()
	rows := chat.New().View(h, env(60, 40))
	if screen := style.Text(rows); !strings.Contains(screen, "… click to expand") || len(rows) > 12 {
		t.Errorf("%d rows:\n%s", len(rows), screen)
	}
}

// The notes of checks are one row below the answer, which unfolds.
func TestView_NotesAreOneRow(t *testing.T) {
	note := func(s string) *lathe.Text {
		return &lathe.Text{Text: s, Synthetic: lathe.Yes, Ignored: lathe.Yes}
	}
	k := newTalk().user(text("Go"), note("The list has open items:\n- one\n- two"), note(strings.Repeat("A stray file. ", 20)))
	h := k.answer("stop", text("All done.")).transcript()
	c, e := chat.New(), env(60, 30)
	rows := c.View(h, e)
	screen := style.Text(rows)
	if n := strings.Count(screen, "!"); n != 1 || !strings.Contains(screen, "! 2 checks: The list has open items: …") || strings.Contains(screen, "stray") {
		t.Errorf("%d notes:\n%s", n, screen)
	}
	for y := range rows {
		if target, _ := c.At(y); strings.Contains(rows[y].Text(), "! 2 checks") {
			c.Toggle(target.Part)
		}
	}
	if screen := style.Text(c.View(h, e)); !strings.Contains(screen, "- two") || !strings.Contains(screen, "stray") {
		t.Errorf("it does not unfold:\n%s", screen)
	}
}

// The words of a rejection stand below the call that was rejected.
func TestView_RefusalWords(t *testing.T) {
	h := newTalk().user(text("Go")).answer("stop", failed("bash", `{"command":"rm x"}`, "The user rejected permission for this call and says: use git rm instead"),
		failed("bash", `{"command":"rm y"}`, "The user rejected permission for this call. It was not run.")).transcript()
	screen := style.Text(chat.New().View(h, env(60, 30)))
	if !strings.Contains(screen, "$ rm x not allowed\n  ↳ use git rm instead") || strings.Count(screen, "not allowed") != 2 || strings.Contains(screen, "says:") {
		t.Errorf("the words are not below the call:\n%s", screen)
	}
}

// A request shows the change it is about, so the transcript above does not.
func TestView_ChangeShownOnce(t *testing.T) {
	h := newTalk().user(text("Go")).answer("", running("write", `{"filePath":"a.go","content":"package a"}`, `{}`)).transcript()
	e := env(60, 30)
	open := lathe.Time(0)
	e.Waits = func(string) []lathe.Wait { return []lathe.Wait{{lathe.Time(noon.UnixMilli()), open}} }
	if screen := style.Text(chat.New().View(h, e)); strings.Contains(screen, "package a") || !strings.Contains(screen, "waiting for you") {
		t.Errorf("while it is asked:\n%s", screen)
	}
	open = lathe.Time(noon.Add(time.Second).UnixMilli())
	if screen := style.Text(chat.New().View(h, e)); !strings.Contains(screen, "package a") {
		t.Errorf("after the answer:\n%s", screen)
	}
}

// A running call does not count the time in which the user was asked, and says that it waits.
func TestView_RunningWithoutWaits(t *testing.T) {
	h := newTalk().user(text("Go")).answer("", running("bash", `{"command":"make"}`, `{}`)).transcript()
	e := env(60, 30)
	e.Now = noon.Add(7 * time.Second) // it began 10 seconds ago
	at := func(s int) lathe.Time { return lathe.Time(noon.Add(time.Duration(s) * time.Second).UnixMilli()) }
	for want, waits := range map[string][]lathe.Wait{
		"make 10s":                  nil,
		"make 6.0s":                 {{at(1), at(5)}},
		"make waiting for you 4.0s": {{at(1), 0}},
		"make waiting for you 3.0s": {{at(0), at(2)}, {at(1), 0}},
	} {
		e.Waits = func(string) []lathe.Wait { return waits }
		if screen := style.Text(chat.New().View(h, e)); !strings.Contains(screen, want) {
			t.Errorf("no %q in\n%s", want, screen)
		}
	}
}
