package harness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/gittest"
)

// ask sends a request and decodes the answer.
func (r *reported) ask(t *testing.T, method, path, body string, to any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(to); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return res.StatusCode
}

// waitEvent returns the first event of a type from the global stream.
func waitEvent(lines *bufio.Scanner, kind string) string {
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"type":"`+kind+`"`) {
			return lines.Text()
		}
	}
	return ""
}

// OpenCode's four routes and the event of a worktree, then ours: start, diff, merge and drop.
func TestWorktrees_HTTP(t *testing.T) {
	r := newReported(t)
	git := gittest.New(t)
	git.Run(r.project, "init", "-q", "-b", "main")
	put(t, filepath.Join(r.project, "a.txt"), "one\n")
	git.Run(r.project, "add", "-A")
	git.Run(r.project, "commit", "-q", "-m", "first")

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", r.address+"/global/event", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	events := bufio.NewScanner(stream.Body)
	waitEvent(events, "server.connected")

	var made struct{ Name, Branch, Directory string }
	if code := r.ask(t, "POST", "/experimental/worktree", `{"name":"My Work","startCommand":"echo set > started"}`, &made); code != 200 || made.Name != "my-work" || made.Branch != "lathe/my-work" {
		t.Fatalf("%d: %+v", code, made)
	}
	if got := waitEvent(events, "worktree.ready"); !strings.Contains(got, `"name":"my-work","branch":"lathe/my-work"`) || !strings.Contains(got, made.Directory) {
		t.Errorf("event %s", got)
	}
	if got := read(t, filepath.Join(made.Directory, "started")); got != "set\n" {
		t.Errorf("the start command wrote %q", got)
	}
	var dirs []string
	if code := r.ask(t, "GET", "/experimental/worktree", "", &dirs); code != 200 || len(dirs) != 1 || dirs[0] != made.Directory {
		t.Errorf("%d: %q", code, dirs)
	}
	var done bool
	where, _ := json.Marshal(map[string]string{"directory": made.Directory})
	if code := r.ask(t, "POST", "/experimental/worktree/reset", string(where), &done); code != 200 || !done {
		t.Errorf("reset: %d", code)
	}
	waitEvent(events, "worktree.ready")
	if _, err := os.Lstat(filepath.Join(made.Directory, "started")); err == nil {
		t.Error("a reset kept changes")
	}
	r.removeTree(t, string(where))
	var failed struct {
		Name string
		Data struct{ Message string }
	}
	if code := r.ask(t, "DELETE", "/experimental/worktree", `{"directory":"/etc"}`, &failed); code != 400 || failed.Name != "WorktreeRemoveFailedError" {
		t.Errorf("%d: %+v", code, failed)
	}
	r.mergeOver(t)
}

// removeTree removes a worktree once its setup has let go of it.
func (r *reported) removeTree(t *testing.T, where string) {
	t.Helper()
	for range 200 {
		var answer json.RawMessage
		if r.ask(t, "DELETE", "/experimental/worktree", where, &answer) == 200 {
			return
		}
	}
	t.Error("the worktree cannot be removed")
}

// mergeOver uses the client of front ends.
func (r *reported) mergeOver(t *testing.T) {
	t.Helper()
	w, err := r.client.StartWorktree(t.Context(), r.project, "fix")
	if err != nil || w.Session == "" {
		t.Fatalf("%+v, %v", w, err)
	}
	put(t, filepath.Join(w.Path, "a.txt"), "two\n")
	if diff, err := r.client.CompareWorktree(t.Context(), r.project, "fix"); err != nil || len(diff) != 1 || diff[0].File != "a.txt" {
		t.Errorf("%+v, %v", diff, err)
	}
	if _, err := r.client.DropWorktree(t.Context(), r.project, "fix", false); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("dropped: %v", err)
	}
	if all, err := r.client.ListWorktrees(t.Context(), r.project); err != nil || len(all) != 1 || all[0].Changed != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	rep, err := r.client.ApplyWorktree(t.Context(), r.project, "fix", api.WorktreeMerge{})
	if err != nil || rep.Changed != 1 || read(t, filepath.Join(r.project, "a.txt")) != "two\n" {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, err := r.client.DropWorktree(t.Context(), r.project, "fix", false); err != nil {
		t.Error(err)
	}
}

// The setup command of a project runs only if the user trusts the project.
func TestWorktrees_SetupNeedsTrust(t *testing.T) {
	r := newReported(t)
	put(t, filepath.Join(r.project, "lathe.json"), `{"worktree": {"setup": "echo set > started", "link": ["cache"]}}`)
	if err := os.Mkdir(filepath.Join(r.project, "cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := r.client.StartWorktree(t.Context(), r.project, "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(w.Path, "started")); err == nil {
		t.Error("the setup command of an untrusted project ran")
	}
	if err := r.client.ChangeSetting(t.Context(), r.project, "worktree.setup", json.RawMessage(`"echo mine > started"`)); err != nil {
		t.Fatal(err)
	}
	if w, err = r.client.StartWorktree(t.Context(), r.project, "two"); err != nil || read(t, filepath.Join(w.Path, "started")) != "mine\n" {
		t.Errorf("the user's setup command did not run: %v", err)
	}
}
