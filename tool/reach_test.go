package tool_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// questions are the names and patterns that needed a rule.
func (d *desk) questions() (out []string) {
	for _, p := range d.asked {
		for _, pattern := range p.Patterns {
			out = append(out, p.Name+" "+pattern)
		}
	}
	d.asked = nil
	return out
}

// Lines of a file that read would ask about are not shown by grep, and nobody learns whether there
// are any.
func TestGrep_ReadRules(t *testing.T) {
	d := newDesk(t)
	d.put(".env", "KEY=needle\n")
	d.put("web/.env.local", "KEY=needle\n")
	d.put("main.go", "needle\n")
	control := d.must(tool.Grep(tool.FilesConfig{}), in{"pattern": "needle"})
	if !strings.Contains(control.Output, "KEY=needle") {
		t.Fatalf("without a rule %s", control.Output)
	}
	d.denies = func(p tool.Permission) bool {
		return p.Name == "read" && slices.ContainsFunc(p.Patterns, func(s string) bool { return lathe.Wildcard("*.env", s) || lathe.Wildcard("*.env.*", s) })
	}
	for _, pattern := range []string{"needle", "KEY", "NEEDLE"} {
		r := d.must(tool.Grep(tool.FilesConfig{}), in{"pattern": pattern})
		if strings.Contains(r.Output, "KEY") || strings.Contains(r.Output, "regard to case: 3") || !strings.Contains(r.Output, "Not searched: 2 files") {
			t.Errorf("%s: %s", pattern, r.Output)
		}
	}
	if r := d.must(tool.Glob(tool.FilesConfig{}), in{"pattern": "**/.env*"}); !strings.Contains(r.Output, ".env.local") {
		t.Errorf("names are no secret: %s", r.Output)
	}
	d.refuse = "read"
	if r, err := d.run(tool.Grep(tool.FilesConfig{}), in{"pattern": "needle", "path": ".env"}); err == nil {
		t.Errorf("the file alone: %s", r.Output)
	}
}

// Toolchains are read unasked and not written; a rule that denies them still counts.
func TestReach_Toolchains(t *testing.T) {
	d := newDesk(t)
	lib := d.put(filepath.Join(d.out, "go", "src", "fmt", "print.go"), "package fmt\n")
	secret := d.put(filepath.Join(d.out, "go", "token"), "s3cret\n")
	other := d.put(filepath.Join(d.out, "else", "x"), "x\n")
	d.call.Outside = &tool.Outside{
		Readable: func() []string { return []string{filepath.Join(d.out, "go")} },
		Secret:   func(path string) (string, bool) { return "a token", path == secret },
	}
	unasked := func(x tool.Tool, input in) {
		t.Helper()
		d.must(x, input)
		if got := slices.DeleteFunc(d.questions(), func(q string) bool { return !strings.HasPrefix(q, "external") && !strings.HasPrefix(q, "sandbox") }); len(got) > 0 {
			t.Errorf("%v asked %q", input, got)
		}
	}
	asked := func(want string, x tool.Tool, input in) {
		t.Helper()
		_, _ = d.run(x, input)
		if got := d.questions(); !slices.Contains(got, want) {
			t.Errorf("%v asked %q, not %q", input, got, want)
		}
	}
	dir := filepath.Join(d.out, "go")
	unasked(tool.Read(tool.ReadConfig{}), in{"filePath": lib})
	unasked(tool.Read(tool.ReadConfig{}), in{"filePath": dir})
	unasked(tool.Glob(tool.FilesConfig{}), in{"pattern": "**/*.go", "path": dir})
	unasked(tool.Grep(tool.FilesConfig{}), in{"pattern": "package", "path": dir})
	asked("external_directory "+filepath.Dir(lib)+"/*", tool.Write(tool.WriteConfig{Unchecked: true}), in{"filePath": lib, "content": "x"})
	asked("external_directory "+filepath.Dir(other)+"/*", tool.Read(tool.ReadConfig{}), in{"filePath": other})
	asked("sandbox read:"+secret, tool.Read(tool.ReadConfig{}), in{"filePath": secret})
	asked("sandbox read:"+secret, tool.Grep(tool.FilesConfig{}), in{"pattern": "x", "path": secret})
	if r := d.must(tool.Grep(tool.FilesConfig{}), in{"pattern": "s3cret", "path": dir}); strings.Contains(r.Output, "s3cret\n") || !strings.Contains(r.Output, "Not searched: 1 file") {
		t.Errorf("grep shows a secret: %s", r.Output)
	}
	d.asked = nil
	d.must(tool.Read(tool.ReadConfig{}), in{"filePath": lib})
	if d.asked[0].Name != "external_directory" || !slices.Equal(d.asked[0].Also, []string{filepath.Dir(lib) + "/*"}) {
		t.Errorf("a rule that denies it is not heard: %+v", d.asked[0])
	}
}

