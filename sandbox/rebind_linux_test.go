package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
)

// mounted reports whether a process of the yard has a mount at a path.
func (y *yard) mounted(path string) bool {
	dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, cwd := range dirs {
		if dir, err := os.Readlink(cwd); err != nil || dir != y.project {
			continue
		}
		table, _ := os.ReadFile(filepath.Dir(cwd) + "/mountinfo")
		if strings.Contains(string(table), " "+path+" ") {
			return true
		}
	}
	return false
}

// save replaces a file as editors do.
func save(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path+".new", []byte(text), 0o644), os.Rename(path+".new", path))
}

// A file that its user replaces stays protected from commands that run, and so does one in a
// folder that is replaced. Outside of sessions it is not mounted again, which shows that the
// attack works.
func TestSession_Replaced(t *testing.T) {
	for name, replace := range map[string]func(y *yard) error{
		"/lathe.json": func(y *yard) error { return save(y.project+"/lathe.json", "mine") },
		"/.vscode/tasks.json": func(y *yard) error {
			return errors.Join(os.Rename(y.project+"/.vscode", y.project+"/old"), save(y.project+"/.vscode/tasks.json", "mine"))
		},
	} {
		for _, session := range []string{"ses_test", ""} {
			t.Run(name+" "+session, func(t *testing.T) {
				y := inSession(t)
				write(t, y.project+"/.vscode/tasks.json", "{}")
				y.profile.Protect = append(y.profile.Protect, y.project+"/.vscode/tasks.json")
				y.profile.Session = session
				attack := strings.ReplaceAll(`(while [ ! -e go ]; do sleep 0.01; done; echo evil > .NAME; rm -f .NAME; mv file .NAME; echo x > done) >/dev/null 2>&1 & ! echo evil > .NAME`, "NAME", name)
				if res, out := run(t, y.runner, y.shell(attack)); res.Exit != 0 || res.Sandbox.Guard != sandbox.Bound {
					t.Fatalf("it is not protected to begin with: %+v %s", res, out)
				}
				if err := replace(y); err != nil {
					t.Fatal(err)
				}
				if session != "" {
					eventually(t, 10*time.Second, "a mount of the new one", func() bool { return y.mounted(y.project + name) })
				}
				write(t, y.project+"/go", "")
				eventually(t, 10*time.Second, "the end of the attack", func() bool { return there(y.project + "/done") })
				b, err := os.ReadFile(y.project + name)
				if err != nil || (string(b) == "mine") != (session != "") {
					t.Errorf("it is %q %v", b, err)
				}
			})
		}
	}
}

// The same for a file that is hidden, and one that a link covers.
func TestSession_ReplacedHidden(t *testing.T) {
	for _, session := range []string{"ses_test", ""} {
		t.Run(session, func(t *testing.T) {
			y := inSession(t)
			write(t, y.home+"/token", "a secret")
			write(t, y.outside+"/copy", "copy")
			if err := os.Symlink(y.outside+"/copy", y.outside+"/link"); err != nil {
				t.Fatal(err)
			}
			y.profile.Session, y.profile.Hide = session, []string{y.home + "/token"}
			y.profile.Mounts = []sandbox.Mount{{Type: sandbox.LinkMount, Source: y.outside + "/link", Target: y.project + "/lathe.json", ReadOnly: true}}
			run(t, y.runner, y.shell(`(while [ ! -e go ]; do sleep 0.01; done; cat ~/token lathe.json > seen; echo x > done) >/dev/null 2>&1 &`))
			if err := errors.Join(save(y.home+"/token", "a new secret"), save(y.project+"/lathe.json", "mine")); err != nil {
				t.Fatal(err)
			}
			if session != "" {
				eventually(t, 10*time.Second, "mounts of the new ones", func() bool { return y.mounted(y.home+"/token") && y.mounted(y.project+"/lathe.json") })
			}
			write(t, y.project+"/go", "")
			eventually(t, 10*time.Second, "the end of the attack", func() bool { return there(y.project + "/done") })
			want := map[bool]string{true: "copy", false: "a new secretmine"}[session != ""]
			if b, err := os.ReadFile(y.project + "/seen"); string(b) != want {
				t.Errorf("it saw %q %v; want %q", b, err, want)
			}
		})
	}
}
