package tui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/tui/style"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// canned is an engine that says what it was given to say, and notes what it was asked to do. What a test does not
// give is empty; what is not written here at all panics.
type canned struct {
	Engine

	mu        sync.Mutex // guards the fields below
	info      api.Info
	agents    []lathe.Agent
	commands  []lathe.Command
	skills    []lathe.Skill
	providers lathe.Providers
	keyCheck  api.KeyCheck
	servers   []lathe.ToolServer
	sessions  []lathe.Session
	messages  map[lathe.SessionID][]lathe.Message
	few       int // messages at a time; 0 is all
	todos     map[lathe.SessionID][]lathe.Todo
	diffs     map[lathe.SessionID][]lathe.FileDiff
	changes   map[api.Source][]lathe.FileDiff
	statuses  map[lathe.SessionID]lathe.Status
	cut       []lathe.SessionID // turns that a dead process left
	asks      []lathe.Fact
	tasks     []lathe.BackgroundTask
	board     []lathe.BoardEntry
	stopped   []string // tasks, and sessions whose calls were moved
	grants    []grant.Grant
	files     []string
	languages []api.LanguageServer
	symbols   []api.Symbol
	settings  []api.Setting
	memories  []api.MemoryFile
	methods   map[string][]lathe.LoginMethod
	page      lathe.Authorization
	away      chan struct{} // closed when who logs in has done it
	undone    lathe.Undone
	steps     lathe.StepList
	problem   string           // of a rewind of files
	keeps     lathe.Mode       // the permission mode that nobody changes
	fails     map[string]error // by the word that done has of a call
	done      []string         // what was asked for, in order
	events    chan lathe.Event
}

// did notes a call, and returns what it is to fail with.
func (c *canned) did(word string, args ...any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = append(c.done, strings.TrimSpace(word+" "+fmt.Sprintln(args...)))
	return c.fails[word]
}

// was is what was asked for since the last time.
func (c *canned) was() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.done
	c.done = nil
	return out
}

func (c *canned) find(id lathe.SessionID) (lathe.Session, error) {
	for _, s := range c.sessions {
		if s.ID == id {
			return s, nil
		}
	}
	return lathe.Session{}, lathe.Errorf(lathe.NotFound, "there is no session %s", id)
}

func (c *canned) Create(_ context.Context, _ string, in lathe.NewSession) (lathe.Session, error) {
	s := lathe.Session{ID: lathe.SessionID(fmt.Sprintf("ses_new%d", len(c.sessions))), Directory: c.info.Directory, Agent: in.Agent}
	c.sessions = append(c.sessions, s)
	return s, c.did("create", in.Agent)
}

// Search finds the text in one place, in the second of two requests.
func (c *canned) Search(_ context.Context, q lathe.SearchQuery) (lathe.SearchResult, error) {
	if q.Cursor == "" {
		return lathe.SearchResult{Indexed: 0.5, More: true, Next: "1"}, nil
	}
	switch q.Text {
	case "off":
		return lathe.SearchResult{}, lathe.Errorf(lathe.Unavailable, "search is off")
	case "absent":
		return lathe.SearchResult{Indexed: 0.5}, nil
	}
	return lathe.SearchResult{Indexed: 0.5, Hits: []lathe.SearchHit{{
		Session: sampleID, Title: "Greeting", Directory: "/src/shop", Model: "acme/m-2", Message: "msg_1", Part: "prt_1", Place: "prompt", Time: midnight,
		Snippet: []lathe.SearchText{{Text: "\x1b]0;owned\x07 "}, {Text: q.Text, Match: true}},
	}}}, nil
}

func (c *canned) SetMode(_ context.Context, _ string, m lathe.Mode) (lathe.Mode, error) {
	err := c.did("mode", m)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.keeps == "" {
		c.info.Mode, c.info.ChooseMode = m, false
	}
	return c.info.Mode, err
}

