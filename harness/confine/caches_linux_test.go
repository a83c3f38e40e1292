package confine

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tool/bash"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/secret"
)

// poisoned has what a command could put where the user's own tools execute it.
var poisoned = map[string]string{
	"npx":       "home/.npm/_npx/1/node_modules/.bin/tool",
	"toolchain": "home/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/bin/go",
	"download":  "home/go/pkg/mod/cache/download/example.org/m/@v/v1.0.0.zip",
	"build":     "home/.cache/go-build/ab/x-d",
	"wrapper":   "home/.gradle/wrapper/dists/g/bin/gradle",
	"maven":     "home/.m2/repository/g/a/1/a.jar",
	"venv":      "home/.virtualenvs/v/bin/python",
	"pnpm":      "home/.local/share/pnpm/store/v3/files/00/x",
	"cargo":     "home/.cargo/registry/src/i/c/build.rs",
	"wheel":     "home/.cache/pip/wheels/x.whl",
	"commit":    "home/.cache/pre-commit/r/bin/x",
}

// What a command does to the caches of tools stays in its project: the user's own tools run what they
// ran before. Without the sandbox the same command changes it.
func TestCaches_NotPoisoned(t *testing.T) {
	t.Parallel()
	confinable(t)
	b := newBox(t, nil)
	var script strings.Builder
	for _, name := range poisoned {
		b.put(name, "#!/bin/sh\necho good\n")
		script.WriteString("rm -f ../" + name + "; printf '#!/bin/sh\\necho evil\\n' > ../" + name + "; chmod +x ../" + name + "; cat ../" + name + " | tail -1\n")
	}
	dir := b.base + "/project"
	runs := func(what string) {
		t.Helper()
		for name, path := range poisoned {
			out, err := exec.Command("/bin/sh", filepath.Join(b.base, path)).Output()
			if err != nil || string(out) != what+"\n" {
				t.Errorf("%s says %q, %v; want %s", name, out, err, what)
			}
		}
	}
	res, out := b.in(dir, "build", script.String(), config.Config{})
	if runs("good"); res.Sandbox.Guard == sandbox.Bound && b.confine.overlays(datadir.Folders{Data: b.base + "/data"}) {
		if n := strings.Count(out, "echo evil"); n != len(poisoned) {
			t.Errorf("the command sees %d of its own changes: %s %v", n, out, res.Sandbox.Missing)
		}
		if _, out := b.in(dir, "build", "cat ../"+poisoned["npx"], config.Config{}); !strings.Contains(out, "evil") {
			t.Errorf("the next command of the project: %s", out)
		}
		other := b.base + "/other"
		if err := os.Mkdir(other, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, out := b.in(other, "build", "cat ../"+poisoned["npx"], config.Config{}); !strings.Contains(out, "good") {
			t.Errorf("another project: %s", out)
		}
	}
	if res, _ := b.line(dir, "build", "echo evil > ../"+poisoned["npx"], config.Config{}, bash.Line{ReadsOnly: true}); res.Exit == 0 {
		t.Error("a line that is said to read writes")
	}
	runs("good")
	if b.in(dir, "build", script.String(), config.Config{Sandbox: config.Sandbox{Mode: "off"}}); !t.Failed() {
		runs("evil")
	}
}

// Where the kernel makes no overlays, caches are read-only and tools are led to folders of the project.
func TestCaches_WithoutOverlays(t *testing.T) {
	t.Parallel()
	confinable(t)
	kernel := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}).Kernel()
	kernel.Mounts = false
	b := newBox(t, &kernel)
	b.put("home/.npm/_npx/x", "good")
	b.put("home/.cache/go-build/x", "good")
	res, out := b.in(b.base+"/project", "build", `echo evil > ~/.npm/_npx/x; echo y > "$npm_config_cache/y" && echo y > "$GOCACHE/y" && cat "$GOCACHE/y"`, config.Config{})
	if res.Exit != 0 || !strings.HasSuffix(out, "y\n") {
		t.Errorf("%+v %s", res, out)
	}
	for _, name := range []string{"home/.npm/_npx/x", "home/.cache/go-build/x"} {
		if text, err := os.ReadFile(filepath.Join(b.base, name)); err != nil || string(text) != "good" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// Folders of unused projects go, and the oldest of too many; those in use stay.
func TestSweepOverlays(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for name, age := range map[string]time.Duration{"new": time.Hour, "mid": 48 * time.Hour, "older": 96 * time.Hour, "old": 60 * 24 * time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path+"/c/work/work", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"/c/file", make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.MkdirAll(path+"/c/mod/fixed", 0o700), os.WriteFile(path+"/c/mod/fixed/f", nil, 0o400), os.Chmod(path+"/c/mod/fixed", 0o500), os.Chmod(path+"/c/work/work", 0)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	left := func() string {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	sweepOverlays(context.Background(), dir, now, 2500)
	if got := left(); got != ".swept mid new" {
		t.Errorf("left are %s", got)
	}
	sweepOverlays(context.Background(), dir, now.Add(time.Hour), 0)
	if got := left(); got != ".swept mid new" {
		t.Errorf("an hour later: %s", got)
	}
	sweepOverlays(context.Background(), dir, now.Add(25*time.Hour), 0)
	if got := left(); got != ".swept" {
		t.Errorf("a day later: %s", got)
	}
}

// toolRun is a tool at work in the sandbox.
type toolRun struct {
	program string
	vars    map[string]string // of lathe and of the command
	script  string
	want    string // at the end of the output
}

// Tools that download into their caches work in the sandbox, and leave the real ones alone.
func TestCaches_ToolsWork(t *testing.T) {
	confinable(t)
	userHome, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	goCache := "" // the real one, so that the standard library is not compiled here
	if out, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil {
		goCache = strings.TrimSpace(string(out))
	}
	for name, r := range map[string]toolRun{
		"go": {"go", map[string]string{"GOCACHE": goCache, "GOFLAGS": "-mod=mod", "GONOSUMDB": "*", "GOTOOLCHAIN": "local"}, `
			export GOPROXY=file://$PWD/../proxy
			go mod init example.org/app >/dev/null 2>&1 && printf 'package main\nimport "example.org/m"\nfunc main() { print(m.Name) }\n' > main.go &&
			printf 'package main\nimport ("testing"; "example.org/m")\nfunc TestName(t *testing.T) { if m.Name != "m" { t.Fatal() } }\n' > main_test.go &&
			go mod tidy >/dev/null 2>&1 && go build -o app . && ./app 2>&1 && echo && go test . | cut -f1`, "m\nok  "},
		"npm": {"npm", nil, `npm init -y >/dev/null && npm install --offline --no-audit --no-fund ../pack.tgz >/dev/null && node -p 'require("pack")'`, "packed"},
		"cargo": {"cargo", map[string]string{"RUSTUP_HOME": userHome + "/.rustup"}, `
			cargo init -q --name app --vcs none . && cargo build -q --offline && ./target/debug/app`, "Hello, world!"},
		"pip": {"pip3", nil, `pip3 install -q --no-index --target lib ../wheel-1.0-py3-none-any.whl 2>/dev/null; PYTHONPATH=lib python3 -c 'import wheelmod; print(wheelmod.name)'`, "wheeled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(r.program); err != nil {
				t.Skipf("%s is not installed", r.program)
			}
			if err := exec.Command(r.program, "--version").Run(); err != nil && name != "go" {
				t.Skipf("%s does not work here: %v", r.program, err)
			}
			b := newBox(t, nil)
			localPackages(b)
			base := b.Env
			b.Env = func(name string) string {
				if v, ok := r.vars[name]; ok {
					return v
				}
				return base(name)
			}
			b.confine = New(b.Host, b.runner.Kernel)
			t.Cleanup(b.confine.Close)
			script := "export TMPDIR=" + b.base + "/temp\n"
			for name, value := range r.vars {
				script += "export " + name + "='" + value + "'\n"
			}
			before := listing(t, b.base+"/home")
			res, out := b.in(b.base+"/project", "build", script+r.script, config.Config{})
			if res.Exit != 0 || !strings.HasSuffix(strings.TrimSpace(out), strings.TrimSpace(r.want)) {
				t.Errorf("%+v %s", res, out)
			}
			for path := range listing(t, b.base+"/home") {
				info, err := os.Lstat(path)
				if _, was := before[path]; !was && err == nil && !info.IsDir() {
					t.Errorf("it made %s", path)
				}
			}
		})
	}
}

// localPackages puts a package for each tool beside the project.
func localPackages(b *box) {
	b.t.Helper()
	b.put("proxy/example.org/m/@v/list", "v1.0.0\n")
	b.put("proxy/example.org/m/@v/v1.0.0.info", `{"Version": "v1.0.0", "Time": "2026-01-01T00:00:00Z"}`)
	b.put("proxy/example.org/m/@v/v1.0.0.mod", "module example.org/m\n")
	b.put("proxy/example.org/m/@v/v1.0.0.zip", zipped(b.t, map[string]string{
		"example.org/m@v1.0.0/go.mod": "module example.org/m\n", "example.org/m@v1.0.0/m.go": "package m\n\nconst Name = \"m\"\n",
	}))
	b.put("wheel-1.0-py3-none-any.whl", zipped(b.t, map[string]string{
		"wheelmod.py": "name = 'wheeled'\n", "wheel-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: wheel\nVersion: 1.0\n",
		"wheel-1.0.dist-info/WHEEL":  "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"wheel-1.0.dist-info/RECORD": "wheelmod.py,,\nwheel-1.0.dist-info/METADATA,,\nwheel-1.0.dist-info/WHEEL,,\nwheel-1.0.dist-info/RECORD,,\n",
	}))
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"package/package.json": `{"name": "pack", "version": "1.0.0", "main": "index.js"}`, "package/index.js": "module.exports = 'packed'\n"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			b.t.Fatal(err)
		}
		_, _ = w.Write([]byte(text)) // Close tells
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		b.t.Fatal(err)
	}
	b.put("pack.tgz", out.String())
}

