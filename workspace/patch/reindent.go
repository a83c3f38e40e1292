package patch

import (
	"path/filepath"
	"slices"
	"strings"
)

// IndentationMatters reports whether a file is of a kind where lines mean something else when they
// are moved to the right or left.
func IndentationMatters(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".py", ".pyi", ".pyx", ".bzl", ".star", ".gd", ".nim", ".yaml", ".yml", ".mk", ".haml", ".slim", ".pug", ".sass", ".styl", ".coffee",
		".hs", ".elm", ".fs", ".fsx", ".rst":
		return true
	}
	return slices.Contains([]string{"Makefile", "makefile", "GNUmakefile", "BUILD", "WORKSPACE", "SConstruct", "SConscript", "Snakefile"}, filepath.Base(path))
}

// Shift is how far lines that were quoted stand from those of the file: the first indentation that
// differs, in the file and as it was given.
type Shift struct {
	File, Given string
	// Uniform says that all lines were moved by one amount, so that what was put in could be moved
	// by the same.
	Uniform bool
}

// indents maps the indentation of a quote to that of the file.
type indents struct {
	known    map[string]string // the file's by the quote's
	add, cut string            // the one amount: what the file has more, or less
	uniform  bool
	unclear  bool // one indentation of the quote stands for several of the file
	first    *Shift
}

// newIndents compares the indentation of lines that are equal but for it.
func newIndents(file, given []string) *indents {
	m := &indents{known: map[string]string{}, uniform: true}
	started := false
	for i := range file {
		if blank(file[i]) || blank(given[i]) {
			continue
		}
		f, g := indent(file[i]), indent(given[i])
		if was, ok := m.known[g]; ok && was != f {
			m.unclear = true
		}
		m.known[g] = f
		if f != g && m.first == nil {
			m.first = &Shift{File: f, Given: g}
		}
		add, more := strings.CutSuffix(f, g)
		cut, less := strings.CutSuffix(g, f)
		switch {
		case !more && !less:
			m.uniform = false
			continue
		case !more:
			add = ""
		case !less:
			cut = ""
		}
		if started && (add != m.add || cut != m.cut) {
			m.uniform = false
		}
		m.add, m.cut, started = add, cut, true
	}
	m.uniform = m.uniform && !m.unclear
	if m.first != nil {
		m.first.Uniform = m.uniform
	}
	return m
}

// of is where the file would have an indentation of the quote. One that no line of the quote has goes
// as far as the longest that it begins with.
func (m *indents) of(given string) string {
	if f, ok := m.known[given]; ok && !m.unclear {
		return f
	}
	if m.uniform {
		return m.add + strings.TrimPrefix(given, m.cut)
	}
	for n := len(given); n >= 0; n-- {
		if f, ok := m.known[given[:n]]; ok {
			return f + given[n:]
		}
	}
	return given
}

// knows reports whether the place of an indentation is certain.
func (m *indents) knows(given string) bool {
	_, ok := m.known[given]
	return m.uniform && strings.HasPrefix(given, m.cut) || ok && !m.unclear
}

// move puts a line at its place in the file.
func (m *indents) move(line string) string {
	if blank(line) {
		return line
	}
	in := indent(line)
	return m.of(in) + line[len(in):]
}

// reindented is the replacement of a hit, moved to the indentation of the file: lines that new
// keeps have exactly that of the file, others go as far as their neighbors. It is nil where
// nothing was moved, or new has the file's indentation already.
func (s *search) reindented(h hit) (put string, shift *Shift) {
	if h.n != len(s.want) || s.shift(h) == nil {
		return h.put, nil
	}
	file, want := s.src.lines[h.first:h.first+h.n], s.want
	if h.inline { // the first line begins after its indentation
		file, want = file[1:], want[1:]
	}
	m := newIndents(file, want)
	if m.first == nil {
		return h.put, nil
	}
	lines := strings.Split(h.put, "\n")
	stands := s.standsFor(lines)
	for j, line := range lines {
		switch i, ok := stands[j]; {
		case blank(line) || j == 0 && h.inline:
		case ok && (i > 0 || !h.inline):
			lines[j] = indent(s.src.lines[h.first+i]) + strings.TrimLeft(line, " \t")
		default:
			lines[j] = m.move(line)
		}
	}
	return strings.Join(lines, "\n"), m.first
}

// standsFor finds, for the lines that are put in, which line of old each is or replaces at the same
// indentation.
func (s *search) standsFor(put []string) map[int]int {
	stands := map[int]int{}
	gaps, ok := align(trimAll(s.want), trimAll(put), s.work)
	if !ok {
		return stands
	}
	i, j := 0, 0
	for _, g := range append(gaps, gap{len(s.want), len(s.want), len(put), len(put)}) {
		for ; i < g.have; i, j = i+1, j+1 {
			stands[j] = i
		}
		for ; i < g.haveEnd && j < g.wantEnd; i, j = i+1, j+1 {
			if indent(s.want[i]) == indent(put[j]) {
				stands[j] = i
			}
		}
		i, j = g.haveEnd, g.wantEnd
	}
	return stands
}

// addedAsFile reports whether the added lines of a hunk have the indentation of the file already: more
// of those that replace a line stand where the file has that line than where the hunk has it.
func addedAsFile(lines []Line, given, file []string) bool {
	asFile, asGiven, at := 0, 0, 0
	var gone []int // lines of the file that the added ones replace
	for i, l := range lines {
		switch {
		case l.Sign == '+':
			if len(gone) > 0 && !blank(l.Text) && at <= len(file) {
				have, said := indent(file[gone[0]]), indent(given[gone[0]])
				if have != said && indent(l.Text) == have {
					asFile++
				} else if have != said && indent(l.Text) == said {
					asGiven++
				}
				gone = gone[1:]
			}
			continue
		case l.Sign == '-' && i > 0 && lines[i-1].Sign == '-':
			gone = append(gone, at)
		case l.Sign == '-':
			gone = []int{at}
		default:
			gone = nil
		}
		if at++; at > len(file) {
			return false
		}
	}
	return asFile > asGiven
}

// reindent moves the added lines of a hunk by what its other lines stand elsewhere in the file. Where
// that is no one amount and an added line has an indentation that no other line has, nothing is moved.
func reindent(lines []Line, file []string) ([]Line, *Shift) {
	given := quoted(lines)
	file = file[:min(len(file), len(given))]
	m := newIndents(file, given)
	if m.first == nil || addedAsFile(lines, given, file) {
		return lines, nil
	}
	out := make([]Line, len(lines))
	for i, l := range lines {
		if out[i] = l; l.Sign != '+' || blank(l.Text) {
			continue
		}
		if !m.knows(indent(l.Text)) {
			m.first.Uniform = false
			return lines, m.first
		}
		out[i].Text = m.move(l.Text)
	}
	return out, m.first
}
