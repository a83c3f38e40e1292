package config

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sort"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Layer says where a source comes from, and so what it may do.
type Layer string

// The layers, in the order of their precedence.
const (
	User    Layer = "user"    // the user's own files, variables and flags
	Project Layer = "project" // came with the directory; what runs or redirects needs trust
	Managed Layer = "managed" // the administrator's
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// source is one origin of config values.
type source struct {
	name    string // its path, or what to call it
	dir     string // paths in it are relative to this
	layer   Layer
	table   *spec  // its allowed keys
	under   string // all of it is the value of this key, if one is named
	text    []byte // as written
	root    *node
	warns   []Problem
	tokens  []token // the {env:…} and {file:…} in it
	cuts    []cut
	starts  []int        // of its lines, once needed
	inert   bool         // tokens were left as they are
	opaque  bool         // it makes no sense before its tokens are put in
	leaves  bool         // it is reached through a link that leads out of the project
	foreign *foreignFile // of a file of another program
}

// cut remembers that what is at in the parsed text stood at from in the file. All of what was
// put in for a token stood at its beginning.
type cut struct {
	at, from int
	put      bool
}

// location is where something stands: an offset in the parsed text of a source.
type location struct {
	src    *source
	offset int
}

// original is the offset in the file as it was written.
func (p location) original() int {
	off := p.offset
	cuts := p.src.cuts
	if n := sort.Search(len(cuts), func(i int) bool { return cuts[i].at > off }); n > 0 { // the last one up to here
		c := cuts[n-1]
		if c.put {
			return c.from
		}
		off += c.from - c.at
	}
	return min(off, len(p.src.text))
}

func (s *source) warn(at location, format string, args ...any) {
	if len(s.warns) < maxProblems {
		s.warns = append(s.warns, problemAt(at, nil, fmt.Sprintf(format, args...)))
	}
}

// readSource reads and parses a file. What is not there or is no file is nil without an
// error; the latter is worth a warning.
func (l *loading) readSource(path string, layer Layer, table *spec) (*source, *Error) {
	text, err := l.disk.read(path)
	_, found := l.disk.stat(path)
	switch {
	case absent(err):
		return nil, nil
	case found != nil || err == errNotFile: // unclear whether it is a config file
		l.warn(Problem{Path: path, Message: "is ignored: " + errText(err)})
		return nil, nil
	case err != nil:
		return nil, &Error{Kind: JSONError, Path: path, Message: "cannot be read: " + errText(err)}
	}
	s := &source{name: path, dir: filepath.Dir(path), layer: layer, table: table, text: text}
	return s, s.parse(l.substitution(layer))
}

// parse reads the text as JSON with comments.
func (s *source) parse(sub substitution) *Error {
	s.root, s.cuts, s.inert = nil, nil, sub.inert
	if bad := invalidUTF8(s.text); bad >= 0 {
		return s.fail(bad, "is not valid UTF-8")
	}
	parsed, raw, err := s.substitute(sub)
	if err != nil {
		return err
	}
	err = s.parseText(parsed)
	if s.opaque = err != nil && raw && sub.inert; s.opaque {
		s.root = objectNode(location{s, 0}) // it cannot be checked yet
		return nil
	}
	return err
}

// read is parse, and check against the table.
func (s *source) read(sub substitution) *Error {
	if err := s.parse(sub); err != nil {
		return err
	}
	return s.check()
}

func (s *source) parseText(text []byte) *Error {
	if at := tooDeep(text); at >= 0 {
		return s.fail(location{s, at}.original(), fmt.Sprintf("is nested more than %d deep", maxDepth))
	}
	if isBlank(text) {
		s.root = objectNode(location{s, 0})
		return nil
	}
	// The parser wants a line end after every comment, which files need not have.
	v, err := hujson.Parse(append(text[:len(text):len(text)], '\n'))
	if err != nil {
		at, message := syntaxProblem(err, text)
		return s.fail(location{s, at}.original(), message)
	}
	if s.root = fromHuJSON(v, s); s.under != "" {
		s.root = wrap(s.root, s.under)
	}
	if s.root.kind != isObject {
		return s.fail(s.root.at.original(), "must be an object, not "+string(s.root.kind))
	}
	return nil
}

// isBlank reports whether a text has nothing but comments, as a file that was commented out.
func isBlank(text []byte) bool {
	for {
		text = bytes.TrimLeft(text, " \t\r\n")
		switch {
		case bytes.HasPrefix(text, []byte("//")):
			text = text[after(text, 0, "\n"):]
		case bytes.HasPrefix(text, []byte("/*")) && bytes.Contains(text[2:], []byte("*/")):
			text = text[after(text, 2, "*/"):]
		default:
			return len(text) == 0
		}
	}
}

// fail makes the error of a file that cannot be read as settings.
func (s *source) fail(at int, message string) *Error {
	return &Error{Kind: JSONError, Path: s.name, Problems: []Problem{problemIn(s, at, nil, message)}}
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	at := 0
	for r, w := utf8.DecodeRune(b); r != utf8.RuneError || w != 1; r, w = utf8.DecodeRune(b[at:]) {
		at += w
	}
	return at
}
