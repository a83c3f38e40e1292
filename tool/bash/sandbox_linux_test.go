package bash_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// confined is a terminal whose commands may write to the project alone.
func confined(t *testing.T) *terminal {
	t.Helper()
	x := newTerminal(t)
	if err := x.runner.Kernel().Available(true); err != nil {
		t.Skip(err)
	}
	x.cfg.Confine = func(c *tool.Call, _ bash.Line) (sandbox.Profile, error) {
		return sandbox.Profile{
			Mode: sandbox.Workspace, Strict: true, Write: []string{c.Dir}, QuarantineDir: filepath.Join(filepath.Dir(x.Dir), "aside"),
			Protect: []string{filepath.Join(c.Dir, "lathe.json"), filepath.Join(c.Dir, "sub/kept")}, Watch: []string{filepath.Join(c.Dir, "watched")},
		}, nil
	}
	return x
}

// sandboxMeta is what clients read of the sandbox.
func sandboxMeta(t *testing.T, r tool.Result) (out struct {
	Mode    string
	Network bool
	Kernel  *sandbox.Report
},
) {
	t.Helper()
	var m struct{ Sandbox json.RawMessage }
	if err := errors.Join(json.Unmarshal(r.Metadata, &m), json.Unmarshal(m.Sandbox, &out)); err != nil {
		t.Fatalf("%v in %s", err, r.Metadata)
	}
	return out
}

func TestBash_SandboxRefuses(t *testing.T) {
	x := confined(t)
	target := filepath.Join(x.Out, "new")
	r, _ := x.bash(t.Context(), tooltest.Input{"command": "echo x > " + target})
	if _, err := os.Stat(target); err == nil {
		t.Error("it was written")
	}
	for _, want := range []string{"The sandbox (workspace) refused " + target, x.Dir, "lathe.json", `"outside"`} {
		if !strings.Contains(r.Output, want) {
			t.Errorf("%q is not in %s", want, r.Output)
		}
	}
	if m := sandboxMeta(t, r); m.Mode != "workspace" || !m.Network || m.Kernel == nil || m.Kernel.Landlock == 0 {
		t.Errorf("%s", r.Metadata)
	}
	r, _ = x.bash(t.Context(), tooltest.Input{"command": "echo x > new && cat new; echo 'Permission denied'"})
	if strings.Contains(r.Output, "sandbox") || !strings.HasPrefix(r.Output, "x\n") {
		t.Errorf("a command that worked is told of the sandbox: %s", r.Output)
	}
}