func (c *canned) Get(_ context.Context, id lathe.SessionID) (lathe.Session, error) { return c.find(id) }

func (c *canned) List(_ context.Context, q lathe.Query) (out []lathe.Session, _ error) {
	for _, s := range c.sessions {
		if strings.Contains(strings.ToLower(s.Title), strings.ToLower(q.Search)) {
			out = append(out, s)
		}
	}
	return out, nil
}

func (c *canned) Children(_ context.Context, id lathe.SessionID) (out []lathe.Session, _ error) {
	for _, s := range c.sessions {
		if s.Parent == id {
			out = append(out, s)
		}
	}
	return out, nil
}

func (c *canned) Rename(_ context.Context, id lathe.SessionID, title string) (lathe.Session, error) {
	for i := range c.sessions {
		if c.sessions[i].ID == id {
			c.sessions[i].Title = title
		}
	}
	if err := c.did("rename", id, title); err != nil {
		return lathe.Session{}, err
	}
	return c.find(id)
}

func (c *canned) Remove(_ context.Context, id lathe.SessionID) error {
	c.sessions = slices.DeleteFunc(slices.Clone(c.sessions), func(s lathe.Session) bool { return s.ID == id })
	return c.did("remove", id)
}

func (c *canned) Archive(_ context.Context, id lathe.SessionID, at *lathe.Time) (lathe.Session, error) {
	for i := range c.sessions {
		if c.sessions[i].ID == id {
			c.sessions[i].Archived = at
		}
	}
	return lathe.Session{}, c.did("archive", id)
}

func (c *canned) Fork(_ context.Context, _ string, id lathe.SessionID, before lathe.MessageID) (lathe.Session, error) {
	s, _ := c.find(id)
	s.ID, s.Title = "ses_fork", s.Title+" (fork #1)"
	c.sessions = append(c.sessions, s)
	return s, c.did("fork", id, before)
}

func (c *canned) Share(_ context.Context, id lathe.SessionID) (lathe.Session, error) {
	s, _ := c.find(id)
	s.Share = &lathe.Share{URL: "https://example.com/s/1"}
	return s, c.did("share", id)
}

func (c *canned) Unshare(_ context.Context, id lathe.SessionID) (lathe.Session, error) {
	s, _ := c.find(id)
	return s, c.did("unshare", id)
}

func (c *canned) Location(context.Context, string) (lathe.Location, error) {
	return lathe.Location{Directory: c.info.Directory, Worktree: c.info.Directory, Project: "p"}, nil
}

func (c *canned) Feed() string { return "canned" }

func (c *canned) Messages(_ context.Context, id lathe.SessionID, before lathe.Position, _ int) (lathe.Page, error) {
	all := c.messages[id]
	if c.few == 0 {
		return lathe.Page{Messages: all}, nil
	}
	if at := slices.IndexFunc(all, func(m lathe.Message) bool { return string(m.ID) == before.ID }); at >= 0 {
		all = all[:at]
	}
	if len(all) <= c.few {
		return lathe.Page{Messages: all}, nil
	}
	all = all[len(all)-c.few:]
	return lathe.Page{Messages: all, More: true, Next: lathe.Position{ID: string(all[0].ID)}}, nil
}

func (c *canned) Todos(_ context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	return c.todos[id], nil
}

func (c *canned) Diff(_ context.Context, id lathe.SessionID, _ lathe.MessageID) ([]lathe.FileDiff, error) {
	return c.diffs[id], nil
}

func (c *canned) Statuses(context.Context, lathe.Scope) (map[lathe.SessionID]lathe.Status, error) {
	return c.statuses, nil
}

func (c *canned) Tasks(context.Context, lathe.SessionID) ([]lathe.BackgroundTask, error) {
	return c.tasks, nil
}

func (c *canned) TaskOutput(_ context.Context, id lathe.TaskID, _ int) (lathe.TaskOutput, error) {
	return lathe.TaskOutput{Text: "output of " + string(id) + "\x1b[31m\x1b]0;title\a\n"}, nil
}

