package search

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/lathe-agent/lathe"
)

// Pattern is a compiled glob, as ripgrep has it: * and ? stay within a name, ** between slashes
// crosses directories, {a,b} and [a-z] choose, a backslash takes the next character as it is. A
// pattern without a slash is about the name alone, wherever the file lies; one with a slash begins
// at the directory that is searched. A ! before it takes all files but those.
type Pattern struct {
	text    string
	name    bool // matched against the last name
	negated bool
	suffix  string // the common suffix of all matches, for a quick check
	exact   bool   // only the suffix after one star must match
	// dirs are the names the path of every match begins with.
	dirs []string
	// dotted says that the pattern spells a name that begins with a dot, so that hidden files are
	// meant.
	dotted bool
}

const (
	maxPattern = 4096 // bytes, far above any glob that is meant
	// maxChoices is how many patterns the braces of one may stand for. Matching tries them all.
	maxChoices = 2000
)

// ParsePattern compiles a glob. Its error says what is wrong with it.
func ParsePattern(text string) (*Pattern, error) {
	p := &Pattern{}
	rest, negated := strings.CutPrefix(text, "!")
	p.negated = negated
	for strings.HasPrefix(rest, "./") {
		rest = strings.TrimLeft(rest[2:], "/")
	}
	anchored := strings.HasPrefix(rest, "/")
	rest = strings.TrimLeft(rest, "/")
	switch {
	case rest == "":
		return nil, lathe.Errorf(lathe.Invalid, "the glob %q is empty", text)
	case len(rest) > maxPattern:
		return nil, lathe.Errorf(lathe.Invalid, "the glob has %d bytes, more than %d", len(rest), maxPattern)
	case choices(rest) > maxChoices:
		return nil, lathe.Errorf(lathe.Invalid, "the braces of the glob %q stand for more than %d patterns", text, maxChoices)
	case !doublestar.ValidatePattern(rest):
		return nil, lathe.Errorf(lathe.Invalid, "the glob %q is malformed: %s", text, globFault(rest))
	}
	if rest == "**" || strings.HasSuffix(rest, "/**") { // the entries of a directory, not a file of that name
		rest += "/*"
	}
	p.name = !anchored && !strings.Contains(rest, "/")
	p.text = rest
	p.dotted = spellsDot(rest)
	if !p.name && !p.negated {
		p.dirs = literalDirs(rest)
	}
	if name, ok := strings.CutPrefix(rest, "**/"); ok && !strings.Contains(name, "/") {
		p.text, p.name = name, true // the same, and faster
	}
	p.suffix, p.exact = literalEnd(p.text)
	return p, nil
}

// globFault says why a pattern is malformed.
func globFault(p string) string {
	braces, bracket := 0, false
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			if i++; i == len(p) {
				return "nothing follows the backslash at its end"
			}
		case '[':
			bracket = true
		case ']':
			bracket = false
		case '{':
			braces++
		case '}':
			braces--
		}
	}
	switch {
	case bracket:
		return `"[" is not closed; write "\[" for the character itself`
	case braces > 0:
		return `"{" is not closed; write "\{" for the character itself`
	}
	return `check its brackets and braces; write "\[" and "\{" for the characters themselves`
}

// choices returns at least the number of patterns that the braces of p stand for, up to one more
// than are allowed.
func choices(p string) int {
	n, group := 1, 1
	for i := range len(p) {
		switch p[i] {
		case '{', ',':
			group++
		case '}':
			n, group = min(n*group, maxChoices+1), 1
		}
	}
	return min(n*group, maxChoices+1)
}

// literalEnd returns what is behind the last special character, and whether that is a star and
// all there is before it.
func literalEnd(p string) (suffix string, exact bool) {
	i := strings.LastIndexAny(p, `*?[]{}\`)
	if i < 0 {
		return p, false
	}
	if p[i] != '*' && p[i] != '?' && p[i] != ']' { // a brace can end anywhere, a backslash changes what follows
		return "", false
	}
	if strings.ContainsAny(p, "{") && strings.LastIndexByte(p, '{') > strings.LastIndexByte(p, '}') {
		return "", false
	}
	suffix = p[i+1:]
	return suffix, p[:i+1] == "*"
}

// literalDirs returns the names of directories a pattern begins with.
func literalDirs(p string) []string {
	parts := strings.Split(p, "/")
	var dirs []string
	for _, part := range parts[:len(parts)-1] {
		if part == "" || strings.ContainsAny(part, `*?[]{},\`) {
			break
		}
		dirs = append(dirs, part)
	}
	return dirs
}

// spellsDot reports whether a name in the pattern begins with a dot, also as one of a choice; the
// names . and .. do not count.
func spellsDot(p string) bool {
	begins := true     // a name begins here
	var choices []bool // whether a name begins where each open brace does
	for i := range len(p) {
		switch c := p[i]; {
		case c == '.' && begins && i+1 < len(p) && p[i+1] != '.' && p[i+1] != '/':
			return true
		case c == '{':
			choices = append(choices, begins)
			continue
		case c == ',' && len(choices) > 0:
			begins = choices[len(choices)-1]
			continue
		case c == '}' && len(choices) > 0:
			choices = choices[:len(choices)-1]
		}
		begins = p[i] == '/'
	}
	return false
}

// Match reports whether a path fits, from the directory that is searched, with slashes.
func (p *Pattern) Match(path string) bool {
	return p.match(path, path[strings.LastIndexByte(path, '/')+1:])
}

func (p *Pattern) match(path, name string) bool {
	if p.name {
		path = name
	}
	if !strings.HasSuffix(path, p.suffix) {
		return p.negated
	}
	if p.exact && p.name {
		return !p.negated
	}
	return doublestar.MatchUnvalidated(p.text, path) != p.negated
}

// Dirs returns the directories the pattern begins with, which every match lies below; nil if there
// are none.
func (p *Pattern) Dirs() []string { return p.dirs }

// enters reports whether a match can lie below a directory.
func (p *Pattern) enters(dir string) bool {
	if len(p.dirs) == 0 {
		return true
	}
	for _, want := range p.dirs {
		name, rest, more := strings.Cut(dir, "/")
		if name != want {
			return false
		}
		if !more {
			return true
		}
		dir = rest
	}
	return true
}
