package patch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// Reason is why nothing was changed.
type Reason string

// The reasons.
const (
	Same      Reason = "same"      // there is nothing to change
	Empty     Reason = "empty"     // nothing to look for was given
	Missing   Reason = "missing"   // the text is not there
	Ambiguous Reason = "ambiguous" // it is there more than once
	Doubtful  Reason = "doubtful"  // only something similar is there, and the change would do harm
	TooMuch   Reason = "too much"  // finding out would take too long
	Syntax    Reason = "syntax"    // the patch cannot be read
	NoFile    Reason = "no file"   // the patch changes a file that does not exist
	Exists    Reason = "exists"    // the patch moves a file onto another
)

// Refusal tells a model why nothing was changed: the error, the actual text, and a way that
// would work.
type Refusal struct {
	Reason  Reason
	Path    string // the file of a patch that it is about; "" for [Replace] and what is not about one
	Text    string
	Excerpt string // lines of the file that show it, numbered; Text has nothing of the file
}

func (r *Refusal) Error() string {
	if r.Excerpt == "" {
		return r.Text
	}
	return r.Text + "\n" + r.Excerpt
}

func refuse(why Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: why, Text: fmt.Sprintf(format, args...)}
}

// doubt is the reason why a match is uncertain.
type doubt int

const (
	differs doubt = iota
	lost
	invented
	escaped
	shape
)

func (s *search) doubtful(h hit, why doubt, line int) *Refusal {
	place := lineRange(h.first, h.n)
	r := &Refusal{Reason: Doubtful, Excerpt: s.present(h.first, h.n, line)}
	if i := line - h.first; why == differs && h.n == len(s.want) && i >= 0 && i < len(s.want) {
		r.Excerpt += "\nThe first difference:\n" + contrast(line+1, s.src.lines[line], s.want[i], "oldString")
	}
	problem := ""
	switch why {
	case differs:
		problem = fmt.Sprintf("line %d of the file differs from what oldString has there, and newString would overwrite it unseen or repeat the mistake", line+1)
	case lost:
		problem = fmt.Sprintf("line %d of the file is not in oldString, and newString would remove it", line+1)
	case invented:
		problem = fmt.Sprintf("oldString has a line near line %d that the file does not have, and newString would add it", line+1)
	case shape:
		problem = "its lines are indented otherwise, so that a line may be missing in oldString or another place be meant"
	case escaped:
		r.Text = fmt.Sprintf("oldString is escaped once too often: it has \\n, \\t or \\\" as two characters where the file, at %s, has the character itself. "+
			"newString has such escapes too, and which of them are meant is unclear. Nothing was changed. "+
			"Send both with real line breaks, tabs and quotes, as they shall stand in the file.", place)
		return r
	}
	r.Text = fmt.Sprintf("oldString is not in the file as it was given. The closest passage is %s, but %s. Nothing was changed. "+
		"Copy %s exactly as they stand into oldString, and keep in newString what shall stay.", place, problem, place)
	return r
}

func (s *search) tooLarge(h hit) *Refusal {
	r := refuse(Doubtful, "oldString is not in the file as it was given, and the passage that begins and ends like it, %s, is much longer. "+
		"Nothing was changed. Quote in oldString all the lines to replace.", lineRange(h.first, h.n))
	r.Excerpt = s.present(h.first, min(h.n, 12), -1)
	return r
}

func (s *search) tooMuch() *Refusal {
	return refuse(TooMuch, "oldString is not in the file as it was given, and the file is too large or too repetitive to look for something similar "+
		"(%d lines). Nothing was changed. Find the place with grep, read those lines, and copy them exactly into oldString; a few lines are enough.",
		strings.Count(s.src.text, "\n")+1)
}

func (s *search) nothingToDo() *Refusal {
	r := refuse(Same, "oldString and newString are the same: nothing to change.")
	if at := strings.Index(s.src.text, s.old); at >= 0 && s.old != "" {
		r.Text += fmt.Sprintf(" The text already stands at line %d.", s.src.lineAt(at))
	}
	r.Text += " Give in newString what shall stand there instead."
	return r
}

