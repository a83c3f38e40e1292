package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/lathe-agent/lathe"
)

// Edit merges a change into a config file like a JSON merge patch: objects deeply, other values
// replaced, null removes. Comments, order and style of the file stay. The result is checked
// before it is written atomically. A missing file is created.
func Edit(path string, change json.RawMessage) error {
	target := linkTarget(path)
	d := newFileReader()
	text, err := d.read(target)
	before, _ := d.stat(target)
	if info, err := os.Lstat(target); err == nil && isPlaceholder(info) {
		return lathe.Errorf(lathe.Unavailable, "%s cannot be written while the model's commands run; wait for them or stop background commands. Nothing was changed", path)
	}
	if before != nil && err != nil || err != nil && !absent(err) {
		return lathe.Errorf(codeOf(err), "%s cannot be read: %s; nothing was changed", path, errText(err))
	}
	out, err := editText(path, text, change)
	if err != nil {
		return err
	}
	if before != nil && bytes.Equal(out, text) {
		return nil
	}
	if err := replaceFile(target, out, before); err != nil {
		code := lathe.CodeOf(err)
		if errors.Is(err, fs.ErrPermission) {
			code = lathe.Denied
		}
		return lathe.Errorf(code, "%s cannot be written: %w; nothing was changed", path, err)
	}
	return nil
}

// codeOf distinguishes missing permissions from a failing disk.
func codeOf(err error) lathe.Code {
	if errors.Is(err, fs.ErrPermission) {
		return lathe.Denied
	}
	return lathe.Unavailable
}

// linkTarget follows links to the file itself, so that a link is not replaced by a file. The target
// need not exist.
func linkTarget(path string) string {
	for range 40 { // as many as systems follow
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// editText is Edit without files.
func editText(path string, text []byte, change json.RawMessage) ([]byte, error) {
	patch, err := parseChange(change)
	if err != nil {
		return nil, err
	}
	body := bytes.TrimPrefix(text, byteOrderMark)
	mark := text[:len(text)-len(body)]
	if isBlank(body) {
		body = bytes.TrimLeft(slices.Concat(bytes.TrimRight(body, " \t\r\n"), []byte("\n{}\n")), "\n")
	}
	// The existing text must parse, or the change would be applied to a misread file.
	s := &source{name: path, text: body}
	if err := s.parse(substitution{inert: true}); err != nil {
		return nil, err
	}
	for _, t := range s.tokens {
		if !t.quoted {
			return nil, s.fail(t.start, "is not inside a string; edit this file by hand")
		}
	}
	v, err := hujson.Parse(append(body[:len(body):len(body)], '\n'))
	if err != nil {
		return nil, err // cannot happen: it was parsed before
	}
	e := editor{unit: indentOf(body), eol: "\n"}
	if bytes.Contains(body, []byte("\r\n")) {
		e.eol = "\r\n"
	}
	if obj, ok := v.Value.(*hujson.Object); ok {
		e.apply(obj, patch, layout{})
	}
	out := bytes.TrimSuffix(v.Pack(), []byte("\n"))
	s = &source{name: path, text: out, table: tableFor(path)}
	if err := s.read(substitution{inert: true}); err != nil {
		return nil, err
	}
	return append(bytes.Clone(mark), out...), nil
}

// parseChange reads a change, which is plain JSON.
func parseChange(change json.RawMessage) (*node, error) {
	s := &source{name: "the change", text: change}
	if !json.Valid(change) || !utf8.Valid(change) {
		return nil, lathe.Errorf(lathe.Invalid, "a config change must be a JSON object")
	}
	if err := s.parseText(change); err != nil {
		return nil, err
	}
	return s.root, nil
}

// tableFor returns the table for a file by its name.
func tableFor(path string) *spec {
	if name := filepath.Base(path); name == "tui.json" || name == "tui.jsonc" {
		return tuiTable()
	}
	return settings()
}

// indentOf returns the white space before the first member of the file, two spaces by default.
func indentOf(text []byte) string {
	for line := range strings.SplitSeq(string(text), "\n") {
		trimmed := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(trimmed, `"`) && len(trimmed) < len(line) {
			return line[:len(line)-len(trimmed)]
		}
	}
	return "  "
}

var errChanged = &lathe.Error{Code: lathe.Conflict, Message: "it was changed by another process; try again"}

// replaceFile replaces a file atomically through a temporary file beside it.
func replaceFile(path string, data []byte, before fs.FileInfo) error {
	dir := filepath.Dir(path)
	mode := fs.FileMode(0o600)
	if before != nil {
		mode = before.Mode().Perm()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return lathe.Errorf(lathe.Unavailable, "%w", err)
	}
	f, err := os.CreateTemp(dir, ".lathe-*")
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "%w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		now, statErr := os.Stat(path)
		if (statErr == nil) != (before != nil) || before != nil && !sameFile(before, now) {
			err = errChanged
		}
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		return nil
	}
	_ = os.Remove(f.Name())
	if err == errChanged {
		return err
	}
	return lathe.Errorf(lathe.Unavailable, "%w", err)
}
