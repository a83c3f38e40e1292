package plugin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/plugin"
	"github.com/lathe-agent/lathe/sandbox"
)

// spawner starts its own process, detached as daemons are, and tells both numbers.
const spawner = `
import { spawn } from "node:child_process"
export const A = async () => ({ "chat.params": (i, o) => {
	const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" })
	child.unref()
	o.pids = [process.pid, child.pid]
} })`

// beEngine is a program with a plugin, which will be killed.
func beEngine(dir string) {
	c := plugin.Open(plugin.Options{
		Dir: dir, Worktree: dir, Plugins: []plugin.Plugin{{Spec: "./a.mjs"}}, Cache: filepath.Join(dir, "cache"), Env: os.Environ(),
		Runner: sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}),
	})
	out, err := c.Call(context.Background(), "chat.params", nil, json.RawMessage(`{}`))
	fmt.Println(string(out), err)
	select {}
}

// Nothing of a plugin outlives a program that was killed.
func TestHub_KilledProgram(t *testing.T) {
	needNode(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.mjs"), []byte(spawner), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "be-an-engine", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	var said struct{ PIDs []int }
	if err != nil || json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(line), " <nil>")), &said) != nil || len(said.PIDs) != 2 {
		t.Fatalf("%s, %v", line, err)
	}
	for _, pid := range said.PIDs {
		if !lives(pid) {
			t.Fatalf("%d does not live, so its end would prove nothing", pid)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for began := time.Now(); lives(said.PIDs[0]) || lives(said.PIDs[1]); runtime.Gosched() {
		if time.Since(began) > 60*time.Second {
			t.Fatalf("of %v some live on", said.PIDs)
		}
	}
}

// lives reports whether a process is there and not only waiting to be buried.
func lives(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
