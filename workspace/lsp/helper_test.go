package lsp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace/lsp"
)

// fixture is a project with its servers.
type fixture struct {
	t       testing.TB
	dir     string
	project lsp.Project
	servers *lsp.Servers
	runner  *sandbox.Runner

	mu      sync.Mutex
	notices []string
	updates int
	events  []string
}

func newFixture(t testing.TB, configure func(*lsp.Options, *lsp.Project)) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, dir: dir, project: lsp.Project{Directory: dir, Worktree: dir, Trusted: true}}
	f.runner = sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
	o := lsp.Options{
		Runner: f.runner, Env: os.Environ(),
		Confine: func(lsp.Launch, lsp.Project) (sandbox.Profile, error) { return sandbox.Profile{Mode: sandbox.Off}, nil },
		Notice: func(title, text string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.notices = append(f.notices, title+": "+text)
		},
		Updated: func(string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.updates++
		},
		Diagnosed: func(_, server string, paths []string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, p := range paths {
				f.events = append(f.events, server+" "+filepath.Base(p))
			}
		},
	}
	if configure != nil {
		configure(&o, &f.project)
	}
	f.servers = lsp.Open(o)
	t.Cleanup(func() {
		if err := f.servers.Close(); err != nil {
			t.Error(err)
		}
		if err := f.runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// put writes a file of the project and returns its path.
func (f *fixture) put(name, text string) string {
	f.t.Helper()
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// change writes a file and tells the servers.
func (f *fixture) change(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	before, err := os.ReadFile(path)
	f.put(name, text)
	f.servers.Change(f.project, "ses", []lsp.Change{{Path: path, Before: string(before), Known: true, Existed: err == nil}})
}

// results waits as long as a busy machine may need.
func (f *fixture) results(limit time.Duration) lsp.Report {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), limit)
	defer cancel()
	return f.servers.Results(ctx, "ses")
}

// edit changes a file and returns the report as text.
func (f *fixture) edit(name, text string) string {
	f.t.Helper()
	f.change(name, text)
	return f.results(time.Minute).Text(f.dir)
}

func (f *fixture) noticed() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.notices, "\n")
}
