package sandbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
)

// yard is a project that a command is confined to, and what lies beside it.
type yard struct {
	project, outside, aside, home string
	runner                        *sandbox.Runner
	profile                       sandbox.Profile
	guard                         sandbox.Guard
}

// yards are the ways this machine can confine a command.
func yards(t *testing.T, test func(t *testing.T, y *yard)) {
	real := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}).Kernel()
	if err := real.Available(true); err != nil {
		t.Skip(err)
	}
	for name, guard := range map[string]sandbox.Guard{"session": sandbox.Bound, "bound": sandbox.Bound, "restored": sandbox.Restored} {
		t.Run(name, func(t *testing.T) {
			k := real
			k.Mounts = guard == sandbox.Bound
			y := newYard(t, sandbox.Config{Launcher: sandbox.Self(), Grace: 300 * time.Millisecond, Kernel: &k})
			if name == "session" {
				y.profile.Session = "ses_yard"
			}
			if res, _ := run(t, y.runner, y.shell("true")); res.Sandbox.Guard != guard {
				t.Skipf("this machine lets no command have mounts of its own: %+v", res.Sandbox)
			}
			y.guard = guard
			test(t, y)
		})
	}
}

func newYard(t *testing.T, c sandbox.Config) *yard {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{
		project: filepath.Join(base, "project"), outside: filepath.Join(base, "outside"), aside: filepath.Join(base, "aside"),
		home: filepath.Join(base, "home"), runner: open(t, c),
	}
	for path, text := range map[string]string{
		y.outside + "/file": "outside", y.outside + "/folder/file": "deep", y.project + "/file": "inside",
		y.project + "/.git/config": "[core]\n\tbare = false\n", y.project + "/.git/HEAD": "ref: refs/heads/main\n",
		y.project + "/.git/refs/x": "", y.project + "/.git/objects/x": "", y.project + "/lathe.json": "{}", y.home + "/.ssh/known_hosts": "",
	} {
		write(t, path, text)
	}
	y.profile = sandbox.Profile{
		Mode: sandbox.Workspace, Write: []string{y.project}, QuarantineDir: y.aside, Strict: true,
		Files: []string{y.project + "/.git/config.worktree"},
		Watch: []string{y.project + "/.git/commondir"},
		Protect: []string{
			y.project + "/.git/hooks", y.project + "/.git/config", y.project + "/lathe.json", y.project + "/lathe.jsonc",
			y.project + "/.lathe", y.home + "/.ssh", y.home + "/.bashrc",
		},
		Sockets: []string{y.project},
	}
	return y
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// shell is a script in the project; $OUT is the folder outside, $SELF a program that attempts.
func (y *yard) shell(script string) sandbox.Command {
	c := shell(y.project, script)
	self, _ := os.Executable()
	c.Env = append(c.Env, "OUT="+y.outside, "HOME="+y.home, "SELF="+self+" attempt", fmt.Sprintf("OUTER=%d", os.Getpid()), "GIT_CONFIG_NOSYSTEM=1")
	c.Profile = y.profile
	return c
}

// tree is everything below a folder: names, permissions, contents.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != root { // it went while we looked
			return nil
		}
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			text = string(b)
		}
		out[path] = info.Mode().String() + " " + text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// outsideEscapes are ways to change something outside of the project. They end with the exit code
