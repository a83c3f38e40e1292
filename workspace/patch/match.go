package patch

import (
	"slices"
	"strings"
	"unicode"
)

// window makes a hit of n whole lines. It begins where the quoted text does: after the
// indentation if the text has none there and agrees about the other lines, or if one line is put
// in place of one with as much of it; and it ends with the line's \n if the text does.
func (s *search) window(first, n int) hit {
	lines, last := s.src.lines, first+n-1
	h := hit{first: first, n: n, put: s.new}
	h.whole = span{s.src.starts[first], s.src.starts[last] + len(lines[last])}
	h.span = h.whole
	lead := indent(s.want[0])
	single := n == 1 && len(s.want) == 1 && !strings.Contains(s.new, "\n") && strings.HasPrefix(s.new, lead)
	if single || s.midLine() && s.agrees(first, n) {
		h.start += len(indent(lines[first]))
		h.inline = h.start > h.whole.start
		h.put = h.put[len(lead):] // the common beginning stays
	}
	end := s.want[len(s.want)-1]
	switch {
	case s.newline && h.end < len(s.src.text):
		h.end++
	case s.newline:
		h.put = strings.TrimSuffix(h.put, "\n") // the file ends without one, and stays so
	case end == strings.TrimRight(end, " \t"):
		h.end = max(h.start, h.whole.start+len(strings.TrimRight(s.src.slice(h.whole), " \t")))
	}
	return h
}

// midLine reports whether old and new begin within a line: without white space, and new not with
// a later line of old, which is whole.
func (s *search) midLine() bool {
	head, _, _ := strings.Cut(s.new, "\n")
	spaced := func(text string) bool { return strings.TrimLeftFunc(text, unicode.IsSpace) != text }
	return !spaced(s.old) && !spaced(head) && !slices.Contains(s.want[1:], head)
}

// agrees reports whether all lines but the first have the indentation that the quoted ones have.
func (s *search) agrees(first, n int) bool {
	if n != len(s.want) {
		return n == 1
	}
	for i := 1; i < n; i++ {
		if indent(s.want[i]) != indent(s.src.lines[first+i]) && !blank(s.want[i]) {
			return false
		}
	}
	return true
}

// windows returns every run of lines whose keys are those wanted.
func (s *search) windows(keys, want []string) []hit {
	var out []hit
	for _, i := range runs(keys, want, 0, len(keys), s.work) {
		out = append(out, s.window(i, len(want)))
	}
	return out
}

func trimAll(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimSpace(line)
	}
	return out
}

func (s *search) trimmedLines() []hit {
	return s.windows(s.trimmed, trimAll(s.want))
}

// indentation narrows what trimmedLines finds to what has the same shape: whatever is equal
// without its common indentation is equal trimmed.
func (s *search) indentation() []hit {
	want := dedent(s.want)
	return slices.DeleteFunc(s.trimmedLines(), func(h hit) bool {
		s.work.spend(8 * h.n)
		return !slices.Equal(dedent(s.src.lines[h.first:h.first+h.n]), want)
	})
}

// dedent takes the smallest indentation of the lines that are not blank off all of them.
func dedent(lines []string) []string {
	least := -1
	for _, line := range lines {
		if n := len(indent(line)); !blank(line) && (least < 0 || n < least) {
			least = n
		}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line[min(max(least, 0), len(indent(line))):]
	}
	return out
}

// spaces finds the quoted text within single lines, whatever white space stands between its words.
func (s *search) spaces() []hit {
	words := strings.Fields(s.old)
	longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
	normal := strings.Join(words, " ")
	var out []hit
	for i, line := range s.src.lines {
		if !s.work.spend(2 + len(line)/4) {
			return nil
		}
		if !strings.Contains(line, longest) {
			continue
		}
		if !s.work.spend(8 * len(line)) {
			return nil
		}
		if collapse(line) == normal {
			at := s.src.starts[i] + strings.Index(line, words[0])
			h := s.bounded(span{at, at + len(strings.TrimSpace(line))})
			h.whole = span{s.src.starts[i], s.src.starts[i] + len(line)}
			out = append(out, h)
			continue
		}
		out = append(out, s.spacedWords(i, words)...)
	}
	return out
}

// spacedWords finds the words in a line, with any white space between them. A find that would cut
// a word of the line in two is none.
func (s *search) spacedWords(i int, words []string) []hit {
	var out []hit
	line := s.src.lines[i]
	for at := 0; at < len(line); {
		k := strings.Index(line[at:], words[0])
		if k < 0 || !s.work.spend(len(line)-at) {
			break
		}
		at += k
		if end := wordsEnd(line, at, words); end > 0 && !insideWord(line, span{at, end}) {
			out = append(out, s.bounded(span{s.src.starts[i] + at, s.src.starts[i] + end}))
		}
		at++
	}
	return out
}

