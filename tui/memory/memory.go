// Package memory stores the state that the terminal UI keeps between runs: preferences, recent and favorite models,
// pinned sessions, mentioned files, and the prompt history and stash.
//
// Each kind is a file in the state directory, and every call reads or changes its file: nothing is cached, so
// processes that run at the same time see each other's changes. A change takes the lock of the directory and rewrites
// the whole file. Calls touch the disk and may wait for another process; make them in the background.
//
// Errors here are never fatal. Unreadable files count as empty, with an error; a
// change first renames them to .broken. Unreadable lines are
// skipped. Fields of other versions stay in the files.
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

// mostBytes is the maximum size of a state file.
const mostBytes = 64 << 20

// Memory is a state directory.
type Memory struct{ dir string }

// Open returns the memory of a directory, which need not exist. It does no I/O. With dir "" it
// is always empty.
func Open(dir string) *Memory { return &Memory{dir} }

// read returns a file; a missing one is empty.
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

// errBroken says that a file is invalid.
var errBroken = errors.New("TUI state cannot be read")

// withLock runs do under the lock of the directory.
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

// write replaces a file.
func (m *Memory) write(name string, data []byte) error {
	return atomicfile.Write(filepath.Join(m.dir, name), data)
}

// moveBroken renames a file that could not be parsed, so that a new one can be written.
// Other errors are returned.
func (m *Memory) moveBroken(name string, err error) error {
	if !errors.Is(err, errBroken) {
		return err
	}
	path := filepath.Join(m.dir, name)
	return os.Rename(path, path+".broken")
}

// object reads a file with one JSON object.
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

// changeObject changes members of a JSON file; the others stay. It writes only after
// a change.
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
