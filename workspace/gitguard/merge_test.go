package gitguard

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const plainConfig = "[core]\n\tbare = false\n\thooksPath = .husky ; mine\n# a comment\n[remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"

// mergeCases are changes that git made to a copy of a configuration, and what becomes of them.
var mergeCases = []struct {
	name, base, copied, now, want string
	carried, refused, kept        string
}{
	{name: "nothing", base: plainConfig, copied: plainConfig, now: plainConfig, want: plainConfig},
	{
		name: "an upstream branch", base: plainConfig, now: plainConfig,
		copied:  plainConfig + "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n",
		want:    plainConfig + "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n",
		carried: "branch.x.remote branch.x.merge",
	},
	{
		name: "the user's change meanwhile stays", base: plainConfig, copied: plainConfig + "[user]\n\tname = A B\n",
		now: plainConfig + "[alias]\n\tco = checkout\n", want: plainConfig + "[alias]\n\tco = checkout\n[user]\n\tname = \"A B\"\n", carried: "user.name",
	},
	{
		name: "the user's value counts", base: "", copied: "[user]\n\tname = model\n", now: "[user]\n\tname = me\n", want: "[user]\n\tname = me\n", kept: "user.name",
	},
	{
		name: "both the same", base: "", copied: "[user]\n\tname = me\n", now: "[user]\n\tname = me\n", want: "[user]\n\tname = me\n",
	},
	{
		name: "code is refused", base: "", now: "[user]\n\tname = me\n", want: "[user]\n\tname = me\n",
		copied:  "[core]\n\tpager = evil\n\tfsmonitor = evil\n[alias]\n\tst = !evil\n[include]\n\tpath = x\n[includeIf \"gitdir:/\"]\n\tpath = x\n[filter \"x\"]\n\tclean = evil\n[url \"ext::\"]\n\tinsteadOf = https://\n[credential]\n\thelper = !evil\n[gpg]\n\tprogram = evil\n",
		refused: "core.pager core.fsmonitor alias.st include.path includeif.gitdir:/.path filter.x.clean url.ext::.insteadof credential.helper gpg.program",
	},
	{
		name: "addresses that run programs", base: "", now: "", want: "",
		copied:  "[remote \"a\"]\n\turl = ext::sh -c evil\n[remote \"b\"]\n\turl = -x\n\tuploadpack = evil\n[remote \"c\"]\n\turl = ssh://-oProxyCommand=evil/x\n[branch \"m\"]\n\tremote = ext::evil\n[submodule \"s\"]\n\tupdate = !evil\n",
		refused: "remote.a.url remote.b.url remote.b.uploadpack remote.c.url branch.m.remote submodule.s.update",
	},
	{
		name: "a remote is removed", base: plainConfig, now: plainConfig, carried: "remote.origin.url remote.origin.fetch",
		copied: "[core]\n\tbare = false\n\thooksPath = .husky ; mine\n# a comment\n", want: "[core]\n\tbare = false\n\thooksPath = .husky ; mine\n# a comment\n",
	},
	{
		name: "what protects is not removed", base: "[core]\n\tbare = false\n\thooksPath = x\n", copied: "[core]\n\tbare = false\n",
		now: "[core]\n\tbare = false\n\thooksPath = x\n", want: "[core]\n\tbare = false\n\thooksPath = x\n", refused: "core.hookspath",
	},
	{
		name: "several values from both sides", base: "[remote \"o\"]\n\tfetch = a\n\tfetch = b\n", copied: "[remote \"o\"]\n\tfetch = a\n\tfetch = c\n",
		now: "[remote \"o\"]\n\tfetch = a\n\tfetch = b\n\tfetch = d\n", want: "[remote \"o\"]\n\tfetch = a\n\tfetch = d\n\tfetch = c\n", carried: "remote.o.fetch",
	},
	{
		name: "settings behind their headers", base: "[user] name = a\n[core] bare = true", copied: "[user] name = b\n[core] bare = true\n[user]\nemail = x@y\n",
		now: "[user] name = a\n[core] bare = true", want: "[user] name = b\n\temail = x@y\n[core] bare = true", carried: "user.name user.email",
	},
	{
		name: "names keep their spelling", base: "", copied: "[branch \"Ünï \\\"q\\\\\"]\n\tpushRemote = origin\n", now: "", carried: `branch.Ünï "q\.pushremote`,
		want: "[branch \"Ünï \\\"q\\\\\"]\n\tpushRemote = origin\n",
	},
	{
		name: "a description of two lines", base: "", copied: "[branch \"x\"]\n\tdescription = \"a\\nb # c\"\n", now: "[a]\n\tb",
		want: "[a]\n\tb\n[branch \"x\"]\n\tdescription = \"a\\nb # c\"\n", carried: "branch.x.description",
	},
	{
		name: "a value that is simply there", base: "", copied: "[push]\n\tautoSetupRemote\n", now: "", want: "[push]\n\tautoSetupRemote = true\n", carried: "push.autosetupremote",
	},
}

