package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// reference is the terminal client of OpenCode, as its users install it.
const reference = "opencode-ai@1.18.33"

// TestTerminalClient attaches the reference's own terminal client to our server and uses it as a
// person would. With LATHE_SCREENS it writes what it saw into that folder.
func TestTerminalClient(t *testing.T) {
	client := fetched(t)
	w := newTerminal(t, client, strings.Join([]string{
		`call read {"filePath":"notes.txt"}`, "finish tool-calls", "--", // or it is not overwritten
		`text "Let me write that."`, `call write {"filePath":"notes.txt","content":"three\n"}`, "finish tool-calls", "--",
		`text "Written: the file has one line now."`, "finish stop", "--",
		`text "The second answer."`, "finish stop",
	}, "\n"))
	w.see("home", "Ask anything", "Build · script")
	w.keys("write the notes", "Enter")
	w.see("permission", "Permission required", "Edit notes.txt", "Allow once")
	w.keys("Enter")
	w.see("answer", "Let me write that.", "Wrote notes.txt", "Written: the file has one line now.")
	w.has("notes.txt", "three\n")
	w.keys("/undo")
	w.see("", "Undo previous message")
	w.keys("Enter")
	w.see("undone", "1 message reverted", "notes.txt +1 -1")
	w.has("notes.txt", "one\n")
	w.keys("C-u", "/redo")
	w.see("", "Redo")
	w.keys("Enter")
	w.see("", "Written: the file has one line now.")
	w.has("notes.txt", "three\n")
	w.keys("C-u", "and now", "Enter")
	w.see("second", "The second answer.")
	w.keys("/fork")
	w.see("", "Fork")
	w.keys("Enter")
	w.see("fork", "Fork session", "Full session")
	w.keys("Enter")
	w.forked("From a script (fork #1)")
	w.lacks("Fork session")
	w.keys("/sessions")
	w.see("", "Switch session")
	w.keys("Enter")
	w.see("sessions", "Sessions", "(fork #1)")
}

// fetched installs the client; without a network, tmux or npm there is nothing to try.
func fetched(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"tmux", "npm", "git"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("the terminal client needs %s, which is not installed", name)
		}
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(limited(t, 3*time.Minute), "npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", dir, reference)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s cannot be fetched here: %v\n%s", reference, err, out)
	}
	found, _ := filepath.Glob(filepath.Join(dir, "node_modules", "opencode-*", "bin", "opencode"))
	for _, bin := range found {
		if exec.Command(bin, "--version").Run() == nil {
			return bin
		}
	}
	t.Skipf("%s has no program for this machine", reference)
	return ""
}

// terminal is a client in a terminal, attached to a server with a project.
type terminal struct {
	*testing.T
	dir, socket, url string
}

func newTerminal(t *testing.T, client, script string) *terminal {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &terminal{T: t, dir: filepath.Join(top, "project"), socket: filepath.Join(top, "tmux")}
	home, ours := filepath.Join(top, "home"), filepath.Join(top, "ours")
	for _, d := range []string{w.dir, home, ours} {
		w.ok(os.Mkdir(d, 0o755))
	}
	w.ok(os.WriteFile(filepath.Join(w.dir, "notes.txt"), []byte("one\n"), 0o600))
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=dev", "-c", "user.email=dev@localhost", "commit", "-qm", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = w.dir
		w.ok(cmd.Run())
	}
	bin := binary(t)
	file := filepath.Join(top, "model.script")
	w.ok(os.WriteFile(file, []byte(script), 0o600))
	env := append(os.Environ(), "HOME="+ours, "LATHE_DATA="+filepath.Join(top, "data"), "LATHE_NO_AUTH=1", "XDG_CONFIG_HOME="+filepath.Join(ours, "config"))
	var settings map[string]any
	w.ok(json.Unmarshal([]byte(w.first(env, "}\n", bin, "debug", "model", file)), &settings))
	settings["permission"] = map[string]string{"edit": "ask"}
	content, err := json.Marshal(settings)
	w.ok(err)
	line := w.first(append(env, "OPENCODE_CONFIG_CONTENT="+string(content)), "\n", bin, "-C", w.dir, "serve", "--port", fmt.Sprint(free(t)))
	w.url = strings.TrimSpace(line[strings.Index(line, "http"):])
	w.tmux("new-session", "-d", "-s", "it", "-x", "120", "-y", "40",
		fmt.Sprintf("HOME=%s XDG_CONFIG_HOME=%s/c XDG_DATA_HOME=%s/d XDG_STATE_HOME=%s/s XDG_CACHE_HOME=%s/x %s attach %s --dir %s", home, home, home, home, home, client, w.url, w.dir))
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", w.socket, "kill-server").Run() })
	return w
}