func (c *canned) StopTask(_ context.Context, id lathe.TaskID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = append(c.stopped, string(id))
	return nil
}

func (c *canned) MoveToBackground(_ context.Context, id lathe.SessionID) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = append(c.stopped, "moved "+string(id))
	return 1, nil
}

func (c *canned) Board(context.Context, lathe.BoardQuery) ([]lathe.BoardEntry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.board, nil
}

func (c *canned) Interrupted(context.Context) ([]lathe.SessionID, error) { return c.cut, nil }

func (c *canned) Events(ctx context.Context, _ lathe.Scope, _ lathe.Opt[lathe.Cursor]) iter.Seq2[lathe.Event, error] {
	return func(yield func(lathe.Event, error) bool) {
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-c.events:
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func (c *canned) Submit(_ context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Message, error) {
	words := ""
	for _, part := range p.Parts {
		if t, ok := part.Body.(*lathe.Text); ok {
			words += t.Text
		}
	}
	return lathe.Message{}, c.did("submit", id, words)
}

func (c *canned) SubmitCommand(_ context.Context, id lathe.SessionID, x lathe.CommandCall) (lathe.Message, error) {
	return lathe.Message{}, c.did("command", id, x.Command, x.Arguments)
}

func (c *canned) Shell(_ context.Context, id lathe.SessionID, s lathe.ShellCommand) (lathe.Message, error) {
	return lathe.Message{}, c.did("shell", id, s.Command)
}
func (c *canned) Cancel(_ context.Context, id lathe.SessionID) error { return c.did("cancel", id) }
func (c *canned) Resume(_ context.Context, id lathe.SessionID) error { return c.did("resume", id) }
func (c *canned) Compact(_ context.Context, id lathe.SessionID, req lathe.CompactRequest) error {
	return c.did("compact", id, req.Model.Model)
}

func (c *canned) Undo(_ context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	err := c.did("undo", id, u.Message)
	return c.undone, err
}

func (c *canned) Redo(_ context.Context, id lathe.SessionID, _ lathe.Undo) (lathe.Undone, error) {
	err := c.did("redo", id)
	return c.undone, err
}

func (c *canned) Steps(_ context.Context, id lathe.SessionID, q lathe.StepQuery) (lathe.StepList, error) {
	return c.steps, c.did("steps", id, q.Before)
}

func (c *canned) Rewind(_ context.Context, id lathe.SessionID, in lathe.Rewind) (lathe.Rewound, error) {
	err := c.did("rewind", id, in)
	return lathe.Rewound{Step: in.Step, Undone: 1, Scope: in.Scope, DryRun: in.DryRun, Files: c.undone.Files, Problem: c.problem}, err
}

func (c *canned) ForkStep(_ context.Context, _ string, id lathe.SessionID, step int) (lathe.Session, error) {
	return lathe.Session{ID: id}, c.did("forkstep", id, step)
}
func (c *canned) Asks(context.Context, lathe.Scope) ([]lathe.Fact, error) { return c.asks, nil }
func (c *canned) Reply(_ context.Context, id lathe.AskID, r lathe.Reply, message string) error {
	return c.did("reply", id, r, message)
}

func (c *canned) Grant(_ context.Context, id lathe.AskID, scope grant.Scope, patterns []string) error {
	return c.did("grant", id, scope, patterns)
}

func (c *canned) ListGrants(context.Context, string, lathe.SessionID) ([]grant.Grant, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.grants), nil
}

func (c *canned) AddGrant(_ context.Context, _ string, g grant.Grant) error {
	err := c.did("allow", g.Permission, g.Pattern, g.Session)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.grants = append(c.grants, g)
	}
	return err
}

