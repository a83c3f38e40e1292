package webpage

import (
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// The marks of Markdown at the beginning of a line, and the rule below the head of a table.
var (
	heading = phrase.Regexp(`^ {0,3}(#{1,6}) +(.+?) *#*$`)
	item    = phrase.Regexp(`^( *)([-*+]|[0-9]{1,9}[.)]) +(.+)$`)
	task    = phrase.Regexp(`^\[([ xX])\] +`)
	ruler   = phrase.Regexp(`^\|?( *:?-+:? *\|)+( *:?-+:? *)?$`)
)

// span is what has a meaning in a line, in a text that was escaped: code, links to the web and to mail, bold text,
// emphasis and text that is struck out.
var span = phrase.Regexp("`([^`\n]+)`" + `|\[([^\[\]\n]+)\]\(((?:https?://|mailto:)[^\s()]+)\)|(https?://[^\s*` + "`" + `]+)` +
	`|\*\*([^*\n]+(?:\*[^*\n]+\*[^*\n]*)*)\*\*|\*([^*\s][^*\n]*)\*|\b_([^_\s][^_\n]*)_\b|~~([^~\n]+)~~`)

const deepest = 6 // levels of lists and quotes

// markdown converts the common part of Markdown: code blocks, headings, lists, quotes, tables, and marks in a line.
func markdown(s string) raw {
	var b strings.Builder
	writeBlocks(&b, strings.Split(strings.TrimSpace(s), "\n"), 0)
	return raw(b.String())
}

func writeBlocks(b *strings.Builder, lines []string, depth int) {
	for len(lines) > 0 {
		line := strings.TrimRight(lines[0], "\r ")
		n := 1
		switch m := heading().FindStringSubmatch(line); {
		case line == "":
		case m != nil:
			level := min(len(m[1])+1, 4)
			fmt.Fprintf(b, "<h%d dir=\"auto\">%s</h%d>\n", level, spans(m[2]), level)
		case fenceOf(line) != "":
			n = writeCode(b, lines)
		case depth < deepest && strings.HasPrefix(line, ">"):
			n = writeQuote(b, lines, depth)
		case depth < deepest && item().MatchString(line):
			n = writeList(b, lines, depth)
		default:
			n = writeParagraph(b, lines, depth)
		}
		lines = lines[n:]
	}
}

// beginsBlock reports whether a line ends the paragraph before it.
func beginsBlock(line string, depth int) bool {
	return strings.TrimSpace(line) == "" || heading().MatchString(line) || fenceOf(line) != "" ||
		depth < deepest && (strings.HasPrefix(line, ">") || item().MatchString(line))
}

// fenceOf returns the mark with which a line begins code, "" if it does not.
func fenceOf(line string) string {
	mark := strings.TrimLeft(line, " ")
	if !strings.HasPrefix(mark, "```") && !strings.HasPrefix(mark, "~~~") {
		return ""
	}
	return mark[:len(mark)-len(strings.TrimLeft(mark, mark[:1]))]
}

// writeCode writes a block of code, which ends with the text in an answer that was cut off. It and the other writers
// return the number of their lines.
func writeCode(b *strings.Builder, lines []string) int {
	fence, end := fenceOf(lines[0]), 1
	for ; end < len(lines); end++ {
		if mark := strings.TrimSpace(lines[end]); strings.HasPrefix(mark, fence) && strings.Trim(mark, fence[:1]) == "" {
			break
		}
	}
	fmt.Fprintf(b, "<pre><code>%s</code></pre>\n", text(strings.ReplaceAll(strings.Join(lines[1:end], "\n"), "\r", "")))
	return min(end+1, len(lines))
}

func writeQuote(b *strings.Builder, lines []string, depth int) int {
	n := 0
	var inner []string
	for n < len(lines) && strings.HasPrefix(lines[n], ">") {
		inner = append(inner, strings.TrimPrefix(lines[n][1:], " "))
		n++
	}
	b.WriteString("<blockquote>\n")
	writeBlocks(b, inner, depth+1)
	b.WriteString("</blockquote>\n")
	return n
}

// writeList writes entries of one kind and indentation. What is indented further belongs to an entry.
func writeList(b *strings.Builder, lines []string, depth int) int {
	first := item().FindStringSubmatch(lines[0])
	indent, kind := len(first[1]), "ul"
	if number, ok := strings.CutSuffix(first[2], first[2][len(first[2])-1:]); ok && number != "" {
		kind = "ol"
		fmt.Fprintf(b, "<ol start=\"%s\" dir=\"auto\">\n", number)
	} else {
		b.WriteString("<ul dir=\"auto\">\n")
	}
	var entry []string
	n := 0
	for ; n < len(lines); n++ {
		line := strings.TrimRight(lines[n], "\r ")
		m := item().FindStringSubmatch(line)
		own := m != nil && len(m[1]) <= indent+1
		if own && (len(m[2]) > 1) != (kind == "ol") {
			break
		}
		if !own && line != "" && !strings.HasPrefix(line, strings.Repeat(" ", indent+1)) {
			break
		}
		if !own {
			entry = append(entry, strings.TrimPrefix(line, strings.Repeat(" ", min(len(line)-len(strings.TrimLeft(line, " ")), indent+2))))
			continue
		}
		writeEntry(b, entry, depth)
		entry = []string{m[3]}
	}
	writeEntry(b, entry, depth)
	fmt.Fprintf(b, "</%s>\n", kind)
	return n
}

func writeEntry(b *strings.Builder, lines []string, depth int) {
	if len(lines) == 0 {
		return
	}
	mark := ""
	if m := task().FindStringSubmatch(lines[0]); m != nil {
		lines[0], mark = lines[0][len(m[0]):], "☑ "
		if m[1] == " " {
			mark = "☐ "
		}
	}
	n := 1
	for n < len(lines) && !beginsBlock(lines[n], depth+1) {
		lines[n] = strings.TrimSpace(lines[n])
		n++
	}
	fmt.Fprintf(b, "<li>%s%s", mark, spans(strings.Join(lines[:n], " ")))
	if rest := strings.TrimSpace(strings.Join(lines[n:], "")); rest != "" {
		b.WriteByte('\n')
		writeBlocks(b, lines[n:], depth+1)
	}
	b.WriteString("</li>\n")
}

func writeParagraph(b *strings.Builder, lines []string, depth int) int {
	n := 1
	for n < len(lines) && !beginsBlock(lines[n], depth) {
		n++
	}
	if n > 1 && strings.Contains(lines[0], "|") && ruler().MatchString(strings.TrimSpace(lines[1])) {
		writeTable(b, lines[:n])
	} else {
		fmt.Fprintf(b, "<p dir=\"auto\">%s</p>\n", spans(strings.ReplaceAll(strings.Join(lines[:n], "\n"), "\r", "")))
	}
	return n
}

// spans escapes a text, then marks it up. Escaping leaves no character with a meaning in HTML, so the marks are the only
// tags. A text of unusual length has none.
func spans(s string) raw {
	const most = 50_000
	if len(s) > most {
		return text(s)
	}
	return marked(string(text(s)), 0)
}

func marked(s string, depth int) raw {
	var b strings.Builder
	at := 0
	for _, m := range span().FindAllStringSubmatchIndex(s, -1) {
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return s[m[2*n]:m[2*n+1]]
		}
		inner := func(n int) raw {
			if depth > 3 {
				return raw(group(n))
			}
			return marked(group(n), depth+1)
		}
		b.WriteString(s[at:m[0]])
		at = m[1]
		switch {
		case m[2] >= 0:
			fmt.Fprintf(&b, "<code>%s</code>", group(1))
		case m[4] >= 0:
			b.WriteString(link(group(3), group(2)))
		case m[8] >= 0:
			u := bareURL(group(4))
			at = m[8] + len(u)
			b.WriteString(link(u, u))
		case m[10] >= 0:
			fmt.Fprintf(&b, "<strong>%s</strong>", inner(5))
		case m[12] >= 0:
			fmt.Fprintf(&b, "<em>%s</em>", inner(6))
		case m[14] >= 0:
			fmt.Fprintf(&b, "<em>%s</em>", inner(7))
		default:
			fmt.Fprintf(&b, "<del>%s</del>", inner(8))
		}
	}
	b.WriteString(s[at:])
	return raw(b.String())
}

