package builtin

import (
	"context"
	"testing"
)

// endless is a log that never stops.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	p[len(p)-1] = '\n'
	e.read += int64(len(p))
	return len(p), nil
}

// A file is not read to an end that may never come.
func TestExcerpt_Endless(t *testing.T) {
	file := &endless{}
	s := excerpt{first: 3, limit: 2}
	if err := s.run(context.Background(), file, 1<<40); err != nil {
		t.Fatal(err)
	}
	if !s.more || len(s.lines) != 2 || file.read > countLimit+1<<20 {
		t.Errorf("more %v, %d lines, %d bytes read", s.more, len(s.lines), file.read)
	}
	if got, want := s.closing(3, 4), "Showing lines 3-4 of more than 16389. Use offset=5 to continue. Lines over 2000 characters are cut; grep or cut shows parts of them."; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