// of the attempt.
var outsideEscapes = map[string]string{
	"write":                   `echo x > $OUT/file`,
	"append":                  `echo x >> $OUT/file`,
	"new file":                `echo x > $OUT/new`,
	"new folder":              `mkdir $OUT/new`,
	"remove":                  `rm -f $OUT/file`,
	"remove folder":           `rm -rf $OUT/folder`,
	"truncate":                `$SELF truncate $OUT/file`,
	"truncate by opening":     `$SELF "truncate by opening" $OUT/file`,
	"symlink to folder":       `ln -s $OUT link && echo x > link/new`,
	"symlink to file":         `ln -s $OUT/file link && echo x > link`,
	"symlink out there":       `ln -s file $OUT/link`,
	"move out":                `mv file $OUT/moved`,
	"move in":                 `mv $OUT/file moved`,
	"exchange":                `cp file exchanged; $SELF exchange $OUT/file`,
	"hard link in":            `ln $OUT/file hard && echo x > hard`,
	"hard link out":           `ln file $OUT/hard`,
	"descriptor":              `exec 3< $OUT/file; echo x > /proc/self/fd/3`,
	"descriptor of a folder":  `exec 3< $OUT; echo x > /proc/self/fd/3/new`,
	"root of the launcher":    `echo x > /proc/$PPID/root$OUT/new`,
	"root of the engine":      `echo x > /proc/$OUTER/root$OUT/new`,
	"directory of the engine": `echo x > /proc/$OUTER/cwd/new`,
	"dots":                    `echo x > ../outside/new`,
	"daemon":                  `setsid sh -c '(echo x > $OUT/new) 2>/dev/null; echo $? > done' </dev/null >/dev/null 2>&1 & while [ ! -s done ]; do sleep 0.01; done; exit $(cat done)`,
	"tracing":                 `$SELF trace $OUTER`,
	"tracing the launcher":    `$SELF trace $PPID`,
	"memory of the engine":    `$SELF memory $OUTER`,
	"namespace of the engine": `$SELF namespace $OUTER`,
	"mount":                   `$SELF mount $OUT`,
	"device":                  `$SELF device device`,
	"ring":                    `$SELF ring 0`,
	"signal":                  `kill -TERM $OUTER`,
	"signal to the launcher":  `kill -KILL $PPID && [ $PPID != 1 ]`, // to the first process of a session it may be sent
	"home":                    `echo x > ~/.bashrc`,
	"keys":                    `echo x >> ~/.ssh/authorized_keys`,
	"named pipe":              `mkfifo $OUT/pipe`,
	"copy over":               `cp file $OUT/file`,
}

func TestConfine_NothingChangesOutside(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		before := tree(t, filepath.Dir(y.project))
		for name, script := range outsideEscapes {
			t.Run(name, func(t *testing.T) {
				res, out := run(t, y.runner, y.shell(script))
				if res.Exit == 0 {
					t.Errorf("it worked: %+v %q", res, out)
				}
				for _, dir := range []string{y.outside, y.home} {
					for path, was := range tree(t, dir) {
						if before[path] != was {
							t.Errorf("%s is %q now, was %q", path, was, before[path])
						}
					}
				}
				for path := range before {
					if _, err := os.Lstat(path); err != nil && within(y.outside, path) {
						t.Error(err)
					}
				}
				run(t, y.runner, y.shell("rm -rf link done hard moved exchanged; [ -e file ] || echo -n inside > file"))
			})
		}
	})
}

func within(folder, path string) bool { return strings.HasPrefix(path, folder+"/") }

// Permissions and times are held by the mounts alone.
func TestConfine_Attributes(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		if y.guard != sandbox.Bound {
			t.Skip("only mounts hold permissions")
		}
		before := tree(t, y.outside)
		for _, script := range []string{"chmod 777 $OUT/file", "chmod 700 $OUT", "touch -d 2001-01-01 $OUT/file"} {
			if res, out := run(t, y.runner, y.shell(script)); res.Exit == 0 || !strings.Contains(out, "Read-only file system") {
				t.Errorf("%s: %+v %q", script, res, out)
			}
		}
		if after := tree(t, y.outside); !maps.Equal(before, after) {
			t.Errorf("%v; was %v", after, before)
		}
		if res, out := run(t, y.runner, y.shell("chmod 755 file && [ -x file ]")); res.Exit != 0 {
			t.Error(out)
		}
	})
}