// link is a link that tells the other site nothing; both of its texts are escaped.
func link(to, shown string) string {
	return `<a href="` + to + `" rel="noopener noreferrer nofollow">` + shown + `</a>`
}

// bareURL cuts what follows an address in a sentence: punctuation, and quotes and brackets, which are escaped.
func bareURL(s string) string {
	for _, end := range []string{"&lt;", "&gt;", "&#34;", "&#39;"} {
		s, _, _ = strings.Cut(s, end)
	}
	s = strings.TrimRight(s, ".,:!?_~)]")
	if strings.HasSuffix(s, ";") && !strings.HasSuffix(s, "&amp;") {
		s = strings.TrimRight(s, ";")
	}
	return s
}

// writeTable writes lines with cells between bars. The second line is the rule below the head.
func writeTable(b *strings.Builder, lines []string) {
	b.WriteString("<table>\n")
	for i, line := range lines {
		if i == 1 {
			continue
		}
		cell := "td"
		if i == 0 {
			cell = "th"
		}
		b.WriteString("<tr>")
		for _, c := range cells(line) {
			fmt.Fprintf(b, "<%s dir=\"auto\">%s</%s>", cell, spans(c), cell)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
}

// cells splits a line of a table at its bars, except those behind a backslash.
func cells(line string) (out []string) {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	const bar = "\x00" // never in a text that is shown
	for c := range strings.SplitSeq(strings.ReplaceAll(line, `\|`, bar), "|") {
		out = append(out, strings.TrimSpace(strings.ReplaceAll(c, bar, "|")))
	}
	return out
}