func (c *canned) RevokeGrant(_ context.Context, _ string, g grant.Grant) error {
	err := c.did("revoke", g.Permission, g.Pattern, g.Session)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grants = slices.DeleteFunc(c.grants, func(o grant.Grant) bool { return o == g })
	return err
}

func (c *canned) Answer(_ context.Context, id lathe.AskID, answers [][]string) error {
	return c.did("answer", id, answers)
}

func (c *canned) Dismiss(_ context.Context, id lathe.AskID) error { return c.did("dismiss", id) }

func (c *canned) Agents(context.Context, string) ([]lathe.Agent, error) { return c.agents, nil }

func (c *canned) Commands(context.Context, string) ([]lathe.Command, error) { return c.commands, nil }

func (c *canned) Skills(context.Context, string) ([]lathe.Skill, error) { return c.skills, nil }

func (c *canned) Providers(context.Context, string) (lathe.Providers, error) { return c.providers, nil }

func (c *canned) ToolServers(context.Context, string) ([]lathe.ToolServer, error) {
	return c.servers, nil
}
func (c *canned) Info(context.Context, string) (api.Info, error) { return c.info, nil }
func (c *canned) FindFiles(context.Context, string, string, int) ([]string, error) {
	return c.files, nil
}

func (c *canned) LanguageServers(context.Context, string) ([]api.LanguageServer, error) {
	return c.languages, nil
}

func (c *canned) FindSymbols(context.Context, string, string) ([]api.Symbol, error) {
	return c.symbols, nil
}

func (c *canned) ConnectTools(_ context.Context, _, n string, on bool) error {
	return c.did("connect", n, on)
}

func (c *canned) Changes(_ context.Context, _ string, from api.Source) ([]lathe.FileDiff, error) {
	return c.changes[from], nil
}

func (c *canned) LoginMethods(context.Context, string) (map[string][]lathe.LoginMethod, error) {
	return c.methods, nil
}

func (c *canned) Authorize(_ context.Context, _, provider string, n int) (lathe.Authorization, error) {
	return c.page, c.did("authorize", provider, n)
}

func (c *canned) CompleteLogin(_ context.Context, _, provider string, n int, code string) error {
	<-c.away
	return c.did("complete", provider, n, code)
}

func (c *canned) CheckKey(_ context.Context, _, provider, _ string) (api.KeyCheck, error) {
	return c.keyCheck, c.did("check", provider)
}

func (c *canned) SetKey(_ context.Context, provider, _ string) error { return c.did("key", provider) }

// stage is a program on a screen, in a bubble of time of its own: what it calls comes back before the next key, and no
// time passes unless a test sleeps.
type stage struct {
	t      *testing.T
	p      *program
	engine *canned
	copied []string
	raw    string // written beside the frames
	quit   bool

	mu   sync.Mutex // guards the fields below
	came []tea.Msg
}

// onStage runs a test with a program of 80 by 24 cells that has begun with an engine.
func onStage(t *testing.T, e *canned, o Options, test func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := &stage{t: t, engine: e}
		e.events = make(chan lathe.Event)
		if e.info.Directory == "" {
			e.info = api.Info{Directory: "/w/app", Home: "/home/dev", Branch: "main", Version: "0.9.0", Trusted: true}
		}
		if o.Open == nil {
			o.Open = func(context.Context) (Engine, error) { return e, nil }
		}
		o.Dir, o.Version, o.Look.Mouse = e.info.Directory, e.info.Version, true
		o.Copy = func(text string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.copied = append(s.copied, text)
			return nil
		}
		o.Now = func() time.Time { return time.Now().UTC() }
		s.p = newProgram(ctx, o)
		s.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		s.run(s.p.Init())
		s.settle()
		test(s)
		cancel()
		time.Sleep(time.Hour) // for what waits for a time to come
	})
}

// run does what the program wants done, beside it.
func (s *stage) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.came = append(s.came, msg)
	}()
}

