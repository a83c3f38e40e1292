package search

import (
	"strings"
)

// verdict is the result of ignore rules for a path.
type verdict uint8

const (
	unnamed verdict = iota // no rule names it
	ignored
	kept // a rule with ! takes it back
)

// rule is one line of an ignore file.
type rule struct {
	verdict verdict
	dirOnly bool
	// name rules match the last name of a path, all others the path below the file they stand in.
	name bool
	// prefix is what the pattern begins with before its first special character; steps match the
	// rest. Git cuts there, so that what follows counts as a beginning: a**/b takes ab.
	prefix string
	// suffix is set instead for a star and a literal, the commonest pattern there is.
	suffix string
	steps  []step
}

// parseRule reads a line without its end. It reports false where the line is no rule or one that
// can match nothing.
func parseRule(line string) (rule, bool) {
	line, _, _ = strings.Cut(line, "\x00")
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	line = trimSpaces(line)
	r := rule{verdict: ignored}
	if rest, ok := strings.CutPrefix(line, "!"); ok {
		r.verdict, line = kept, rest
	}
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.name = !strings.Contains(line, "/")
	if !r.name {
		line = strings.TrimPrefix(line, "/")
	}
	if line == "" {
		return rule{}, false
	}
	if rest := line[1:]; r.name && line[0] == '*' && rest != "" && !strings.ContainsAny(rest, `*?[\`) {
		r.suffix = rest
		return r, true
	}
	special := strings.IndexAny(line, `*?[\`)
	if special < 0 {
		r.prefix = line
		return r, true
	}
	if !r.name {
		r.prefix, line = line[:special], line[special:]
	}
	var ok bool
	r.steps, ok = compileWild(line, !r.name)
	return r, ok
}

// trimSpaces cuts spaces at the end, except one that a backslash keeps.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = i + 1
	}
	return line[:end]
}

// match says whether the rule names a path, below the file the rule stands in, or its last name.
func (r *rule) match(path, name string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if r.suffix != "" {
		return strings.HasSuffix(name, r.suffix)
	}
	text := path
	if r.name {
		text = name
	}
	rest, ok := strings.CutPrefix(text, r.prefix)
	if !ok {
		return false
	}
	if r.steps == nil {
		return rest == ""
	}
	return matchWild(r.steps, rest)
}

// rules are those of one file, in its order; the last that names a path counts.
type rules struct {
	all []rule
	// whole and endings find the rules for one name, and for a star with one ending, without
	// trying them all: in the ignore files people write these are nine in ten. Each has the place
	// of the last rule for files and directories, and of the last for directories alone.
	whole, endings map[string]places
	other          []int // places of all other rules, ascending
	paths          bool  // some rule needs the whole path
}

// places is where in the file the last rule stands, plus one; 0 means none.
type places struct{ any, dir int }

// parseRules reads an ignore file; nil where it has no rules.
func parseRules(text string) *rules {
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	rs := &rules{whole: map[string]places{}, endings: map[string]places{}}
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if r, ok := parseRule(strings.TrimSuffix(line, "\r")); ok {
			rs.add(r)
		}
	}
	if len(rs.all) == 0 {
		return nil
	}
	return rs
}

func (rs *rules) add(r rule) {
	rs.all = append(rs.all, r)
	place := len(rs.all)
	index, key := rs.whole, r.prefix
	switch {
	case r.name && r.suffix == "" && r.steps == nil:
	case r.suffix != "" && strings.LastIndexByte(r.suffix, '.') == 0:
		index, key = rs.endings, r.suffix
	default:
		rs.other = append(rs.other, place)
		rs.paths = rs.paths || !r.name
		return
	}
	p := index[key]
	if r.dirOnly {
		p.dir = place
	} else {
		p.any = place
	}
	index[key] = p
}

// match judges a path below the file the rules stand in; name is its last part.
func (rs *rules) match(path, name string, dir bool) verdict {
	best := rs.whole[name].last(dir)
	if i := strings.LastIndexByte(name, '.'); i >= 0 && len(rs.endings) > 0 {
		best = max(best, rs.endings[name[i:]].last(dir))
	}
	for i := len(rs.other) - 1; i >= 0 && rs.other[i] > best; i-- {
		if rs.all[rs.other[i]-1].match(path, name, dir) {
			best = rs.other[i]
		}
	}
	if best == 0 {
		return unnamed
	}
	return rs.all[best-1].verdict
}

func (p places) last(dir bool) int {
	if dir {
		return max(p.any, p.dir)
	}
	return p.any
}
