package web_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/web"
)

// The whole app, with what it loads on demand left out, is small on the wire.
func TestOpen_Size(t *testing.T) {
	const most = 80 << 10
	total := 0
	for name := range bundle(t, "dist") {
		f, ok := web.Open(name)
		if compressed := strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz"); ok == compressed {
			t.Errorf("Open(%q) is %v", name, ok)
		}
		switch {
		case !ok || strings.Contains(name, "terminal-") || strings.Contains(name, "share-") || strings.HasSuffix(name, ".png"):
		case f.Brotli == nil:
			total += len(f.Body)
		default:
			total += len(f.Brotli)
		}
	}
	if t.Logf("%d bytes on the wire", total); total > most || total == 0 {
		t.Errorf("the app has %d bytes on the wire, not at most %d", total, most)
	}
}

func TestOpen_OnlyItsFiles(t *testing.T) {
	for _, name := range []string{"/web.go", "/../web.go", "/dist/index.html", "/assets", "/assets/..", "//", "/.", "/index.html.br"} {
		if f, ok := web.Open(name); ok {
			t.Errorf("Open(%q) is a file of %d bytes", name, len(f.Body))
		}
	}
	if f, ok := web.Open("/"); !ok || f.Immutable || !strings.HasPrefix(f.Type, "text/html") || f.Brotli == nil || f.Gzip == nil {
		t.Errorf("the page is %+v, %v", f.Type, ok)
	}
}

// The page of a share names files that are here.
func TestAsset(t *testing.T) {
	for name, ext := range map[string]string{"share": ".js", "style": ".css"} {
		if f, ok := web.Open(web.Asset(name, ext)); !ok || !f.Immutable {
			t.Errorf("no %s%s", name, ext)
		}
	}
	if got := web.Asset("sha*", ".css"); got != "" {
		t.Errorf("a file that is not there is at %q", got)
	}
}

// The bundle is what its sources make of it.
func TestDist_IsBuiltFromSources(t *testing.T) {
	packages(t)
	out := filepath.Join(t.TempDir(), "dist")
	run(t, "build", "go", "run", ".", "-out", out)
	want, got := bundle(t, out), bundle(t, "dist")
	for name, data := range want {
		if !bytes.Equal(got[name], data) {
			t.Errorf("web/dist/%s is not what its sources make; run make web", name)
		}
	}
	for name := range got {
		if want[name] == nil {
			t.Errorf("web/dist/%s is left over; run make web", name)
		}
	}
}

func TestSources_Types(t *testing.T) {
	packages(t)
	run(t, ".", "node", filepath.Join("node_modules", "typescript", "bin", "tsc"), "-p", ".")
}

// The tests beside the sources run in Node.
func TestSources_Tests(t *testing.T) {
	packages(t)
	dir := t.TempDir()
	run(t, "build", "go", "run", ".", "-tests", dir)
	files, err := filepath.Glob(filepath.Join(dir, "*.mjs"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	t.Log(run(t, ".", "node", append([]string{"--test"}, files...)...))
}

// packages fetches the packages of the app unless they are there, or skips the test.
func packages(t *testing.T) {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("the sources of the web app need %s, which is not installed", name)
		}
	}
	if _, err := os.Stat(filepath.Join("node_modules", "typescript")); err == nil {
		return
	}
	if out, err := exec.CommandContext(t.Context(), "npm", "ci").CombinedOutput(); err != nil {
		t.Skipf("the packages of the web app cannot be fetched here: %v\n%s", err, out)
	}
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	out, err := cmd.CombinedOutput()
	if err != nil {
		if strings.Contains(string(out), "dial tcp") || strings.Contains(string(out), "no such host") {
			t.Skipf("the modules of the build cannot be fetched here:\n%s", out)
		}
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func bundle(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[name], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
