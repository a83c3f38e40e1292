package builtin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/workspace"
)

// Lines of a file that read would ask about are not shown by grep, and the output does not
// reveal whether there are any.
func TestGrep_ReadRules(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put(".env", "KEY=needle\n")
	d.Put("web/.env.local", "KEY=needle\n")
	d.Put("main.go", "needle\n")
	control := d.Must(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "needle"})
	if !strings.Contains(control.Output, "KEY=needle") {
		t.Fatalf("without a rule %s", control.Output)
	}
	d.Denies = func(p tool.Permission) bool {
		return p.Name == "read" && slices.ContainsFunc(p.Patterns, func(s string) bool { return lathe.Wildcard("*.env", s) || lathe.Wildcard("*.env.*", s) })
	}
	for _, pattern := range []string{"needle", "KEY", "NEEDLE"} {
		r := d.Must(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": pattern})
		if strings.Contains(r.Output, "KEY") || strings.Contains(r.Output, "regard to case: 3") || !strings.Contains(r.Output, "Not searched: 2 files") {
			t.Errorf("%s: %s", pattern, r.Output)
		}
	}
	if r := d.Must(builtin.Glob(builtin.FilesConfig{}), tooltest.Input{"pattern": "**/.env*"}); !strings.Contains(r.Output, ".env.local") {
		t.Errorf("names are no secret: %s", r.Output)
	}
	d.Refuse = "read"
	if r, err := d.Run(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "needle", "path": ".env"}); err == nil {
		t.Errorf("the file alone: %s", r.Output)
	}
}

