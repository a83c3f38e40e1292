package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
)

// ErrorKind is the wire's name of a config error.
type ErrorKind string

// The kinds of config errors.
const (
	JSONError        ErrorKind = "ConfigJsonError"        // the file is not JSON, or cannot be read
	InvalidError     ErrorKind = "ConfigInvalidError"     // a value is of the wrong kind
	FrontmatterError ErrorKind = "ConfigFrontmatterError" // the head of a markdown file is not YAML
)

// maxProblems limits the problems reported for one file.
const maxProblems = 100

// Error reports the problems of a config file. It always names the file.
type Error struct {
	Kind     ErrorKind
	Path     string
	Message  string // of the whole file
	Problems []Problem
	Also     []*Error // other files that are wrong too
}

// Problem is one mistake and its position.
type Problem struct {
	Path         string   // of the file
	Line, Column int      // from 1; 0 when it concerns the whole file
	Key          []string // the setting it is about
	Message      string
	Hint         string // the likely intended key or value
	Important    bool   // a warning to show at every start, since the user relies on the key
	Source       string // the line, or what is around the place in a long one
	mark         int    // where in Source, from 0
}

// Error lists every problem of every file with its line, as the command line prints it.
func (e *Error) Error() string {
	var all []string
	if e.Message != "" {
		all = append(all, e.Path+": "+e.Message)
	}
	for _, p := range e.Problems {
		all = append(all, p.String())
	}
	for _, other := range e.Also {
		all = append(all, other.Error())
	}
	return strings.Join(all, "\n")
}

// Unwrap gives the error its code.
func (e *Error) Unwrap() error { return &lathe.Error{Code: lathe.Invalid, Message: e.Error()} }

// Wire is the error as the HTTP API shows it: the name and data of the first file, with
// the text for all of them.
func (e *Error) Wire() json.RawMessage {
	type issue struct {
		Path    []string `json:"path"`
		Message string   `json:"message"`
	}
	var out struct {
		Name ErrorKind `json:"name"`
		Data struct {
			Path    string  `json:"path"`
			Issues  []issue `json:"issues,omitempty"`
			Message string  `json:"message"`
		} `json:"data"`
	}
	out.Name, out.Data.Path, out.Data.Message = e.Kind, e.Path, e.Error()
	if e.Kind == InvalidError {
		for _, p := range e.Problems {
			out.Data.Issues = append(out.Data.Issues, issue{append([]string{}, p.Key...), p.text()})
		}
	}
	b, err := json.Marshal(out)
	if err != nil { // strings always encode
		panic(err)
	}
	return b
}

// join makes one error of those of several files.
func join(errs []*Error) error {
	if len(errs) == 0 {
		return nil
	}
	first := *errs[0]
	first.Also = errs[1:]
	return &first
}

// text is the message with its hint, without the position.
func (p Problem) text() string {
	if p.Hint == "" {
		return p.Message
	}
	return fmt.Sprintf("%s; did you mean %q?", p.Message, p.Hint)
}

// String shows the problem with its line and a mark below the place.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Path)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if len(p.Key) > 0 {
		b.WriteString(strings.Join(p.Key, ".") + ": ")
	}
	b.WriteString(p.text())
	if p.Source != "" {
		fmt.Fprintf(&b, "\n  %s\n  %s^", p.Source, strings.Repeat(" ", p.mark))
	}
	return b.String()
}

func problemAt(at location, key []string, message string) Problem {
	return problemIn(at.src, at.original(), key, message)
}

// problemIn finds the line of an offset in the file. Columns count characters.
func problemIn(s *source, at int, key []string, message string) Problem {
	n := s.line(at)
	at = max(min(at, len(s.text)), s.starts[0])
	start, end := s.starts[n], len(s.text)
	if n+1 < len(s.starts) {
		end = s.starts[n+1]
	}
	line, mark := excerpt(hide(string(s.text[start:end])), at-start)
	if s.leaves { // the project must not show text from outside
		line, mark, message = "", 0, "is wrong; the line is not shown, since the file is outside the project"
	}
	return Problem{
		Path: s.name, Line: n + 1, Column: utf8.RuneCount(s.text[start:at]) + 1,
		Key: slices.Clone(key), Message: message, Source: line, mark: mark,
	}
}

// line counts the lines before an offset in the file.
func (s *source) line(at int) int {
	if s.starts == nil {
		s.starts = lineStarts(s.text)
	}
	n, exact := slices.BinarySearch(s.starts, max(at, s.starts[0]))
	if !exact {
		n-- // the line that begins before it
	}
	return n
}

// lineStarts are the offsets of the lines; a byte order mark belongs to none.
func lineStarts(text []byte) []int {
	out := []int{0}
	if bytes.HasPrefix(text, byteOrderMark) {
		out[0] = len(byteOrderMark)
	}
	for i, c := range text {
		if c == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// secrets matches keys with secret values, also if the closing quote is missing.
var secrets = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)((?:api[-_]?key|token|secret|password|authorization|credential)[-_\w]*["']?\s*[:=]\s*["'])([^"'\r\n]*)`)
})

// hide masks secrets with as many stars as they have bytes, so that columns stay right.
// References to variables and files are not secrets.
func hide(line string) string {
	return secrets().ReplaceAllStringFunc(line, func(found string) string {
		at := secrets().FindStringSubmatchIndex(found)
		value := found[at[4]:at[5]]
		if strings.HasPrefix(value, "{env:") || strings.HasPrefix(value, "{file:") {
			return found
		}
		return found[:at[4]] + strings.Repeat("*", len(value)) + found[at[5]:]
	})
}

// excerpt returns the line to show and the column to mark. A long line is cut around the
// column. Control characters become spaces.
func excerpt(line string, at int) (shown string, mark int) {
	const wide = 100
	from := max(0, at-4*wide) // a character has at most four bytes
	cut := line[from:min(len(line), at+4*wide)]
	runes := []rune(strings.TrimRight(cut, "\r\n"))
	mark = min(utf8.RuneCountInString(line[from:at]), len(runes))
	if len(runes) > wide {
		first := max(0, min(mark-wide/2, len(runes)-wide))
		runes, mark = runes[first:first+wide], mark-first
	}
	for i, r := range runes {
		if r < ' ' || r == 0x7f || r == '\uFEFF' {
			runes[i] = ' '
		}
	}
	return string(runes), mark
}
