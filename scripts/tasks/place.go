package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// place is where a task is done: a home, a project in it that is a git repository, and a remote
// that takes pushes over HTTP.
type place struct {
	root, home, dir string
	remote          *httptest.Server
	names           *strings.Replacer
}

// env is asked for once: each word of it is a process.
var env, root = sync.OnceValue(inherited), sync.OnceValue(goroot)

func newPlace(ctx context.Context, t task) (p *place, err error) {
	p = &place{}
	if p.root, err = os.MkdirTemp("", "lathe-task-"); err != nil {
		return nil, err
	}
	if p.root, err = filepath.EvalSymlinks(p.root); err != nil {
		return nil, err
	}
	p.home, p.dir = filepath.Join(p.root, "home"), filepath.Join(p.root, "home", "project")
	for name, data := range t.files {
		file := filepath.Join(p.dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o644)); err != nil {
			return nil, err
		}
	}
	p.serveRemote()
	p.names = strings.NewReplacer("{{dir}}", p.dir, "{{home}}", p.home, "{{goroot}}", root(), "{{remote}}", p.remote.URL+"/remote.git")
	const first = `mkdir -p "$HOME/project" && git init -q -b main . && git add -A && git commit -q --allow-empty -m first
git init -q --bare -b main ../../remote.git && git -C ../../remote.git config http.receivepack true`
	for _, script := range []string{first, p.expand(t.text["setup"])} {
		if out, err := p.command(ctx, "sh", "-euc", script).CombinedOutput(); err != nil {
			p.close()
			return nil, fmt.Errorf("setup: %w\n%s", err, out)
		}
	}
	return p, nil
}

// serveRemote serves the bare repository, as any host of repositories does.
func (p *place) serveRemote() {
	backend := &cgi.Handler{Path: "/bin/sh", Args: []string{"-c", "exec git http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + p.root, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + p.home}, InheritEnv: []string{"PATH"}}
	p.remote = httptest.NewServer(backend)
}

func (p *place) expand(text string) string { return p.names.Replace(text) }

// configure writes the settings of a user whose provider is the scripted model.
func (p *place) configure(url string) error {
	settings, err := json.Marshal(map[string]any{
		"model": "own/m", "disabled_providers": []string{"opencode"}, "permission": map[string]string{"bash": "allow"}, // also where no kernel confines it
		"provider": map[string]any{"own": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "options": map[string]string{"baseURL": url + "/v1", "apiKey": "none"}, "models": map[string]any{"m": map[string]any{}},
		}},
	})
	file := filepath.Join(p.home, ".config", "lathe", "lathe.json")
	return errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, settings, 0o600))
}

// command runs in the project, as its user.
func (p *place) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(slices.Clip(env()), "HOME="+p.home, "GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@localhost", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@localhost")
	return cmd
}

// isConfined asks the program whether commands are confined here.
func (p *place) isConfined(ctx context.Context, binary string) bool {
	out, err := p.command(ctx, binary, "debug", "sandbox", "--json").Output()
	var m struct{ Available bool }
	return err == nil && json.Unmarshal(out, &m) == nil && m.Available
}

func (p *place) close() {
	p.remote.Close()
	_ = os.RemoveAll(p.root) // it is in the folder for what may be removed at any time
}