func zipped(t testing.TB, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(text)) // Close tells
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// What overlays and hidden places add to the start of a command of a session: twelve caches, forty
// places. The first command of a session makes what the others share.
func BenchmarkConfine_Home(b *testing.B) {
	for _, name := range []string{"off", "bare", "caches", "places", "both", "both, first"} {
		b.Run(name, func(b *testing.B) {
			base := b.TempDir()
			dirs := []string{base + "/project"}
			if name == "caches" || strings.HasPrefix(name, "both") {
				for _, c := range knownCaches()[:12] {
					dirs = append(dirs, strings.NewReplacer("~", base+"/home", "$cache", base+"/home/.cache").Replace(c.place))
				}
			}
			if name == "places" || strings.HasPrefix(name, "both") {
				for _, place := range secret.Find(base+"/home", nil)[:40] {
					dirs = append(dirs, place.Path)
				}
			}
			for _, dir := range dirs {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					b.Fatal(err)
				}
			}
			host := testHost(base+"/home", map[string]string{"HOME": base + "/home", "LATHE_DATA": base + "/data"})
			r := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
			f := New(host, r.Kernel)
			defer func() { f.Close(); _ = r.Close() }()
			c := config.Config{}
			if name == "off" {
				c.Sandbox.Mode = "off"
			}
			benchStart(b, r, f, c, &tool.Call{Session: "ses_bench", Agent: "build", Dir: base + "/project", Root: base + "/project"}, name == "both, first")
		})
	}
}

