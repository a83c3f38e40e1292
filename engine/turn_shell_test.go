package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/openai"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/workspace"
)

// desk is an engine with a real shell and the real tools, in real time.
type desk struct {
	*testing.T
	*engine.Engine
	server  *modeltest.Server
	dir     string
	runner  *sandbox.Runner
	session lathe.SessionID

	resource func(ctx context.Context, server, uri string) ([]prompt.Resource, error)
	images   prompt.Images
}

func newDesk(t *testing.T, script string) *desk {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh on this machine")
	}
	answers, err := modeltest.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{T: t, server: modeltest.Start(t, answers), dir: t.TempDir(), runner: sandbox.Open(sandbox.Config{})}
	data := t.TempDir()
	driver, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(data, "lathe.db")})
	d.ok(err)
	d.Engine, err = engine.Open(t.Context(), engine.Options{Driver: driver, Blobs: filepath.Join(data, "blobs"), Outputs: filepath.Join(data, "outputs"), Environment: d})
	d.ok(err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := d.runner.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := d.Create(t.Context(), d.dir, lathe.NewSession{Title: "A desk"})
	d.ok(err)
	d.session = s.ID
	return d
}

func (d *desk) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// Settings has the real tools, all allowed.
func (d *desk) Settings(context.Context, workspace.Place) (*engine.StepSettings, error) {
	commands := bash.Config{Runner: d.runner, Shell: "/bin/sh", Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir}}
	seen := builtin.NewReadTracker()
	return &engine.StepSettings{
		Agents:       []engine.Agent{{Agent: lathe.Agent{Name: "build", Mode: lathe.Primary, Rules: lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Allow}}}}},
		DefaultModel: lathe.ModelRef{Provider: "test", Model: "big"},
		Tools:        tool.NewSet(builtin.All(builtin.Config{Bash: commands, Read: builtin.ReadConfig{Tracker: seen}, Write: builtin.WriteConfig{Tracker: seen}})...),
		Shell:        bash.NewShell(commands),
		Resource:     d.resource,
		Images:       d.images,
	}, nil
}

func (d *desk) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	return &engine.Model{
		Ref: ref, Name: ref.Model, Context: 200_000, Output: 8000,
		Client: openai.NewChat(model.Endpoint{Provider: ref.Provider, BaseURL: d.server.URL}, lathe.NewIDs(), openai.Dialect{}),
	}, nil
}

// file waits until a file is there.
func (d *desk) file(name string) {
	d.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(filepath.Join(d.dir, name)); err == nil {
			return
		}
		select {
		case <-deadline:
			d.Fatalf("%s was not made", name)
		case <-tick.C:
		}
	}
}

func shellState(m lathe.Message) *lathe.Completed {
	if len(m.Parts) == 1 {
		if c, ok := m.Parts[0].Body.(*lathe.ToolCall); ok {
			done, _ := c.State.(*lathe.Completed)
			return done
		}
	}
	return nil
}

// What the user runs is kept as a call of bash, whatever its exit code, and the model is
// notified of it with the next prompt. (§6.14)
func TestShell_SavedAndSent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `text "I see."
finish stop`)
	m, err := d.Shell(t.Context(), d.session, lathe.ShellCommand{Command: "echo hello; echo there >&2; exit 3"})
	d.ok(err)
	a, done := m.Data.(*lathe.Assistant), shellState(m)
	if done == nil || !strings.Contains(done.Output, "hello") || !strings.Contains(done.Output, "there") || a.Completed == 0 || a.Error != nil || a.Finish != "" {
		t.Fatalf("%+v %+v", a, m.Parts)
	}
	if _, err := d.Prompt(t.Context(), d.session, lathe.Prompt{Parts: text("what was that?")}); err != nil {
		t.Fatal(err)
	}
	r := d.server.Requests()[0]
	if got := r.String(); r.Problem != "" || !strings.Contains(got, "The following tool was executed by the user") || !strings.Contains(got, "hello") || strings.Index(got, "hello") > strings.Index(got, "what was that?") {
		t.Errorf("the model was told (%s):\n%s", r.Problem, got)
	}
}

// A command behind an answer asks the model nothing. (§6.14)
func TestShell_BehindAnAnswerAsksNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `text "I see."
finish stop`)
	if _, err := d.Prompt(t.Context(), d.session, lathe.Prompt{Parts: text("look")}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := d.Shell(t.Context(), d.session, lathe.ShellCommand{Command: "echo hello"})
		d.ok(err)
		d.ok(d.Drain(t.Context()))
	}
	if n := len(d.server.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A prompt sent meanwhile is answered afterwards, and a second command is refused. (item 12)
func TestShell_WhileItRuns(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `text "Afterwards."
finish stop`)
	ended := make(chan error, 1)
	go func() {
		_, err := d.Shell(t.Context(), d.session, lathe.ShellCommand{Command: "touch begun; while [ ! -e go ]; do sleep 0.01; done; echo gone"})
		ended <- err
	}()
	d.file("begun")
	if _, err := d.Shell(t.Context(), d.session, lathe.ShellCommand{Command: "true"}); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("a second command: %v", err)
	}
	_, err := d.Submit(t.Context(), d.session, lathe.Prompt{Parts: text("and now?")})
	d.ok(err)
	if n := len(d.server.Requests()); n != 0 {
		t.Errorf("%d requests while it runs", n)
	}
	d.ok(os.WriteFile(filepath.Join(d.dir, "go"), nil, 0o600))
	d.ok(<-ended)
	m, err := d.Wait(t.Context(), d.session)
	d.ok(err)
	if got := wordsOf(m); got != "Afterwards." {
		t.Errorf("answered %q", got)
	}
	if r := d.server.Requests()[0]; !strings.Contains(r.String(), "gone") {
		t.Errorf("the model was not told what was printed:\n%s", r.String())
	}
	page, err := d.Messages(t.Context(), d.session, lathe.Position{}, 0)
	d.ok(err)
	if len(page.Messages) != 4 {
		t.Errorf("%d messages", len(page.Messages))
	}
}

