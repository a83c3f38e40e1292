package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/anthropic"
	"github.com/lathe-agent/lathe/model/bedrock"
	"github.com/lathe-agent/lathe/model/gemini"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/openai"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// opening is what an engine is opened with, and the hooks of its settings.
type opening struct {
	engine.Options
	Hooks engine.Hooks
}

// playing is a transcript running.
type playing struct {
	*testing.T
	*engine.Engine
	script   *script
	protocol modeltest.Protocol
	server   *modeltest.Server
	session  lathe.SessionID // the current session
	sessions []lathe.SessionID
	data     string
	dir      string
	opens    uint64
	driver   *faulty        // the open database
	with     func(*opening) // what a test wants otherwise; nil is nothing
	hooked   engine.Hooks   // of the engine that is open
	shown    *shown
	stop     context.CancelFunc // ends the listening
	listened chan struct{}
	wire     int // bytes that an answer may have; 0 is the default
}

func beginPlay(t *testing.T, s *script, protocol modeltest.Protocol) *playing {
	t.Helper()
	return beginPlayWith(t, s, protocol, nil)
}

// beginPlayWith lets with change the options of every engine that is opened.
func beginPlayWith(t *testing.T, s *script, protocol modeltest.Protocol, with func(*opening)) *playing {
	t.Helper()
	p := &playing{T: t, script: s, protocol: protocol, server: modeltest.Pipe(t, s.model), data: t.TempDir(), dir: t.TempDir(), with: with}
	for _, f := range s.archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "files/"); ok {
			p.ok(os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o755))
			p.ok(os.WriteFile(filepath.Join(p.dir, name), f.Data, 0o644))
		}
	}
	p.initGit()
	p.shown = newShown(p.dir)
	p.shown.apart = p.option("apart", "") != ""
	empty, err := emptyDatabase()
	p.ok(err)
	p.ok(os.WriteFile(filepath.Join(p.data, "lathe.db"), empty, 0o600))
	p.open()
	title := p.option("title", "A transcript")
	if title == "default" {
		title = ""
	}
	rec, err := p.Create(t.Context(), p.dir, lathe.NewSession{Title: title, Rules: s.own})
	p.ok(err)
	p.speakTo(rec.ID)
	p.listen()
	t.Cleanup(func() {
		p.stop()
		<-p.listened
		p.ok(p.Close())
	})
	return p
}

// initGit makes a repository of the directory, with all that is in it committed.
func (p *playing) initGit() {
	p.Helper()
	if p.option("git", "") == "" {
		return
	}
	if _, err := exec.LookPath("git"); err != nil {
		p.Skip("this transcript needs git, which is not installed")
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=dev", "-c", "user.email=dev@localhost", "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = p.dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
		out, err := cmd.CombinedOutput()
		if err != nil {
			p.Fatalf("git %v: %v %s", args, err, out)
		}
	}
}

// emptyDatabase is a new database, made once: to make one takes longer than most turns.
var emptyDatabase = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "engine-empty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "lathe.db")
	d, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// open opens the database with an engine that runs turns.
func (p *playing) open() {
	p.Helper()
	p.opens++
	p.shown.now = p.now
	d, err := sqlite.Open(context.WithoutCancel(p.Context()), sqlite.Options{Path: filepath.Join(p.data, "lathe.db")})
	p.ok(err)
	p.driver = &faulty{Driver: d}
	o := opening{Hooks: p.hooks(), Options: engine.Options{
		Driver: p.driver, Blobs: filepath.Join(p.data, "blobs"), Outputs: filepath.Join(p.data, "outputs"), Version: "1.2.3", Now: p.now,
		IDs: lathe.NewIDsFrom(p.now, randomness(p.opens)), Environment: p, Random: func() float64 { return 0 },
	}}
	if p.option("snapshots", "") != "" {
		o.Snapshots = snapshot.New(snapshot.Options{Dir: filepath.Join(p.data, "snapshots"), Now: func() time.Time { return p.now().Std() }})
	}
	if p.with != nil {
		p.with(&o)
	}
	p.hooked = o.Hooks
	p.Engine, err = engine.Open(context.WithoutCancel(p.Context()), o.Options)
	p.ok(err)
}

