package sandbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
)

// protectedEscapes are ways to change a protected name inside of the project. Whether the
// attempt itself fails depends on the guard; afterwards all is as it was.
var protectedEscapes = map[string]string{
	"write":                   `echo x > .git/config`,
	"remove":                  `rm -f .git/config`,
	"replace":                 `echo x > new && mv -f new .git/config; rm -f new`,
	"exchange":                `echo x > exchanged; $SELF exchange .git/config; rm -f exchanged`,
	"link over":               `ln -sfT /etc/passwd .git/config`,
	"hook":                    `echo x > .git/hooks/pre-commit`,
	"hooks replaced":          `mv .git/hooks .git/old; mkdir .git/hooks; echo x > .git/hooks/pre-commit; rm -rf .git/old`,
	"permissions":             `chmod 777 .git/config`,
	"settings":                `echo '{"x":1}' > lathe.json`,
	"unmount":                 `$SELF unmount .git/config; $SELF remount .git/config; echo x > .git/config`,
	"unmount in a namespace":  `unshare -Urm sh -c 'umount -l .git/config; umount -l .git; echo x > .git/config'; echo x >> .git/config`,
	"hard link":               `ln .git/config hard && echo x > hard; rm -f hard`,
	"root of the launcher":    `echo x > /proc/$PPID/root$PWD/.git/config`,
	"new settings":            `echo '{}' > lathe.jsonc`,
	"new folder":              `mkdir -p .lathe/agent && echo x > .lathe/agent/build.md`,
	"new by moving":           `mkdir d && echo x > d/x && mv d .lathe; rm -rf d`,
	"new as a link":           `ln -s /etc .lathe`,
	"new work tree settings":  `echo '[core]' > .git/config.worktree`,
	"new hooks by moving":     `mkdir h && echo x > h/pre-commit && mv -T h .git/hooks; rm -rf h`,
	"another common folder":   `echo /tmp/evil > .git/commondir`,
	"write through a link":    `ln -s .git/config link; echo x > link; rm -f link`,
	"write through a handle":  `exec 3< .git/config; echo x > /proc/self/fd/3`,
	"removing all of it":      `rm -rf .git/hooks .git/config lathe.json`,
	"folder in place of file": `rm -f lathe.json; mkdir lathe.json`,
}

func TestConfine_ProtectedNames(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		before := tree(t, y.project)
		for name, script := range protectedEscapes {
			t.Run(name, func(t *testing.T) {
				res, out := run(t, y.runner, y.shell(script))
				after := tree(t, y.project)
				for path, was := range before {
					if after[path] != was {
						t.Errorf("%s is %q now, was %q: %+v %s", path, after[path], was, res, out)
					}
				}
				for path := range after {
					if _, ok := before[path]; !ok {
						t.Errorf("%s is new: %+v %s", path, res, out)
					}
				}
				if reported := strings.HasPrefix(name, "new") && y.guard == sandbox.Restored || name == "another common folder"; reported && (len(res.Restored) != 1 || res.RestoreError != "") {
					t.Errorf("not told: %+v", res)
				}
				if y.guard == sandbox.Bound && name != "another common folder" && len(res.Restored) > 0 {
					t.Errorf("restored and not refused: %+v", res)
				}
			})
		}
	})
}

// Nothing that is moved aside is lost: it could have been the user's.
func TestConfine_MovedAside(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		y.profile.Watch = append(y.profile.Watch, y.project+"/.lathe")
		res, _ := run(t, y.runner, y.shell(`mkdir .lathe && echo precious > .lathe/x`))
		if !slices.Equal(res.Restored, []string{y.project + "/.lathe"}) {
			t.Errorf("%+v", res)
		}
		found := false
		for path, text := range tree(t, y.aside) {
			found = found || strings.HasSuffix(path, "/x") && strings.HasSuffix(text, "precious\n")
		}
		if !found {
			t.Errorf("it is not in %v", tree(t, y.aside))
		}
	})
}

// A protected folder with more in it than can be remembered stays as it is.
func TestConfine_LargeFolder(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		if y.profile.Session != "" {
			t.Skip("it is the same guard as outside of sessions")
		}
		for i := range 2100 {
			write(t, fmt.Sprintf("%s/.lathe/node_modules/%d", y.project, i), "x")
		}
		before := tree(t, y.project+"/.lathe")
		res, out := run(t, y.runner, y.shell("true; echo {} > .git/commondir"))
		if after := tree(t, y.project+"/.lathe"); !maps.Equal(before, after) || res.RestoreError != "" {
			t.Errorf("%d files are left of %d: %+v %s", len(after), len(before), res, out)
		}
		if !slices.Equal(res.Restored, []string{y.project + "/.git/commondir"}) {
			t.Errorf("%+v", res)
		}
	})
}

// Files that we may not read, and folders with all permissions, are put back or left alone.
func TestConfine_Permissions(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		write(t, y.project+"/.lathe/secret", "x")
		if err := errors.Join(os.Chmod(y.project+"/.lathe/secret", 0), os.Chmod(y.project+"/.lathe", 0o777)); err != nil {
			t.Fatal(err)
		}
		mode := func(path string) fs.FileMode {
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			return info.Mode().Perm()
		}
		if res, _ := run(t, y.runner, y.shell("true")); len(res.Restored) > 0 || mode(y.project+"/.lathe/secret") != 0 {
			t.Errorf("%+v", res)
		}
		if err := os.Remove(y.project + "/.lathe/secret"); err != nil {
			t.Fatal(err)
		}
		run(t, y.runner, y.shell("rmdir .lathe"))
		if got := mode(y.project + "/.lathe"); got != 0o777 {
			t.Errorf("it has %v", got)
		}
	})
}

// The folder of a protected name cannot be put elsewhere, so that the guard would work outside.
func TestConfine_FolderMoved(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		write(t, y.outside+"/commondir", "the user's")
		before := tree(t, y.outside)
		res, out := run(t, y.runner, y.shell(`mv .git old && ln -s $OUT .git`))
		if after := tree(t, y.outside); !maps.Equal(before, after) {
			t.Errorf("%v; was %v", after, before)
		}
		if y.guard == sandbox.Bound && res.Exit == 0 || y.guard == sandbox.Restored && res.RestoreError == "" {
			t.Errorf("%+v %q", res, out)
		}
	})
}