// benchStart measures the time to the first output. The median counts, and the least where the machine
// is busy with other things.
func benchStart(b *testing.B, r *sandbox.Runner, f *Policy, c config.Config, call *tool.Call, first bool) {
	var starts []time.Duration
	for b.Loop() {
		if first {
			r.EndSession(string(call.Session))
		}
		began := time.Now()
		p, err := f.Profile(c, call, bash.Line{})
		if err != nil {
			b.Fatal(err)
		}
		took := time.Duration(0)
		if res, err := r.Run(b.Context(), sandbox.Command{Path: "/bin/sh", Args: []string{"-c", "echo"}, Dir: call.Dir, Profile: p}, func([]byte) { took = time.Since(began) }); err != nil || res.Exit != 0 {
			b.Fatal(res, err)
		}
		starts = append(starts, took)
	}
	slices.Sort(starts)
	b.ReportMetric(float64(starts[len(starts)/2].Microseconds())/1000, "start-ms")
	b.ReportMetric(float64(starts[0].Microseconds())/1000, "least-start-ms")
}

// Commands of one project that run at the same time can all write to its caches, and see what those
// before them wrote; nothing is left of what their overlays worked in.
func TestCaches_Together(t *testing.T) {
	t.Parallel()
	confinable(t)
	b := newBox(t, nil)
	for i := range 3 {
		b.put("home/.npm/base"+strconv.Itoa(i), "x")
	}
	dir := b.base + "/project"
	if res, _ := b.in(dir, "build", "true", config.Config{}); res.Sandbox.Guard != sandbox.Bound || !b.confine.overlays(datadir.Folders{Data: b.base + "/data"}) {
		t.Skip("this machine makes no overlays")
	}
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			n := strconv.Itoa(i)
			// All mounts are made before the first writes. Each changes a file of its own: overlays that share an upper
			// folder fail with EEXIST if they copy the same file up at once (docs/sandbox.md).
			res, out := b.in(dir, "build", "touch ../temp/at"+n+"; until [ -e ../temp/at0 ] && [ -e ../temp/at1 ] && [ -e ../temp/at2 ]; do sleep 0.01; done; mkdir ~/.npm/d"+n+" && echo x > ~/.npm/d"+n+"/f && echo y >> ~/.npm/base"+n+" && rm ~/.npm/d"+n+"/f", config.Config{})
			if res.Exit != 0 {
				t.Errorf("%+v %s", res, out)
			}
		})
	}
	wg.Wait()
	if res, out := b.in(dir, "build", "ls ~/.npm | tr '\\n' ' '", config.Config{}); out != "base0 base1 base2 d0 d1 d2 " {
		t.Errorf("%+v %s", res, out)
	}
	if err := b.runner.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(b.base + "/data/overlay/*/*/work/*")
	if err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