// now is the time of the transcript: what its settings say, and what has passed since.
func (p *playing) now() lathe.Time {
	begin := lathetest.Now
	if at := p.option("clock", ""); at != "" {
		t, err := time.Parse(time.RFC3339Nano, at)
		p.ok(err)
		begin = lathe.Time(t.UnixMilli())
	}
	return begin + lathe.Time(time.Since(bubble()).Milliseconds())
}

// bubble is when the clock of a bubble begins.
func bubble() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// speakTo makes a session the current one.
func (p *playing) speakTo(id lathe.SessionID) {
	p.session = id
	if !slices.Contains(p.sessions, id) {
		p.sessions = append(p.sessions, id)
		p.shown.know(id)
	}
}

// listen shows what clients see.
func (p *playing) listen() {
	ctx, stop := context.WithCancel(context.WithoutCancel(p.Context()))
	p.stop, p.listened = stop, make(chan struct{})
	e, done := p.Engine, p.listened
	go func() {
		defer close(done)
		for ev, err := range e.Events(ctx, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
			if err != nil {
				return
			}
			p.shown.event(ev)
		}
	}()
	synctest.Wait()
}

// restart ends the engine and opens the database again, as another process would.
func (p *playing) restart() {
	p.stop()
	<-p.listened
	p.ok(p.Close())
	p.open()
	p.listen()
}

// kill is what a process leaves that was killed: from one moment on it writes nothing.
func (p *playing) kill() {
	p.driver.fail(1)
	p.stop()
	<-p.listened
	_ = p.Close() // it cannot write, so it fails
	p.open()
	p.listen()
}

// rest waits until all sessions do.
func (p *playing) rest() {
	p.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.Context()), time.Hour)
	defer cancel()
	p.adopt()
	for i := 0; i < len(p.sessions); i++ { // some are created meanwhile
		id := p.sessions[i]
		if _, err := p.Wait(ctx, id); err != nil && lathe.CodeOf(err) == lathe.Canceled {
			p.Errorf("the session does not come to rest: %v\n%s", err, p.shown.events())
		}
		p.adopt()
	}
	synctest.Wait()
}

// check holds what is always true after a turn: nothing is open (I3), nothing asks, the
// session is idle, every request is one a provider takes, and begins with the one before (I7).
func (p *playing) check() {
	p.Helper()
	for _, m := range p.all() {
		if a, ok := m.Data.(*lathe.Assistant); ok && a.Completed == 0 {
			p.Errorf("message %s has no end", m.ID)
		}
		for _, part := range m.Parts {
			if call, ok := part.Body.(*lathe.ToolCall); part.Open() || ok && !call.Settled() {
				p.Errorf("part %s of message %s is open", part.ID, m.ID)
			}
		}
	}
	asks, err := p.Asks(p.Context(), lathe.Scope{})
	p.ok(err)
	statuses, err := p.Statuses(p.Context(), lathe.Scope{})
	p.ok(err)
	if len(asks) > 0 || len(statuses) > 0 {
		p.Errorf("at rest, there are %d asks and %v", len(asks), statuses)
	}
	p.checkRequests()
}

// checkRequests holds that every request is one a provider takes, and begins with the one
// before. Messages of one side that follow each other are one on some wires, so that is
// about their contents.
func (p *playing) checkRequests() {
	p.Helper()
	var before []string
	for _, r := range p.server.Requests() {
		if r.Problem != "" {
			p.Errorf("request %d would be refused: %s", r.N, r.Problem)
		}
		if isTitle(r) || isSummary(r) {
			continue
		}
		var now []string
		for _, m := range r.Prompt.Messages {
			for _, c := range m.Content {
				now = append(now, fmt.Sprintf("%s %T %+v", m.Role, c, c))
			}
		}
		n := len(before)
		if p.option("prefix", "yes") == "yes" && len(p.sessions) == 1 && (n > len(now) || !slices.Equal(before, now[:n])) {
			p.Errorf("request %d does not begin with the one before:\n%s\n%s", r.N, strings.Join(before, "\n"), strings.Join(now, "\n"))
		}
		before = now
	}
}

