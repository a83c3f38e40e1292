package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// parseLines reads the values of a file of lines, oldest first; broken counts the lines that are none.
func parseLines[T any](data []byte, usable func(T) bool) (out []T, broken int) {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var v T
		if json.Unmarshal(line, &v) != nil || !usable(v) {
			broken++
			continue
		}
		out = append(out, v)
	}
	return out, broken
}

// latest returns the last entries, up to a number.
func latest[T any](all []T, most int) []T { return all[max(0, len(all)-most):] }

// trimmer rewrites a file of lines with only the latest ones; broken counts the unreadable lines.
type trimmer func(data []byte) (kept []byte, broken int, err error)

// keepLatest makes a trimmer for lines that pass a check.
func keepLatest[T any](most int, usable func(T) bool) trimmer {
	return func(data []byte) ([]byte, int, error) {
		all, broken := parseLines(data, usable)
		kept, err := encodeLines(latest(all, most))
		return kept, broken, err
	}
}

// rewrite replaces a file of lines. If some were unreadable, the old file is saved as .broken.
func (m *Memory) rewrite(name string, old, kept []byte, broken int) error {
	if broken > 0 {
		if err := m.write(name+".broken", old); err != nil {
			return err
		}
	}
	return m.write(name, kept)
}

// appendLine adds a value to a file of lines. When there are twice as many as needed, trim rewrites
// the file, so that most calls write only one line.
func appendLine[T any](ctx context.Context, m *Memory, name string, v T, most int, trim trimmer) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	return m.withLock(ctx, func() error {
		data, err := m.read(name)
		if err := m.moveBroken(name, err); err != nil {
			return err
		}
		if len(data) > 0 && data[len(data)-1] != '\n' { // a truncated last line must not break this one
			line = append([]byte("\n"), line...)
		}
		if bytes.Count(data, []byte("\n"))+1 > 2*most {
			kept, broken, err := trim(append(data, line...))
			if err != nil {
				return err
			}
			return m.rewrite(name, data, kept, broken)
		}
		return m.add(name, line)
	})
}

// add writes at the end of a file.
func (m *Memory) add(name string, data []byte) error {
	f, err := os.OpenFile(filepath.Join(m.dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// encodeLines writes values as lines.
func encodeLines[T any](all []T) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range all {
		if err := enc.Encode(v); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
