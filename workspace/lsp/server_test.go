package lsp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace/lsp"
)

// scriptedFixture is a project whose .x files have the scripted server.
func scriptedFixture(t *testing.T, script string, configure func(*lsp.Options, *lsp.Project)) *fixture {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return newFixture(t, func(o *lsp.Options, p *lsp.Project) {
		p.Config.Settings = map[string]lsp.Setting{"script": {Command: []string{self, "scripted-server", script}, Extensions: []string{".x"}}}
		if configure != nil {
			configure(o, p)
		}
	})
}

// The report has only errors that the change brought, wherever they move, and no warnings.
func TestResults_OnlyNew(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"push", "pull", "no-versions", "late"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			f := scriptedFixture(t, script, nil)
			f.put("a.x", "one\nbad old\nthree\n")
			for _, step := range []struct{ text, want string }{
				{"new line\none\nbad old\nthree\n", ""},
				{"new line\none\nbad old\nthree bad\ndubious\n", "New errors since this change:\na.x:4: bad: three bad"},
				{"new line\none\nbad old\nbad old\nthree bad\n", "New errors since this change:\na.x:4: bad: bad old"},
				{"fine\n", ""},
				{"bad old\nfine\n", "New errors since this change:\na.x:1: bad: bad old"},
			} {
				if got := f.edit("a.x", step.text); got != step.want {
					t.Fatalf("after %q: %q, want %q", step.text, got, step.want)
				}
			}
			f.put("b.x", "bad b\n")
			if got := f.edit("b.x", "bad b\nfine\n"); got != "" {
				t.Errorf("another file: %q", got)
			}
			if got := f.edit("new.x", "bad n\n"); got != "New errors since this change:\nnew.x:1: bad: bad n" {
				t.Errorf("a new file: %q", got)
			}
		})
	}
}

// Results that do not come in time are not a clean file: the report says so, once, and they come later.
func TestResults_Unknown(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"silent":      "diagnostics not known yet: script is still loading",
		"loading":     "diagnostics not known yet: script is still loading",
		"never":       "diagnostics not known yet: script has not answered within ",
		"old-version": "diagnostics not known yet: script has not answered within ",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			f := scriptedFixture(t, script, func(o *lsp.Options, _ *lsp.Project) { o.Start = 20 * time.Second })
			if script == "silent" {
				f.change("a.x", "bad\n")
			} else { // a new file needs no errors from before
				f.change("a.x", "fine\n")
				f.servers.Forget("ses")
				waitFor(t, func() bool { return f.state() == lsp.Running })
				f.change("a.x", "bad\n")
			}
			got := f.results(200 * time.Millisecond)
			if len(got.New) > 0 || !strings.HasPrefix(got.Text(f.dir), want) {
				t.Errorf("%q", got.Text(f.dir))
			}
			if again := f.results(50 * time.Millisecond); !again.IsEmpty() {
				t.Errorf("said twice: %q", again.Text(f.dir))
			}
		})
	}
}

// waitFor waits for something that another goroutine does.
func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); !ok(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it did not happen within a minute")
		}
	}
}

func (f *fixture) state() string {
	list := f.servers.Status(f.project)
	if len(list) == 0 {
		return ""
	}
	return list[0].State
}

func TestLate(t *testing.T) {
	t.Parallel()
	f := scriptedFixture(t, "late", nil)
	f.put("a.x", "fine\n")
	f.change("a.x", "fine\nbad\n")
	if got := f.results(10 * time.Millisecond).Text(f.dir); !strings.HasPrefix(got, "diagnostics not known yet: script ") {
		t.Errorf("%q", got)
	}
	var late lsp.Report
	waitFor(t, func() bool { late = f.servers.Late("ses"); return !late.IsEmpty() })
	if got := late.Text(f.dir); got != "New errors since this change:\na.x:2: bad: bad" {
		t.Errorf("%q", got)
	}
	f.change("a.x", "fine\n")
	_ = f.results(10 * time.Millisecond)
	waitFor(t, func() bool { late = f.servers.Late("ses"); return !late.IsEmpty() })
	if got := late.Text(f.dir); got != "script has finished: no new errors." {
		t.Errorf("%q", got)
	}
}

// A server that fails is started once more, and then never again; the user is told.
func TestServer_Dies(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"dies", "no-start", "invalid", "memory"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			f := scriptedFixture(t, script, func(_ *lsp.Options, p *lsp.Project) { p.Config.Memory = 1 << 30 })
			f.put("a.x", "fine\n")
			for i := range 4 {
				f.change("a.x", strings.Repeat("bad\n", i+1))
				if got := f.results(20 * time.Second); len(got.New) > 0 {
					t.Errorf("%q", got.Text(f.dir))
				}
				if f.state() == lsp.Off {
					break
				}
			}
			waitFor(t, func() bool { return f.state() == lsp.Off })
			if got := f.noticed(); strings.Count(got, "The language server script is off") != 1 || strings.ContainsRune(got, 0x1b) {
				t.Errorf("notices: %q", got)
			}
			f.change("a.x", "bad again\n")
			if got := f.results(time.Minute); len(got.New) > 0 {
				t.Errorf("%q", got.Text(f.dir))
			}
			if script == "memory" && !strings.Contains(f.noticed(), "lsp.memory") {
				t.Errorf("it does not name the limit: %q", f.noticed())
			}
		})
	}
}

