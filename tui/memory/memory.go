// Package memory keeps what the terminal program wants to find again at its next start: small settings, models
// that were used, sessions that are pinned, files that were mentioned, prompts that were sent or put aside.
//
// Each thing is a file of the state folder, and every call reads or changes its file: nothing is held here, so
// programs that run at the same time see each other's changes. A change takes the lock of the folder, reads, changes
// and writes the file whole. Calls touch the disk and may wait for another process; make them beside the screen.
//
// Nothing here is worth failing for. Files that cannot be read count as empty, with an error that says so; a
// change puts them aside, under their name with .broken, before it writes a new one. Lines that cannot be read are
// left out. What other versions wrote into the files stays.
//
// A Memory may be used by many goroutines. Start with Open.
package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/filelock"
)

// The files.
const (
	settingsFile = "kv.json"
	modelsFile   = "model.json"
	sessionsFile = "session.json"
	mentionsFile = "frecency.jsonl"
	historyFile  = "prompt-history.jsonl"
	stashFile    = "prompt-stash.jsonl"
	lockFile     = "tui.lock"
)

// mostBytes is the size from which a file is not one of ours.
const mostBytes = 64 << 20

// Memory is a state folder.
type Memory struct{ dir string }

// Open makes a memory of a folder, which need not be there. It touches nothing. The memory of no folder, "",
// is empty and stays so.
func Open(dir string) *Memory { return &Memory{dir} }

// read returns a file; one that is not there is empty.
func (m *Memory) read(name string) ([]byte, error) {
	if m.dir == "" {
		return nil, nil
	}
	f, err := os.Open(filepath.Join(m.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read TUI state: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read TUI state: %s is not a file", f.Name())
	}
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read TUI state: %w", err)
	}
	if len(data) > mostBytes {
		return nil, fmt.Errorf("%w: %s is larger than %d MB", errBroken, f.Name(), mostBytes>>20)
	}
	return data, nil
}

// errBroken says that a file is not what it should be.
var errBroken = errors.New("TUI state cannot be read")

// withLock does something while no other process does.
func (m *Memory) withLock(ctx context.Context, do func() error) error {
	if m.dir == "" {
		return nil
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return fmt.Errorf("save TUI state: %w", err)
	}
	release, err := filelock.Lock(ctx, filepath.Join(m.dir, lockFile))
	if err != nil {
		return fmt.Errorf("save TUI state: %w", err)
	}
	defer release()
	if err := do(); err != nil {
		return fmt.Errorf("save TUI state: %w", err)
	}
	return nil
}

// write puts a file in place.
func (m *Memory) write(name string, data []byte) error {
	return atomicfile.Write(filepath.Join(m.dir, name), data)
}

// moveBroken looks at how a file was read: a broken one is moved, so that it does not stand in the way of what is to
// be written. What else went wrong is returned.
func (m *Memory) moveBroken(name string, err error) error {
	if !errors.Is(err, errBroken) {
		return err
	}
	path := filepath.Join(m.dir, name)
	return os.Rename(path, path+".broken")
}

// object reads a file that is one object.
func (m *Memory) object(name string) (map[string]json.RawMessage, error) {
	data, err := m.read(name)
	out := map[string]json.RawMessage{}
	if err != nil || len(data) == 0 {
		return out, err
	}
	if err := json.Unmarshal(data, &out); err != nil || out == nil {
		return map[string]json.RawMessage{}, fmt.Errorf("%w: %s is not a JSON object", errBroken, name)
	}
	return out, nil
}

// changeObject changes members of a file that is one object; the others stay. It writes only if anything is
// another than before.
func (m *Memory) changeObject(ctx context.Context, name string, change func(map[string]json.RawMessage) (changed bool)) error {
	return m.withLock(ctx, func() error {
		all, err := m.object(name)
		if err := m.moveBroken(name, err); err != nil {
			return err
		}
		if !change(all) {
			return nil
		}
		data, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return err
		}
		return m.write(name, append(data, '\n'))
	})
}
