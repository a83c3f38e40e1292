package tooltest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// Desk is a session as a tool that works with files sees it: a project with a directory
// outside beside it, and what was asked and told. It answers questions by its rules.
type Desk struct {
	T         *testing.T
	Dir, Out  string
	Call      tool.Call
	Refuse    string                       // a permission that is refused
	Denies    func(p tool.Permission) bool // what is not allowed without a question
	OnAsk     func(p tool.Permission)
	OnChange  func(paths []string) (func(), error)
	mu        sync.Mutex
	Asked     []tool.Permission
	Told      []lathe.Fact
	Histories []lathe.Message
	Plan      string
	Switched  []string
	OnSwitch  error
	Handed    []tool.Assignment
	Report    tool.Report // what every task comes to
	Handing   error
}

func NewDesk(t *testing.T) *Desk {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &Desk{T: t, Dir: filepath.Join(top, "project"), Out: filepath.Join(top, "outside")}
	for _, dir := range []string{d.Dir, d.Out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.Call = tool.Call{Session: "ses_1", Message: "msg_1", ID: "call_1", Dir: d.Dir, Root: d.Dir, Host: d}
	return d
}

func (d *Desk) Ask(_ context.Context, p tool.Permission) error {
	d.mu.Lock()
	d.Asked = append(d.Asked, p)
	d.mu.Unlock()
	if d.OnAsk != nil {
		d.OnAsk(p)
	}
	if p.Name == d.Refuse {
		return lathe.Errorf(lathe.Rejected, "no %s", p.Name)
	}
	return nil
}

func (d *Desk) Allowed(p tool.Permission) bool {
	return p.Name != d.Refuse && (d.Denies == nil || !d.Denies(p))
}

func (d *Desk) Question(context.Context, []lathe.Question) ([][]string, error) { return nil, nil }
func (d *Desk) Progress(string, json.RawMessage)                               {}
func (d *Desk) Todos(context.Context, []lathe.Todo) error                      { return nil }
func (d *Desk) Changing(_ context.Context, paths ...string) (func(), error) {
	if d.OnChange != nil {
		return d.OnChange(paths)
	}
	return func() {}, nil
}

func (d *Desk) Delegate(_ context.Context, a tool.Assignment) (tool.Report, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Handed = append(d.Handed, a)
	return d.Report, d.Handing
}

func (d *Desk) History() []lathe.Message { return d.Histories }
func (d *Desk) PlanFile() string         { return d.Plan }

func (d *Desk) Switch(_ context.Context, agent, text string) error {
	d.Switched = append(d.Switched, agent+": "+text)
	return d.OnSwitch
}

func (d *Desk) Tell(f lathe.Fact) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Told = append(d.Told, f)
}

// Run calls a tool and leaves the history as it is: the call belongs to the running step.
func (d *Desk) Run(x tool.Tool, input any) (tool.Result, error) {
	d.T.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		d.T.Fatal(err)
	}
	c := d.Call
	c.Input = raw
	return tool.Run(context.Background(), x, &c)
}

// Must is run for what must go well.
func (d *Desk) Must(x tool.Tool, input any) tool.Result {
	d.T.Helper()
	r, err := d.Run(x, input)
	if err != nil {
		d.T.Fatal(err)
	}
	return r
}

// Next ends the step: its result goes into the history, and the next one begins.
func (d *Desk) Next(name string, input any, r tool.Result) {
	d.T.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		d.T.Fatal(err)
	}
	d.Histories = append(d.Histories, lathe.Message{ID: d.Call.Message, Parts: []lathe.Part{{Body: &lathe.ToolCall{
		Tool: name, State: &lathe.Completed{Input: raw, Metadata: r.Metadata, Output: r.Output},
	}}}})
	d.Call.Message += "x"
}

func (d *Desk) Put(name, text string) string {
	d.T.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(d.Dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		d.T.Fatal(err)
	}
	return path
}

func (d *Desk) Link(target, name string) {
	d.T.Helper()
	if err := os.Symlink(target, filepath.Join(d.Dir, name)); err != nil {
		d.T.Skipf("no symlinks here: %v", err)
	}
}

func (d *Desk) Content(name string) string {
	d.T.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.Dir, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		d.T.Fatal(err)
	}
	return string(data)
}

// Clerk is a desk whose user answers questions, and which keeps what is shown.
type Clerk struct {
	*Desk
	Answers   [][]string
	Err       error
	Questions []lathe.Question
	Listed    []lathe.Todo
	Shown     []string
}

func NewClerk(t *testing.T) *Clerk {
	t.Helper()
	c := &Clerk{Desk: NewDesk(t)}
	c.Call.Host = c
	return c
}

func (c *Clerk) Question(_ context.Context, qs []lathe.Question) ([][]string, error) {
	c.Questions = qs
	return c.Answers, c.Err
}

func (c *Clerk) Todos(_ context.Context, list []lathe.Todo) error {
	c.Listed = list
	return c.Err
}

func (c *Clerk) Progress(title string, metadata json.RawMessage) {
	c.Shown = append(c.Shown, title+" "+string(metadata))
}

// Fails runs a tool that must fail, and returns what it says.
func (d *Desk) Fails(x tool.Tool, input any) string {
	d.T.Helper()
	r, err := d.Run(x, input)
	if err == nil {
		d.T.Fatalf("it went well: %+v", r)
	}
	return err.Error()
}

func Contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%.2000s", want, text)
		}
	}
}

// Input is the input of a call.
type Input = map[string]any

// Questions are the names and patterns that needed a rule.
func (d *Desk) Questions() (out []string) {
	for _, p := range d.Asked {
		for _, pattern := range p.Patterns {
			out = append(out, p.Name+" "+pattern)
		}
	}
	d.Asked = nil
	return out
}
