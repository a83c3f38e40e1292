package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
)

// folders makes folders beside the project.
func (y *yard) folders(t *testing.T, names ...string) (out []string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(filepath.Dir(y.project), name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		out = append(out, path)
	}
	return out
}

func TestConfine_Hide(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		write(t, y.outside+"/keep/file", "kept")
		write(t, y.home+"/token", "a secret")
		script := `cat $OUT/file; cat $OUT/folder/file; cat ~/token; cat link; cat /proc/self/root$OUT/file; cat $OUT/keep/file; cat ~/.ssh/known_hosts; echo x > new; cat new`
		if err := os.Symlink(y.outside+"/file", y.project+"/link"); err != nil {
			t.Fatal(err)
		}
		_, out := run(t, y.runner, y.shell(script))
		if strings.Count(out, "outside") != 3 || !strings.Contains(out, "deep") || !strings.Contains(out, "a secret") {
			t.Fatalf("not readable without a sandbox: %s", out)
		}
		y.profile.Hide = []string{y.outside, y.home + "/token", filepath.Dir(y.project) + "/none"}
		y.profile.Show = []string{y.outside + "/keep"}
		res, out := run(t, y.runner, y.shell("exec 2>/dev/null; "+script))
		if out != "keptx\n" || res.Exit != 0 {
			t.Errorf("%q %+v", out, res)
		}
		before := tree(t, filepath.Dir(y.project))
		for _, script := range []string{"touch $OUT/new", "touch $OUT/keep/new", "rm -rf $OUT/keep/file", "chmod 777 $OUT", "echo x > ~/token", "mv $OUT ../moved"} {
			if res, out := run(t, y.runner, y.shell(script)); res.Exit == 0 && (y.guard == sandbox.Bound || !strings.HasPrefix(script, "chmod")) {
				t.Errorf("%s: %q", script, out)
			}
		}
		delete(before, y.project+"/new")
		for path, was := range tree(t, filepath.Dir(y.project)) {
			if before[path] != was && strings.Contains(path, "outside/") {
				t.Errorf("%s is %q, was %q", path, was, before[path])
			}
		}
		if res, out := run(t, y.runner, y.shell("ls $OUT")); y.guard == sandbox.Bound && (out != "keep\n" || res.Exit != 0) {
			t.Errorf("%q %+v", out, res)
		}
	})
}

// A project in a hidden folder can be worked in, and a hidden folder in a project is hidden.
func TestConfine_HideAround(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		if y.guard != sandbox.Bound {
			t.Skip("only mounts hide inside of folders that can be written")
		}
		write(t, y.project+"/secret/file", "a secret")
		y.profile.Hide = []string{filepath.Dir(y.project), y.project + "/secret"}
		res, out := run(t, y.runner, y.shell("cat file; echo x > new; ls -A . secret ..; cat secret/file; echo x > .git/config; mv new secret/; mkdir a && echo y > a/x && mv a/x ."))
		if !strings.HasPrefix(out, "inside") || strings.Contains(out, "a secret") || !strings.Contains(out, "..:\nproject\n") || res.Exit != 0 {
			t.Errorf("%q %+v", out, res)
		}
		if got := tree(t, y.project)[y.project+"/.git/config"]; !strings.Contains(got, "bare = false") {
			t.Error(got)
		}
	})
}

func TestConfine_Temp(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		if !strings.HasPrefix(y.project, "/tmp/") {
			t.Skip("temporary folders of tests are not below /tmp: " + y.project)
		}
		temp := y.folders(t, "session")[0]
		foreign, err := os.CreateTemp("/tmp", "foreign")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Remove(foreign.Name()) }()
		bin := y.folders(t, "bin")[0]
		y.profile.Write = append(y.profile.Write, "/tmp", "/var/tmp")
		y.profile.Temp = temp
		c := y.shell("[ ! -e " + foreign.Name() + " ] && echo x > /tmp/own && cat /var/tmp/own && cat file ~/.ssh/known_hosts && [ -d " + bin + " ] && ! touch ~/x && echo y > new && ln new /tmp/never; ls " + filepath.Dir(y.project))
		c.Env[0] += ":" + bin // the PATH
		res, out := run(t, y.runner, c)
		if y.guard == sandbox.Restored {
			if !slices.ContainsFunc(res.Sandbox.Missing, func(s string) bool { return strings.Contains(s, "/tmp") }) {
				t.Errorf("not told: %+v", res.Sandbox)
			}
			return
		}
		if !strings.Contains(out, "x\ninside") || !strings.HasSuffix(out, "bin\nhome\nproject\n") {
			t.Errorf("%q %+v", out, res)
		}
		if b, err := os.ReadFile(temp + "/own"); err != nil || string(b) != "x\n" {
			t.Errorf("%q, %v", b, err)
		}
		// A link that a command leaves there leads nowhere else.
		before := tree(t, y.outside)
		name := strings.Split(strings.TrimPrefix(y.project, "/tmp/"), "/")[0]
		if err := os.RemoveAll(filepath.Join(temp, name)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(y.outside, filepath.Join(temp, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := y.runner.Run(t.Context(), y.shell("true"), func([]byte) {}); err == nil || !strings.Contains(err.Error(), "temporary folder") {
			t.Errorf("a link in the temporary folder was followed: %v", err)
		}
		if after := tree(t, y.outside); len(after) != len(before) {
			t.Errorf("%v; was %v", after, before)
		}
	})
}