func (w *terminal) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// first starts a program that runs until the test ends, and returns what it prints up to an end.
func (w *terminal) first(env []string, end, program string, args ...string) string {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Cancel, cmd.WaitDelay = env, func() error { return cmd.Process.Signal(os.Interrupt) }, 5*time.Second
	out, err := cmd.StdoutPipe()
	w.ok(err)
	w.ok(cmd.Start())
	w.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	var text strings.Builder
	for r := bufio.NewReader(out); !strings.HasSuffix(text.String(), "\n"+end) && !(end == "\n" && strings.HasSuffix(text.String(), end)); {
		line, err := r.ReadString('\n')
		text.WriteString(line)
		w.ok(err)
	}
	return text.String()
}

// free is a port without a listener.
func free(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (w *terminal) tmux(args ...string) string {
	w.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", w.socket, "-f", os.DevNull}, args...)...).CombinedOutput()
	if err != nil {
		w.Fatalf("tmux %v: %v %s", args, err, out)
	}
	return string(out)
}

// keys types: names of keys, or words.
func (w *terminal) keys(keys ...string) {
	w.Helper()
	for _, k := range keys {
		w.tmux("send-keys", "-t", "it", k)
	}
}

// see waits until the screen shows all texts, and keeps a picture under a name.
func (w *terminal) see(name string, texts ...string) {
	w.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(60 * time.Second)
	for {
		screen, missing := w.tmux("capture-pane", "-p", "-t", "it"), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			w.keep(name, screen)
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			w.Fatalf("%q is not on the screen:\n%s", missing, screen)
		}
	}
}

func (w *terminal) keep(name, screen string) {
	w.Helper()
	dir := os.Getenv("LATHE_SCREENS")
	if dir == "" || name == "" {
		return
	}
	screen = strings.ReplaceAll(screen, w.dir, "~/project")
	w.ok(os.WriteFile(filepath.Join(dir, name+".txt"), []byte(strings.TrimRight(screen, "\n")+"\n"), 0o600))
}

// lacks waits until a text has left the screen.
func (w *terminal) lacks(text string) {
	w.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for strings.Contains(w.tmux("capture-pane", "-p", "-t", "it"), text) {
		select {
		case <-tick.C:
		case <-deadline:
			w.Fatalf("%q stays on the screen", text)
		}
	}
}

// forked waits until the server has a session of that title.
func (w *terminal) forked(title string) {
	w.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for {
		var list []struct{ Title string }
		answer, err := http.Get(w.url + "/session?directory=" + url.QueryEscape(w.dir))
		w.ok(err)
		w.ok(json.NewDecoder(answer.Body).Decode(&list))
		w.ok(answer.Body.Close())
		for _, s := range list {
			if s.Title == title {
				return
			}
		}
		select {
		case <-tick.C:
		case <-deadline:
			w.Fatalf("there is no session %q: %v", title, list)
		}
	}
}

// has waits until a file of the project holds a text.
func (w *terminal) has(name, want string) {
	w.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for {
		got, _ := os.ReadFile(filepath.Join(w.dir, name))
		if string(got) == want {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			w.Fatalf("%s is %q, not %q", name, got, want)
		}
	}
}
