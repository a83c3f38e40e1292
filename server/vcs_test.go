package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
)

func TestVCS_OutsideGit(t *testing.T) {
	w := begin(t, "")
	w.write("a", "1\n")
	w.want(http.StatusOK, nil, "GET", "/vcs", "").is(w, `{"branch":null,"default_branch":null}`)
	w.want(http.StatusOK, nil, "GET", "/vcs/status", "").is(w, `[]`)
	w.want(http.StatusOK, nil, "GET", "/vcs/diff?mode=git", "").is(w, `[]`)
	w.want(http.StatusOK, nil, "GET", "/vcs/diff/raw", "").is(w, ``)
	has(t, string(w.want(http.StatusBadRequest, nil, "POST", "/vcs/apply", `{"patch":"x"}`).body), `"reason":"non-git"`)
}

func TestVCS(t *testing.T) {
	w := begin(t, "")
	w.write("a", "1\n2\n3\n")
	w.repository()
	w.want(http.StatusOK, nil, "GET", "/vcs", "").is(w, `{"branch":"main","default_branch":"main"}`)
	w.git("checkout", "--quiet", "-b", "work")
	w.write("b", "new\n")
	w.git("add", "-A")
	w.git("commit", "--quiet", "-m", "b")
	w.write("a", "1\ntwo\n3\n")
	w.want(http.StatusOK, nil, "GET", "/vcs", "").is(w, `{"branch":"work","default_branch":"main"}`)
	w.want(http.StatusOK, nil, "GET", "/vcs/status", "").is(w, `[{"file":"a","additions":1,"deletions":1,"status":"modified"}]`)
	var got []lathe.FileDiff
	w.want(http.StatusOK, &got, "GET", "/vcs/diff?mode=git&context=0", "")
	if len(got) != 1 || got[0].File != "a" || !strings.HasSuffix(got[0].Patch, "@@ -2 +2 @@\n-2\n+two\n") {
		t.Errorf("%+v", got)
	}
	w.want(http.StatusOK, &got, "GET", "/vcs/diff?mode=branch&context=12", "")
	if len(got) != 2 || got[1].File != "b" || got[1].Status != "added" {
		t.Errorf("%+v", got)
	}
	a := w.want(http.StatusOK, nil, "GET", "/vcs/diff/raw", "")
	if kind := a.Header.Get("Content-Type"); kind != "text/x-diff; charset=utf-8" || !strings.HasPrefix(string(a.body), "diff --git a/a b/a\n") {
		t.Errorf("%s: %s", kind, a.body)
	}
	for _, bad := range []string{"", "?mode=svn", "?mode=git&context=-1", "?mode=git&context=many", "?mode=git&directory=/no/such", "?mode=--output=/tmp/x"} {
		w.want(http.StatusBadRequest, nil, "GET", "/vcs/diff"+bad, "")
	}
}

func TestVCS_Apply(t *testing.T) {
	w := begin(t, "")
	w.write("a", "1\n")
	w.repository()
	patch := `{"patch":"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n"}`
	w.want(http.StatusOK, nil, "POST", "/vcs/apply", patch).is(w, `{"applied":true}`)
	if text, err := os.ReadFile(filepath.Join(w.dir, "a")); err != nil || string(text) != "one\n" {
		t.Errorf("%q, %v", text, err)
	}
	for body, want := range map[string]string{
		patch:                 `"reason":"not-clean"`,
		`{"patch":"garbage"}`: `"reason":"not-clean"`,
		`{"patch":"--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+1\n"}`: `"reason":"not-clean"`,
		`{}`:          `Missing key at`,
		`{"patch":7}`: `"kind":"Body"`,
		`{"patch":`:   `"kind":"Body"`,
	} {
		has(t, string(w.want(http.StatusBadRequest, nil, "POST", "/vcs/apply", body).body), want)
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "..", "x")); err == nil {
		t.Error("a file was made outside")
	}
}

// Streams are notified of another branch, also when no client asks.
func TestVCS_BranchChanges(t *testing.T) {
	w := begin(t, "", func(o *server.Options) { o.Heartbeat = 20 * time.Millisecond })
	w.repository()
	w.want(http.StatusOK, nil, "GET", "/vcs", "")
	l := w.listen("/event")
	l.next()
	w.git("checkout", "--quiet", "-b", "other")
	all := l.until("vcs.branch.updated")
	if f := all[len(all)-1].Fact.(*lathe.BranchChanged); f.Branch != "other" {
		t.Errorf("%+v", f)
	}
}

// No process of the project runs, whatever its configuration says; the package git tries more.
func TestVCS_Hostile(t *testing.T) {
	w := begin(t, "")
	mark := filepath.Join(w.data, "mark")
	w.write("a", "1\n")
	w.write(".gitattributes", "* filter=evil diff=evil\n")
	w.repository()
	config, err := os.ReadFile(filepath.Join(w.dir, ".git", "config"))
	w.ok(err)
	run := "touch " + mark
	w.write(".git/config", string(config)+"[core]\n\tfsmonitor = "+run+"\n[diff]\n\texternal = "+run+"\n[diff \"evil\"]\n\ttextconv = "+run+
		"\n[filter \"evil\"]\n\tclean = "+run+"\n\tsmudge = "+run+"\n")
	w.write("a", "2\n")
	for _, path := range []string{"/vcs", "/vcs/status", "/vcs/diff?mode=git", "/vcs/diff?mode=branch", "/vcs/diff/raw", "/file?path=", "/file/content?path=a", "/find?pattern=2", "/find/file?query=a", "/project/current"} {
		w.want(http.StatusOK, nil, "GET", path, "")
	}
	w.want(http.StatusOK, nil, "POST", "/vcs/apply", `{"patch":"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-2\n+3\n"}`)
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command of the project ran")
	}
}

// A repository that git cannot read is reported as that, and is no failure of the server.
func TestVCS_Corrupt(t *testing.T) {
	w := begin(t, "")
	w.write("a.txt", "one\n")
	w.repository()
	w.write(".git/index", "DIRC\xff\xff\xff\xff nonsense")
	for _, path := range []string{"/vcs/status", "/vcs/diff?mode=git", "/vcs/diff/raw"} {
		if a := w.want(http.StatusServiceUnavailable, nil, "GET", path, ""); !strings.Contains(string(a.body), "git cannot read this repository") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}