func TestMerge(t *testing.T) {
	for _, c := range mergeCases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Merge([]byte(c.base), []byte(c.copied), []byte(c.now))
			if err != nil {
				t.Fatal(err)
			}
			text := c.now
			if got.Text != nil {
				text = string(got.Text)
			}
			if text != c.want {
				t.Errorf("got\n%s\nwant\n%s", text, c.want)
			}
			for what, lists := range map[string][2]string{
				"carried": {strings.Join(got.Applied, " "), c.carried}, "refused": {strings.Join(got.Refused, " "), c.refused}, "kept": {strings.Join(got.Conflicts, " "), c.kept},
			} {
				if lists[0] != lists[1] {
					t.Errorf("%s %q, want %q", what, lists[0], lists[1])
				}
			}
		})
	}
}

// A text that is read in another way once something stands after it is left alone.
func TestMerge_NotUnderstood(t *testing.T) {
	for _, now := range []string{"[a", "[user]\n\tname = a\\", "[user]\n\tname = \"a"} {
		got, err := Merge(nil, []byte("[user]\n\temail = x\n"), []byte(now))
		if err == nil && got.Text != nil {
			t.Errorf("%q became %q", now, got.Text)
		}
	}
}

func TestPlainURL(t *testing.T) {
	for _, url := range []string{
		"https://example.org/x.git", "http://user:pw@example.org:8080/x", "ssh://git@example.org:22/x", "git@github.com:o/r.git", "git://h/x", "file:///srv/x",
		"/srv/x.git", "../x", "./x", "origin", "C:/x", "host:x", "git+ssh://h/x",
	} {
		if !PlainURL(url) {
			t.Errorf("%q is refused", url)
		}
	}
	for _, url := range []string{
		"", "ext::sh -c x", "::x", "fd::3", "foo://x", "-x", "--upload-pack=x", "ssh://-oProxyCommand=x/y", "-oProxyCommand=x:y", "git@-x:y", "ssh://git@-x/y",
		"https://a\nb", "http::https://x", "ssh://%2doProxyCommand=x/", "ssh://$(x)/y", "transport-helper::x", "file:x://y",
	} {
		if PlainURL(url) {
			t.Errorf("%q is allowed", url)
		}
	}
}

// Git reads what was merged as it is meant.
func TestMerge_AsGitReads(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	file := filepath.Join(t.TempDir(), "config")
	read := func(text []byte) []byte {
		t.Helper()
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("git", "config", "--file", file, "-l", "-z").CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s\n%s", err, out, text)
		}
		return out
	}
	for _, c := range mergeCases {
		got, err := Merge([]byte(c.base), []byte(c.copied), []byte(c.now))
		if err != nil || got.Text == nil {
			continue
		}
		says, err := parse(got.Text)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range bytes.Split(bytes.TrimSuffix(read(got.Text), []byte{0}), []byte{0}) {
			key, value, ok := strings.Cut(string(entry), "\n")
			if !ok {
				value = "true"
			}
			if !slices.Contains(says.values[key], value) {
				t.Errorf("%s: git reads %s=%q, we read %q", c.name, key, value, says.values[key])
			}
		}
	}
}

// Whatever a command writes, no key that is not allowed ever changes in the real file.
func FuzzMerge(f *testing.F) {
	for _, c := range mergeCases {
		f.Add([]byte(c.base), []byte(c.copied), []byte(c.now))
	}
	f.Fuzz(func(t *testing.T, base, copied, now []byte) {
		got, err := Merge(base, copied, now)
		if err != nil || got.Text == nil {
			return
		}
		before, _ := parse(now)
		after, err := parse(got.Text)
		if err != nil {
			t.Fatalf("%q cannot be read: %v", got.Text, err)
		}
		for _, key := range changedKeys(before, after) {
			if !slices.Contains(got.Applied, key) || !removable(key) {
				t.Fatalf("%s changed from %q to %q", key, before.values[key], after.values[key])
			}
			for _, v := range after.values[key] {
				if !slices.Contains(before.values[key], v) && !allowed(key, v) && !bytes.Contains(base, []byte(v)) {
					t.Fatalf("%s has %q", key, v)
				}
			}
		}
		again, err := Merge(base, copied, got.Text)
		if err == nil && again.Text != nil && len(got.Conflicts) == 0 && bytes.Equal(base, now) {
			t.Fatalf("not settled: %q then %q", got.Text, again.Text)
		}
	})
}