// wordsEnd returns where the words end that begin at an offset of a line; 0 if they do not.
func wordsEnd(line string, at int, words []string) int {
	for i, w := range words {
		if i > 0 {
			rest := strings.TrimLeft(line[at:], " \t\v\f\r\u00a0")
			if len(rest) == len(line)-at {
				return 0
			}
			at = len(line) - len(rest)
		}
		if !strings.HasPrefix(line[at:], w) {
			return 0
		}
		at += len(w)
	}
	return at
}

// spacedLines finds as many lines as were quoted whose words are those of the quoted text.
func (s *search) spacedLines() []hit {
	n := len(s.want)
	if n < 2 || blank(s.want[0]) || blank(s.want[n-1]) {
		return nil
	}
	normal := collapse(s.old)
	var out []hit
	for i := 0; i+n <= len(s.trimmed); i++ {
		head, _, _ := strings.Cut(s.trimmed[i], " ")
		if !s.work.spend(4) {
			return nil
		}
		if head == "" || !strings.HasPrefix(normal, strings.Fields(head)[0]) || s.trimmed[i+n-1] == "" {
			continue
		}
		if s.reads(i, normal) {
			out = append(out, s.window(i, n))
		}
	}
	return out
}

// reads reports whether the lines from first on, as many as were quoted, have exactly the words of
// a text that is normal: one space between words.
func (s *search) reads(first int, normal string) bool {
	for _, line := range s.trimmed[first : first+len(s.want)] {
		words := collapse(line)
		if !s.work.spend(8 * len(line)) {
			return false
		}
		rest, ok := strings.CutPrefix(normal, words)
		if !ok || words != "" && rest != "" && rest[0] != ' ' {
			return false
		}
		normal = strings.TrimPrefix(rest, " ")
	}
	return normal == ""
}

// boundary finds the quoted text without the white space around it.
func (s *search) boundary() []hit {
	core := strings.TrimSpace(s.old)
	if core == s.old {
		return nil
	}
	var out []hit
	for _, sp := range s.occurrences(core) {
		if insideWord(s.src.text, sp) {
			continue
		}
		if !s.work.spend(sp.end/16 + 64) {
			return nil
		}
		out = append(out, s.bounded(sp))
	}
	return out
}

// bounded makes a hit of a passage that is the quoted text without the white space around it.
// White space that the file has as well belongs to the hit. What the file does not have is taken
// off the replacement, if it stands there: what is in both old and new is not meant to change.
func (s *search) bounded(core span) hit {
	i := strings.IndexFunc(s.old, func(r rune) bool { return !unicode.IsSpace(r) })
	lead, trail := s.old[:i], s.old[len(strings.TrimRightFunc(s.old, unicode.IsSpace)):]
	h := hit{whole: core, span: core, inline: true, put: s.new}
	line := strings.LastIndexByte(s.src.text[:core.start], '\n') + 1
	blanks := strings.LastIndexByte(lead, '\n') + 1 // the rest of lead is the indentation
	switch {
	case strings.HasSuffix(s.src.text[:core.start], lead):
		h.start -= len(lead)
	case strings.HasPrefix(h.put, lead) && !strings.HasPrefix(h.put[len(lead):], " ") && !strings.HasPrefix(h.put[len(lead):], "\t"):
		h.put = h.put[len(lead):]
	case lead != "" && blank(s.src.text[line:core.start]): // the first lines are at different places
		h.start = line
		h.put = h.put[commonPrefix(h.put, lead[:blanks]):]
		h.inline = false
	}
	if strings.HasPrefix(s.src.text[core.end:], trail) {
		h.end += len(trail)
	} else {
		h.put = h.put[:len(h.put)-commonSuffix(h.put, trail)]
	}
	h.first = s.src.lineAt(core.start) - 1
	h.n = strings.Count(s.src.slice(core), "\n") + 1
	return h
}

// alone narrows what boundary finds to what has its lines for itself, with as many blank lines
// around as the quoted text has.
func (s *search) alone() []hit {
	around := strings.Count(s.old, "\n") - strings.Count(strings.TrimSpace(s.old), "\n")
	var out []hit
	for _, h := range s.boundary() {
		before, after := s.src.text[:h.whole.start], s.src.text[h.whole.end:]
		lead := before[len(strings.TrimRight(before, " \t\n")):]
		trail := after[:len(after)-len(strings.TrimLeft(after, " \t\n"))]
		opens := strings.Contains(lead, "\n") || len(lead) == len(before)
		closes := strings.Contains(trail, "\n") || len(trail) == len(after)
		if opens && closes && strings.Count(lead+trail, "\n") >= around {
			h.whole = span{h.whole.start - len(lead), h.whole.end + len(trail)}
			out = append(out, h)
		}
	}
	return out
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
