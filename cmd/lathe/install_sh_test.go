package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// installer runs install.sh with a shell.
type installer struct {
	*testing.T
	shell []string // before the script
	root  string   // of paths inside a chroot, or ""
	home  string   // as the script sees it
}

// installers are the shells of this machine, and busybox in a chroot that has nothing else.
func installers(t *testing.T) map[string]installer {
	needUnix(t)
	script, err := filepath.Abs("../../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]installer{}
	for _, shell := range []string{"sh", "dash", "bash", "busybox"} {
		path, err := exec.LookPath(shell)
		switch {
		case err != nil:
			t.Logf("not tried with %s: it is not installed", shell)
		case shell == "busybox":
			out[shell] = installer{shell: []string{path, "sh", script}}
			if os.Getuid() != 0 || runtime.GOOS != "linux" {
				t.Log("not tried in a chroot: only root may make one")
				continue
			}
			out["chroot"] = installer{root: busyboxRoot(t, path, script), shell: []string{"/bin/sh", "/install.sh"}, home: "/home/dev"}
		default:
			out[shell] = installer{shell: []string{path, script}}
		}
	}
	return out
}

// busyboxRoot makes a root file system of busybox and the script.
func busyboxRoot(t *testing.T, busybox, script string) string {
	root := t.TempDir()
	for from, to := range map[string]string{busybox: "bin/busybox", script: "install.sh"} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		to = filepath.Join(root, to)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sh", "uname", "mkdir", "mktemp", "rm", "rmdir", "cp", "mv", "wget", "sed", "head", "cut", "sha256sum", "tar", "gzip", "chmod", "dirname", "echo"} {
		if err := os.Symlink("busybox", filepath.Join(root, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"home/dev", "dev"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "dev/null"), nil, 0o666); err != nil { // a file will do
		t.Fatal(err)
	}
	return root
}

func (i installer) run(env ...string) (string, error) {
	i.Helper()
	cmd := exec.CommandContext(i.Context(), i.shell[0], i.shell[1:]...)
	cmd.Env = append([]string{"HOME=" + i.home, "PATH=" + os.Getenv("PATH"), "no_proxy=127.0.0.1"}, env...)
	if i.root != "" {
		enter(cmd, i.root)
		cmd.Env[1] = "PATH=/bin"
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// left lists all files below the home with their modes.
func (i installer) left() map[string]string {
	i.Helper()
	out := map[string]string{}
	top := filepath.Join(i.root, i.home)
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err == nil && path != top {
			info, _ := d.Info()
			out[strings.TrimPrefix(path, top+"/")] = info.Mode().String()
		}
		return err
	})
	if err != nil {
		i.Fatal(err)
	}
	return out
}

func TestInstallScript(t *testing.T) {
	t.Parallel()
	for name, i := range installers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if i.T = t; i.root == "" {
				i.home = t.TempDir()
			}
			url, _ := releasesOf(t, "1.2.3")
			i.refuses(url)
			want := map[string]string{".local": "drwxr-xr-x", ".local/bin": "drwxr-xr-x", ".local/bin/lathe": "-rwxr-xr-x"}
			for range 2 { // the second replaces the first
				out, err := i.run("LATHE_RELEASES_URL=" + url)
				if err != nil || !strings.Contains(out, "Verified the SHA-256 checksum ") || !strings.Contains(out, "Installed lathe 1.2.3 as "+i.home+"/.local/bin/lathe\n") {
					t.Fatalf("%v\n%s", err, out)
				}
				if got := i.left(); !maps.Equal(got, want) {
					t.Errorf("left %q", got)
				}
			}
		})
	}
}

// refuses holds that whatever is wrong, the script says so and leaves nothing.
func (i installer) refuses(url string) {
	i.Helper()
	good, err := http.Get(url + "/latest/download/checksums.txt")
	if err != nil {
		i.Fatal(err)
	}
	list := make([]byte, 4096)
	n, _ := good.Body.Read(list)
	_ = good.Body.Close()
	served := func(list string, status int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, ".tar.gz") {
				if status == http.StatusPartialContent { // less than announced
					w.Header().Set("Content-Length", "100000")
					_, _ = w.Write([]byte("half"))
					return
				}
				w.WriteHeader(status)
			}
			_, _ = fmt.Fprint(w, list)
		}))
		i.Cleanup(s.Close)
		return s.URL
	}
	text := string(list[:n])
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"no release":        {[]string{"LATHE_RELEASES_URL=" + url + "/none"}, "cannot download "},
		"unknown version":   {[]string{"LATHE_RELEASES_URL=" + url, "LATHE_VERSION=9.0.0"}, "cannot download "},
		"hostile version":   {[]string{"LATHE_RELEASES_URL=" + url, "LATHE_VERSION=../../x"}, "is not a version"},
		"plain http":        {[]string{"LATHE_RELEASES_URL=http://example.com/x"}, "cannot use releases from http://example.com/x"},
		"disguised http":    {[]string{"LATHE_RELEASES_URL=http://127.0.0.1.example.com/"}, "cannot use releases from"},
		"no such folder":    {[]string{"LATHE_RELEASES_URL=file:///nowhere"}, "cannot download "},
		"wrong checksum":    {[]string{"LATHE_RELEASES_URL=" + served(text, 200)}, "does not match its checksum; nothing was installed"},
		"missing archive":   {[]string{"LATHE_RELEASES_URL=" + served(text, 404)}, "the download of lathe_"},
		"truncated archive": {[]string{"LATHE_RELEASES_URL=" + served(text, http.StatusPartialContent)}, "nothing was installed"},
		"other platform":    {[]string{"LATHE_RELEASES_URL=" + served(strings.ReplaceAll(text, "_"+runtime.GOOS+"_", "_plan9_"), 200)}, "has no binary for "},
		"malformed list":    {[]string{"LATHE_RELEASES_URL=" + served("<html>", 200)}, "has no binary for "},
		"folder is a file":  {[]string{"LATHE_RELEASES_URL=" + url, "LATHE_INSTALL_DIR=" + i.shell[len(i.shell)-1] + "/bin"}, "cannot make the folder"},
		"read-only folder":  {[]string{"LATHE_RELEASES_URL=" + url, "LATHE_INSTALL_DIR=/proc"}, "cannot write to the folder /proc"},
	} {
		if name == "read-only folder" && (i.root != "" || runtime.GOOS != "linux") || name == "truncated archive" && testing.Short() {
			continue
		}
		out, err := i.run(c.env...)
		if err == nil || !strings.Contains(out, c.want) {
			i.Errorf("%s: %v\n%s", name, err, out)
		}
		if got := i.left(); len(got) != 0 {
			i.Errorf("%s: left %q", name, got)
		}
	}
}
