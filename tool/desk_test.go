package tool_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// desk is a session as a tool that works with files sees it: a project with a directory
// outside beside it, and what was asked and told. It answers questions by its rules.
type desk struct {
	t         *testing.T
	dir, out  string
	call      tool.Call
	refuse    string                       // a permission that is refused
	denies    func(p tool.Permission) bool // what is not allowed without a question
	onAsk     func(p tool.Permission)
	onChange  func(paths []string) (func(), error)
	mu        sync.Mutex
	asked     []tool.Permission
	told      []lathe.Fact
	histories []lathe.Message
	plan      string
	switched  []string
	onSwitch  error
	handed    []tool.Assignment
	report    tool.Report // what every task comes to
	handing   error
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: filepath.Join(top, "project"), out: filepath.Join(top, "outside")}
	for _, dir := range []string{d.dir, d.out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.call = tool.Call{Session: "ses_1", Message: "msg_1", ID: "call_1", Dir: d.dir, Root: d.dir, Host: d}
	return d
}

func (d *desk) Ask(_ context.Context, p tool.Permission) error {
	d.mu.Lock()
	d.asked = append(d.asked, p)
	d.mu.Unlock()
	if d.onAsk != nil {
		d.onAsk(p)
	}
	if p.Name == d.refuse {
		return lathe.Errorf(lathe.Rejected, "no %s", p.Name)
	}
	return nil
}

func (d *desk) Allowed(p tool.Permission) bool {
	return p.Name != d.refuse && (d.denies == nil || !d.denies(p))
}

func (d *desk) Question(context.Context, []lathe.Question) ([][]string, error) { return nil, nil }
func (d *desk) Progress(string, json.RawMessage)                               {}
func (d *desk) Todos(context.Context, []lathe.Todo) error                      { return nil }
func (d *desk) Changing(_ context.Context, paths ...string) (func(), error) {
	if d.onChange != nil {
		return d.onChange(paths)
	}
	return func() {}, nil
}

func (d *desk) Delegate(_ context.Context, a tool.Assignment) (tool.Report, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handed = append(d.handed, a)
	return d.report, d.handing
}

func (d *desk) History() []lathe.Message { return d.histories }
func (d *desk) PlanFile() string         { return d.plan }

func (d *desk) Switch(_ context.Context, agent, text string) error {
	d.switched = append(d.switched, agent+": "+text)
	return d.onSwitch
}

func (d *desk) Tell(f lathe.Fact) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, f)
}

// run calls a tool and leaves the history as it is: the call belongs to the running step.
func (d *desk) run(x tool.Tool, input any) (tool.Result, error) {
	d.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		d.t.Fatal(err)
	}
	c := d.call
	c.Input = raw
	return tool.Run(context.Background(), x, &c)
}

// must is run for what must go well.
func (d *desk) must(x tool.Tool, input any) tool.Result {
	d.t.Helper()
	r, err := d.run(x, input)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// next ends the step: its result goes into the history, and the next one begins.
func (d *desk) next(name string, input any, r tool.Result) {
	d.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		d.t.Fatal(err)
	}
	d.histories = append(d.histories, lathe.Message{ID: d.call.Message, Parts: []lathe.Part{{Body: &lathe.ToolCall{
		Tool: name, State: &lathe.Completed{Input: raw, Metadata: r.Metadata, Output: r.Output},
	}}}})
	d.call.Message += "x"
}

func (d *desk) put(name, text string) string {
	d.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(d.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
	return path
}

func (d *desk) link(target, name string) {
	d.t.Helper()
	if err := os.Symlink(target, filepath.Join(d.dir, name)); err != nil {
		d.t.Skipf("no symlinks here: %v", err)
	}
}

func (d *desk) content(name string) string {
	d.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.dir, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

type in = map[string]any
