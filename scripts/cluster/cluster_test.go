//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// A short campaign; make cluster-torture has the long one.
func TestCluster(t *testing.T) {
	if os.Getenv("LATHE_CAMPAIGN") == "" {
		t.Skip("needs the machine for itself for half a minute: make test runs it at its end, with LATHE_CAMPAIGN=short")
	}
	if _, err := findPostgres(); errors.Is(err, errAbsent) {
		t.Skip(err)
	}
	binary := filepath.Join(t.TempDir(), "lathe")
	if err := build(t.Context(), binary, nil); err != nil {
		t.Fatal(err)
	}
	p := campaign{
		setup: setup{
			binary: binary, nodes: 3, seed: 1,
			steps: stepPlan{calls: 2, words: 10, every: 20 * time.Millisecond, long: true},
		},
		users: 6, readers: 3, lasts: 12 * time.Second, kinds: []string{"kill", "drain", "store-cut", "database"},
	}
	var out bytes.Buffer
	r, err := p.run(t.Context(), &out)
	t.Logf("%s", &out)
	if err != nil {
		t.Error(err)
	} else if r.prompts == 0 || r.ends.Answers == 0 || r.effects == 0 {
		t.Errorf("nothing happened: %+v", r)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "lathe-cluster-*")); testing.Verbose() && len(left) > 0 {
		t.Logf("folders of other runs: %q", left)
	}
}