func TestConfine_Sockets(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		listen := func(name string) string {
			l, err := net.Listen("unix", name)
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			return name
		}
		dir, err := os.MkdirTemp("/tmp", "s") // names of sockets are short
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		named, own, abstract := listen(dir+"/s"), listen(dir+"/own"), listen(fmt.Sprintf("@lathe-test-%d-%s", os.Getpid(), y.guard))
		y.profile.Sockets = []string{own}
		if res, out := run(t, y.runner, y.shell("$SELF unix "+abstract)); res.Exit == 0 && res.Sandbox.Landlock >= 6 {
			t.Errorf("an abstract socket was reached: %s", out)
		}
		if res, out := run(t, y.runner, y.shell("$SELF unix "+named)); res.Exit == 0 && y.guard == sandbox.Bound {
			t.Errorf("a socket was reached: %s", out)
		}
		if res, out := run(t, y.runner, y.shell("$SELF unix "+own)); res.Exit != 0 {
			t.Errorf("a socket that is allowed was not reached: %s", out)
		}
	})
}

// Where there are no network namespaces, a filter of system calls is what there is.
func TestConfine_NoNetworks(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		k := y.runner.Kernel()
		k.Networks = false
		y.runner = open(t, sandbox.Config{Launcher: sandbox.Self(), Kernel: &k})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		script := "$SELF tcp " + l.Addr().String()
		if res, out := run(t, y.runner, y.shell(script)); res.Exit != 0 {
			t.Errorf("the network is on: %s", out)
		}
		y.profile.Network = sandbox.Network{Limited: true}
		for _, s := range []string{script, "$SELF udp " + l.Addr().String()} {
			if res, out := run(t, y.runner, y.shell(s)); res.Exit == 0 || !strings.Contains(out, "permission denied") {
				t.Errorf("%s: %+v %s", s, res, out)
			}
		}
		y.profile.Network.Hosts = []string{"example.com"} // a list is never left out
		if _, err := y.runner.Run(t.Context(), y.shell("echo ran"), func(b []byte) { t.Errorf("%s", b) }); !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "sandbox.network") {
			t.Errorf("%v", err)
		}
	})
}

// What a command is for works.
func TestConfine_Works(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		temp := t.TempDir()
		y.profile.Write = append(y.profile.Write, temp, filepath.Join(temp, "not there"))
		for _, script := range []string{
			"echo x > new && cat new && rm new", "mkdir -p a/b && mv a c && rm -r c", "echo x > /dev/null", "ln -s file l && ln file h && rm l h",
			"echo x > .git/index.lock && mv .git/index.lock .git/index", "cat .git/config lathe.json $OUT/file >/dev/null",
			"cat <<E >/dev/null\nx\nE", "mkfifo p && rm p", "(echo x | cat) 2>&1 >/dev/stderr", "echo x > " + temp + "/x && mv " + temp + "/x . && rm x",
			"sh -c 'kill -TERM $$' || true", "sleep 100 & kill $!", "[ $(id -u) = " + fmt.Sprint(os.Getuid()) + " ]",
		} {
			if res, out := run(t, y.runner, y.shell(script)); res.Exit != 0 || len(res.Restored) > 0 {
				t.Errorf("%s: %+v %q", script, res, out)
			}
		}
	})
}

// A project in a folder that may be written is read-only all the same.
func TestConfine_ReadOnly(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		temp := t.TempDir()
		y.profile = sandbox.Profile{Mode: sandbox.ReadOnly, Write: []string{temp, filepath.Dir(y.project)}, Protect: []string{y.project}}
		before := tree(t, y.project)
		for _, script := range []string{"echo x > new", "echo x > file", "rm -rf .git", "mv ../project ../p", "chmod 700 ."} {
			if res, _ := run(t, y.runner, y.shell(script)); res.Exit == 0 && (y.guard == sandbox.Bound || !strings.HasPrefix(script, "chmod")) {
				t.Errorf("%s: %+v", script, res)
			}
		}
		if after := tree(t, y.project); y.guard == sandbox.Bound && !maps.Equal(before, after) {
			t.Errorf("%v; was %v", after, before)
		}
		if res, out := run(t, y.runner, y.shell("echo x > "+temp+"/x && cat file")); res.Exit != 0 || out != "inside" {
			t.Errorf("%+v %q", res, out)
		}
	})
}