// A refused write is reported, however the command handled it; unrelated errors are not.
func TestBash_SandboxRefusesQuietly(t *testing.T) {
	x := confined(t)
	if err := os.WriteFile(filepath.Join(x.Dir, "lathe.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.cfg.NonInteractive = true
	for command, refused := range map[string]string{
		"f=$(echo lathe); echo x > $f.json; true":        "lathe.json",
		"echo x > " + x.Out + "/new; echo fine":          x.Out + "/new",
		"f=$(echo lathe); mv $f.json other 2>&1 || true": "lathe.json",
		"echo 'cat: /etc/no-such/x: Permission denied'":  "",
		"echo 'new: Read-only file system'":              "",
	} {
		r, _ := x.bash(t.Context(), tooltest.Input{"command": command})
		want := "The sandbox (workspace) refused " + refused
		if got := strings.Contains(r.Output, want+":"); got != (refused != "") || refused == "" && strings.Contains(r.Output, "sandbox") {
			t.Errorf("%s: %s", command, r.Output)
		}
		if strings.Contains(r.Output, `"outside"`) || refused != "" && !strings.Contains(r.Output, "No user can approve") {
			t.Errorf("%s offers what nobody can allow: %s", command, r.Output)
		}
	}
}

func TestBash_SandboxUndoes(t *testing.T) {
	x := confined(t)
	r, _ := x.bash(t.Context(), tooltest.Input{"command": "f=$(echo watched); echo {} > $f"})
	if !strings.Contains(r.Output, "has undone what the command did to "+filepath.Join(x.Dir, "watched")) {
		t.Error(r.Output)
	}
	if _, err := os.Lstat(filepath.Join(x.Dir, "watched")); err == nil {
		t.Error("it is there")
	}
}

// What is known to write a protected name does not begin, and the user is not asked; what is
// not known to do so fails, and the model learns why.
func TestBash_SandboxProtects(t *testing.T) {
	x := confined(t)
	if err := os.Symlink("lathe.json", filepath.Join(x.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"touch ran; echo {} > lathe.json", "touch ran; cd .; echo {} >> ./lathe.json", "touch ran && cp ran lathe.json", "touch ran; f=lathe.json; tee $f",
		"touch ran; mkdir -p lathe.json/x", "touch ran; rm -f lathe.json", "touch ran; echo x > nowhere/../lathe.json", "touch ran; ln -s /etc lathe.json",
	} {
		x.Asked = nil
		r, err := x.Run(bash.New(x.cfg), tooltest.Input{"command": command})
		if err == nil || !strings.Contains(err.Error(), filepath.Join(x.Dir, "lathe.json")) || !strings.Contains(err.Error(), `"outside"`) || len(x.Asked) > 0 {
			t.Errorf("%s: %v, %v, asked %v", command, err, r.Output, x.Asked)
		}
	}
	if _, err := os.Lstat(filepath.Join(x.Dir, "ran")); err == nil {
		t.Error("one has run")
	}
	for _, command := range []string{"f=$(echo lathe.json); echo {} > $f", "f=$(echo lathe.json); mkdir $f", "touch x; mv x $(echo lathe.json)/; mkdir -p $(echo lathe.json)/a"} {
		r, _ := x.bash(t.Context(), tooltest.Input{"command": command})
		if !strings.Contains(r.Output, "sandbox") || !strings.Contains(r.Output, `"outside"`) {
			t.Errorf("%s: %s", command, r.Output)
		}
		if _, err := os.Lstat(filepath.Join(x.Dir, "lathe.json")); err == nil {
			t.Errorf("%s: it is there", command)
		}
	}
	if err := os.MkdirAll(filepath.Join(x.Dir, "sub/kept"), 0o755); err != nil {
		t.Fatal(err)
	}
	for command, refused := range map[string]bool{"rm -rf sub": true, "mv sub other": true, "rm -rf ./sub/..": true, "touch sub": false, "mkdir -p sub/x": false, "mv x sub": false} {
		if _, err := x.Run(bash.New(x.cfg), tooltest.Input{"command": command}); (err != nil) != refused {
			t.Errorf("%s: %v", command, err)
		}
	}
	for _, command := range []string{"cp link other 2>/dev/null; cat lathe.json; true", "ls; ls -a | cat"} { // which write nothing there
		if r, err := x.Run(bash.New(x.cfg), tooltest.Input{"command": command}); err != nil || strings.Contains(r.Output, "sandbox (") || strings.Contains(r.Output, "lathe.json\n") {
			t.Errorf("%s: %v %s", command, err, r.Output)
		}
	}
}

// Outside of the sandbox a command runs when the user allows exactly that, and not otherwise.
func TestBash_OutsideOfTheSandbox(t *testing.T) {
	x := confined(t)
	target := filepath.Join(x.Out, "new")
	input := tooltest.Input{"command": "echo x > " + target, "outside": "the user wants the file"}
	x.Refuse = "sandbox"
	if _, err := x.Run(bash.New(x.cfg), input); err == nil || err.Error() != "no sandbox" {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("it ran all the same")
	}
	x.Refuse, x.Asked = "", nil
	r, _ := x.bash(t.Context(), input)
	if _, err := os.Stat(target); err != nil {
		t.Errorf("%v: %s", err, r.Output)
	}
	last := x.Asked[len(x.Asked)-1]
	if last.Name != "sandbox" || last.Always != nil || len(last.Patterns) != 1 || last.Patterns[0] != input["command"] ||
		!strings.Contains(string(last.Metadata), `"reason":"the user wants the file","sandbox":"workspace"`) {
		t.Errorf("asked %+v", last)
	}
	if m := sandboxMeta(t, r); m.Mode != "off" || m.Kernel != nil {
		t.Errorf("%s", r.Metadata)
	}
}

// Where it was asked for and is not there, nothing runs.
func TestBash_SandboxUnavailable(t *testing.T) {
	x := newTerminal(t)
	r := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Kernel: &sandbox.Kernel{}})
	t.Cleanup(func() { _ = r.Close() })
	x.cfg.Runner = r
	x.cfg.Confine = func(c *tool.Call, _ bash.Line) (sandbox.Profile, error) {
		return sandbox.Profile{Mode: sandbox.Workspace, Strict: true, Write: []string{c.Dir}}, nil
	}
	if _, err := x.Run(bash.New(x.cfg), tooltest.Input{"command": "echo x > ran"}); err == nil || !strings.Contains(err.Error(), "no Landlock") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(x.Dir, "ran")); err == nil {
		t.Error("it ran")
	}
}

// What the user types into this program is not confined; what a client sends is.
func TestShell_Confined(t *testing.T) {
	x := confined(t)
	for _, local := range []bool{false, true} {
		target := filepath.Join(x.Out, "new")
		in := bash.UserCommand{Dir: x.Dir, Root: x.Dir, Agent: "build", Command: "echo x > " + target, Local: local}
		if _, err := bash.NewShell(x.cfg).Run(t.Context(), in, func(json.RawMessage) {}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(target); (err == nil) != local {
			t.Errorf("typed here: %v, and the file: %v", local, err)
		}
	}
}

// A rule for protected files ("edit:.husky/*") opens no way out of the sandbox for command lines.
func TestBash_NoCommandLikeAFile(t *testing.T) {
	x := confined(t)
	_, err := x.Run(bash.New(x.cfg), tooltest.Input{"command": "edit:.husky/x; touch out", "outside": "because"})
	if err == nil || !strings.Contains(err.Error(), "nothing was run") {
		t.Errorf("error %v", err)
	}
}