func isTitle(r modeltest.Request) bool {
	return len(r.Prompt.System) > 0 && strings.HasPrefix(r.Prompt.System[0], "You name conversations")
}

// all are the messages of all sessions.
func (p *playing) all() (out []lathe.Message) {
	p.Helper()
	for _, id := range p.sessions {
		page, err := p.Messages(p.Context(), id, lathe.Position{}, 0)
		p.ok(err)
		out = append(out, page.Messages...)
	}
	return out
}

// requests shows what the model was notified, without the system prompt, the tools and the
// choice among them, unless the settings want to see those.
func (p *playing) requests() string {
	var steps, titles strings.Builder
	show, count := p.option("show", ""), 0
	for _, r := range p.server.Requests() {
		b := &titles // it comes beside the first step: which is first is up to the machine
		if isTitle(r) {
			b.WriteString("title\n")
		} else {
			b, count = &steps, count+1
			fmt.Fprintf(b, "request %d\n", count)
		}
		if !strings.Contains(show, "tools") {
			r.Prompt.Tools = nil
		}
		if strings.Contains(show, "system") {
			r.Prompt.System = beyondEnvironment(r.Prompt.System)
		} else {
			r.Prompt.System = nil
		}
		b.WriteString(r.String())
		for _, m := range r.Prompt.Messages {
			for _, c := range m.Content {
				if c, ok := c.(model.ReasoningContent); ok && c.Meta != nil {
					fmt.Fprintf(b, "signature %s\n", c.Meta)
				}
			}
		}
		if strings.Contains(show, "choice") {
			fmt.Fprintf(b, "choice %q\n", r.Prompt.Choice)
		}
	}
	return p.shown.plain(steps.String() + titles.String())
}

// beyondEnvironment is the first line of a system prompt and what follows the description
// of the surroundings.
func beyondEnvironment(system []string) []string {
	if len(system) == 0 {
		return nil
	}
	first, _, _ := strings.Cut(system[0], "\n")
	_, rest, _ := strings.Cut(system[0], "\nDate: ")
	_, rest, _ = strings.Cut(rest, "\n")
	return []string{first, strings.TrimSpace(rest)}
}

// files shows what is in the directory.
func (p *playing) files() string {
	var b strings.Builder
	p.ok(filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(p.dir, path)
		fmt.Fprintf(&b, "%s %q\n", filepath.ToSlash(name), text)
		return err
	}))
	return b.String()
}

// pending is the oldest request that waits, or comes soon; or the one that is named.
func (p *playing) pending(name string) lathe.AskID {
	if name != "" {
		return lathe.AskID(p.shown.id(name))
	}
	for range 100 {
		asks, err := p.Asks(p.Context(), lathe.Scope{})
		p.ok(err)
		if len(asks) > 0 {
			return lathe.AskOf(asks[0])
		}
		<-time.After(10 * time.Millisecond)
		synctest.Wait()
	}
	return "per_none"
}

func (p *playing) ok(err error) {
	p.Helper()
	if err != nil {
		p.Fatalf("unexpected error: %v", err)
	}
}

// option is the value of a line of the settings.
func (p *playing) option(name, otherwise string) string {
	for _, line := range p.script.settings {
		if line[0] == name {
			return strings.Join(line[1:], " ")
		}
	}
	return otherwise
}

func (p *playing) number(name string) int {
	n, _ := strconv.Atoi(p.option(name, "0"))
	return n
}