// Toolchains are read unasked and not written; a rule that denies them still counts.
func TestReach_Toolchains(t *testing.T) {
	d := tooltest.NewHost(t)
	lib := d.Put(filepath.Join(d.Out, "go", "src", "fmt", "print.go"), "package fmt\n")
	secret := d.Put(filepath.Join(d.Out, "go", "token"), "s3cret\n")
	other := d.Put(filepath.Join(d.Out, "else", "x"), "x\n")
	d.Call.External = &tool.External{
		Readable: func() []string { return []string{filepath.Join(d.Out, "go")} },
		Secret:   func(path string) (string, bool) { return "a token", path == secret },
	}
	unasked := func(x tool.Tool, input tooltest.Input) {
		t.Helper()
		d.Must(x, input)
		if got := slices.DeleteFunc(d.Questions(), func(q string) bool { return !strings.HasPrefix(q, "external") && !strings.HasPrefix(q, "sandbox") }); len(got) > 0 {
			t.Errorf("%v asked %q", input, got)
		}
	}
	asked := func(want string, x tool.Tool, input tooltest.Input) {
		t.Helper()
		_, _ = d.Run(x, input)
		if got := d.Questions(); !slices.Contains(got, want) {
			t.Errorf("%v asked %q, not %q", input, got, want)
		}
	}
	dir := filepath.Join(d.Out, "go")
	unasked(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": lib})
	unasked(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": dir})
	unasked(builtin.Glob(builtin.FilesConfig{}), tooltest.Input{"pattern": "**/*.go", "path": dir})
	unasked(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "package", "path": dir})
	asked("external_directory "+filepath.Dir(lib)+"/*", builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": lib, "content": "x"})
	asked("external_directory "+filepath.Dir(other)+"/*", builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": other})
	asked("sandbox read:"+secret, builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": secret})
	asked("sandbox read:"+secret, builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "x", "path": secret})
	if r := d.Must(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "s3cret", "path": dir}); strings.Contains(r.Output, "s3cret\n") || !strings.Contains(r.Output, "Not searched: 1 file") {
		t.Errorf("grep shows a secret: %s", r.Output)
	}
	d.Asked = nil
	d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": lib})
	if d.Asked[0].Name != "external_directory" || !slices.Equal(d.Asked[0].Also, []string{filepath.Dir(lib) + "/*"}) {
		t.Errorf("a rule that denies it is not heard: %+v", d.Asked[0])
	}
}

// Other work trees of the repository are read unasked: those that it knows and that name it back.
func TestReach_Worktrees(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	d := tooltest.NewHost(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", d.Dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	tree := filepath.Join(d.Out, "tree")
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	git("worktree", "add", "-q", tree)
	file := d.Put(filepath.Join(tree, "a.txt"), "a\n")
	if got := workspace.Worktrees(d.Dir); !slices.Equal(got, []string{tree}) {
		t.Fatalf("work trees %q", got)
	}
	d.Call.External = &tool.External{}
	d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": file})
	if got := d.Questions(); !slices.Equal(got, []string{"read " + mustRel(t, d.Dir, file)}) {
		t.Errorf("asked %q", got)
	}
	// One that does not name the repository back is anyone's.
	if err := os.Remove(filepath.Join(tree, ".git")); err != nil {
		t.Fatal(err)
	}
	d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": file})
	if got := d.Questions(); len(got) != 2 || got[0] != "external_directory "+tree+"/*" {
		t.Errorf("asked %q", got)
	}
}

func mustRel(t *testing.T, from, to string) string {
	t.Helper()
	rel, err := filepath.Rel(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

// /tmp is the temporary folder of the session for file tools, as it is for commands.
func TestReach_Temporary(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("there is no /tmp on this system")
	}
	d := tooltest.NewHost(t)
	folder := filepath.Join(filepath.Dir(d.Dir), "data", "tmp", "ses_1")
	d.Call.External = &tool.External{Temp: func(*tool.Call) string { return folder }, RealTemp: []string{d.Out}}
	name := filepath.Base(t.TempDir()) + "-" + filepath.Base(filepath.Dir(filepath.Dir(d.Dir))) // no other process has it
	write, read := builtin.Write(builtin.WriteConfig{AllowStale: true}), builtin.Read(builtin.ReadConfig{})
	for _, top := range []string{"/tmp", "/var/tmp"} {
		path := filepath.Join(top, name, "a.txt")
		r := d.Must(write, tooltest.Input{"filePath": path, "content": top + " text\n"})
		if !strings.Contains(r.Output, path) || strings.Contains(r.Output, folder) {
			t.Errorf("%s: %s", path, r.Output)
		}
		if r := d.Must(read, tooltest.Input{"filePath": path}); !strings.Contains(r.Output, top+" text") {
			t.Errorf("%s: %s", path, r.Output)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is on the machine", path)
		}
		if r := d.Must(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "text", "path": filepath.Join(top, name)}); !strings.Contains(r.Output, path+":") {
			t.Errorf("grep: %s", r.Output)
		}
		if err := os.RemoveAll(folder); err != nil { // it comes again
			t.Fatal(err)
		}
	}
	if got := slices.DeleteFunc(d.Questions(), func(q string) bool { return !strings.HasPrefix(q, "external") && !strings.HasPrefix(q, "sandbox") }); len(got) > 0 {
		t.Errorf("asked %q", got)
	}
	// What is only on the machine is outside, the project stays what it is, and so does what is kept.
	if strings.HasPrefix(d.Dir, "/tmp/") {
		other := d.Put(filepath.Join(filepath.Dir(d.Dir), "other", "f"), "x\n")
		d.Must(read, tooltest.Input{"filePath": other})
		if got := d.Questions(); !slices.Contains(got, "external_directory "+filepath.Dir(other)+"/*") {
			t.Errorf("asked %q", got)
		}
		d.Must(write, tooltest.Input{"filePath": filepath.Join(d.Dir, "new.txt"), "content": "x"})
		if _, err := os.Lstat(filepath.Join(d.Dir, "new.txt")); err != nil {
			t.Error(err)
		}
		d.Must(write, tooltest.Input{"filePath": filepath.Join(d.Out, "new.txt"), "content": "x"})
		if _, err := os.Lstat(filepath.Join(d.Out, "new.txt")); err != nil {
			t.Error(err)
		}
	}
	// A link that a command made there leads out like any other.
	d.Asked = nil
	out := d.Put(filepath.Join(d.Out, "f"), "x\n")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(folder, "way")); err != nil {
		t.Fatal(err)
	}
	if r, err := d.Run(read, tooltest.Input{"filePath": "/tmp/way"}); err == nil {
		t.Errorf("through a link: %s", r.Output)
	}
}
