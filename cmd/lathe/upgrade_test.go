package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// releasesOf serves one release on loopback, whose program is a shell script.
func releasesOf(t *testing.T, version string) (url string, asked *atomic.Int32) {
	t.Helper()
	script := "#!/bin/sh\necho " + version + "\n"
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	to := tar.NewWriter(zip)
	_ = to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "lathe", Mode: 0o755, Size: int64(len(script))})
	_, _ = to.Write([]byte(script))
	_, _ = to.Close(), zip.Close()
	name := fmt.Sprintf("lathe_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch r.URL.Path {
		case "/latest/download/checksums.txt", "/download/v" + version + "/checksums.txt":
			_, _ = fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(archive.Bytes()), name)
		case "/download/v" + version + "/" + name:
			_, _ = w.Write(archive.Bytes())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// installLathe copies the program to a folder of its own, since an upgrade replaces it.
func installLathe(t *testing.T) (program string) {
	t.Helper()
	needUnix(t)
	found, err := exec.LookPath("lathe")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(found)
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(t.TempDir(), "bin", "lathe")
	if err := os.Mkdir(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

func upgradeRun(t *testing.T, program, url string, args ...string) (string, error) {
	t.Helper()
	cmd := command(t, t.TempDir(), append([]string{"upgrade"}, args...)...)
	cmd.Path, cmd.Env = program, append(cmd.Env, "LATHE_RELEASES_URL="+url)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// isUpgraded reports whether the program is the script of a release, with the old program beside it.
func isUpgraded(program string) bool {
	now, err := os.ReadFile(program)
	before, err2 := os.Stat(program + ".previous")
	return err == nil && err2 == nil && bytes.HasPrefix(now, []byte("#!/bin/sh\n")) && before.Size() > 1<<20
}

func TestUpgrade_Binary(t *testing.T) {
	t.Parallel()
	program := installLathe(t)
	url, asked := releasesOf(t, "9.9.9")
	for _, c := range []struct {
		args []string
		want string
		fail bool
	}{
		{[]string{"--check"}, "Latest   9.9.9\n", false},
		{[]string{"--check", "--json"}, `"latest": "9.9.9"`, false},
		{[]string{"8.0.0"}, "Release 8.0.0 not found at " + url, true},
		{[]string{"--from", "http://releases.example"}, "cannot use releases from", true},
		{[]string{"--rollback"}, "No previous version at " + program + ".previous", true},
		{[]string{"--rollback", "1.0.0"}, "--rollback takes no version", true},
		{[]string{"1.x"}, "is not a version", true},
	} {
		out, err := upgradeRun(t, program, url, c.args...)
		if (err != nil) != c.fail || !strings.Contains(strings.ToLower(out), strings.ToLower(c.want)) {
			t.Errorf("upgrade %q: %v\n%s", c.args, err, out)
		}
	}
	if isUpgraded(program) {
		t.Fatal("it was upgraded without being asked to")
	}
	old, _ := releasesOf(t, "0.0.1")
	if out, err := upgradeRun(t, program, old); err != nil || !strings.Contains(out, "is the latest version") {
		t.Errorf("an older release: %v\n%s", err, out)
	}
	before := asked.Load()
	out, err := upgradeRun(t, program, url)
	if err != nil || !strings.Contains(out, "Upgraded lathe from 0.1.0-dev to 9.9.9 in ") || asked.Load() != before+2 {
		t.Errorf("%v\n%s", err, out)
	}
	if !isUpgraded(program) {
		t.Error("the program is not the new one, with the old one beside it")
	}
	if left, err := os.ReadDir(filepath.Dir(program)); err != nil || len(left) != 2 {
		t.Errorf("left %v %v", left, err)
	}
}

// A server upgrades its program on request, and by itself only if the config says so.
func TestUpgrade_Server(t *testing.T) {
	t.Parallel()
	for settings, replaced := range map[string]bool{`{"autoupdate": true}`: true, `{"autoupdate": "notify"}`: false, `{}`: false} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			program := installLathe(t)
			url, asked := releasesOf(t, "9.9.9")
			home := serveHome(t, "http://127.0.0.1:1")
			if err := os.WriteFile(filepath.Join(home, ".config", "lathe", "lathe.json"), []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
			s := startProgram(t, program, home, []string{"LATHE_RELEASES_URL=" + url}, "--port", "0", "--no-auth")
			if settings != "{}" {
				until(t, func() bool {
					kept, err := os.ReadFile(filepath.Join(home, "data", "state", "upgrade.json"))
					return err == nil && strings.Contains(string(kept), `"latest":"9.9.9"`) && isUpgraded(program) == replaced
				})
				s.end()
				return
			}
			if asked.Load() != 0 {
				t.Error("it asked for releases by itself")
			}
			if got := s.ask(200, nil, "POST", "/global/upgrade", `{"target":"1.x"}`); !strings.Contains(got, `"success":false`) || !strings.Contains(got, "is not a version") {
				t.Error(got)
			}
			if got := strings.TrimSpace(s.ask(200, nil, "POST", "/global/upgrade", `{"target":"9.9.9"}`)); got != `{"success":true,"version":"9.9.9"}` {
				t.Error(got)
			}
			if !isUpgraded(program) {
				t.Error("the program was not replaced")
			}
			s.end() // the old program runs to its end
		})
	}
}