func TestConfine_Mounts(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		at := y.folders(t, "hidden/upper", "hidden/work", "hidden/source", "target", "fixed")
		write(t, at[2]+"/file", "from the source")
		write(t, at[3]+"/lower", "lower")
		y.profile.Hide = []string{filepath.Dir(at[0])}
		y.profile.Mounts = []sandbox.Mount{
			{Type: sandbox.OverlayMount, Source: at[3], Target: at[3], Upper: at[0], Work: at[1]},
			{Type: sandbox.BindMount, Source: at[2], Target: at[4], ReadOnly: true},
			{Type: sandbox.BindMount, Source: at[2], Target: y.outside + "/folder"},
		}
		y.profile.Write = append(y.profile.Write, at[3])
		t.Cleanup(func() { _ = os.Chmod(at[1]+"/work", 0o700) }) // the kernel's, without permissions
		res, out := run(t, y.runner, y.shell("cd ../target; echo changed > lower && echo x > new && rm -rf lower && ls && cat ../fixed/file && ! echo x > ../fixed/new && echo x > $OUT/folder/new && ! ls ../hidden/source/file"))
		if y.guard == sandbox.Restored {
			if len(res.Sandbox.Missing) != 5 {
				t.Errorf("not told: %+v", res.Sandbox)
			}
			return
		}
		if res.Exit != 0 || !strings.HasPrefix(out, "new\nfrom the source") {
			t.Errorf("%q %+v", out, res)
		}
		if b, err := os.ReadFile(at[3] + "/lower"); string(b) != "lower" {
			t.Error(string(b), err)
		}
		for path, want := range map[string]string{at[0] + "/new": "x\n", at[2] + "/new": "x\n"} {
			if b, err := os.ReadFile(path); string(b) != want {
				t.Error(path, string(b), err)
			}
		}
		y.profile.Mounts[0].Upper, y.profile.Mounts[0].Work = at[0]+"/none", at[1]+"-second"
		if res, out := run(t, y.runner, y.shell("echo x > ../target/new")); res.Exit == 0 || len(res.Sandbox.Missing) != 1 || !strings.Contains(res.Sandbox.Missing[0], at[3]+" is read-only") {
			t.Errorf("%q %+v %+v", out, res, res.Sandbox)
		}
		y.profile.Mounts = []sandbox.Mount{{Type: "some", Source: "/", Target: "/"}}
		if _, err := y.runner.Run(t.Context(), y.shell("true"), func([]byte) {}); err == nil || !strings.Contains(err.Error(), "type") {
			t.Errorf("got %v", err)
		}
	})
}

// To ask for overlays leaves nothing behind.
func TestCanOverlay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "overlay")
	err := sandbox.CanOverlay(dir)
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
	if err != nil {
		t.Skip(err)
	}
}

// Others replace the file that a link is mounted on while commands start. All of them get their mounts:
// without, the file would be put back after the command, and what others wrote meanwhile lost.
func TestConfine_LinkOverReplaced(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		if y.guard != sandbox.Bound {
			t.Skip("there are no mounts")
		}
		config, link := y.project+"/.git/config", y.home+"/link"
		write(t, y.home+"/copy", "the copy")
		if err := os.Symlink(y.home+"/copy", link); err != nil {
			t.Fatal(err)
		}
		y.profile.Mounts = []sandbox.Mount{{Type: sandbox.LinkMount, Source: link, Target: config, ReadOnly: true}}
		if res, out := run(t, y.runner, y.shell("cat .git/config")); out != "the copy" {
			t.Fatalf("%q %+v", out, res)
		}
		stop, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				write(t, config+".lock", strconv.Itoa(i))
				if err := os.Rename(config+".lock", config); err != nil {
					t.Error(err)
				}
			}
		}()
		for range 20 {
			if res, out := run(t, y.runner, y.shell("true")); res.Sandbox.Guard != sandbox.Bound || len(res.Restored) > 0 {
				t.Errorf("%q %+v %+v", out, res, res.Sandbox)
			}
		}
		close(stop)
		<-ended
	})
}

// A protected name that is a symlink cannot be replaced either, nor what it leads to. Programs follow it.
func TestConfine_ProtectedLink(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		for at, to := range map[string]string{"/lathe.jsonc": "shared/settings", "/.lathe": "shared"} {
			if err := os.Symlink(to, y.project+at); err != nil {
				t.Fatal(err)
			}
		}
		write(t, y.project+"/shared/settings", "mine")
		write(t, y.project+"/other", "evil")
		const attacks = "rm lathe.jsonc; mv other lathe.jsonc; ln -sfn / .lathe; mv .lathe x; echo evil > lathe.jsonc; echo evil > shared/settings"
		for attack := range strings.SplitSeq(attacks, "; ") {
			before := tree(t, y.project)
			free := y.shell("(cp -r . $HOME/free && cd $HOME/free && " + attack + "); e=$?; rm -rf $HOME/free; exit $e")
			free.Profile = sandbox.Profile{}
			if res, out := run(t, y.runner, free); res.Exit != 0 {
				t.Errorf("%s does not work where nothing holds it: %s", attack, out)
			}
			res, out := run(t, y.runner, y.shell(attack))
			if y.guard == sandbox.Bound && (res.Exit == 0 || len(res.Restored) > 0) {
				t.Errorf("%s: %+v %s", attack, res, out)
			}
			delete(before, y.project+"/other") // which it can have
			for path, was := range before {
				if now := tree(t, y.project)[path]; now != was {
					t.Errorf("%s: %s is %q, was %q", attack, path, now, was)
				}
			}
		}
		if _, out := run(t, y.runner, y.shell("cat lathe.jsonc .lathe/settings")); out != "minemine" {
			t.Errorf("it reads %q", out)
		}
	})
}
