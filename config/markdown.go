package config

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/lathe-agent/lathe"
)

// maxHead is the largest head of a markdown file that is read, in bytes. What parses
// YAML takes time that grows with the square of its length.
const maxHead = 16 << 10

// readMarkdown reads a markdown file with a head between --- lines. The source's root is
// the head; the body comes beside it, trimmed.
func (l *loading) readMarkdown(path string, layer Layer, leaves bool) (s *source, body string, err *Error) {
	text, readErr := l.disk.read(path)
	if readErr != nil {
		return nil, "", &Error{Kind: FrontmatterError, Path: path, Message: "cannot be read: " + errText(readErr)}
	}
	s = &source{name: path, dir: filepath.Dir(path), layer: layer, table: settings(), text: text, leaves: leaves}
	body, err = s.parseMarkdown()
	return s, body, err
}

// parseMarkdown reads the head. If it is not YAML, it is tried once more with its long values
// quoted; then it is its own error kind.
func (s *source) parseMarkdown() (body string, err *Error) {
	if at := invalidUTF8(s.text); at >= 0 {
		return "", s.badHead(at, "is not valid UTF-8")
	}
	head, start, body, ends := splitHead(s.text)
	s.root = objectNode(location{s, start})
	switch {
	case !ends:
		return "", s.badHead(0, "the frontmatter that starts here is not closed; add another --- line")
	case len(bytes.TrimSpace(head)) == 0:
		return body, nil
	case len(head) > maxHead:
		return "", s.badHead(start, fmt.Sprintf("the frontmatter is longer than %d KB", maxHead>>10))
	case nesting(head) > maxHeadDepth:
		return "", s.badHead(start, fmt.Sprintf("the frontmatter is nested more than %d levels deep", maxHeadDepth))
	}
	root, problem := s.parseYAML(head, start)
	if problem != nil {
		if again, still := s.parseYAML(quoteValues(head), start); still == nil {
			root, problem = again, nil
		}
	}
	if problem != nil {
		return "", &Error{Kind: FrontmatterError, Path: s.name, Problems: []Problem{*problem}}
	}
	s.root = root
	return body, nil
}

func (s *source) badHead(at int, message string) *Error {
	return &Error{Kind: FrontmatterError, Path: s.name, Problems: []Problem{problemIn(s, at, nil, message)}}
}

// splitHead cuts a file into its head, where that begins, and its body. ends is false for a
// head without an end.
func splitHead(text []byte) (head []byte, start int, body string, ends bool) {
	rest := bytes.TrimPrefix(text, byteOrderMark)
	line, after, _ := bytes.Cut(rest, []byte("\n"))
	if !isRule(line) {
		return nil, len(text) - len(rest), strings.TrimSpace(string(rest)), true
	}
	start = len(text) - len(after)
	for at := 0; at < len(after); {
		line, _, more := bytes.Cut(after[at:], []byte("\n"))
		next := at + len(line)
		if more {
			next++
		}
		if isRule(line) {
			return after[:at], start, strings.TrimSpace(string(after[next:])), true
		}
		at = next
	}
	return nil, start, "", false
}

func isRule(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }

// quoteValues quotes the values of plain lines that hold a colon, which people write and
// YAML refuses ("description: Use this: when").
func quoteValues(head []byte) []byte {
	lines := strings.Split(string(head), "\n")
	for i, l := range lines {
		key, val, ok := strings.Cut(l, ":")
		val = strings.TrimSpace(val)
		if !ok || !isPlainKey(key) || !strings.Contains(val, ":") || strings.ContainsAny(val[:1], `"'{[|>&*!`) {
			continue
		}
		lines[i] = key + ": " + string(lathe.AppendJSONString(nil, val))
	}
	return []byte(strings.Join(lines, "\n"))
}

func isPlainKey(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// markdownKind is the meaning of the files in some folders.
type markdownKind struct {
	key     string // the setting
	body    string // key of the body
	primary bool   // agents of a mode
	folders []string
}

// markdownKinds in the order in which they count.
var markdownKinds = []markdownKind{
	{"command", "template", false, []string{"command", "commands"}},
	{"agent", "prompt", false, []string{"agent", "agents"}},
	{"agent", "prompt", true, []string{"mode", "modes"}},
}

// markdown reads the agents, modes and commands of a folder as sources of the config
// they stand for. A file whose head is not YAML is left out, with a warning.
func (l *loading) markdown(dir found) {
	for _, kind := range markdownKinds {
		for _, folder := range kind.folders {
			for _, f := range l.walk(dir.below(folder), isMarkdown) {
				if kind.primary && strings.Contains(f.name, "/") {
					continue // modes do not nest
				}
				s, body, err := l.readMarkdown(f.path, dir.layer, f.leaves)
				if err != nil {
					l.leaveOut(err)
					continue
				}
				s.root = kind.setting(s, strings.TrimSuffix(f.name, ".md"), body)
				l.take(s.layer, s, nil)
			}
		}
	}
}

func isMarkdown(name string) bool { return filepath.Ext(name) == ".md" }

// setting makes of a head and a body the value of a config file that says the same.
func (k markdownKind) setting(s *source, name, body string) *node {
	head := s.root
	if n := head.get("name"); n != nil && n.kind == isString && n.text != "" {
		name = n.text
	}
	head.drop("name")
	if body != "" || k.key == "command" {
		end := len(bytes.TrimRightFunc(s.text, unicode.IsSpace))
		head.put(k.body, stringNode(body, location{s, end - len(body)}))
	}
	if k.primary {
		head.put("mode", stringNode("primary", head.at))
	}
	return wrap(wrap(head, name), k.key)
}

// wrap puts a value under a key.
func wrap(n *node, key string) *node {
	out := objectNode(n.at)
	out.put(key, n)
	return out
}
