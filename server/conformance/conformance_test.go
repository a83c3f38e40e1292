// Package conformance holds no code: its test drives a whole server with the SDK that programs
// have, from the registry of its language, and holds every answer against the reference's own
// description of its routes. The suite is in the .mjs files; start at sdk.test.mjs.
package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSDK runs the suite where Node is, and prints how much of the API it met.
func TestSDK(t *testing.T) {
	dir := installed(t)
	log := filepath.Join(t.TempDir(), "answers.jsonl")
	cmd := exec.CommandContext(limited(t, 5*time.Minute), "node", "--experimental-websocket", "--test", "--test-reporter=spec", "sdk.test.mjs")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LATHE_BIN="+binary(t), "LATHE_CONFORMANCE_LOG="+log)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(counted(t, log))
}

// limited ends a program that hangs.
func limited(t *testing.T, after time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), after)
	t.Cleanup(cancel)
	return ctx
}

// installed copies the suite and fetches what it needs.
func installed(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"node", "npm", "git"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("the suite of the SDK needs %s, which is not installed", name)
		}
	}
	if out, err := exec.Command("node", "--experimental-websocket", "-p", "1").CombinedOutput(); err != nil {
		t.Skipf("the suite of the SDK needs Node 20.10 or newer: %s", out)
	}
	dir := t.TempDir()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() || strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		data, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(limited(t, 2*time.Minute), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the SDK cannot be fetched here: %v\n%s", err, out)
	}
	return dir
}

// binary builds the program as users have it.
func binary(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "lathe")
	cmd := exec.Command("go", "build", "-trimpath", "-o", bin, "../../cmd/lathe")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// counted says how many answers of how many routes were held against their schema.
func counted(t *testing.T, log string) string {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	answers, checked, routes := 0, 0, map[string]bool{}
	for line := range strings.Lines(string(data)) {
		var e struct {
			Method, Route string
			Checked       bool
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		answers++
		if e.Checked {
			checked++
			routes[e.Method+" "+e.Route] = true
		}
	}
	if checked == 0 {
		t.Fatal("nothing was held against a schema")
	}
	return fmt.Sprintf("%d answers, %d of them held against the schemas of %d routes", answers, checked, len(routes))
}