// mostPlaces is how many places a message names.
const mostPlaces = 10

func (s *search) severalExact() *Refusal {
	spans := s.occurrences(s.old)
	at := s.beginnings(spans)
	r := refuse(Ambiguous, "oldString is in the file %s times, at lines %s. Nothing was changed. "+
		"Add lines before or after it until it is the only one, or set replaceAll to true to change them all.",
		atLeast(len(spans)), placeWords(at))
	r.Excerpt = withBefore(s.src.lines, at)
	return r
}

func (s *search) severalInexact(how Matcher, hits []hit) *Refusal {
	spans := make([]span, len(hits))
	for i, h := range hits {
		spans[i] = h.span
	}
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	if len(hits) == 1 {
		h := hits[0]
		r := refuse(Ambiguous, "oldString is not in the file as it was given. Read loosely (%s) it fits line %d, but the text of that line also is a part of other lines. "+
			"Nothing was changed. Copy the line exactly into oldString, together with a line before or after it.", how, h.first+1)
		r.Excerpt = s.present(h.first, h.n, -1)
		return r
	}
	advice := "Copy one of them exactly, with lines before or after it that the others do not have."
	if s.all {
		advice = "They differ in white space, and replaceAll changes only what is alike: copy each exactly and change it with a call of its own."
	}
	at := s.beginnings(spans)
	r := refuse(Ambiguous, "oldString is not in the file as it was given. Read loosely (%s) it fits %s places, at lines %s. Nothing was changed. %s",
		how, atLeast(len(hits)), placeWords(at), advice)
	r.Excerpt = withBefore(s.src.lines, at)
	return r
}

func atLeast(n int) string {
	if n >= maxHits {
		return "more than " + strconv.Itoa(maxHits)
	}
	return strconv.Itoa(n)
}

// beginnings are the lines where spans begin, counted from 1: one more than a message names.
func (s *search) beginnings(spans []span) []int {
	s.src.split()
	spans = spans[:min(len(spans), mostPlaces+1)]
	out := make([]int, len(spans))
	for i, sp := range spans {
		out[i] = s.src.lineAt(sp.start)
	}
	return out
}

// placeWords lists the first of some lines.
func placeWords(lines []int) string {
	var out []string
	for _, line := range lines[:min(len(lines), mostPlaces)] {
		out = append(out, strconv.Itoa(line))
	}
	if len(lines) > mostPlaces {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// withBefore shows the first of some lines with the line in front of each, which is what can tell them
// apart.
func withBefore(lines []string, at []int) string {
	out := "These lines, with the line before:\n"
	for _, line := range at[:min(len(at), 5)] {
		out += numbered(lines, max(0, line-2), line, -1) + "\n"
	}
	return strings.TrimRight(out, "\n")
}

// present shows lines of the file as they are; mark is one that matters, or -1.
func (s *search) present(first, n, mark int) string {
	const most = 12
	if n > most {
		if mark >= first {
			first = max(first, min(mark-most/2, first+n-most))
		}
		n = most
	}
	return "Lines of the file as they are now:\n" + strings.TrimSuffix(numbered(s.src.lines, first, first+n, mark), "\n")
}

// numbered prints lines as the read tool does; mark is pointed out.
func numbered(lines []string, first, end, mark int) string {
	const widest = 300
	var out strings.Builder
	end = min(end, len(lines))
	if end == len(lines) && end > 1 && lines[end-1] == "" {
		end-- // no line follows the last \n
	}
	for i := first; i < end; i++ {
		line := phrase.Shorten(strings.ToValidUTF8(lines[i], "\ufffd"), widest)
		if i == mark {
			line += "   <- here"
		}
		fmt.Fprintf(&out, "%d: %s\n", i+1, line)
	}
	return out.String()
}

// lineRange names lines that are counted from 0.
func lineRange(first, n int) string {
	if n <= 1 {
		return fmt.Sprintf("line %d", first+1)
	}
	return fmt.Sprintf("lines %d–%d", first+1, first+n)
}
