package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/config/datadir"
)

// The file of logs is bounded: what is old goes aside, and from there away.
func TestLogFile_Bounded(t *testing.T) {
	data := t.TempDir()
	l := &logFile{find: func() (datadir.Folders, error) { return datadir.Folders{Data: data}, nil }}
	line := []byte(strings.Repeat("x", 1<<20-1) + "\n")
	for range 30 {
		if n, err := l.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	var total int64
	entries, err := os.ReadDir(filepath.Join(data, "log"))
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 2*maxLog || total < maxLog/2 {
		t.Errorf("%d bytes are kept", total)
	}
}

// Where it cannot be written, nothing else suffers.
func TestLogFile_NoPlace(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "log"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{dir, filepath.Join(dir, "missing")} {
		l := &logFile{find: func() (datadir.Folders, error) { return datadir.Folders{Data: data}, nil }}
		if n, err := l.Write([]byte("x\n")); n != 2 || err != nil {
			t.Errorf("%s: %d %v", data, n, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "missing")); err == nil {
			t.Error("a folder was made")
		}
	}
}
