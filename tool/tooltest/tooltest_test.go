package tooltest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
)

// host notes what a tool asks of it.
type host struct {
	log   []string
	deny  error
	reply [][]string
}

func (h *host) note(format string, args ...any) { h.log = append(h.log, fmt.Sprintf(format, args...)) }

func (h *host) Ask(_ context.Context, all ...tool.Permission) error {
	for _, p := range all {
		h.note("ask %s %q %q", p.Name, p.Patterns, p.Always)
	}
	return h.deny
}

func (h *host) AskUser(_ context.Context, qs []lathe.Question) ([][]string, error) {
	for _, q := range qs {
		h.note("question %s %d", q.Question, len(q.Options))
	}
	return h.reply, h.deny
}

func (h *host) Progress(title string, meta json.RawMessage) { h.note("progress %s %s", title, meta) }

func (h *host) SetTodos(_ context.Context, list []lathe.Todo) error {
	for _, t := range list {
		h.note("todo %s %s %s", t.Content, t.Status, t.Priority)
	}
	return h.deny
}

func (h *host) Publish(lathe.Fact) { h.note("tell") }
func (h *host) Delegate(context.Context, tool.Assignment) (tool.Report, error) {
	return tool.Report{}, nil
}
func (h *host) AskParent(context.Context, string) (string, error) { return "", nil }
func (h *host) History() []lathe.Message                          { return nil }

func (h *host) Background() tool.Background { return nil }

func (h *host) PlanFile() string { return "" }

func (h *host) SwitchAgent(context.Context, string, string) error { return nil }

func (h *host) Allowed(tool.Permission) bool                           { return true }
func (h *host) BeginChange(context.Context, ...string) (func(), error) { return func() {}, nil }

func call(ctx context.Context, t *testing.T, h *host, dir, name, input string) (tool.Result, error) {
	t.Helper()
	x, ok := tool.NewSet(All()...).Find(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	return tool.Run(ctx, x, &tool.Call{Dir: dir, Input: json.RawMessage(input), Host: h})
}

func TestAll_Schemas(t *testing.T) {
	for _, x := range All() {
		s := x.Spec()
		if err := args.CheckSchema(s.Schema); err != nil || s.Description == "" || !strings.Contains(string(s.Schema), `"description"`) {
			t.Errorf("%s: %v\n%s", s.Name, err, s.Schema)
		}
	}
}

func TestAll_Results(t *testing.T) {
	tests := []struct {
		name, input, title, output, meta string
		log                              []string
	}{
		{"ask", `{"permission":"bash","patterns":["ls"],"always":["ls *"]}`, "bash", "Allowed.", "", []string{`ask bash ["ls"] ["ls *"]`}},
		{"question", `{"question":"Which?","options":["a","b"]}`, "Which?", "Answer: a, b", `{"answers":[["a"],["b"]]}`, []string{"question Which? 2"}},
		{"print", `{"lines":2,"width":8}`, "2 lines", "line 1..\nline 2..", "", nil},
		{"show", `{"times":2}`, "shown", "Showed 2 steps.", `{"step":2}`, []string{`progress step 1 {"step":1}`, `progress step 2 {"step":2}`}},
		{"todo", `{"todos":[{"content":"a","status":"In Progress"},{"content":"b","status":"completed","priority":"low"}]}`, "1 todos", "1 of 2 open.", "", []string{"todo a in_progress medium", "todo b completed low"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &host{reply: [][]string{{"a"}, {"b"}}}
			r, err := call(t.Context(), t, h, t.TempDir(), tt.name, tt.input)
			if err != nil || r.Title != tt.title || r.Output != tt.output || string(r.Metadata) != tt.meta {
				t.Errorf("%+v, %v", r, err)
			}
			if diff := cmp.Diff(tt.log, h.log); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAll_PassRefusalsOn(t *testing.T) {
	refused := lathe.Errorf(lathe.Rejected, "no")
	for name, input := range map[string]string{
		"write": `{"path":"a","content":"b"}`, "ask": `{"permission":"x","patterns":[]}`,
		"question": `{"question":"Which?"}`, "todo": `{"todos":[]}`,
	} {
		dir := t.TempDir()
		if _, err := call(t.Context(), t, &host{deny: refused}, dir, name, input); !errors.Is(err, refused) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s wrote %v all the same", name, left)
		}
	}
}

func TestWrite(t *testing.T) {
	dir, h := t.TempDir(), &host{}
	r, err := call(t.Context(), t, h, dir, "write", `{"path":"n/a.txt","content":"hi"}`)
	if err != nil || r.Output != "Wrote n/a.txt: 2 bytes." || string(r.Metadata) != `{"filepath":"n/a.txt"}` {
		t.Fatalf("%+v, %v", r, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "n/a.txt")); string(got) != "hi" || err != nil {
		t.Fatalf("%s, %v", got, err)
	}
	if diff := cmp.Diff([]string{`ask edit ["n/a.txt"] ["*"]`}, h.log); diff != "" {
		t.Fatal(diff)
	}
	var f *tool.Failure
	if _, err := call(t.Context(), t, h, dir, "write", `{"path":"../x","content":""}`); !errors.As(err, &f) {
		t.Fatal(err)
	}
	if _, err := call(t.Context(), t, h, dir, "write", `{"path":"n","content":""}`); !errors.As(err, &f) {
		t.Fatal(err)
	}
}

func TestWait(t *testing.T) {
	tests := []struct {
		name, input, want string
		cancel, took      time.Duration
	}{
		{"to the end", `{"ms":200}`, "Waited 200 ms.", time.Hour, 200 * time.Millisecond},
		{"canceled", `{"ms":200}`, "", 50 * time.Millisecond, 50 * time.Millisecond},
		{"stubborn", `{"ms":200,"stubborn":70}`, "Continued for 70 ms after the cancellation.", 50 * time.Millisecond, 120 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.cancel)
				defer cancel()
				start := time.Now()
				r, err := call(ctx, t, &host{}, "", "wait", tt.input)
				if took := time.Since(start); took != tt.took || r.Output != tt.want {
					t.Errorf("%q after %s; want %q after %s", r.Output, took, tt.want, tt.took)
				}
				if (tt.want == "") != (lathe.CodeOf(err) == lathe.Canceled) {
					t.Error(err)
				}
			})
		})
	}
}

func TestShow_Canceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Millisecond)
		defer cancel()
		h := &host{}
		_, err := call(ctx, t, h, "", "show", `{"times":5,"ms":10}`)
		if lathe.CodeOf(err) != lathe.Canceled || len(h.log) != 2 {
			t.Fatal(err, h.log)
		}
	})
}

func TestFailAndPanic(t *testing.T) {
	var f *tool.Failure
	if _, err := call(t.Context(), t, &host{}, "", "fail", `{"text":"100% wrong"}`); !errors.As(err, &f) || f.Text != "100% wrong" {
		t.Fatal(err)
	}
	var p *tool.Panic
	if _, err := call(t.Context(), t, &host{}, "", "panic", `{"text":"boom"}`); !errors.As(err, &p) || p.Value != "tooltest: boom" {
		t.Fatal(err)
	}
}

func TestPicture(t *testing.T) {
	r, err := call(t.Context(), t, &host{}, "", "picture", `{}`)
	if err != nil || len(r.Attachments) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	a := r.Attachments[0]
	data, ok := strings.CutPrefix(a.URL, "data:image/png;base64,")
	if !ok || a.Mime != "image/png" || a.Filename != "dot.png" {
		t.Fatalf("%+v", a)
	}
	if _, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))); err != nil {
		t.Fatal(err)
	}
}
