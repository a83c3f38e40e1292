package sandbox

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// macProfile is what a command of a project has on a Mac.
func macProfile() Profile {
	return Profile{
		Mode: Workspace, Write: []string{"/Users/dev/app", "/private/tmp", "/Users/dev/.local/share/lathe/cache/app"},
		Protect: []string{"/Users/dev/app/.git/hooks", "/Users/dev/app/.lathe"}, Files: []string{"/Users/dev/app/.git/config", "/Users/dev/app/lathe.json"},
		Watch: []string{"/Users/dev/app/.git/commondir"}, Busy: []string{"/Users/dev/.zshrc"},
		Hide: []string{"/Users/dev/.ssh", "/Users/dev/.local/share/lathe", "/Users/dev/app/secrets"}, Show: []string{"/Users/dev/.ssh/known_hosts", "/Users/dev/app/secrets/open"},
		Sockets: []string{"/Users/dev/agent.sock"},
	}
}

// The text that sandbox-exec is given.
func TestSeatbelt_Golden(t *testing.T) {
	reads, odd := macProfile(), macProfile()
	reads.Mode, reads.Write, reads.Network = ReadOnly, []string{"/private/tmp"}, Network{Limited: true}
	odd.Write, odd.Protect = []string{"/Users/dev/a \"b\" (c)"}, []string{"/Users/dev/a \"b\" (c)/.git/hooks", "/Users/dev/a \"b\" (c)/d.e\\f"}
	for name, p := range map[string]Profile{"workspace": macProfile(), "read-only": reads, "quotes": odd} {
		golden := filepath.Join("testdata", "seatbelt-"+name+".sb")
		got := seatbelt(p)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
			t.Errorf("%s differs (-want +got); if that is right, run with -update:\n%s", golden, diff)
		}
	}
}

// sbplRule is a rule about files of one line of a profile.
var (
	sbplRule   = regexp.MustCompile(`^\((allow|deny) ((?:[a-z*-]+ ?)+)(.*)\)$`)
	sbplFilter = regexp.MustCompile(`\((subpath|literal|regex) (#?)"((?:[^"\\]|\\.)*)"\)`)
)

// permits holds an operation on a file against a profile as the kernel does: the last rule that matches
// counts.
func permits(t *testing.T, profile, operation, file string) bool {
	t.Helper()
	allowed := false
	for line := range strings.Lines(profile) {
		m := sbplRule.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || strings.Contains(m[3], "require-all") {
			continue
		}
		expected := false
		for _, name := range strings.Fields(m[2]) {
			ok, err := path.Match(name, operation)
			if err != nil {
				t.Fatal(err)
			}
			expected = expected || ok
		}
		filters := sbplFilter.FindAllStringSubmatch(m[3], -1)
		hit := m[3] == ""
		for _, f := range filters {
			text := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(f[3])
			switch f[1] {
			case "subpath":
				hit = hit || isBelow(text, file)
			case "literal":
				hit = hit || text == file
			case "regex":
				hit = hit || regexp.MustCompile(f[3]).MatchString(file)
			}
		}
		if expected && hit {
			allowed = m[1] == "allow"
		}
	}
	return allowed
}

// What a profile lets a command do with files: the positive controls are those without a deny.
func TestSeatbelt_Files(t *testing.T) {
	profile := seatbelt(macProfile())
	for _, tt := range []struct {
		file        string
		read, write bool
	}{
		{"/usr/lib/libz.dylib", true, false},
		{"/Users/dev/other/x", true, false},
		{"/Users/dev/app/main.go", true, true},
		{"/Users/dev/app2/main.go", true, false},
		{"/private/tmp/x", true, true},
		{"/Users/dev/app/.git/objects/ab/cd", true, true},
		{"/Users/dev/app/.git/hooks", true, false},
		{"/Users/dev/app/.git/hooks/pre-push", true, false},
		{"/Users/dev/app/.GIT/Hooks/pre-push", true, false},
		{"/Users/dev/app/.git/hooks-sample", true, true},
		{"/Users/dev/app/.git/config", true, false},
		{"/Users/dev/app/LATHE.json", true, false},
		{"/Users/dev/app/.git/commondir", true, false},
		{"/Users/dev/.ssh/id_ed25519", false, false},
		{"/Users/dev/.ssh/known_hosts", true, false},
		{"/Users/dev/.local/share/lathe/auth.json", false, false},
		{"/Users/dev/.local/share/lathe/cache/app/x", true, true},
		{"/Users/dev/app/secrets/key", false, false},
		{"/Users/dev/app/secrets/open/x", true, true},
		{"/dev/null", true, false}, // its data alone
	} {
		if read, write := permits(t, profile, "file-read-data", tt.file), permits(t, profile, "file-write-create", tt.file); read != tt.read || write != tt.write {
			t.Errorf("%s: read %v, write %v", tt.file, read, write)
		}
	}
	for file, want := range map[string]bool{"/Users/dev/app/.git": false, "/Users/dev/app": true, "/Users/dev/app/src": true} {
		if got := permits(t, profile, "file-write-unlink", file); got != want {
			t.Errorf("moving %s: %v", file, got)
		}
	}
	if !permits(t, profile, "file-write-data", "/dev/null") {
		t.Error("/dev/null cannot be written")
	}
	open := seatbelt(Profile{Mode: Workspace, Write: []string{"/Users/dev/app"}})
	if !permits(t, open, "file-write-create", "/Users/dev/app/.git/hooks/x") || !permits(t, open, "file-read-data", "/Users/dev/.ssh/id_ed25519") {
		t.Error("the rules above are not what denies")
	}
}

// Links on the way to a place are followed as far as it exists; names are protected where they stand, too.
func TestSeatbelt_RealPaths(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(base, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "real", "nowhere": "gone"} {
		if err := os.Symlink(target, filepath.Join(base, name)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	got := realProfile(Profile{Write: []string{at("link"), at("link/a/b")}, Protect: []string{at("link"), at("nowhere"), at("link/c")}})
	want := Profile{Write: []string{at("real"), at("real/a/b")}, Protect: []string{at("real"), at("link"), at("nowhere"), at("real/c")}}
	if diff := cmp.Diff(want.Write, got.Write); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.Protect, got.Protect); diff != "" {
		t.Error(diff)
	}
}