// An older kernel holds less, and it is said what.
func TestConfine_OlderKernel(t *testing.T) {
	real := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}).Kernel()
	if err := real.Available(true); err != nil {
		t.Skip(err)
	}
	for version, missing := range map[int]int{2: 3, 3: 2, 5: 1, 6: 0} {
		if real.Landlock < version {
			continue
		}
		y := newYard(t, sandbox.Config{Launcher: sandbox.Self(), Kernel: &sandbox.Kernel{Landlock: version}})
		y.profile.Strict = false
		res, out := run(t, y.runner, y.shell("echo x > new; echo x > $OUT/new"))
		const withoutMounts = 2
		if res.Exit == 0 || res.Sandbox == nil || res.Sandbox.Landlock != version || len(res.Sandbox.Missing) != missing+withoutMounts {
			t.Errorf("version %d: %+v %+v %s", version, res, res.Sandbox, out)
		}
		if _, err := os.Stat(y.project + "/new"); err != nil {
			t.Error(err)
		}
	}
}

func TestConfine_Limits(t *testing.T) {
	r := open(t, sandbox.Config{Launcher: sandbox.Self()})
	dir := t.TempDir()
	tests := map[string]struct {
		limits sandbox.Limits
		script string
	}{
		"memory":    {sandbox.Limits{Memory: 64 << 20}, `x=$(head -c 200000000 /dev/zero | tr '\0' x); echo ${#x}`},
		"file size": {sandbox.Limits{FileSize: 1 << 20}, "head -c 2000000 /dev/zero > big"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := shell(dir, tt.script)
			c.Profile.Limits = tt.limits
			if res, out := run(t, r, c); res.Exit == 0 {
				t.Errorf("%+v %q", res, out)
			}
			c.Profile.Limits = sandbox.Limits{}
			if res, out := run(t, r, c); res.Exit != 0 {
				t.Errorf("without the limit: %+v %q", res, out)
			}
		})
	}
	if info, err := os.Stat(filepath.Join(dir, "big")); err != nil || info.Size() != 2000000 {
		t.Error(info, err)
	}
}

func TestConfine_LimitOfProcesses(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the administrator has no limit of processes")
	}
	yards(t, func(t *testing.T, y *yard) {
		if y.guard != sandbox.Bound {
			t.Skip("all processes of the user count without a user namespace")
		}
		y.profile.Limits.Processes = 10
		res, out := run(t, y.runner, y.shell("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 0.3 & done; wait"))
		if !strings.Contains(strings.ToLower(out), "fork") {
			t.Errorf("%+v %q", res, out)
		}
	})
}

// Programs that cannot start are reported as they are without a sandbox.
func TestConfine_CannotStart(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		c := y.shell("")
		c.Path = "/none"
		if _, err := y.runner.Run(t.Context(), c, func([]byte) {}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "start /none") {
			t.Errorf("got %v", err)
		}
		c = y.shell("true")
		c.Profile.Write = []string{"relative"}
		if _, err := y.runner.Run(t.Context(), c, func([]byte) {}); err == nil || !strings.Contains(err.Error(), "not absolute") {
			t.Errorf("got %v", err)
		}
		c.Profile = sandbox.Profile{Mode: "some"}
		if _, err := y.runner.Run(t.Context(), c, func([]byte) {}); err == nil || !strings.Contains(err.Error(), "not known") {
			t.Errorf("got %v", err)
		}
	})
}

