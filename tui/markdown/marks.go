package markdown

import (
	"bytes"
	"strings"
)

// These functions recognize the start and end of blocks. All take a line without its indentation.

func indentOf(s string) int { return runOf(s, ' ') }

func isBlank(s string) bool { return strings.Trim(s, " \t") == "" }

// detab makes spaces of the tabs at the beginning.
func detab(s string) string {
	i, col, tabs := 0, 0, false
	for ; i < len(s) && (s[i] == ' ' || s[i] == '\t'); i++ {
		if s[i] == '\t' {
			tabs = true
			col += 4 - col%4
		} else {
			col++
		}
	}
	if !tabs {
		return s
	}
	return strings.Repeat(" ", col) + s[i:]
}

// runOf counts how often a sign stands at the beginning.
func runOf[T string | []byte](s T, sign byte) int {
	n := 0
	for n < len(s) && s[n] == sign {
		n++
	}
	return n
}

func isHeading(r string) bool {
	n := runOf(r, '#')
	return n >= 1 && n <= 6 && (n == len(r) || r[n] == ' ' || r[n] == '\t')
}

func isUnderline(r string) bool {
	if r[0] != '=' && r[0] != '-' {
		return false
	}
	return isBlank(r[runOf(r, r[0]):])
}

// isRule reports whether a line is a thematic break: three or more equal marks.
func isRule(r string) bool {
	if r[0] != '-' && r[0] != '*' && r[0] != '_' {
		return false
	}
	n := 0
	for i := range len(r) {
		switch r[i] {
		case r[0]:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// opensFence recognizes the opening line of fenced code.
func opensFence(r string) (fence, bool) {
	if r[0] != '`' && r[0] != '~' {
		return fence{}, false
	}
	n := runOf(r, r[0])
	info := strings.TrimSpace(r[n:])
	if n < 3 || r[0] == '`' && strings.IndexByte(info, '`') >= 0 {
		return fence{}, false
	}
	return fence{sign: r[0], length: n, lang: info}, true
}

// opensItem reads the mark of a list's item and how wide it is.
func opensItem(r string) (c container, width int, ok bool) {
	n := 0
	for n < len(r) && n < 10 && isDigit(r[n]) {
		c.number = c.number*10 + int(r[n]-'0')
		n++
	}
	switch {
	case n == 0 && strings.IndexByte("-+*", r[0]) >= 0:
		c.bullet = r[0]
	case n > 0 && n < 10 && n < len(r) && (r[n] == '.' || r[n] == ')'):
		c.bullet = r[n]
	default:
		return c, 0, false
	}
	width = n + 1
	return c, width, width == len(r) || r[width] == ' ' || r[width] == '\t'
}

func isNumbered(bullet byte) bool { return bullet == '.' || bullet == ')' }

// htmlEnd is how HTML ends that began a line: at a mark, or at an empty line.
type htmlEnd struct {
	on   bool
	mark string
}

// opensHTML reports whether a line begins HTML. One that only looks like a tag may not break a paragraph.
func opensHTML(r string, inPara bool) (htmlEnd, bool) {
	if len(r) < 3 || r[0] != '<' {
		return htmlEnd{}, false
	}
	low := strings.ToLower(r[:min(len(r), 16)])
	for _, m := range [...][2]string{
		{"<!--", "-->"},
		{"<?", "?>"},
		{"<![cdata[", "]]>"},
		{"<script", "</script>"},
		{"<pre", "</pre>"},
		{"<style", "</style>"},
		{"<textarea", "</textarea>"},
		{"<!", ">"},
	} {
		if strings.HasPrefix(low, m[0]) {
			return htmlEnd{true, m[1]}, true
		}
	}
	name := strings.TrimPrefix(low[1:], "/")
	n := 0
	for n < len(name) && (name[n] >= 'a' && name[n] <= 'z' || n > 0 && isDigit(name[n])) {
		n++
	}
	if n == 0 {
		return htmlEnd{}, false
	}
	if strings.Contains(blockTags, " "+name[:n]+" ") && (n == len(name) || strings.IndexByte(" \t/>", name[n]) >= 0) {
		return htmlEnd{on: true}, true
	}
	alone := strings.TrimRight(r, " \t")
	ok := !inPara && strings.IndexByte(alone, '>') == len(alone)-1 && !strings.Contains(alone, "://") && !strings.Contains(alone, "@")
	return htmlEnd{on: ok}, ok
}

const blockTags = " address article aside blockquote body br center col colgroup dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu nav ol option p section summary table tbody td tfoot th thead title tr ul "

// tableHead returns the first two lines of a paragraph that is a table, so that a later part of it can be
// read; nil if it is none.
func tableHead(l leaf) []byte {
	if l.head != nil {
		return l.head
	}
	first := bytes.IndexByte(l.text, '\n')
	if first < 0 {
		return nil
	}
	second := len(l.text)
	if i := bytes.IndexByte(l.text[first+1:], '\n'); i >= 0 {
		second = first + 1 + i
	}
	if _, t := tableIn(l.text[:second]); t == nil {
		return nil
	}
	return append(append([]byte(nil), l.text[:second]...), '\n')
}
