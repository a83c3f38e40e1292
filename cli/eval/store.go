package eval

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/lathe-agent/lathe"
	cases "github.com/lathe-agent/lathe/eval"
	"github.com/lathe-agent/lathe/internal/filelock"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// store is a result file that is locked and appended to.
type store struct {
	name string

	mu   sync.Mutex // guards the file
	file *os.File
}

// openStore opens a result file and reads it. A last line that was cut off is removed.
func openStore(name string) (*store, cases.Results, error) {
	var none cases.Results
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, none, lathe.Errorf(lathe.Unavailable, "cannot write the results: %w; name another file with --results", err)
	}
	s := &store{name: name, file: f}
	fail := func(err error) (*store, cases.Results, error) { return nil, none, errors.Join(err, f.Close()) }
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > cases.MaxResults {
		return fail(lathe.Errorf(lathe.Invalid, "%s is not a result file: want a regular file of at most %s", termtext.Plain(name), termtext.ByteSize(cases.MaxResults)))
	}
	if err := filelock.TryLock(f); errors.Is(err, filelock.ErrLocked) {
		return fail(lathe.Errorf(lathe.Conflict, "another lathe eval is at work with %s; wait for it, or name another file with --results", termtext.Plain(name)))
	} else if err != nil {
		return fail(err)
	}
	data, err := io.ReadAll(io.LimitReader(f, cases.MaxResults))
	if err != nil {
		return fail(err)
	}
	all, err := cases.ReadResults(termtext.Plain(name), data)
	if err != nil {
		return fail(lathe.Errorf(lathe.Invalid, "%w. Name another file with --results", err))
	}
	if err := f.Truncate(all.Size); err != nil {
		return fail(err)
	}
	if _, err := f.Seek(all.Size, io.SeekStart); err != nil {
		return fail(err)
	}
	return s, all, nil
}

// add appends a result, which is on disk when add returns.
func (s *store) add(r cases.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.Write(r.Line()); err != nil {
		return lathe.Errorf(lathe.Unavailable, "save a result: %w", err)
	}
	if r.Began { // if it is lost, only the cost of a run that was killed is
		return nil
	}
	return s.file.Sync()
}

func (s *store) close() error { return s.file.Close() }
