package cli

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/lathe-agent/lathe/config/datadir"
)

// maxLog is the size in bytes at which the log file is rotated. One old file stays.
const maxLog = 8 << 20

// logFile is log/lathe.log in the data folder. The first write opens it; without a data folder nothing is written. A
// log that cannot be written is not an error.
type logFile struct {
	find func() (datadir.Folders, error)

	mu     sync.Mutex // guards the fields below
	opened bool
	file   *os.File // nil discards
	size   int64
	path   string
}

// Write appends whole lines, so that several processes can share the file.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.opened {
		l.opened = true
		l.open()
	}
	if l.file == nil {
		return len(b), nil
	}
	if l.size += int64(len(b)); l.size > maxLog {
		l.rotate()
	}
	if l.file != nil {
		_, _ = l.file.Write(b) // a failed log has no place to be reported
	}
	return len(b), nil
}

// open creates the log only in an existing data folder, so that commands without data create no folder.
func (l *logFile) open() {
	at, err := l.find()
	if err != nil {
		return
	}
	if info, err := os.Stat(at.Data); err != nil || !info.IsDir() {
		return
	}
	l.path = at.Logs()
	if os.MkdirAll(filepath.Dir(l.path), 0o700) != nil {
		return
	}
	l.append()
}

// append refuses anything but a regular file. A pipe, for example, could block the process.
func (l *logFile) append() {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // nothing to lose
		return
	}
	l.file, l.size = f, info.Size()
}

// rotate starts a new file, or continues in the one that another process has started.
func (l *logFile) rotate() {
	_ = l.file.Close()
	l.file = nil
	if info, err := os.Stat(l.path); err == nil && info.Size() > maxLog/2 {
		_ = os.Rename(l.path, l.path+".1") // on failure it keeps growing
	}
	l.append()
}
