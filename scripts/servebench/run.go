package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// run measures whole processes of `lathe run` against a model that answers at once: from their
// start to their end, with a title of their own and without, and the memory they took at most.
func (b *bench) run(ctx context.Context) error {
	if b.lathe == "" {
		return nil // a server is measured
	}
	home, err := os.MkdirTemp("", "servebench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }()
	project := filepath.Join(home, "project")
	if err := os.MkdirAll(filepath.Join(project, ".git", "objects"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(project, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		return err
	}
	var took []time.Duration
	peak := 0.0
	for i := range 22 {
		cmd := exec.CommandContext(ctx, b.lathe, "run", "-m", b.model, "--title", "one", "hello")
		cmd.Dir = project
		cmd.Env = append(cmd.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=",
			"LATHE_DATA="+filepath.Join(home, "data"), "LATHE_CONFIG_CONTENT="+settingsFor(b.provider.listener.Addr().String()))
		began := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("> build")) {
			return fmt.Errorf("lathe run: %w\n%s", err, out)
		}
		if i < 2 {
			continue // they read from disk, and make the database
		}
		took = append(took, time.Since(began))
		peak = max(peak, peakMemory(cmd.ProcessState))
	}
	slices.Sort(took)
	b.figure("run", ms(took[len(took)/2]), "ms")
	if peak > 0 { // else the system does not tell
		b.figure("run-memory", peak, "MB")
	}
	return nil
}
