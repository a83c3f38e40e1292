package lsp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/sandbox"
)

// installTime limits one installation.
const installTime = 5 * time.Minute

// install downloads a server in the background, if the config allows it, into a folder of lathe. It is tried once. The
// mutex of the set is held.
func (v *Servers) install(d Definition, key string) {
	mark := "install\x00" + d.ID
	if _, tried := v.missing[mark]; tried || v.o.Installed == "" {
		return
	}
	v.missing[mark] = time.Now()
	v.group.Go(func() {
		ctx, cancel := context.WithTimeout(v.alive, installTime)
		defer cancel()
		why := v.runInstall(ctx, d.Install)
		if v.alive.Err() != nil {
			return
		}
		if why != "" {
			v.notice("The language server "+d.ID+" could not be installed", clean(why, maxText))
			return
		}
		v.mu.Lock()
		delete(v.missing, key)
		v.mu.Unlock()
		v.notice("Installed the language server "+d.ID, "It starts with the next edit.")
	})
}

// runInstall runs the package manager of a server and returns why it failed.
func (v *Servers) runInstall(ctx context.Context, how string) (why string) {
	kind, packages, _ := strings.Cut(how, " ")
	if err := os.MkdirAll(v.o.Installed, 0o700); err != nil {
		return err.Error()
	}
	args, more := append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", v.o.Installed}, strings.Fields(packages)...), map[string]string(nil)
	if kind == "go" {
		args, more = []string{"install", packages}, map[string]string{"GOBIN": filepath.Join(v.o.Installed, "bin"), "GOFLAGS": ""}
	}
	program := environ.Find(v.o.Env, "/", kind)
	if program == "" {
		return kind + " is not installed"
	}
	var out strings.Builder
	res, err := v.o.Runner.Run(ctx, sandbox.Command{Path: program, Args: args, Dir: v.o.Installed, Env: environ.With(v.o.Env, more), Timeout: installTime}, func(b []byte) {
		if out.Len() < 16<<10 {
			out.Write(b)
		}
	})
	switch {
	case err != nil:
		return err.Error()
	case res.Exit != 0:
		return kind + " failed: " + clean(out.String(), maxText)
	}
	return ""
}
