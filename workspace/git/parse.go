package git

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
)

// parse reads what git diff --raw --numstat --patch says. A line of a patch's text begins with a
// blank, a sign or a backslash, so that a header cannot be mistaken.
func parse(said []byte) ([]lathe.FileDiff, error) {
	var out []lathe.FileDiff
	at := map[string]int{}
	head, patches := said, []byte(nil)
	if i := patchStart(said); i >= 0 {
		head, patches = said[:i], said[i:]
	}
	for line := range strings.Lines(string(head)) {
		line = strings.TrimSuffix(line, "\n")
		fields := strings.SplitN(line, "\t", 3)
		switch {
		case strings.HasPrefix(line, ":") && len(fields) == 2:
			status, path := fields[0][strings.LastIndexByte(fields[0], ' ')+1:], unquote(fields[1])
			if _, known := at[path]; known || status == "U" { // a conflict has a second line that says more
				continue
			}
			at[path] = len(out)
			out = append(out, lathe.FileDiff{File: path, Status: statusWord(status)})
		case len(fields) == 3:
			if i, ok := at[unquote(fields[2])]; ok {
				out[i].Additions, _ = strconv.Atoi(fields[0]) // a binary file has "-"
				out[i].Deletions, _ = strconv.Atoi(fields[1])
			}
		}
	}
	if err := givePatches(out, patches); err != nil {
		return nil, err
	}
	return out, nil
}

// givePatches gives files their patches.
func givePatches(out []lathe.FileDiff, patches []byte) error {
	next := 0
	for len(patches) > 0 {
		one := patches
		if i := bytes.Index(patches, []byte("\n"+diffHeader)); i >= 0 {
			one = patches[:i+1]
		}
		patches = patches[len(one):]
		if next >= len(out) {
			return fmt.Errorf("git diff has more patches than files")
		}
		// A patch has the order of its files; what has none, as a file whose mode alone is dirty, has no line above either.
		for next < len(out) && !isPatchOf(one, out[next].File) {
			next++
		}
		if next < len(out) {
			out[next].Patch = strings.ToValidUTF8(string(one), "\uFFFD")
			next++
		}
	}
	return nil
}

const diffHeader = "diff --git "

func patchStart(said []byte) int {
	if bytes.HasPrefix(said, []byte(diffHeader)) {
		return 0
	}
	if i := bytes.Index(said, []byte("\n"+diffHeader)); i >= 0 {
		return i + 1
	}
	return -1
}

// isPatchOf compares a header with the one that a path has.
func isPatchOf(patch []byte, path string) bool {
	line, _, _ := strings.Cut(string(patch[:min(len(patch), 2*len(path)*4+64)]), "\n")
	rest := strings.TrimPrefix(line, diffHeader)
	return rest == "a/"+path+" b/"+path || rest == quote("a/"+path)+" "+quote("b/"+path)
}

func statusWord(letter string) string {
	switch letter {
	case "A":
		return "added"
	case "D":
		return "deleted"
	default:
		return "modified"
	}
}

// unquote reads a path as git writes one: in quotes, as in C, if it has unusual bytes.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		if j := strings.IndexByte(escapes, s[i]); j >= 0 {
			out = append(out, escaped[j])
			continue
		}
		if i+3 <= len(s) {
			if n, err := strconv.ParseUint(s[i:i+3], 8, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// The escapes after a backslash and their meanings.
const (
	escapes = `abtnvfr"\`
	escaped = "\a\b\t\n\v\f\r\"\\"
)

// quote writes a path as git does.
func quote(s string) string {
	var b strings.Builder
	plain := true
	b.WriteByte('"')
	for i := range len(s) {
		c := s[i]
		if j := strings.IndexByte(escaped, c); j >= 0 {
			b.WriteByte('\\')
			b.WriteByte(escapes[j])
			plain = false
		} else if c < ' ' || c >= 0x7f {
			fmt.Fprintf(&b, `\%03o`, c)
			plain = false
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	if plain {
		return s
	}
	return b.String()
}
