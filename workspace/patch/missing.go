package patch

import (
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// searchWork bounds the search for the closest lines, which only serves a message.
const searchWork = 100_000_000

func sign(r rune) string { return fmt.Sprintf("%c (U+%04X)", r, r) }

// missing says that the quoted text was not found, and shows the nearest text.
func (s *search) missing() *Refusal {
	r := refuse(Missing, "oldString is not in the file, and nothing close enough to it is. Nothing was changed.")
	s.src.split()
	want := strings.Split(strings.TrimRight(s.old, "\n"), "\n")
	if at := strings.Index(s.src.text, s.new); at >= 0 && len(strings.TrimSpace(s.new)) > 3 {
		r.Text = fmt.Sprintf("oldString is not in the file, but newString already is, at line %d: the edit seems to be done. Nothing was changed.",
			s.src.lineAt(at))
		r.Excerpt = s.present(s.src.lineAt(at)-1, strings.Count(s.new, "\n")+1, -1)
		return r
	}
	switch {
	case blank(s.old):
		r.Text = "oldString is only white space, and the file has none like it. Nothing was changed. Quote the lines around the place as well."
		return r
	case blank(s.src.text):
		r.Text = "oldString is not in the file: the file is empty. Nothing was changed. Use the write tool to fill it."
		return r
	case strings.Contains(s.src.text[:min(len(s.src.text), 4096)], "\x00"):
		r.Text = "oldString is not in the file: the file is not text in UTF-8 (it has zero bytes). Nothing was changed. Change it with a command of the shell."
		return r
	}
	if bare, ok := withoutNumbers(want); ok {
		r.Text = "oldString has the line numbers that the read tool prints in front of lines (such as \"12: \"); they are not in the file. Nothing was changed. Leave them out."
		want = bare
	}
	start, ok := nearest(s.src.lines, want, &budget{left: searchWork})
	if !ok {
		r.Text += " No line of the file is similar. Look where the text is with grep, or read the file, and copy the lines exactly."
		return r
	}
	s.closest(r, start, want)
	return r
}

// closest adds the lines that were probably meant, and how they differ.
func (s *search) closest(r *Refusal, start int, want []string) {
	first := max(start, 0)
	n := min(len(want), len(s.src.lines)-first)
	have := s.src.lines[first : first+n]
	off := first - start
	mark := -1
	for i := range have {
		if i+off < len(want) && strings.TrimSpace(have[i]) != strings.TrimSpace(want[i+off]) {
			mark = first + i
			break
		}
	}
	r.Text += fmt.Sprintf(" The closest passage is %s", lineRange(first, n))
	if kind := unlike(have, want[min(off, len(want)):]); kind != "" {
		r.Text += ": " + kind
	}
	r.Text += ". Copy the lines exactly as they stand, without the number in front."
	before := max(0, first-1)
	r.Excerpt = s.present(before, min(first+n+1, len(s.src.lines))-before, mark)
	if at := firstUnlike(have, want[min(off, len(want)):]); at >= 0 {
		r.Excerpt += "\nThe first difference:\n" + contrast(first+at+1, have[at], want[at+off], "oldString")
	}
}

// firstUnlike is the first line that two lists do not share to the letter, -1 if there is none.
func firstUnlike(have, want []string) int {
	for i := range min(len(have), len(want)) {
		if have[i] != want[i] {
			return i
		}
	}
	return -1
}

// clip shortens a line to what a message quotes of it.
func clip(line string) string { return phrase.Shorten(strings.ToValidUTF8(line, "\ufffd"), 120) }

// withoutNumbers takes the numbers that the read tool prints off all lines; false if they have
// none.
func withoutNumbers(lines []string) ([]string, bool) {
	out := make([]string, len(lines))
	some := false
	for i, line := range lines {
		if blank(line) {
			continue
		}
		rest := strings.TrimLeft(line, " \t")
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		after := rest[digits:]
		cut := false
		for _, mark := range []string{": ", ":", "\t", "| ", "|", "→"} {
			if after, cut = strings.CutPrefix(after, mark); cut {
				break
			}
		}
		if digits == 0 || !cut {
			return nil, false
		}
		out[i], some = after, true
	}
	return out, some
}
