package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// Files that may not grow any more, which is how a full disk looks, stop a turn wherever it is:
// it ends at once and says why, whether it was seen to begin or not.
func TestRun_DiskFull(t *testing.T) {
	needUnix(t)
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh to limit the size of files with")
	}
	home := t.TempDir()
	script, err := modeltest.Parse(strings.Repeat("text \"Said.\"\nfinish stop\n--\n", 60) + "text \"Said.\"\nfinish stop\n")
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Start(t, script)
	settings := fmt.Sprintf(`{"model":"own/m","disabled_providers":["opencode"],"provider":{"own":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%q,"apiKey":"none"},"models":{"m":{}}}}}`, server.URL+"/v1")
	if err := os.WriteFile(filepath.Join(home, "lathe.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, home, "run", "--trust", "--title", "There is room", "begin")
	ended := map[string]int{}
	for blocks := 40; blocks < 1000; blocks += 24 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		cmd := exec.CommandContext(ctx, shell, "-c", fmt.Sprintf("ulimit -f %d; exec lathe run --trust --title Scant go", blocks))
		cmd.Dir, cmd.Env = home, command(t, home).Env
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		err := cmd.Run()
		late := ctx.Err() != nil
		cancel()
		said := stderr.String()
		switch {
		case late:
			t.Fatalf("with files of at most %d blocks the turn does not end:\n%s", blocks, said)
		case err == nil && out.String() == "Said.\n":
			ended["done"]++
		case err != nil && strings.Contains(said, "Error: ") && strings.Contains(said, "could not be written: the disk or its quota may be full"):
			ended["stopped"]++
		default:
			t.Errorf("with files of at most %d blocks it ends with %v, %q and\n%s", blocks, err, out.String(), said)
		}
	}
	if ended["stopped"] == 0 {
		t.Error("no turn had too little room")
	}
	if got := must(t, home, "db", "check"); got != "The database is intact.\n" {
		t.Error(got)
	}
}