// Other work trees of the repository are read unasked: those that it knows and that name it back.
func TestReach_Worktrees(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	d := newDesk(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", d.dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	tree := filepath.Join(d.out, "tree")
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	git("worktree", "add", "-q", tree)
	file := d.put(filepath.Join(tree, "a.txt"), "a\n")
	if got := workspace.Worktrees(d.dir); !slices.Equal(got, []string{tree}) {
		t.Fatalf("work trees %q", got)
	}
	d.call.Outside = &tool.Outside{}
	d.must(tool.Read(tool.ReadConfig{}), in{"filePath": file})
	if got := d.questions(); !slices.Equal(got, []string{"read " + mustRel(t, d.dir, file)}) {
		t.Errorf("asked %q", got)
	}
	// One that does not name the repository back is anyone's.
	if err := os.Remove(filepath.Join(tree, ".git")); err != nil {
		t.Fatal(err)
	}
	d.must(tool.Read(tool.ReadConfig{}), in{"filePath": file})
	if got := d.questions(); len(got) != 2 || got[0] != "external_directory "+tree+"/*" {
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
	d := newDesk(t)
	folder := filepath.Join(filepath.Dir(d.dir), "data", "tmp", "ses_1")
	d.call.Outside = &tool.Outside{Temp: func(*tool.Call) string { return folder }, Kept: []string{d.out}}
	name := filepath.Base(t.TempDir()) + "-" + filepath.Base(filepath.Dir(filepath.Dir(d.dir))) // nobody else has it
	write, read := tool.Write(tool.WriteConfig{Unchecked: true}), tool.Read(tool.ReadConfig{})
	for _, top := range []string{"/tmp", "/var/tmp"} {
		path := filepath.Join(top, name, "a.txt")
		r := d.must(write, in{"filePath": path, "content": top + " text\n"})
		if !strings.Contains(r.Output, path) || strings.Contains(r.Output, folder) {
			t.Errorf("%s: %s", path, r.Output)
		}
		if r := d.must(read, in{"filePath": path}); !strings.Contains(r.Output, top+" text") {
			t.Errorf("%s: %s", path, r.Output)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is on the machine", path)
		}
		if r := d.must(tool.Grep(tool.FilesConfig{}), in{"pattern": "text", "path": filepath.Join(top, name)}); !strings.Contains(r.Output, path+":") {
			t.Errorf("grep: %s", r.Output)
		}
		if err := os.RemoveAll(folder); err != nil { // it comes again
			t.Fatal(err)
		}
	}
	if got := slices.DeleteFunc(d.questions(), func(q string) bool { return !strings.HasPrefix(q, "external") && !strings.HasPrefix(q, "sandbox") }); len(got) > 0 {
		t.Errorf("asked %q", got)
	}
	// What is only on the machine is outside, the project stays what it is, and so does what is kept.
	if strings.HasPrefix(d.dir, "/tmp/") {
		other := d.put(filepath.Join(filepath.Dir(d.dir), "other", "f"), "x\n")
		d.must(read, in{"filePath": other})
		if got := d.questions(); !slices.Contains(got, "external_directory "+filepath.Dir(other)+"/*") {
			t.Errorf("asked %q", got)
		}
		d.must(write, in{"filePath": filepath.Join(d.dir, "new.txt"), "content": "x"})
		if _, err := os.Lstat(filepath.Join(d.dir, "new.txt")); err != nil {
			t.Error(err)
		}
		d.must(write, in{"filePath": filepath.Join(d.out, "new.txt"), "content": "x"})
		if _, err := os.Lstat(filepath.Join(d.out, "new.txt")); err != nil {
			t.Error(err)
		}
	}
	// A link that a command made there leads out like any other.
	d.asked = nil
	out := d.put(filepath.Join(d.out, "f"), "x\n")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(folder, "way")); err != nil {
		t.Fatal(err)
	}
	if r, err := d.run(read, in{"filePath": "/tmp/way"}); err == nil {
		t.Errorf("through a link: %s", r.Output)
	}
}

// Commands that read a library are not asked about either, however they read it; those that write
// there are.
func TestReach_LibraryCommands(t *testing.T) {
	x := newTerminal(t)
	lib := x.put(filepath.Join(x.out, "go", "src", "fmt", "print.go"), "package fmt\n")
	dir := filepath.Dir(lib)
	x.call.Outside = &tool.Outside{Readable: func() []string { return []string{filepath.Join(x.out, "go")} }}
	outside := func(command string) bool {
		t.Helper()
		x.asked = nil
		x.bash(t.Context(), in{"command": command})
		return slices.ContainsFunc(x.questions(), func(q string) bool { return strings.HasPrefix(q, "external_directory") })
	}
	for _, command := range []string{
		"cat " + lib, "ls " + dir, "sed -n 1,5p " + lib, "grep -rn package " + dir, "awk '{print $1}' " + lib, "find " + dir + " -name '*.go'", "head -3 " + lib + " | wc -l",
		"rg package " + dir, "cp " + lib + " copy.go", "cd " + dir + " && ls", "diff " + lib + " " + lib, "sort " + lib,
	} {
		if outside(command) {
			t.Errorf("%s: asked %q", command, x.questions())
		}
	}
	for _, command := range []string{"sed -i s/a/b/ " + lib, "touch " + lib, "rm " + lib, "sort -o " + lib + " " + lib, "cp copy.go " + lib, "echo >" + lib} {
		if !outside(command) {
			t.Errorf("%s: asked %q only", command, x.questions())
		}
	}
}
