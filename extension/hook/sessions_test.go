package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

// noMessages has sessions without messages.
type noMessages struct{}

func (noMessages) Session(_ context.Context, id lathe.SessionID) (lathe.Session, error) {
	return lathe.Session{ID: id}, nil
}

func (noMessages) Messages(context.Context, lathe.SessionID, lathe.Position, int) (lathe.Page, error) {
	return lathe.Page{}, nil
}

// newSet is a set with one hook, which runs unconfined.
func newSet(t *testing.T, event, command string) *Set {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the hook is a shell script")
	}
	runner := sandbox.Open(sandbox.Config{})
	t.Cleanup(func() { _ = runner.Close() })
	dir, folder := t.TempDir(), t.TempDir()
	sessions := NewSessions(noMessages{}, func(id lathe.SessionID) string { return filepath.Join(folder, string(id)) }, "1")
	t.Cleanup(sessions.Close)
	s := New(Options{
		Groups: map[string][]Group{event: {{Commands: []Command{{Command: command}}}}}, Dir: dir, Root: dir, Runner: runner, Sessions: sessions,
		Env: os.Environ, Confine: func(lathe.SessionID, string) (sandbox.Profile, error) { return sandbox.Profile{}, nil },
		Mode: func(string) string { return "default" }, Notify: func(text string) { t.Log(text) }, Log: slog.New(slog.DiscardHandler),
	})
	s.Hooks(engine.Hooks{})
	return s
}

// A session without a prompt is idle after a while; a prompt in time, or the end of lathe, prevents that.
func TestSessions_Idle(t *testing.T) {
	t.Parallel()
	s := newSet(t, notification, "cat >> idle.log")
	s.Sessions.Idle = 20 * time.Millisecond
	end := engine.TurnEnd{Session: lathe.Session{ID: "ses_1"}, Agent: "build"}
	if got := s.turnEnd(t.Context(), end); got != "" {
		t.Error(got)
	}
	path := filepath.Join(s.Dir, "idle.log")
	for deadline := time.Now().Add(30 * time.Second); ; <-time.After(10 * time.Millisecond) {
		if text, _ := os.ReadFile(path); strings.Contains(string(text), `"notification_type":"idle_prompt"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no hook heard of an idle session")
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.Sessions.Idle = time.Hour
	s.turnEnd(t.Context(), end)
	s.Sessions.active("ses_1")
	s.Sessions.Close()
	s.Sessions.background(func(context.Context) { t.Error("something ran after the end") })
	if _, err := os.Stat(path); err == nil {
		t.Error("a hook heard of a session that is not idle")
	}
}

// A canceled turn ends its hooks and takes nothing from them.
func TestSet_Canceled(t *testing.T) {
	t.Parallel()
	s := newSet(t, stop, "touch began; sleep 600; exit 2")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(s.Dir, "began")); err == nil {
				break
			}
		}
		cancel()
	}()
	began := time.Now()
	if got := s.turnEnd(ctx, engine.TurnEnd{Session: lathe.Session{ID: "ses_1"}}); got != "" || time.Since(began) > 40*time.Second {
		t.Errorf("%q after %s", got, time.Since(began))
	}
}

// A further session of the user in front of the terminal begins as after /clear. One of another client of a server does not.
func TestSessions_Clear(t *testing.T) {
	t.Parallel()
	for _, interactive := range []bool{false, true} {
		s := newSet(t, sessionStart, "cat >> start.log")
		s.Sessions.Interactive = interactive
		for _, id := range []lathe.SessionID{"ses_1", "ses_2", "ses_1"} {
			m := &lathe.Message{Session: id, Data: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "Hello"}}}}
			if err := s.prompt(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		log, err := os.ReadFile(filepath.Join(s.Dir, "start.log"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]int{true: 1}[interactive]
		if got := strings.Count(string(log), `"source":"clear"`); got != want || strings.Count(string(log), `"source":"`) != 2 {
			t.Errorf("interactive %v: %s", interactive, log)
		}
	}
}

// A patch is a change of each of its files, for hooks that know no patches.
func TestPatchedFiles(t *testing.T) {
	text := "*** Begin Patch\n*** Add File: new.txt\n+one\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-old\n+new\n*** Delete File: gone.txt\n*** End Patch"
	input, err := json.Marshal(map[string]string{"patchText": text})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.FromSlash("/p")
	var got []string
	for _, c := range patchedFiles(&tool.Call{Dir: dir, Input: input}) {
		var in map[string]string
		if err := json.Unmarshal(c.input, &in); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %q %q %q", c.tool, filepath.Base(in["file_path"]), in["content"], in["old_string"], in["new_string"]))
	}
	want := []string{`Write new.txt "one\n" "" ""`, `Edit a.txt "" "old\n" "new\n"`, `Edit b.txt "" "old\n" "new\n"`, `Edit gone.txt "" "" ""`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{`{}`, `7`, `{"patchText":"no patch"}`} {
		if got := patchedFiles(&tool.Call{Dir: dir, Input: json.RawMessage(bad)}); got != nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}

// A call with several files is allowed only if hooks allow each of them.
func TestOutcome_And(t *testing.T) {
	for _, c := range []struct{ a, b, want lathe.Action }{
		{lathe.Allow, lathe.Allow, lathe.Allow}, {lathe.Allow, "", ""}, {"", lathe.Allow, ""}, {lathe.Allow, lathe.Ask, lathe.Ask}, {lathe.Ask, lathe.Deny, lathe.Deny}, {lathe.Deny, lathe.Allow, lathe.Deny},
	} {
		if got := (outcome{action: c.a}).and(outcome{action: c.b}).action; got != c.want {
			t.Errorf("%q and %q: %q", c.a, c.b, got)
		}
	}
}
