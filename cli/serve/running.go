package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/filelock"
)

// runningServer is the file of a running server, for commands that look for one. It holds no secret.
type runningServer struct {
	Address string `json:"address"` // on this machine
	Open    bool   `json:"open,omitempty"`
}

// register lists a server as running until the returned function is called or the process ends: beside its file is
// another that the process keeps locked. Without its file a server works as well.
func register(a *cli.App, dir string, r runningServer) (remove func()) {
	name := filepath.Join(dir, fmt.Sprintf("%d.json", os.Getpid()))
	data, err := json.Marshal(r)
	if err == nil {
		err = atomicfile.Write(name, data)
	}
	var lock *os.File
	if err == nil {
		if lock, err = os.OpenFile(name+".lock", os.O_CREATE|os.O_RDWR, 0o600); err == nil {
			err = filelock.TryLock(lock)
		}
	}
	if err != nil {
		a.Log.Warn("cannot list this server as running", "error", err)
	}
	return func() {
		_ = os.Remove(name)
		if lock != nil {
			_ = os.Remove(lock.Name())
			_ = lock.Close()
		}
	}
}

// findRunning returns a running server that browsers can reach, and removes what servers left that were killed.
func findRunning(dir string) (found runningServer, ok bool) {
	entries, _ := os.ReadDir(dir) // there may be none
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		lock, err := os.OpenFile(name+".lock", os.O_RDWR, 0o600)
		if err == nil {
			err = filelock.TryLock(lock)
			_ = lock.Close()
		}
		if !errors.Is(err, filelock.ErrLocked) { // nobody holds it
			_ = os.Remove(name)
			_ = os.Remove(name + ".lock")
			continue
		}
		var r runningServer
		if data, err := os.ReadFile(name); err == nil && json.Unmarshal(data, &r) == nil && strings.HasPrefix(r.Address, "http") {
			found, ok = r, true
		}
	}
	return found, ok
}