func TestServer_Restarts(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	f := scriptedFixture(t, "dies-once", func(o *lsp.Options, _ *lsp.Project) { o.Env = append(o.Env, "SCRIPT_MARK="+mark) })
	f.put("a.x", "fine\n")
	f.change("a.x", "fine\nbad\n")
	var late lsp.Report
	waitFor(t, func() bool {
		late = f.results(50 * time.Millisecond)
		return len(late.New) > 0
	})
	if got := late.Text(f.dir); !strings.HasPrefix(got, "New errors since this change:\na.x:2: bad: bad") || f.state() != lsp.Running {
		t.Errorf("%q, %s", got, f.state())
	}
}

// 100,000 diagnostics cost neither memory nor lines, and nothing of them reaches the screen as it is.
func TestServer_Flood(t *testing.T) {
	t.Parallel()
	f := scriptedFixture(t, "flood", nil)
	f.put("a.x", "fine\n")
	f.change("a.x", "fine\nbad\n")
	got := f.results(time.Minute)
	text := got.Text(f.dir)
	if len(got.New) != lsp.MaxLines || !strings.Contains(text, "more") || strings.ContainsRune(text, 0x1b) || strings.ContainsRune(text, '\u202e') || len(text) > 10_000 {
		t.Errorf("%d lines, %d bytes: %.500q", len(got.New), len(text), text)
	}
	if strings.Contains(text, "elsewhere") {
		t.Error("files outside of the project are reported")
	}
}

// An unused server ends, and the next edit starts it again. Reading and listing start none.
func TestServer_Idle(t *testing.T) {
	t.Parallel()
	f := scriptedFixture(t, "push", func(o *lsp.Options, _ *lsp.Project) { o.Idle = 3 * time.Second })
	f.put("a.x", "fine\n")
	if f.servers.Fits(f.project) || len(f.servers.Status(f.project)) != 0 {
		t.Error("a server exists before the first edit")
	}
	_ = f.edit("a.x", "fine\nfine\n")
	waitFor(t, func() bool { return f.state() == lsp.Idle })
	if got := f.edit("a.x", "fine\nbad\n"); !strings.Contains(got, "a.x:2: bad") {
		t.Errorf("%q", got)
	}
}

// What a server says about other files is not read, and a rename that leaves the project is refused as a whole.
func TestServer_HostileAnswers(t *testing.T) {
	t.Parallel()
	f := scriptedFixture(t, "push", nil)
	path := f.put("a.x", "abc one\n")
	places, err := f.servers.Definition(t.Context(), f.project, lsp.Query{Path: path, Line: 1})
	if err != nil || len(places) != 1 || places[0].Path != "/etc/passwd" || places[0].Text != "" {
		t.Errorf("%+v, %v", places, err)
	}
	if text, err := f.servers.Hover(t.Context(), f.project, lsp.Query{Path: path, Symbol: "one"}); err != nil || strings.ContainsAny(text, "\x1b\x07\u202e") || !strings.Contains(text, "plain") {
		t.Errorf("%q, %v", text, err)
	}
	edits, err := f.servers.Rename(t.Context(), f.project, lsp.Query{Path: path, Symbol: "abc"}, "xyz")
	if err != nil || len(edits) != 1 || edits[0].After != "xyz one\n" {
		t.Errorf("%+v, %v", edits, err)
	}
	for _, script := range []string{"rename-outside", "rename-overlap", "rename-create"} {
		f := scriptedFixture(t, script, nil)
		path := f.put("a.x", "abc one\n")
		if edits, err := f.servers.Rename(t.Context(), f.project, lsp.Query{Path: path, Symbol: "abc"}, "xyz"); err == nil || len(edits) > 0 {
			t.Errorf("%s: %+v, %v", script, edits, err)
		}
	}
	if _, err := f.servers.Definition(t.Context(), f.project, lsp.Query{Path: "/etc/passwd", Line: 1}); err == nil {
		t.Error("a file outside is opened")
	}
}

// A project that is not trusted starts no server that executes its code, none of its own programs, and nothing unconfined.
func TestServer_Untrusted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *lsp.Options, p *lsp.Project) {
		p.Trusted = false
		bin := filepath.Join(p.Directory, "bin")
		o.Env = []string{"PATH=" + bin}
		o.Confine = func(lsp.Launch, lsp.Project) (sandbox.Profile, error) { return sandbox.Profile{Mode: sandbox.Off}, nil }
	})
	for _, name := range []string{"bin/gopls", "bin/zls", "node_modules/.bin/pyright-langserver"} {
		if err := os.Chmod(f.put(name, "#!/bin/sh\ntouch "+f.dir+"/ran\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range f.servers.Available(f.project) {
		if a.Reason == "" {
			t.Errorf("%s would start from %s", a.ID, a.Program)
		}
	}
	f.project.Trusted = true // the control
	starts := ""
	for _, a := range f.servers.Available(f.project) {
		if a.Reason == "" {
			starts += a.ID + " "
		}
	}
	if starts != "gopls zls pyright " {
		t.Errorf("trusted: %q", starts)
	}
}