// Settings is what the transcript says.
func (p *playing) Settings(context.Context, workspace.Place) (*engine.StepSettings, error) {
	rules := append(lathe.Ruleset{
		{Permission: "*", Pattern: "*", Action: lathe.Allow},
		{Permission: "doom_loop", Pattern: "*", Action: lathe.Ask},
	}, p.script.rules...)
	s := &engine.StepSettings{
		Agents: []engine.Agent{
			{Agent: lathe.Agent{Name: "build", Mode: lathe.Primary, Rules: rules, Steps: p.number("steps")}},
			{Agent: lathe.Agent{Name: "other", Mode: lathe.AnyMode, Rules: rules, Prompt: "You are the other one."}},
		},
		DefaultModel:   lathe.ModelRef{Provider: "test", Model: "big"},
		Tools:          tool.NewSet(tooltest.All()...),
		Limits:         tool.Limits{Lines: p.number("lines"), Bytes: p.number("bytes")},
		ContinueOnDeny: p.option("continue-on-deny", "no") == "yes",
		Retry:          engine.Retry{Attempts: p.number("attempts")},
		Hooks:          p.hooked,
	}
	if p.option("small", "") != "" {
		s.SmallModel = lathe.ModelRef{Provider: "test", Model: "small"}
	}
	if p.option("snapshots", "") != "" {
		s.Tools = tool.NewSet(append(s.Tools.All(), tooltest.Command())...)
		s.NoSnapshots = p.option("snapshots", "") == "off"
	}
	p.lasting(s)
	p.contextual(s)
	p.accompanied(s)
	return s, nil
}

// Model is the scripted one, by the protocol under test. One that is called gone is not there.
func (p *playing) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	if ref.Model == "gone" {
		return nil, lathe.Errorf(lathe.NotFound, "Model not found: %s/%s.", ref.Provider, ref.Model)
	}
	ids := lathe.NewIDsFrom(func() lathe.Time { return lathetest.Now }, randomness(99))
	at := model.Endpoint{Provider: ref.Provider, BaseURL: p.server.URL, Client: p.server.Client, MaxWire: p.wire}
	m := &engine.Model{
		Ref: ref, Name: ref.Model, Context: p.window(ref), Input: p.limit("input", 0), Output: 8000, Temperature: true,
		Target: model.Target{Provider: ref.Provider, Model: ref.Model},
		Price:  model.Price{Input: model.PerMillion(1), Output: model.PerMillion(2), CacheRead: model.PerMillion(0.5)},
		Variants: map[string]map[string]json.RawMessage{
			"high": {"reasoningEffort": json.RawMessage(`"high"`)},
		},
	}
	switch p.protocol {
	case modeltest.Anthropic:
		m.Client = anthropic.New(at, ids)
	case modeltest.Responses:
		m.Client = openai.NewResponses(at, ids, openai.Dialect{})
	case modeltest.Gemini:
		m.Client = gemini.New(at, ids)
	case modeltest.Bedrock:
		m.Client = bedrock.New(at, ids)
	default:
		m.Client = openai.NewChat(at, ids, openai.Dialect{})
	}
	return m, nil
}

// hooks are those a transcript asks for.
func (p *playing) hooks() (h engine.Hooks) {
	for _, line := range p.script.settings {
		if line[0] != "hook" {
			continue
		}
		switch line[1] {
		case "text":
			h.TextComplete = func(_ context.Context, _ lathe.Part, text string) (string, error) {
				if len(line) > 2 {
					return "", errors.New(line[2])
				}
				return strings.ToUpper(text), nil
			}
		case "before":
			h.ToolBefore = func(context.Context, string, *tool.Call) (json.RawMessage, error) {
				return json.RawMessage(line[2]), nil
			}
		case "messages":
			h.Messages = func(_ context.Context, history []lathe.Message) ([]lathe.Message, error) {
				if len(line) > 2 {
					return nil, errors.New(line[2])
				}
				return history[len(history)-1:], nil
			}
		case "system":
			h.System = func(_ context.Context, on engine.RequestInfo, system []string) ([]string, error) {
				return append([]string{"Spoken for " + on.Agent + " by " + on.Model.Model + ".\n\nIt goes on."}, system...), nil
			}
		case "after":
			h.ToolAfter = func(_ context.Context, _ string, _ *tool.Call, r tool.Result) (tool.Result, error) {
				r.Output = line[2]
				return r, nil
			}
		case "permission":
			h.PermissionAsk = func(context.Context, lathe.PermissionRequest) (lathe.Action, error) {
				if len(line) > 3 {
					return "", errors.New(line[3])
				}
				return lathe.Action(line[2]), nil
			}
		}
	}
	return h
}
