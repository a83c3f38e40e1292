package lsp

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// maxFile is the size in bytes of the largest file that is sent to a server.
const maxFile = 2 << 20

var errTooLarge = errors.New("the file is too large for a language server")

// readLimited reads a regular file up to a limit.
func readLimited(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = errTooLarge
	}
	return data, err
}

// uriOf returns the file URI of an absolute path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// pathOf returns the clean absolute path of a file URI; ok is false for any other URI.
func pathOf(uri string) (path string, ok bool) {
	const longest = 8 << 10
	if len(uri) > longest {
		return "", false
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" || strings.ContainsRune(u.Path, 0) {
		return "", false
	}
	path = u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	path = filepath.Clean(filepath.FromSlash(path))
	return path, filepath.IsAbs(path)
}

// clean makes one line of foreign text that is safe for a model and a terminal.
func clean(s string, most int) string {
	if len(s) > 4*most {
		s = strings.ToValidUTF8(s[:4*most], "")
	}
	return termtext.Clip(strings.Join(strings.Fields(termtext.PlainText(s)), " "), most)
}

// encoding is the unit in which a server counts the characters of a line.
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
	utf32Units encoding = "utf-32"
)

// width is how many units a rune has.
func (e encoding) width(r rune, size int) int {
	switch e {
	case utf8Units:
		return size
	case utf32Units:
		return 1
	default:
		if r >= 0x10000 {
			return 2
		}
		return 1
	}
}

// lines finds the beginnings of lines in a text, as the protocol counts them: \n, \r\n and \r end one.
func lines(text string) []int {
	out := []int{0}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n', text[i] == '\r' && (i+1 == len(text) || text[i+1] != '\n'):
			out = append(out, i+1)
		}
	}
	return out
}

// lineAt returns the text of a line without its end; the number counts from 0.
func lineAt(text string, starts []int, n int) string {
	if n < 0 || n >= len(starts) {
		return ""
	}
	end := len(text)
	if n+1 < len(starts) {
		end = starts[n+1]
	}
	return strings.TrimRight(text[starts[n]:end], "\r\n")
}

// offset returns the byte of a position. Positions outside of the text are moved to its nearest end.
func (e encoding) offset(text string, starts []int, p Position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(starts) {
		return len(text)
	}
	line := lineAt(text, starts, p.Line)
	units, at := 0, 0
	for at < len(line) && units < p.Character {
		r, size := utf8.DecodeRuneInString(line[at:])
		units += e.width(r, size)
		if units > p.Character {
			break // in the middle of a character
		}
		at += size
	}
	return starts[p.Line] + at
}

// position returns the position of a byte.
func (e encoding) position(text string, starts []int, offset int) Position {
	offset = max(0, min(offset, len(text)))
	lo, hi := 0, len(starts)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; starts[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	units := 0
	for i := starts[lo]; i < offset; {
		r, size := utf8.DecodeRuneInString(text[i:])
		units += e.width(r, size)
		i += size
	}
	return Position{Line: lo, Character: units}
}

// contentChange is the smallest single replacement that makes one text of another.
func (e encoding) contentChange(before, after string) textChange {
	prefix := 0
	for prefix < len(before) && prefix < len(after) && before[prefix] == after[prefix] {
		prefix++
	}
	for prefix > 0 && (prefix < len(before) && !utf8.RuneStart(before[prefix]) || prefix < len(after) && !utf8.RuneStart(after[prefix]) || before[prefix-1] == '\r') {
		prefix-- // neither in the middle of a character nor of a line end
	}
	suffix := 0
	for suffix < len(before)-prefix && suffix < len(after)-prefix && before[len(before)-1-suffix] == after[len(after)-1-suffix] {
		suffix++
	}
	for suffix > 0 && (!utf8.RuneStart(before[len(before)-suffix]) || before[len(before)-suffix] == '\n') {
		suffix--
	}
	starts := lines(before)
	r := Range{Start: e.position(before, starts, prefix), End: e.position(before, starts, len(before)-suffix)}
	return textChange{Range: &r, Text: after[prefix : len(after)-suffix]}
}

// changedLines returns the lines of a change, from 0: the first, how many there were, and how many there are.
func changedLines(before, after string) (first, removed, added int) {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	for first < len(a) && first < len(b) && a[first] == b[first] {
		first++
	}
	end := 0
	for end < len(a)-first && end < len(b)-first && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return first, len(a) - first - end, len(b) - first - end
}
