package config

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
)

// maxDepth is how deep values may nest; parsers call themselves for each level.
const maxDepth = 500

// substitution is how {env:NAME} and {file:path} are answered.
type substitution struct {
	env  func(string) (string, bool)
	read func(path string) ([]byte, error)
	home string
	// inert leaves them as they are: the project they stand in is not trusted.
	inert bool
}

// token is a request to put something in. Those in comments are not tokens.
type token struct {
	start, end int // in the text without its byte order mark
	file       bool
	name       string
	quoted     bool // it is inside a string
}

// substitute replaces the tokens and takes a byte order mark off. Values inside a string are
// escaped, others go in as they are. What is put in is not looked at again, so that there are
// no cycles. raw reports whether a token stood outside a string.
func (s *source) substitute(sub substitution) (out []byte, raw bool, err *Error) {
	text := bytes.TrimPrefix(s.text, byteOrderMark)
	shift := len(s.text) - len(text)
	if shift > 0 {
		s.cuts = append(s.cuts, cut{at: 0, from: shift})
	}
	s.tokens = tokens(text)
	rest := 0
	for _, t := range s.tokens {
		raw = raw || !t.quoted
		value := string(text[t.start:t.end])
		if !sub.inert {
			if value, err = s.value(sub, t, t.start+shift); err != nil {
				return nil, raw, err
			}
		}
		out = append(out, text[rest:t.start]...)
		s.cuts = append(s.cuts, cut{len(out), t.start + shift, true})
		switch quoted := lathe.AppendJSONString(nil, value); {
		case sub.inert && !t.quoted:
			out = append(out, quoted...) // stands for an unknown value
		case sub.inert:
			out = append(out, value...)
		case t.quoted:
			out = append(out, quoted[1:len(quoted)-1]...)
		default:
			out = append(out, value...)
		}
		rest = t.end
		s.cuts = append(s.cuts, cut{at: len(out), from: rest + shift})
	}
	return append(out, text[rest:]...), raw, nil
}

func (s *source) value(sub substitution, t token, at int) (string, *Error) {
	if !t.file {
		v, _ := sub.env(t.name)
		return v, nil
	}
	path := s.target(t, sub.home)
	b, err := sub.read(path)
	if err == nil && invalidUTF8(b) >= 0 {
		err = fmt.Errorf("is not valid UTF-8")
	}
	if err != nil {
		return "", s.fail(at, fmt.Sprintf("{file:%s}: %s: %s", t.name, path, errText(err)))
	}
	return strings.TrimSpace(string(bytes.TrimPrefix(b, byteOrderMark))), nil
}

// target is the file a token names.
func (s *source) target(t token, home string) string {
	return s.complete(t.name, home)
}

// tokens finds the placeholders.
func tokens(text []byte) (out []token) {
	if !bytes.Contains(text, []byte("{env:")) && !bytes.Contains(text, []byte("{file:")) {
		return nil
	}
	skim(text, func(at int, inString bool) int {
		t, ok := tokenAt(text, at, inString)
		if !ok {
			return at + 1
		}
		out = append(out, t)
		return t.end
	})
	return out
}

func tokenAt(text []byte, at int, inString bool) (token, bool) {
	t := token{start: at, quoted: inString}
	rest := text[at:]
	switch {
	case bytes.HasPrefix(rest, []byte("{env:")):
		rest = rest[len("{env:"):]
	case bytes.HasPrefix(rest, []byte("{file:")):
		rest, t.file = rest[len("{file:"):], true
	default:
		return t, false
	}
	n := bytes.IndexAny(rest, "}\"\n")
	if n <= 0 || rest[n] != '}' {
		return t, false
	}
	t.name, t.end = string(rest[:n]), len(text)-len(rest)+n+1
	return t, true
}

// asksIn reports whether a string wants something put in. It errs to the side of yes: names
// may have been written with escapes.
func asksIn(s string) bool {
	for _, mark := range []string{"{env:", "{file:"} {
		if _, rest, ok := strings.Cut(s, mark); ok && strings.Contains(rest, "}") {
			return true
		}
	}
	return false
}

// tooDeep returns where values nest too deep, -1 if they do not.
func tooDeep(text []byte) int {
	depth, found := 0, -1
	skim(text, func(at int, inString bool) int {
		switch c := text[at]; {
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth && found < 0 {
				found = at
				return len(text)
			}
		case c == '}' || c == ']':
			depth--
		}
		return at + 1
	})
	return found
}

// skim shows the braces and brackets of a text that are not in comments, with whether they
// stand in a string. see returns the offset to continue at.
func skim(text []byte, see func(at int, inString bool) int) {
	inString := false
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '{' || c == '}' || c == '[' || c == ']':
			i = see(i, inString)
			continue
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case c == '\n': // a string that did not end is an error the parser reports
			inString = false
		case !inString && bytes.HasPrefix(text[i:], []byte("//")):
			i = after(text, i, "\n") - 1 // the line end counts
		case !inString && bytes.HasPrefix(text[i:], []byte("/*")):
			i = after(text, i+2, "*/") - 1
		}
		i++
	}
}

// after is the offset after the next occurrence of a mark, or the end.
func after(text []byte, from int, mark string) int {
	from = min(from, len(text))
	if i := bytes.Index(text[from:], []byte(mark)); i >= 0 {
		return from + i + len(mark)
	}
	return len(text)
}

// expandHome turns a leading ~ or $HOME into the home folder.
func expandHome(path, home string) string {
	switch {
	case path == "~" || path == "$HOME":
		return home
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(home, path[2:])
	case strings.HasPrefix(path, "$HOME/"):
		return filepath.Join(home, path[6:])
	default:
		return path
	}
}
