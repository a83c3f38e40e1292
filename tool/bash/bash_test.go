//go:build unix

package bash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// terminal is a desk with a shell.
type terminal struct {
	*tooltest.Host
	runner *sandbox.Runner
	cfg    bash.Config

	mu     sync.Mutex
	shown  []string // metadata.output, as it was shown
	onShow func(output string)
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	x := &terminal{Host: tooltest.NewHost(t), runner: sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Grace: 300 * time.Millisecond})}
	t.Cleanup(func() {
		if err := x.runner.Close(); err != nil {
			t.Error(err)
		}
	})
	x.cfg = bash.Config{
		Runner: x.runner,
		Env:    []string{"PATH=" + os.Getenv("PATH"), "HOME=" + x.Out},
		Output: tool.Output{Dir: filepath.Join(filepath.Dir(x.Dir), "tool-output")},
	}
	x.Call.Host = x
	return x
}

func (x *terminal) Progress(_ string, meta json.RawMessage) {
	var m struct{ Output string }
	if err := json.Unmarshal(meta, &m); err != nil {
		x.T.Error(err)
	}
	x.mu.Lock()
	x.shown = append(x.shown, m.Output)
	x.mu.Unlock()
	if x.onShow != nil {
		x.onShow(m.Output)
	}
}

func (x *terminal) bash(ctx context.Context, input tooltest.Input) (tool.Result, bashMeta) {
	x.T.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		x.T.Fatal(err)
	}
	c := x.Call
	c.Input = raw
	r, err := tool.Run(ctx, bash.New(x.cfg), &c)
	if err != nil {
		x.T.Fatal(err)
	}
	return r, x.meta(r)
}

// bashMeta is what clients read.
type bashMeta struct {
	Output     string `json:"output"`
	Exit       *int   `json:"exit"`
	Truncated  *bool  `json:"truncated"`
	OutputPath string `json:"outputPath"`
}

func (x *terminal) meta(r tool.Result) bashMeta {
	x.T.Helper()
	var m bashMeta
	if err := json.Unmarshal(r.Metadata, &m); err != nil {
		x.T.Fatalf("%v: %s", err, r.Metadata)
	}
	return m
}

// took is the time in a footer.
var took = regexp.MustCompile(` · \d+\.\d s`)

func TestBash(t *testing.T) {
	tests := []struct {
		name    string
		input   tooltest.Input
		output  string
		exit    int
		printed string // metadata.output
	}{
		{"prints", tooltest.Input{"command": "echo hello"}, "hello\n", 0, "hello\n"},
		{"nothing", tooltest.Input{"command": "true"}, "(no output)", 0, ""},
		{"fails", tooltest.Input{"command": "echo no >&2; exit 3"}, "no\n\nexit 3 · 0.0 s", 3, "no\n"},
		{"fails in silence", tooltest.Input{"command": "exit 1"}, "(no output)\n\nexit 1 · 0.0 s", 1, ""},
		{"description is nothing to it", tooltest.Input{"command": "echo x", "description": "Prints x"}, "x\n", 0, "x\n"},
		{"a shell of its own each time", tooltest.Input{"command": "echo ${A-unset}; A=1"}, "unset\n", 0, "unset\n"},
		{"colours are for clients", tooltest.Input{"command": `printf '\033[31mred\033[0m\n'`}, "red\n", 0, "\x1b[31mred\x1b[0m\n"},
		{"binary", tooltest.Input{"command": `printf 'a\377\376\000b'`}, "a\ufffdb", 0, "a\ufffd\ufffdb"},
		{"no input", tooltest.Input{"command": "cat; read x || echo none"}, "none\n", 0, "none\n"},
		{"pager", tooltest.Input{"command": "echo $PAGER $GIT_PAGER $TERM $EDITOR"}, "cat cat dumb true\n", 0, "cat cat dumb true\n"},
		{"no permission to execute", tooltest.Input{"command": "touch f; ./f"}, "", 126, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := newTerminal(t)
			r, m := x.bash(t.Context(), tt.input)
			r.Output = took.ReplaceAllString(r.Output, " · 0.0 s")
			if tt.output != "" && r.Output != tt.output || r.Title != tt.input["command"] {
				t.Errorf("%q %q; want %q", r.Title, r.Output, tt.output)
			}
			if tt.exit == 126 {
				if !strings.Contains(r.Output, "chmod +x") {
					t.Error(r.Output)
				}
				tt.printed = m.Output
			}
			want := bashMeta{Output: tt.printed, Exit: &tt.exit, Truncated: new(bool)}
			if diff := cmp.Diff(want, m); diff != "" {
				t.Error(diff)
			}
			if x.shown[0] != "" {
				t.Errorf("the first that is shown is %q", x.shown[0])
			}
		})
	}
}

