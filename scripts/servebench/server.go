package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// target is a server that is measured.
type target struct {
	url, password string
	pid           int
	dir           string // the project of its sessions
	home          string // "" if it is not ours
	cmd           *exec.Cmd
	http          *http.Client
}

// open returns the server that was named, or starts one.
func (b *bench) open(ctx context.Context) (*target, error) {
	dir, err := os.MkdirTemp("", "servebench-")
	if err != nil {
		return nil, err
	}
	t := &target{url: strings.TrimRight(b.url, "/"), password: b.password, pid: b.pid, dir: dir, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	if b.url != "" {
		return t, nil
	}
	t.home, t.dir = dir, filepath.Join(dir, "project")
	settings := filepath.Join(t.home, "config", "lathe", "lathe.json")
	for _, d := range []string{t.dir, filepath.Dir(settings)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	// Checks of the answer would ask the model once more, and no other server has them.
	text := strings.Replace(settingsFor(b.provider.listener.Addr().String()), "{", `{"checks": {"todos": false, "checklist": false, "unverified": false}, `, 1)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if b.profiles != "" {
		return t, t.spawn(ctx, b.lathe, "--debug-addr", b.debugAddr)
	}
	return t, t.spawn(ctx, b.lathe)
}

// spawn starts the program and waits for the line that says where it listens.
func (t *target) spawn(ctx context.Context, program string, more ...string) error {
	t.cmd = exec.CommandContext(ctx, program, append([]string{"serve", "--port", "0", "--no-auth", "-C", t.dir}, more...)...)
	t.cmd.Env = append(t.cmd.Environ(), "HOME="+t.home, "LATHE_DATA="+filepath.Join(t.home, "data"), "XDG_CONFIG_HOME="+filepath.Join(t.home, "config"))
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := t.cmd.Start(); err != nil {
		return err
	}
	t.pid = t.cmd.Process.Pid
	line, err := bufio.NewReader(out).ReadString('\n')
	_, t.url, _ = strings.Cut(strings.TrimSpace(line), "listening on ")
	if err != nil || t.url == "" {
		return fmt.Errorf("%s said %q: %w", program, line, err)
	}
	return nil
}

// end ends a server that was started here, and removes what it left.
func (t *target) end() {
	if t.cmd != nil {
		_ = t.cmd.Process.Signal(syscall.SIGTERM)
		_ = t.cmd.Wait()
		_ = os.RemoveAll(t.home)
		return
	}
	_ = os.RemoveAll(t.dir)
}

func (t *target) request(ctx context.Context, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, t.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("X-Opencode-Directory", t.dir)
	if t.password != "" {
		req.SetBasicAuth("opencode", t.password)
	}
	res, err := t.http.Do(req)
	if err == nil && res.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1000))
		_ = res.Body.Close()
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	return res, err
}

// ask makes a request and reads the answer.
func (t *target) ask(ctx context.Context, to any, method, path, body string) error {
	res, err := t.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err == nil && to != nil {
		err = json.Unmarshal(data, to)
	}
	return err
}

// session begins one.
func (t *target) session(ctx context.Context, title string) (string, error) {
	var made struct {
		ID string `json:"id"`
	}
	err := t.ask(ctx, &made, "POST", "/session", `{"title":`+strconv.Quote(title)+`}`)
	return made.ID, err
}

// prompt is the body of one.
func (b *bench) prompt(words string) string {
	vendor, name, _ := strings.Cut(b.model, "/")
	return fmt.Sprintf(`{"model":{"providerID":%q,"modelID":%q},"parts":[{"type":"text","text":%q}]}`, vendor, name, words)
}
