package mcp_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool/mcp"
)

// pids are the processes that the server with forks left behind.
func pids(t *testing.T, dir string) (out []int) {
	t.Helper()
	for i := range 3 {
		b, err := os.ReadFile(filepath.Join(dir, "pid"+strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, pid)
	}
	return out
}

// alive asks the system that the tests below need.
func alive(pid int) bool {
	_, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && !zombie(pid)
}

func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestFault_ProcessesEndWithTheHub(t *testing.T) {
	if sandbox.Self() == "" {
		t.Skip("only Linux finds processes that detached themselves")
	}
	dir := t.TempDir()
	w := open(t, []mcp.Server{bad(t, "forks", dir)})
	w.ready()
	left := pids(t, dir)
	if !slices.ContainsFunc(left, alive) {
		t.Fatal("there was nothing to end")
	}
	w.hub.Close()
	eventually(t, 60*time.Second, "all are gone", func() bool { return !slices.ContainsFunc(left, alive) })
}

// hubProcess is a program with a hub, to be killed.
func hubProcess(args []string) int {
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
	path, _ := os.Executable()
	hub := mcp.Open(mcp.Options{Dir: args[0], Runner: runner, Servers: []mcp.Server{
		{Name: "h", Command: []string{path, "a-hostile-server", "forks", args[0]}},
	}})
	if err := hub.Connect(context.Background(), "h"); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("connected")
	select {}
}

func TestFault_ProcessesEndWhenWeAreKilled(t *testing.T) {
	if sandbox.Self() == "" {
		t.Skip("only Linux ends the processes of a program that was killed")
	}
	dir := t.TempDir()
	line := self(t, "a-hub", dir)
	cmd := exec.Command(line[0], line[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("connected\n"))
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "connected\n" {
		t.Fatalf("%q %v", said, err)
	}
	left := pids(t, dir)
	if !slices.ContainsFunc(left, alive) {
		t.Fatal("there was nothing to end")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	eventually(t, 60*time.Second, "all are gone", func() bool { return !slices.ContainsFunc(left, alive) })
}

func TestHub_Confined(t *testing.T) {
	if err := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}).Kernel().Available(false); err != nil {
		t.Skip(err)
	}
	outside := t.TempDir()
	w := open(t, []mcp.Server{good(t, "s")}, func(o *mcp.Options) {
		o.Confine = func(mcp.Server) (sandbox.Profile, error) {
			return sandbox.Profile{Mode: sandbox.Workspace, Write: []string{o.Dir}}, nil
		}
	})
	w.ready()
	equal(t, w.must("s_write", `{"File":"`+filepath.Join(w.dir, "a")+`"}`).Output, "written")
	w.fails("s_write", `{"File":"`+filepath.Join(outside, "a")+`"}`, "refused the call of write")
	if _, err := os.Stat(filepath.Join(outside, "a")); err == nil {
		t.Error("it wrote outside")
	}
}