// benchWay adds what a way has beside a plain sandbox.
func benchWay(b *testing.B, way string, p *sandbox.Profile) {
	b.Helper()
	if strings.HasPrefix(way, "session") {
		p.Session = "ses_bench"
	}
	dir := b.TempDir()
	if way == "bound, hidden" {
		for i := range 20 {
			write(b, fmt.Sprintf("%s/%d/file", dir, i), "x")
			p.Hide = append(p.Hide, fmt.Sprintf("%s/%d", dir, i))
		}
	}
	if way == "session, overlay" {
		for i := range 5 {
			m := sandbox.Mount{Type: sandbox.OverlayMount}
			for name, at := range map[string]*string{"source": &m.Source, "upper": &m.Upper, "work": &m.Work} {
				*at = fmt.Sprintf("%s/%s%d", dir, name, i)
				if err := os.Mkdir(*at, 0o755); err != nil {
					b.Fatal(err)
				}
			}
			m.Target = m.Source
			b.Cleanup(func() { _ = os.Chmod(m.Work+"/work", 0o700) })
			p.Mounts = append(p.Mounts, m)
		}
	}
	if way == "session, network" {
		p.Network = sandbox.Network{Limited: true, Hosts: []string{"example.com", "localhost:5432"}}
	}
}

// The median is what counts: on a machine that does other things the mean says nothing.
func BenchmarkConfine(b *testing.B) {
	real := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}).Kernel()
	if err := real.Available(true); err != nil {
		b.Skip(err)
	}
	for _, way := range []string{"off", "restored", "bound, reads", "bound", "bound, hidden", "session", "session, first", "session, overlay", "session, network"} {
		b.Run(way, func(b *testing.B) {
			k := sandbox.Kernel{Landlock: real.Landlock, Mounts: way != "off" && way != "restored", Networks: true}
			r := open(b, sandbox.Config{Launcher: sandbox.Self(), Kernel: &k})
			c := shell(b.TempDir(), "echo")
			if way != "off" {
				c.Profile = sandbox.Profile{Mode: sandbox.Workspace, Write: []string{c.Dir, "/tmp", "/var/tmp"}, Reads: way == "bound, reads"}
				for _, name := range []string{"lathe.json", "lathe.jsonc", "opencode.json", "opencode.jsonc", ".lathe", ".opencode", "config.worktree", "attributes"} {
					c.Profile.Protect = append(c.Profile.Protect, c.Dir+"/"+name)
				}
			}
			benchWay(b, way, &c.Profile)
			var began, took []time.Duration // to the first output, to the end
			for b.Loop() {
				if way == "session, first" { // what the first command of a session takes
					r.EndSession(c.Profile.Session)
				}
				at, first := time.Now(), time.Duration(0)
				res, err := r.Run(b.Context(), c, func([]byte) { first = time.Since(at) })
				if err != nil {
					b.Fatal(err)
				}
				began, took = append(began, first), append(took, res.Took)
			}
			slices.Sort(began)
			slices.Sort(took)
			b.ReportMetric(float64(began[len(began)/2].Microseconds())/1000, "start-ms")
			b.ReportMetric(float64(began[0].Microseconds())/1000, "least-start-ms")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(took[0].Microseconds())/1000, "least-ms")
		})
	}
}

// A profile sets variables in place of those of the command; without a sandbox it sets none.
func TestConfine_Env(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		y.profile.Env = []string{"OUT=mine", "MORE=x"}
		if _, out := run(t, y.runner, y.shell(`printf '%s ' "$OUT" "$MORE"; env | grep -c ^OUT=`)); out != "mine x 1\n" {
			t.Errorf("got %q", out)
		}
		y.profile.Mode = sandbox.Off
		if _, out := run(t, y.runner, y.shell(`printf '%s ' "$OUT" "$MORE"`)); out != y.outside+"  " {
			t.Errorf("without a sandbox: %q", out)
		}
	})
}
