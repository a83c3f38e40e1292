package grant_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
)

func TestCheck_Hostile(t *testing.T) {
	for _, ok := range []string{"git push *", "src/*", "*", "naïve/文書.md", `C:\src\*`} {
		if err := grant.Check("bash", ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for name, pattern := range map[string]string{
		"empty": "", "spaces": "   ", "leading space": " git", "trailing space": "git *  ", "newline": "git\n*", "escape": "git \x1b[8m*", "null": "a\x00b",
		"right to left": "git \u202e*", "zero width": "git\u200b *", "tag": "git \U000e0041", "no-break space": "git\u00a0*", "not UTF-8": "git \xff",
		"line separator": "git\u2028*", "long": strings.Repeat("a", 1001),
	} {
		if grant.Check("bash", pattern) == nil {
			t.Errorf("%s: %q is accepted", name, pattern)
		}
	}
	for _, permission := range []string{"", "*", "ba?h", "sandbox", "sand\x1b[0mbox"} {
		if grant.Check(permission, "x") == nil {
			t.Errorf("the permission %q is accepted", permission)
		}
	}
}

func TestCheckAnswer(t *testing.T) {
	r := lathe.PermissionRequest{Permission: "bash", Patterns: []string{"git push origin"}, Always: []string{"git push *"}}
	for pattern, ok := range map[string]bool{"git push *": true, "git push origin": true, "git *": true, "*": true, "git pull *": false, "gti push *": false, "": false} {
		if err := grant.CheckAnswer(r, []string{pattern}); (err == nil) != ok {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	r.Always = []string{"printf 'a\nb' *"}
	if err := grant.CheckAnswer(r, r.Always); err != nil {
		t.Errorf("a pattern that the tool proposes: %v", err)
	}
	r.Always = nil
	if grant.CheckAnswer(r, []string{"git push *"}) == nil {
		t.Error("a request without a proposal is saved")
	}
	if grant.CheckAnswer(lathe.PermissionRequest{Permission: "sandbox", Patterns: []string{"x"}, Always: []string{"x"}}, nil) == nil {
		t.Error("the permission sandbox is saved")
	}
}

func TestProposals(t *testing.T) {
	edit := func(files ...string) lathe.PermissionRequest {
		return lathe.PermissionRequest{Permission: "edit", Patterns: files, Always: []string{"*"}}
	}
	for name, tt := range map[string]struct {
		r    lathe.PermissionRequest
		want [][]string
	}{
		"a file":           {edit("src/a.go"), [][]string{{"src/a.go"}, {"src/*"}}},
		"at the top":       {edit("README.md"), [][]string{{"README.md"}}},
		"outside":          {edit("../x.md"), [][]string{{"../x.md"}}},
		"several":          {edit("a/x", "a/y", "z"), [][]string{{"a/x", "a/y", "z"}, {"a/*", "z"}}},
		"a star in a name": {edit("a/*.md"), [][]string{{"a/?.md"}, {"a/*"}}},
		"Windows":          {edit(`a\b.go`), [][]string{{`a\b.go`}, {"a/*"}}},
		"a command": {
			lathe.PermissionRequest{Permission: "bash", Patterns: []string{"git push origin"}, Always: []string{"git push *"}},
			[][]string{{"git push *"}, {"git push origin"}},
		},
		"nothing to save": {lathe.PermissionRequest{Permission: "bash", Patterns: []string{"ls"}}, nil},
		"sandbox":         {lathe.PermissionRequest{Permission: "sandbox", Patterns: []string{"ls"}, Always: []string{"ls"}}, nil},
	} {
		if diff := cmp.Diff(tt.want, grant.Proposals(tt.r)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
	if got := grant.ForSession(edit("src/a.go")); !cmp.Equal(got, []string{"src/*"}) {
		t.Errorf("for a session %v", got)
	}
}

func TestDescribe(t *testing.T) {
	for _, tt := range [][3]string{
		{"bash", "*", "every command"},
		{"edit", "*", "every file in the project"},
		{"webfetch", "**", "everything that needs webfetch"},
		{"bash", "git push *", "git push with any arguments"},
		{"bash", "git push", "this exact command"},
		{"bash", "git p*", "everything that begins with git p"},
		{"edit", "src/*", "everything below src/"},
		{"edit", "src/a.go", "this file"},
		{"edit", "*/a.go", "everything that matches; * is any text, ? one character"},
		{"external_directory", "/etc/*", "everything below /etc/"},
		{"task", "explore", "exactly this"},
	} {
		if got := grant.Describe(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%s %s: %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}
