package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// stubbornTerminal starts a process that left its session and ignores signals, and returns its
// number.
const stubbornTerminal = `{"command":"sh","args":["-c","trap '' HUP TERM INT; setsid sh -c 'trap \"\" HUP TERM INT; echo $$ > pid; while :; do sleep 0.05; done' & while :; do sleep 0.05; done"]}`

// terminalPID waits for the number of the process.
func terminalPID(t *testing.T, home string) (pid int) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
		text, _ := os.ReadFile(filepath.Join(home, "pid"))
		if _, err := fmt.Sscanf(string(text), "%d\n", &pid); err == nil {
			return pid
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Fatal("the terminal did not start")
	return 0
}

// isGone waits for the end of a process.
func isGone(pid int) bool {
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return true
		}
		<-time.After(5 * time.Millisecond)
	}
	return false
}

// What terminals started ends with the server, however that ends; watchers are notified if
// there is time.
func TestServe_TerminalsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*serving){"in order": (*serving).end, "killed": (*serving).kill} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			// What stands in for protected names of a confined terminal goes a moment after a server that was killed.
			s := startServe(t, home, []string{"LATHE_NO_AUTH=1", `LATHE_CONFIG_CONTENT={"sandbox":"off"}`})
			var p struct{ ID string }
			s.ask(200, &p, "POST", "/pty", stubbornTerminal)
			pid := terminalPID(t, home)
			ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			conn, _, err := websocket.Dial(ctx, s.url+"/pty/"+p.ID+"/connect", nil)
			if err != nil {
				t.Fatal(err)
			}
			code := make(chan websocket.StatusCode)
			go func() {
				for {
					if _, _, err := conn.Read(ctx); err != nil {
						code <- websocket.CloseStatus(err)
						return
					}
				}
			}()
			end(s)
			if got := <-code; name == "in order" && got != websocket.StatusGoingAway {
				t.Errorf("it was closed with %d", got)
			}
			if !isGone(pid) {
				t.Error("a process of the terminal lives on")
			}
		})
	}
}

// The password of the server is not in the environment of its terminals.
func TestServe_TerminalsKnowNoPassword(t *testing.T) {
	home := t.TempDir()
	s := startServe(t, home, []string{"OPENCODE_SERVER_PASSWORD=hidden-word", "SEEN=yes"})
	s.key = "hidden-word"
	s.ask(200, nil, "POST", "/pty", `{"command":"sh","args":["-c","env > all; mv all env; echo $$ > pid; sleep 60"]}`)
	terminalPID(t, home)
	text, err := os.ReadFile(filepath.Join(home, "env"))
	if err != nil || !strings.Contains(string(text), "SEEN=yes") || strings.Contains(string(text), "hidden-word") {
		t.Errorf("%v: %s", err, text)
	}
	s.end()
}
