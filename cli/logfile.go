package cli

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/lathe-agent/lathe/config/datadir"
)

// mostLog is how long the file of logs grows before it is put aside; one such is kept.
const mostLog = 8 << 20

// logFile is the file that logs go to: log/lathe.log in the data folder. It is opened when the first
// line is written, and where there is no data folder yet nothing is. A log that cannot be written is
// no reason to fail.
type logFile struct {
	find func() (datadir.Folders, error)

	mu     sync.Mutex // guards the fields below
	opened bool
	file   *os.File // nil writes nothing
	size   int64
	path   string
}

// Write appends whole lines; several processes may.
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
	if l.size += int64(len(b)); l.size > mostLog {
		l.putAside()
	}
	if l.file != nil {
		_, _ = l.file.Write(b) // there is nobody to tell
	}
	return len(b), nil
}

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

func (l *logFile) append() {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // nothing was written
		return
	}
	l.file, l.size = f, info.Size()
}

// putAside begins a new file. Another process may have done so already: then this one goes on in it.
func (l *logFile) putAside() {
	_ = l.file.Close()
	l.file = nil
	if info, err := os.Stat(l.path); err == nil && info.Size() > mostLog/2 {
		_ = os.Rename(l.path, l.path+".1") // else it grows on
	}
	l.append()
}