// What others add to the environment is there when a command runs and when it is judged, and it
// is no way around either.
func TestBash_AddedEnvironment(t *testing.T) {
	x := newTerminal(t)
	more := map[string]string{"WHO": "plugin", "TARGET": "/etc/x"}
	x.cfg.ExtraEnv = func(_ context.Context, dir string, c *tool.Call) (map[string]string, error) {
		if dir != x.Dir || c == nil || c.ID != x.Call.ID {
			t.Errorf("asked for %s, %v", dir, c)
		}
		return more, nil
	}
	if r, _ := x.bash(t.Context(), tooltest.Input{"command": "echo $WHO"}); r.Output != "plugin\n" {
		t.Errorf("%q", r.Output)
	}
	x.Asked = nil
	x.bash(t.Context(), tooltest.Input{"command": "cat $TARGET || true"})
	if len(x.Asked) == 0 || x.Asked[0].Name != "external_directory" || x.Asked[0].Patterns[0] != "/etc/*" {
		t.Errorf("asked %v", x.Asked)
	}
	for _, name := range []string{"", "A=B", "A\x00"} {
		more = map[string]string{name: "x"}
		if _, err := x.Run(bash.New(x.cfg), tooltest.Input{"command": "echo ran"}); err == nil || !strings.Contains(err.Error(), "no command can have") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestBash_Workdir(t *testing.T) {
	x := newTerminal(t)
	x.Put("sub/file", "")
	for name, want := range map[string]string{"": x.Dir, "sub": x.Dir + "/sub", x.Dir + "/sub": x.Dir + "/sub", x.Out: x.Out} {
		if r, _ := x.bash(t.Context(), tooltest.Input{"command": "pwd", "workdir": name}); r.Output != want+"\n" {
			t.Errorf("%q: %q", name, r.Output)
		}
	}
	for name, want := range map[string]string{"sbu": "not found", "sub/file": "is not a directory"} {
		if _, err := x.Run(bash.New(x.cfg), tooltest.Input{"command": "pwd", "workdir": name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBash_BadInput(t *testing.T) {
	x := newTerminal(t)
	none := x.cfg
	none.Env = []string{"PATH=/none"}
	for _, tt := range []struct {
		cfg   bash.Config
		input tooltest.Input
		want  string
	}{
		{x.cfg, tooltest.Input{"command": " \n"}, "is empty"},
		{x.cfg, tooltest.Input{"command": "a\x00b"}, "NUL"},
		{x.cfg, tooltest.Input{"command": "a", "timeout": -1}, "more than 0"},
		{x.cfg, tooltest.Input{"timeout": 5}, `"command": required, missing`},
		{x.cfg, tooltest.Input{"command": "true " + strings.Repeat("x", 3<<20)}, "write it to a file"},
	} {
		if _, err := x.Run(bash.New(tt.cfg), tt.input); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v; want %s", err, tt.want)
		}
	}
	if _, err := x.Run(bash.New(x.cfg), tooltest.Input{"command": "true", "timeout": 1 << 62}); err != nil {
		t.Errorf("a limit that is no limit: %v", err)
	}
}

func TestBash_Permissions(t *testing.T) {
	type ask struct {
		Name             string
		Patterns, Always []string
		Meta             string
	}
	x := newTerminal(t)
	x.Put("sub/a", "")
	x.Put(filepath.Join(x.Out, "deep", "f"), "")
	x.Link(x.Out, "away")
	q := func(s string) string { return `"` + s + `"` } // there is nothing in it to escape
	external := func(command string, dirs ...string) ask {
		var globs []string
		for _, d := range dirs {
			globs = append(globs, d+"/*")
		}
		d, _ := json.Marshal(dirs)
		g, _ := json.Marshal(globs)
		return ask{"external_directory", globs, globs, fmt.Sprintf(`{"command":%s,"directories":%s,"patterns":%s}`, q(command), d, g)}
	}
	bash := func(command string, always ...string) ask {
		return ask{"bash", []string{command}, always, `{"command":` + q(command) + `}`}
	}
	read := func(command, file string) ask {
		return ask{"read", []string{file}, []string{file}, `{"command":` + q(command) + `}`}
	}
	for _, tt := range []struct {
		command, workdir string
		want             []ask
	}{
		{"ls -l", "", []ask{bash("ls -l", "ls *")}},
		{"cd sub", "", nil},
		{"cat sub/a", "", []ask{read("cat sub/a", "sub/a"), bash("cat sub/a", "cat *")}},
		{"cat a", "sub", []ask{read("cat a", "sub/a"), bash("cat a", "cat *")}},
		{"cat ../a", "", []ask{external("cat ../a", filepath.Dir(x.Dir)), bash("cat ../a", "cat *")}},
		{"cat ../sub/a", "sub", []ask{read("cat ../sub/a", "sub/a"), bash("cat ../sub/a", "cat *")}},
		{"cat " + x.Out + "/deep/f", "", []ask{external("cat "+x.Out+"/deep/f", x.Out+"/deep"), bash("cat "+x.Out+"/deep/f", "cat *")}},
		{"rm -r " + x.Out + "/deep", "", []ask{external("rm -r "+x.Out+"/deep", x.Out+"/deep"), bash("rm -r "+x.Out+"/deep", "rm *")}},
		{"touch away/x", "", []ask{external("touch away/x", x.Out), bash("touch away/x", "touch *")}},
		{"cat ~/none", "", []ask{external("cat ~/none", x.Out), {"bash", []string{"cat " + x.Out + "/none"}, []string{"cat *"}, `{"command":"cat ~/none","written":[["cat ~/none"]]}`}}},
		{"echo x > " + x.Out + "/y", "", []ask{external("echo x > "+x.Out+"/y", x.Out), {"bash", []string{"echo x > " + x.Out + "/y", "> " + x.Out + "/y"}, []string{"echo *", "> " + x.Out + "/y"}, `{"command":` + q("echo x > "+x.Out+"/y") + `}`}}},
		{"ls", x.Out, []ask{external("ls", x.Out), bash("ls", "ls *")}},
		{"cd " + x.Out, "", []ask{external("cd "+x.Out, x.Out)}},
		{"echo 'open", "", []ask{{"bash", []string{"echo 'open"}, nil, "{\"command\":\"echo 'open\",\"unknown\":[{\"text\":\"echo 'open\",\"why\":\"its grammar is not understood: 1:6: reached EOF without closing quote `'`\"}]}"}}},
	} {
		t.Run(tt.command, func(t *testing.T) {
			x.Asked = nil
			x.bash(t.Context(), tooltest.Input{"command": tt.command, "workdir": tt.workdir})
			var got []ask
			for _, p := range x.Asked {
				got = append(got, ask{p.Name, p.Patterns, p.Always, string(p.Metadata)})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBash_Refused(t *testing.T) {
	for _, permission := range []string{"bash", "external_directory"} {
		x := newTerminal(t)
		x.Refuse = permission
		if _, err := x.Run(bash.New(x.cfg), tooltest.Input{"command": "touch ran; cd " + x.Out}); err == nil || err.Error() != "no "+permission {
			t.Errorf("%s: %v", permission, err)
		}
		if _, err := os.Stat(filepath.Join(x.Dir, "ran")); err == nil {
			t.Error("it ran")
		}
	}
}

func TestBash_Timeout(t *testing.T) {
	x := newTerminal(t)
	r, m := x.bash(t.Context(), tooltest.Input{"command": "echo begun; sleep 100", "timeout": 200})
	want := "begun\n\n<shell_metadata>\nThe command was ended because it ran longer than its limit of 200 ms;"
	if !strings.HasPrefix(r.Output, want) || !strings.HasSuffix(r.Output, "</shell_metadata>") || m.Exit != nil || m.Output != "begun\n" {
		t.Errorf("%s %+v", r.Output, m)
	}
	x.cfg.Timeout = 200 * time.Millisecond
	if r, _ := x.bash(t.Context(), tooltest.Input{"command": "sleep 100"}); !strings.HasPrefix(r.Output, "(no output)\n\n<shell_metadata>") {
		t.Error(r.Output)
	}
}

// The output of an aborted command is kept, and comes before the engine gives up on it.
func TestBash_Aborted(t *testing.T) {
	x := newTerminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	var at time.Time
	x.onShow = func(output string) {
		if strings.Contains(output, "begun") {
			at = time.Now()
			cancel()
		}
	}
	r, m := x.bash(ctx, tooltest.Input{"command": `trap "" TERM; echo begun; while :; do sleep 0.01; done`})
	if took := time.Since(at); took > 5*time.Second { // sandbox tests how fast it is
		t.Errorf("it took %v", took)
	}
	if r.Output != "begun\n\n<shell_metadata>\nThe user aborted the command; what it printed until then is above.\n</shell_metadata>" ||
		m.Exit != nil || m.Output != "begun\n" || *m.Truncated {
		t.Errorf("%s %+v", r.Output, m)
	}
}

// What is shown while a command runs is what there is so far, and not more often than makes sense.
func TestBash_Progress(t *testing.T) {
	x := newTerminal(t)
	release := filepath.Join(x.Dir, "go")
	var once sync.Once
	x.onShow = func(output string) {
		if output == "one\n" {
			once.Do(func() { x.Put("go", "") })
		}
	}
	r, _ := x.bash(t.Context(), tooltest.Input{"command": "echo one; while [ ! -f '" + release + "' ]; do sleep 0.01; done; echo two", "timeout": 20_000})
	if r.Output != "one\ntwo\n" {
		t.Errorf("%q, shown %q", r.Output, x.shown)
	}
	x.shown, x.onShow = nil, nil
	began := time.Now()
	r, m := x.bash(t.Context(), tooltest.Input{"command": "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"})
	if most := int(time.Since(began)/(100*time.Millisecond)) + 3; len(x.shown) > most {
		t.Errorf("shown %d times in %v", len(x.shown), time.Since(began))
	}
	if !strings.HasSuffix(m.Output, "\nline 19999\n") || !strings.HasPrefix(m.Output, "...\n\n") || utf8.RuneCountInString(m.Output) != 30_005 {
		t.Errorf("%d characters: %.20q … %s", utf8.RuneCountInString(m.Output), m.Output, r.Output)
	}
}

func TestBash_Truncated(t *testing.T) {
	lines := func(n int) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, "%d\n", i+1)
		}
		return out.String()
	}
	tests := []struct {
		name, command string
		limits        tool.Limits
		whole         string // what is in the file; "" means that there is none
		head, tail    string
		mark          string
	}{
		{"fits", "seq 1000", tool.Limits{}, "", "1\n", "\n1000\n", ""},
		{"lines", "seq 5000", tool.Limits{}, lines(5000), "1\n2\n", "\n4999\n5000\n", "...4000 lines, 18.8 KB, left out here..."},
		{"own limits", "seq 100", tool.Limits{Lines: 10}, lines(100), "1\n2\n3\n\n...", "\n\n94\n95\n96\n97\n98\n99\n100\n", "...90 lines,"},
		{"one long line", "head -c 100000 /dev/zero | tr '\\0' x", tool.Limits{}, strings.Repeat("x", 100000), "xxx", "xxx", "...0 lines, 67.7 KB, left out"},
		{"many bytes", "i=0; while [ $i -lt 200 ]; do printf '%0999d\\n' $i; i=$((i+1)); done", tool.Limits{}, "*", "000", "199\n", "lines,"},
		{"wide characters", "i=0; while [ $i -lt 3000 ]; do printf '€%d€' $i; i=$((i+1)); done", tool.Limits{Bytes: 1000}, "*", "€0€", "€2999€", "left out"},
		{"folded to little", "yes | head -n 100000", tool.Limits{}, "", "y\n", "came 100000 times in a row]\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := newTerminal(t)
			x.cfg.Output.Limits = tt.limits
			r, m := x.bash(t.Context(), tooltest.Input{"command": tt.command})
			limit := max(tt.limits.Bytes, 1000)
			if tt.limits.Bytes == 0 {
				limit = 30 << 10
			}
			if !strings.HasPrefix(r.Output, tt.head) || !strings.HasSuffix(r.Output, tt.tail) || !strings.Contains(r.Output, tt.mark) ||
				!utf8.ValidString(r.Output) || len(r.Output) > limit+400 {
				i := max(0, strings.Index(r.Output, "left out"))
				t.Errorf("%d bytes: %.100q … %q … %q", len(r.Output), r.Output, r.Output[max(0, i-50):i], r.Output[max(0, len(r.Output)-100):])
			}
			if tt.whole == "" {
				if *m.Truncated || m.OutputPath != "" {
					t.Errorf("%+v", m)
				}
				if entries, _ := filepath.Glob(filepath.Join(x.cfg.Output.Dir, "*", "*")); len(entries) > 0 {
					t.Errorf("%v was left", entries)
				}
				return
			}
			whole, err := os.ReadFile(m.OutputPath)
			if err != nil || !*m.Truncated || tt.whole != "*" && string(whole) != tt.whole || !strings.Contains(r.Output, "whole output is in "+m.OutputPath) {
				t.Errorf("%v, %d bytes in the file: %+v", err, len(whole), m)
			}
		})
	}
}

// An output without end takes neither the memory nor the disk.
func TestBash_OneGigabyte(t *testing.T) {
	x := newTerminal(t)
	x.cfg.FileBytes = 1 << 20
	r, m := x.bash(t.Context(), tooltest.Input{"command": "echo begin; head -c " + strconv.Itoa(gigabyte) + " /dev/zero | tr '\\0' x; echo; echo end", "timeout": 300_000})
	if !strings.HasPrefix(r.Output, "begin\n") || !strings.Contains(r.Output, "\nend\n") || !strings.Contains(r.Output, " are in "+m.OutputPath+"; more is not saved.") || !strings.Contains(r.Output, "The first 1.0 MB of ") {
		t.Errorf("%.100q … %q", r.Output, r.Output[max(0, len(r.Output)-400):])
	}
	if info, err := os.Stat(m.OutputPath); err != nil || info.Size() != 1<<20 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestBash_NoPlaceForTheFile(t *testing.T) {
	x := newTerminal(t)
	x.cfg.Output.Dir = x.Put("file", "")
	r, m := x.bash(t.Context(), tooltest.Input{"command": "seq 5000"})
	if !strings.Contains(r.Output, "could not be saved to a file") || !*m.Truncated || m.OutputPath != "" {
		t.Errorf("%+v", m)
	}
}

func TestBash_Advice(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"gti status", "Program not found on PATH: gti."},
		{"printf 'Continue? [y/N] '; exit 1", `waited for an answer to "Continue? [y/N]"`},
		{"printf 'Go on? '; exit 1", `waited for an answer to "Go on?"`},
		{"printf 'Password: '; sleep 100", `waited for an answer to "Password:"`},
		{"kill -9 $$", "ended by SIGKILL · 0.0 s\nIt was killed from outside"},
		{"kill -SEGV $$", "ended by SIGSEGV"},
	} {
		x := newTerminal(t)
		if r, _ := x.bash(t.Context(), tooltest.Input{"command": tt.command, "timeout": 300}); !strings.Contains(took.ReplaceAllString(r.Output, " · 0.0 s"), tt.want) {
			t.Errorf("%s: %s", tt.command, r.Output)
		}
	}
}

// A program that does not exist: named are its other versions and those that do a similar
// thing, never those whose names look alike.
func TestBash_StandIns(t *testing.T) {
	x := newTerminal(t)
	for _, name := range []string{"frob3", "frob-14", "frobnicate", "fro", "nodejs", "nodetool", "sh"} {
		p := x.Put("bin/"+name, "#!/bin/sh\n")
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
		x.cfg.Env[0] = "PATH=" + filepath.Dir(p)
	}
	x.cfg.Shell = "/bin/sh"
	for command, want := range map[string]string{
		"frob": "Program not found on PATH: frob. There is: frob-14, frob3.",
		"node": "Program not found on PATH: node. There is: nodejs.",
		"nod":  "Program not found on PATH: nod.",
	} {
		if r, _ := x.bash(t.Context(), tooltest.Input{"command": command}); !strings.HasSuffix(r.Output, want) {
			t.Errorf("%s: %s", command, r.Output)
		}
	}
}

// A question that ends its line is part of a message, and the command did not wait for input.
func TestBash_MessageWithAQuestion(t *testing.T) {
	x := newTerminal(t)
	if r, _ := x.bash(t.Context(), tooltest.Input{"command": "echo 'Is the daemon running?'; exit 1"}); strings.Contains(r.Output, "waited") {
		t.Error(r.Output)
	}
}

func TestBash_Background(t *testing.T) {
	x := newTerminal(t)
	began := time.Now()
	r, m := x.bash(t.Context(), tooltest.Input{"command": "sleep 1000 & echo started"})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if !strings.HasPrefix(r.Output, "started\n\nStill running in the background (until this program ends):\n") || !strings.HasSuffix(r.Output, " sleep 1000") || *m.Exit != 0 {
		t.Error(r.Output)
	}
}

func TestBash_Secrets(t *testing.T) {
	x := newTerminal(t)
	x.cfg.Env = append(x.cfg.Env, "ANTHROPIC_API_KEY=one", "MY_TOKEN=two")
	x.cfg.Secrets = func() []string { return []string{"ANTHROPIC_API_KEY"} }
	if r, _ := x.bash(t.Context(), tooltest.Input{"command": "echo ${ANTHROPIC_API_KEY-gone} $MY_TOKEN"}); r.Output != "gone two\n" {
		t.Error(r.Output)
	}
}