// A session at work refuses a command, and a cancel ends one with what it printed. (§6.14, item 11)
func TestShell_BusyAndCanceled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `text "Here "
stall`)
	_, err := d.Submit(t.Context(), d.session, lathe.Prompt{Parts: text("work")})
	d.ok(err)
	if _, err := d.Shell(t.Context(), d.session, lathe.ShellCommand{Command: "true"}); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("at work: %v", err)
	}
	d.ok(d.Cancel(t.Context(), d.session))
	d.ok(d.Drain(t.Context()))
	type result struct {
		m   lathe.Message
		err error
	}
	ended := make(chan result, 1)
	go func() {
		m, err := d.Shell(t.Context(), d.session, lathe.ShellCommand{Command: "echo first; touch begun; sleep 600; echo never"})
		ended <- result{m, err}
	}()
	d.file("begun")
	d.ok(d.Cancel(t.Context(), d.session))
	got := <-ended
	d.ok(got.err)
	if done := shellState(got.m); done == nil || !strings.Contains(done.Output, "first") || strings.Contains(done.Output, "never") || !strings.Contains(done.Output, "aborted") {
		t.Errorf("%+v", got.m.Parts)
	}
	statuses, err := d.Statuses(t.Context(), lathe.Scope{})
	d.ok(err)
	if len(statuses) != 0 {
		t.Errorf("it is %v", statuses)
	}
}

// A command that cannot be run is an error for its sender, and leaves the session as it was for
// the next prompt.
func TestShell_CannotRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `text "Here."
finish stop`)
	d.ok(d.runner.Close())
	m, err := d.Shell(t.Context(), d.session, lathe.ShellCommand{Command: "true"})
	d.ok(err)
	if c, ok := m.Parts[0].Body.(*lathe.ToolCall); !ok || c.State.Status() != "error" {
		t.Errorf("%+v", m.Parts)
	}
	got, err := d.Prompt(t.Context(), d.session, lathe.Prompt{Parts: text("go on")})
	d.ok(err)
	if wordsOf(got) != "Here." {
		t.Errorf("answered %q", wordsOf(got))
	}
}

// The real tools in one turn: they read, search, change and run.
func TestTurn_RealTools(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `call grep {"pattern":"fox"}
call read {"filePath":"a.txt"}
finish tool-calls
--
call edit {"filePath":"a.txt","oldString":"fox","newString":"dog"}
finish tool-calls
--
call bash {"command":"cat a.txt"}
call todowrite {"todos":[{"content":"Done","status":"completed","priority":"high"}]}
finish tool-calls
--
text "Done."
finish stop`)
	d.ok(os.WriteFile(filepath.Join(d.dir, "a.txt"), []byte("the quick fox\n"), 0o600))
	m, err := d.Prompt(t.Context(), d.session, lathe.Prompt{Parts: text("change the animal")})
	d.ok(err)
	if got := wordsOf(m); got != "Done." {
		t.Errorf("answered %q: %v", got, m.Data)
	}
	data, err := os.ReadFile(filepath.Join(d.dir, "a.txt"))
	d.ok(err)
	requests := d.server.Requests()
	if string(data) != "the quick dog\n" || !strings.Contains(requests[len(requests)-1].String(), "the quick dog") {
		t.Errorf("%q, %s", data, requests[len(requests)-1].String())
	}
}

// The message of a command is a new one: what was said stays.
func TestShell_MessageIsTaken(t *testing.T) {
	d := newDesk(t, "")
	said, err := d.Submit(t.Context(), d.session, lathe.Prompt{NoReply: true, Parts: []lathe.Part{{Body: &lathe.Text{Text: "keep me"}}}})
	d.ok(err)
	if _, err := d.Shell(t.Context(), d.session, lathe.ShellCommand{Message: said.ID, Command: "echo hi"}); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("ran under the id of another message: %v", err)
	}
	page, err := d.Messages(t.Context(), d.session, lathe.Position{}, 0)
	d.ok(err)
	if len(page.Messages) != 1 || len(page.Messages[0].Parts) != 1 {
		t.Errorf("the session holds %d messages, the first %d parts", len(page.Messages), len(page.Messages[0].Parts))
	}
	own := lathe.MessageID("msg_own")
	for _, want := range []lathe.Code{"", lathe.Conflict} {
		if _, err := d.Shell(t.Context(), d.session, lathe.ShellCommand{Message: own, Command: "echo hi"}); lathe.CodeOf(err) != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A session continues while a prompt waits or is answered, and not while one is held.
func TestContinues(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "text \"a\"\nstall")
	continues := func(want bool, when string) {
		t.Helper()
		got, err := d.HasMore(t.Context(), d.session)
		d.ok(err)
		if got != want {
			t.Errorf("%s: %v", when, got)
		}
	}
	continues(false, "nothing was said")
	_, err := d.Submit(t.Context(), d.session, lathe.Prompt{Parts: text("look")})
	d.ok(err)
	continues(true, "a prompt waits, or is answered")
	d.ok(d.Send(t.Context(), d.session, lathe.Cancel{}))
	d.ok(d.Drain(t.Context()))
	continues(false, "the turn was cancelled")
}
