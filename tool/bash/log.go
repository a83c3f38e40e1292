package bash

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// logBytes is how much output of a background command is kept on disk: its end, which is at least half of it.
const logBytes = 8 << 20

// logFile is the output of a command in the background. It can be read while it grows.
type logFile struct {
	path  string
	limit int64
	file  *os.File
	size  int64 // of the file
	err   error // why nothing more is written
}

// newLog makes a log under a new name in the folder of long outputs, whose files expire with time.
func newLog(o tool.Output) (*logFile, error) {
	ids := o.IDs
	if ids == nil {
		ids = lathe.NewIDs()
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep the output of a background command: %w", err)
	}
	l := &logFile{path: filepath.Join(o.Dir, ids.New(lathe.PrefixTool)+".log"), limit: logBytes}
	l.file, l.err = createLog(l.path)
	return l, l.err
}

func createLog(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep the output of a background command: %w", err)
	}
	return f, nil
}

func (l *logFile) write(p []byte) {
	if l.size+int64(len(p)) > l.limit && l.err == nil {
		l.err = l.shorten()
	}
	if l.err != nil {
		return
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	l.err = err
}

// shorten keeps the last half of the file. The new one replaces the old one at once, so that readers always see the end.
func (l *logFile) shorten() error {
	next, err := createLog(l.path + partial)
	if err != nil {
		return err
	}
	n, err := fmt.Fprintln(next, "... the beginning was removed: only the end of a long output stays ...")
	if err == nil {
		var kept int64
		kept, err = io.Copy(next, io.NewSectionReader(l.file, max(0, l.size-l.limit/2), l.limit))
		l.size = int64(n) + kept
	}
	if err == nil {
		err = renameOpen(l.file, next, l.path)
	}
	if err != nil {
		_ = next.Close()
		_ = os.Remove(next.Name()) // it is pruned some day if it cannot be removed now
		return err
	}
	l.file = next
	return nil
}

// renameOpen puts a file that is still written in the place of another. Where open files cannot be renamed, the log
// ends there.
func renameOpen(old, next *os.File, path string) error {
	_ = old.Close() // its content was copied
	return os.Rename(next.Name(), path)
}

func (l *logFile) close() { _ = l.file.Close() } // errors of writes were noted

// discard removes the log.
func (l *logFile) discard() {
	l.close()
	_ = os.Remove(l.path)
}

// drainTo moves all that is spooled to a log, of a long output only the end, and ends the spool.
func (s *spool) drainTo(l *logFile) error {
	defer func() { s.begun = nil }()
	if s.file == nil {
		l.write(s.begun)
		return nil
	}
	defer s.finish(false)
	from, err := os.Open(s.file.Name())
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	if _, err := from.Seek(max(0, s.stored-l.limit/2), io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(writerFunc(l.write), from)
	return err
}

// writerFunc is a function as a writer that never fails.
type writerFunc func([]byte)

func (w writerFunc) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
