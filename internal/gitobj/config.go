package gitobj

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

const (
	maxConfig = 1 << 20  // bytes of a configuration that are read
	maxKeys   = 16 << 20 // bytes of all keys, each of which repeats its section
)

// Config holds the entries of a git configuration file, in file order. Includes are not
// followed: they lead out of the repository and depend on the machine.
type Config []setting

// setting is one line of it. Section and name are lower case, a quoted subsection
// keeps its case: remote.Origin.url.
type setting struct {
	key, value string
	bare       bool // written without "=", which git reads as true
}

// First returns the first of several values, which is the one git fetches from when a
// remote has many. An empty value clears those before it.
func (c Config) First(key string) string {
	found := ""
	for _, s := range c {
		if s.key == key && !s.bare && (found == "" || s.value == "") {
			found = s.value
		}
	}
	return found
}

// Last returns the value that counts for a setting that has one.
func (c Config) Last(key string) string {
	found := ""
	for _, s := range c {
		if s.key == key {
			found = s.value
		}
	}
	return found
}

// Includes returns the files that it includes, whatever the repository or under conditions as well.
func (c Config) Includes(conditional bool) (paths []string) {
	for _, s := range c {
		if s.value != "" && (s.key == "include.path" || conditional && strings.HasPrefix(s.key, "includeif.") && strings.HasSuffix(s.key, ".path")) {
			paths = append(paths, s.value)
		}
	}
	return paths
}

// ReadConfig reads a configuration file. A missing one is empty, as git has it. Of
// an oversized one only the whole lines within the limit count, and of a damaged one
// what comes before the damage: an origin found there is as good as any.
func ReadConfig(path string) (Config, error) {
	data, err := ReadFile(path, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, ErrTooLarge):
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	case err != nil:
		return nil, err
	}
	config, _ := parseConfig(data)
	return config, nil
}

// parseConfig reads git's configuration syntax. With an error come the settings
// before the offending line.
func parseConfig(data []byte) (Config, error) {
	lines, err := ConfigLines(data)
	var config Config
	for _, l := range lines {
		if !l.Header {
			config = append(config, setting{key: l.Key, value: l.Value, bare: l.Bare})
		}
	}
	return config, err
}

// ConfigLine is a section header or a setting of a configuration file, and where it is.
type ConfigLine struct {
	// Key is section.name of a setting, "section." of a header. Section and name are lower
	// case, a quoted subsection keeps its case.
	Key, Value string
	Header     bool
	Bare       bool // a setting without "=", which git reads as true
	// Start and End are the offsets of its text. That of a setting reaches to the end of its
	// last line, with the newline; that of a header to its bracket.
	Start, End int
}

// ConfigLines reads git's configuration syntax. With an error come the lines before the
// offending one.
func ConfigLines(data []byte) (lines []ConfigLine, err error) {
	r := configReader{data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), line: 1}
	section, keys := "", 0 // with its dot; bytes of all keys
	for {
		line, start := r.line, len(data)-len(r.data)
		c := r.next()
		l, ok := ConfigLine{Start: start}, true
		switch {
		case r.eof:
			return lines, nil
		case isSpace(c):
			continue
		case c == '#' || c == ';':
			r.skipLine()
			continue
		case c == '[':
			section, ok = r.section()
			l.Header, l.Key = true, section
		case isLetter(c):
			var s setting
			s, ok = r.setting(c)
			l.Key, l.Value, l.Bare = section+s.key, s.value, s.bare
		default:
			ok = false
		}
		if !ok {
			return lines, fmt.Errorf("git configuration: line %d cannot be read", line)
		}
		if keys += len(l.Key); keys > maxKeys {
			return lines, fmt.Errorf("git configuration: %w in line %d", ErrLimit, line)
		}
		l.End = len(data) - len(r.data)
		lines = append(lines, l)
	}
}

// configReader hands out bytes as the syntax sees them: CRLF is one newline, and the
// end of the file ends the last line.
type configReader struct {
	data []byte
	line int
	eof  bool
}

func (r *configReader) next() byte {
	if len(r.data) == 0 {
		r.eof = true
		return '\n'
	}
	c := r.data[0]
	r.data = r.data[1:]
	if c == '\r' && len(r.data) > 0 && r.data[0] == '\n' {
		c, r.data = '\n', r.data[1:]
	}
	if c == '\n' {
		r.line++
	}
	return c
}

func (r *configReader) skipLine() {
	for r.next() != '\n' {
	}
}

// section reads a header after its "[": [name], [name "Sub"] or the old [name.sub].
func (r *configReader) section() (string, bool) {
	var name strings.Builder
	for {
		switch c := r.next(); {
		case c == ']':
			name.WriteByte('.')
			return name.String(), true
		case isSpace(c) && c != '\n':
			name.WriteByte('.')
			ok := r.subsection(&name)
			name.WriteByte('.')
			return name.String(), ok
		case isKey(c) || c == '.':
			name.WriteByte(lower(c))
		default:
			return "", false
		}
	}
}

// subsection reads the quoted rest of a header. A backslash makes the next byte
// literal, whatever it is.
func (r *configReader) subsection(name *strings.Builder) bool {
	c := r.next()
	for isSpace(c) && c != '\n' {
		c = r.next()
	}
	if c != '"' {
		return false
	}
	for {
		switch c = r.next(); c {
		case '"':
			return r.next() == ']'
		case '\\':
			c = r.next()
		}
		if c == '\n' {
			return false
		}
		name.WriteByte(c)
	}
}

// setting reads a name, whose first byte is given, and its value.
func (r *configReader) setting(c byte) (setting, bool) {
	var name strings.Builder
	for isKey(c) {
		name.WriteByte(lower(c))
		c = r.next()
	}
	for c == ' ' || c == '\t' {
		c = r.next()
	}
	switch c {
	case '\n':
		return setting{key: name.String(), bare: true}, true
	case '=':
		value, ok := r.value()
		return setting{key: name.String(), value: value}, ok
	default:
		return setting{}, false
	}
}

// value reads up to the end of the line. Quotes protect spaces and comment signs and
// may open and close anywhere; spaces outside of them count only between words.
func (r *configReader) value() (string, bool) {
	var value []byte
	quoted, keep := false, 0 // keep: length without spaces that may turn out to be the last
	for {
		c := r.next()
		switch {
		case c == '\n':
			return string(value[:keep]), !quoted
		case !quoted && (c == '#' || c == ';'):
			r.skipLine()
			return string(value[:keep]), true
		case !quoted && isSpace(c):
			if len(value) > 0 {
				value = append(value, c)
			}
			continue
		case c == '"':
			quoted = !quoted
		case c == '\\':
			c = r.next()
			if c != '\n' { // otherwise the line continues
				at := strings.IndexByte(`ntb\"`, c)
				if at < 0 {
					return "", false
				}
				value = append(value, "\n\t\b\\\""[at])
			}
		default:
			value = append(value, c)
		}
		keep = len(value)
	}
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isLetter(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }
func isKey(c byte) bool    { return isLetter(c) || '0' <= c && c <= '9' || c == '-' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