// send gives the program something that happened.
func (s *stage) send(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, cmd := range msg {
			s.run(cmd)
		}
	case tea.QuitMsg:
		s.quit = true
	case tea.RawMsg:
		s.raw += fmt.Sprint(msg.Msg)
	default:
		_, cmd := s.p.Update(msg)
		s.run(cmd)
		s.p.View()
	}
}

// settle waits until everything that can happen without time has.
func (s *stage) settle() {
	for {
		synctest.Wait()
		s.mu.Lock()
		came := s.came
		s.came = nil
		s.mu.Unlock()
		if len(came) == 0 {
			return
		}
		for _, msg := range came {
			s.send(msg)
		}
	}
}

// pass lets time pass, which is that of the bubble.
func (s *stage) pass(d time.Duration) {
	<-time.After(d)
	s.settle()
}

// tell is news from the engine.
func (s *stage) tell(facts ...lathe.Fact) {
	for _, f := range facts {
		s.engine.events <- lathe.Event{Session: lathe.SessionOf(f), Fact: f}
	}
	s.pass(2 * frameTime)
}

// press presses keys by their names, as settings write them.
func (s *stage) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		s.send(keyPress(s.t, k))
		s.settle()
	}
}

// typed types a text.
func (s *stage) typed(text string) {
	for _, r := range text {
		s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	s.settle()
}

// slash runs a slash command.
func (s *stage) slash(name string) {
	s.typed("/" + name)
	s.press("enter")
}

// click presses the first button of the mouse at the first place where a text is.
func (s *stage) click(text string) {
	s.t.Helper()
	for y, l := range s.p.lines {
		before, _, found := strings.Cut(l.Text(), text)
		if !found {
			continue
		}
		m := tea.Mouse{X: style.Width(before), Y: y, Button: tea.MouseLeft}
		s.send(tea.MouseClickMsg(m))
		s.send(tea.MouseReleaseMsg(m))
		s.settle()
		return
	}
	s.t.Fatalf("%q is not on the screen:\n%s", text, s.screen())
}

// resize makes the terminal another size.
func (s *stage) resize(width, height int) {
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	s.settle()
}

// screen is what is to be read there.
func (s *stage) screen() string { s.p.View(); return style.Text(s.p.lines) }

// sees fails where a text is not on the screen.
func (s *stage) sees(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.screen(), text) {
			s.t.Errorf("%q is not on the screen:\n%s", text, s.screen())
		}
	}
}

// lacks fails where a text is on the screen.
func (s *stage) lacks(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if strings.Contains(s.screen(), text) {
			s.t.Errorf("%q is on the screen:\n%s", text, s.screen())
		}
	}
}

// did fails where the engine was not asked for just this since the last time.
func (s *stage) did(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.engine.was()); diff != "" {
		s.t.Errorf("asked of the engine (-want +got):\n%s", diff)
	}
}

// golden compares the screen with testdata/<name>-<width>.txt at the widths that count.
func (s *stage) golden(name string) {
	s.t.Helper()
	sizes := []struct{ width, height int }{{40, 20}, {80, 24}, {120, 30}, {160, 40}}
	if strings.Contains(" context config doctor ", " "+name+" ") { // a large screen, too
		sizes = append(sizes[1:3:3], struct{ width, height int }{200, 50})
	}
	for _, size := range sizes {
		s.resize(size.width, size.height)
		got := s.screen() + "\n"
		for i, l := range s.p.lines {
			if l.Width() > size.width {
				s.t.Errorf("%s: row %d is %d wide of %d", name, i, l.Width(), size.width)
			}
		}
		if len(s.p.lines) > size.height {
			s.t.Errorf("%s: %d rows of %d", name, len(s.p.lines), size.height)
		}
		compare(s.t, filepath.Join("testdata", fmt.Sprintf("%s-%d.txt", name, size.width)), got)
	}
	s.resize(80, 24)
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); if that is right, run with -update:\n%s", path, diff)
	}
}
