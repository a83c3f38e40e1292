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

// Host is a session as a tool that works with files sees it: a project with a directory outside
// beside it, and the recorded questions and reports. It answers questions by its rules.
type Host struct {
	T           *testing.T
	Dir, Out    string
	Call        tool.Call
	Refuse      string                       // a permission that is refused
	Denies      func(p tool.Permission) bool // requests that need a question
	OnAsk       func(p tool.Permission)
	OnChange    func(paths []string) (func(), error)
	mu          sync.Mutex
	Asked       []tool.Permission
	Published   []lathe.Fact
	Messages    []lathe.Message
	Plan        string
	Switched    []string
	SwitchErr   error
	Delegated   []tool.Assignment
	Report      tool.Report // of every task
	DelegateErr error
	AskedParent []string // questions to the parent
	Tasks       *Tasks   // takes work into the background; nil takes none
}

func NewHost(t *testing.T) *Host {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &Host{T: t, Dir: filepath.Join(top, "project"), Out: filepath.Join(top, "outside")}
	for _, dir := range []string{d.Dir, d.Out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.Call = tool.Call{Session: "ses_1", Message: "msg_1", ID: "call_1", Dir: d.Dir, Root: d.Dir, Host: d}
	return d
}

func (d *Host) Ask(_ context.Context, all ...tool.Permission) error {
	for _, p := range all {
		d.mu.Lock()
		d.Asked = append(d.Asked, p)
		d.mu.Unlock()
		if d.OnAsk != nil {
			d.OnAsk(p)
		}
		if p.Name == d.Refuse {
			return lathe.Errorf(lathe.Rejected, "no %s", p.Name)
		}
	}
	return nil
}

func (d *Host) Allowed(p tool.Permission) bool {
	return p.Name != d.Refuse && (d.Denies == nil || !d.Denies(p))
}

func (d *Host) AskUser(context.Context, []lathe.Question) ([][]string, error) { return nil, nil }
func (d *Host) Progress(string, json.RawMessage)                              {}
func (d *Host) SetTodos(context.Context, []lathe.Todo) error                  { return nil }
func (d *Host) BeginChange(_ context.Context, paths ...string) (func(), error) {
	if d.OnChange != nil {
		return d.OnChange(paths)
	}
	return func() {}, nil
}

func (d *Host) Delegate(_ context.Context, a tool.Assignment) (tool.Report, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Delegated = append(d.Delegated, a)
	return d.Report, d.DelegateErr
}

// AskParent keeps the question and returns an answer.
func (d *Host) AskParent(_ context.Context, question string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.AskedParent = append(d.AskedParent, question)
	return "Yes.", nil
}

func (d *Host) History() []lathe.Message { return d.Messages }

// Background is the Tasks of the host; nil where it has none.
func (d *Host) Background() tool.Background {
	if d.Tasks == nil {
		return nil
	}
	return d.Tasks
}

func (d *Host) PlanFile() string { return d.Plan }

func (d *Host) SwitchAgent(_ context.Context, agent, text string) error {
	d.Switched = append(d.Switched, agent+": "+text)
	return d.SwitchErr
}

func (d *Host) Publish(f lathe.Fact) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Published = append(d.Published, f)
}

// Run calls a tool and leaves the history as it is: the call belongs to the running step.
func (d *Host) Run(x tool.Tool, input any) (tool.Result, error) {
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
func (d *Host) Must(x tool.Tool, input any) tool.Result {
	d.T.Helper()
	r, err := d.Run(x, input)
	if err != nil {
		d.T.Fatal(err)
	}
	return r
}

// Next ends the step: its result goes into the history, and the next one begins.
func (d *Host) Next(name string, input any, r tool.Result) {
	d.T.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		d.T.Fatal(err)
	}
	d.Messages = append(d.Messages, lathe.Message{ID: d.Call.Message, Parts: []lathe.Part{{Body: &lathe.ToolCall{
		Tool: name, State: &lathe.Completed{Input: raw, Metadata: r.Metadata, Output: r.Output},
	}}}})
	d.Call.Message += "x"
}

func (d *Host) Put(name, text string) string {
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

func (d *Host) Link(target, name string) {
	d.T.Helper()
	if err := os.Symlink(target, filepath.Join(d.Dir, name)); err != nil {
		d.T.Skipf("no symlinks here: %v", err)
	}
}

func (d *Host) Content(name string) string {
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

// UserHost is a desk whose user answers questions, and which keeps what is shown.
type UserHost struct {
	*Host
	Answers    [][]string
	Err        error
	Questions  []lathe.Question
	OnQuestion func() // called before the answer
	TodoList   []lathe.Todo
	Shown      []string
}

func NewUserHost(t *testing.T) *UserHost {
	t.Helper()
	c := &UserHost{Host: NewHost(t)}
	c.Call.Host = c
	return c
}

func (c *UserHost) AskUser(_ context.Context, qs []lathe.Question) ([][]string, error) {
	c.Questions = qs
	if c.OnQuestion != nil {
		c.OnQuestion()
	}
	return c.Answers, c.Err
}

func (c *UserHost) SetTodos(_ context.Context, list []lathe.Todo) error {
	c.TodoList = list
	return c.Err
}

func (c *UserHost) Progress(title string, metadata json.RawMessage) {
	c.Shown = append(c.Shown, title+" "+string(metadata))
}

// Fails runs a tool that must fail, and returns what it says.
func (d *Host) Fails(x tool.Tool, input any) string {
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
func (d *Host) Questions() (out []string) {
	for _, p := range d.Asked {
		for _, pattern := range p.Patterns {
			out = append(out, p.Name+" "+pattern)
		}
	}
	d.Asked = nil
	return out
}
