package patch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Change is the result of a patch for a file.
type Change struct {
	Kind    Kind
	Path    string
	MoveTo  string // of a Move
	Existed bool   // Before was there; false only for an Add
	Before  string
	After   string // "" of a Delete
	// Shifts are hunks whose lines stand at another indentation in the file.
	Shifts []HunkShift
}

// HunkShift is a hunk that was found at another indentation. Where that is one amount its added lines
// were moved by it; else they stand as they were given.
type HunkShift struct {
	Shift
	Hunk int // counted from 1
	Line int // of the file
}

// Apply computes the results of a patch for the files it names, and writes nothing. read
// returns the content of a file as it is, and false if there is none. Sections see what earlier
// ones made; the result has each file once, in the order they were first named. Any section
// that cannot be applied is the error, a [*Refusal], and then there is no result.
func (p Patch) Apply(read func(path string) (string, bool, error)) ([]Change, error) {
	d := &disk{read: read, files: map[string]*entry{}}
	for _, f := range p.Files {
		if err := d.apply(f); err != nil {
			return nil, err
		}
	}
	return d.changes(), nil
}

// disk is the files a patch names, as they are and as they become.
type disk struct {
	read  func(path string) (string, bool, error)
	files map[string]*entry
	order []string
}

type entry struct {
	before, now     string
	existed, exists bool
	from            string // the file it was moved from
	shifts          []HunkShift
}

func (d *disk) open(path string) (*entry, error) {
	if e := d.files[path]; e != nil {
		return e, nil
	}
	text, ok, err := d.read(path)
	if err != nil {
		return nil, err
	}
	e := &entry{before: text, now: text, existed: ok, exists: ok}
	d.files[path] = e
	d.order = append(d.order, path)
	return e, nil
}

func (d *disk) apply(f File) error {
	e, err := d.open(f.Path)
	if err != nil {
		return err
	}
	if f.Kind == Add {
		e.now, e.exists, e.from = f.Content, true, ""
		return nil
	}
	if !e.exists {
		return d.absent(f, e)
	}
	if f.Kind == Delete {
		e.now, e.exists = "", false
		return nil
	}
	next, shifts, r := f.Update(e.now)
	if r != nil {
		return r
	}
	e.now, e.shifts = next, append(e.shifts, shifts...)
	if f.MoveTo == "" || f.MoveTo == f.Path {
		return nil
	}
	return d.move(f, e)
}

func (d *disk) absent(f File, e *entry) error {
	r := &Refusal{Reason: NoFile, Path: f.Path}
	if e.existed {
		r.Text = fmt.Sprintf("Line %d of patchText: %s is deleted or moved by an earlier section of the same patch. Nothing was changed. Name each file in one section.", f.Line, f.Path)
		return r
	}
	r.Text = fmt.Sprintf("Line %d of patchText: file %s not found. Nothing was changed.", f.Line, f.Path)
	if f.Kind == Update {
		r.Text += fmt.Sprintf(" To make it write %q and its lines with + in front.", addMark+" "+f.Path)
	}
	return r
}

func (d *disk) move(f File, e *entry) error {
	to, err := d.open(f.MoveTo)
	if err != nil {
		return err
	}
	if to.exists {
		return &Refusal{Reason: Exists, Path: f.MoveTo, Text: fmt.Sprintf(
			"Line %d of patchText: %s cannot be moved to %s, which is there already. Nothing was changed. Choose another name, or write %q before this section if it shall go.",
			f.Line, f.Path, f.MoveTo, delMark+" "+f.MoveTo)}
	}
	to.now, to.exists, to.from, to.shifts = e.now, true, f.Path, e.shifts
	to.from = cmp.Or(e.from, to.from)
	e.now, e.exists, e.from = "", false, ""
	return nil
}

func (d *disk) changes() []Change {
	moved := map[string]bool{} // sources that a Move stands for
	target := map[string]string{}
	for _, path := range d.order {
		e := d.files[path]
		src := d.files[e.from]
		if e.exists && !e.existed && src != nil && src.existed && !src.exists && !moved[e.from] {
			moved[e.from], target[path] = true, e.from
		}
	}
	var out []Change
	for _, path := range d.order {
		e := d.files[path]
		c := Change{Path: path, Existed: e.existed, Before: e.before, After: e.now, Shifts: e.shifts}
		switch {
		case target[path] != "":
			c = Change{
				Kind: Move, Path: target[path], MoveTo: path, Existed: true,
				Before: d.files[target[path]].before, After: e.now, Shifts: e.shifts,
			}
		case moved[path] || !e.existed && !e.exists:
			continue
		case !e.existed:
			c.Kind = Add
		case !e.exists:
			c.Kind = Delete
		default:
			c.Kind = Update
		}
		out = append(out, c)
	}
	return out
}

// edit is a hunk at its place in a file.
type edit struct {
	place
	n int // how many lines of the file it covers
}

// Update returns a content with the hunks of a file applied. The file's own lines stay where the
// patch only quotes them, whatever white space the quotes have; new lines get the line ending of
// their neighbors; the last line gets one if it has none. Lines that are quoted at another indentation
// than the file's take the added ones with them; where they do not tell how far, and indentation has
// meaning in the file, that is refused.
func (f *File) Update(content string) (string, []HunkShift, *Refusal) {
	src := newSource(content)
	src.split()
	lines := src.lines
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	k := &seeker{lines: lines, keys: make([][]string, len(passes())), work: &budget{left: maxWork}}
	var edits []edit
	var shifts []HunkShift
	cursor := 0
	for i := range f.Hunks {
		places := k.seek(&f.Hunks[i], cursor)
		switch {
		case k.work.spent():
			return "", nil, f.refuse(i, TooMuch, "the file is too large or too repetitive to look for its lines (%d lines). "+
				"Use fewer lines of context and more hunks", len(lines))
		case len(places) == 0:
			return "", nil, f.unfound(k, i, cursor)
		case len(places) > 1 && f.alike(i) < len(places):
			return "", nil, f.unclear(k, i, places)
		}
		at := edit{place: places[0], n: len(quoted(places[0].lines))}
		var shift *Shift
		if at.lines, shift = reindent(at.lines, lines[at.at:]); shift != nil {
			if !shift.Uniform && IndentationMatters(f.Path) {
				return "", nil, f.misplaced(k, i, at)
			}
			shifts = append(shifts, HunkShift{*shift, i + 1, at.at + 1})
		}
		edits = append(edits, at)
		if at.n > 0 {
			cursor = at.at + at.n
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	return src.rewrite(lines, edits), shifts, nil
}

// misplaced says that the lines of a hunk are in the file, but not where the patch has them.
func (f *File) misplaced(k *seeker, hunk int, at edit) *Refusal {
	r := f.refuse(hunk, Doubtful, "its lines stand at another indentation in the file, and not all of them are moved by the same amount, so the place of its + lines is unclear. "+
		"Copy the lines with the indentation they have in the file")
	r.Excerpt = (&search{src: &source{lines: k.lines}}).present(at.at, at.n, -1)
	return r
}

// alike is how many hunks from i on say the same: as many equal places are then all meant.
func (f *File) alike(i int) int {
	n := 0
	for _, h := range f.Hunks[i:] {
		if !slices.Equal(h.Anchors, f.Hunks[i].Anchors) || !slices.Equal(h.Lines, f.Hunks[i].Lines) {
			break
		}
		n++
	}
	return n
}

func (s *source) rewrite(lines []string, edits []edit) string {
	var out strings.Builder
	out.Grow(len(s.raw) + 1024)
	if s.bom {
		out.WriteString(bom)
	}
	at := 0
	ending := func(i int) string {
		i = max(0, min(i, len(lines)-1))
		if len(lines) == 0 {
			return "\n"
		}
		return s.ending(span{s.starts[i], s.starts[i] + len(lines[i])})
	}
	keep := func(to int) {
		for ; at < to; at++ {
			out.WriteString(lines[at])
			out.WriteString(ending(at))
		}
	}
	for _, e := range edits {
		keep(e.at)
		for _, l := range e.lines {
			switch l.Sign {
			case '+':
				out.WriteString(l.Text)
				out.WriteString(ending(max(at-1, e.at)))
			case '-':
				at++
			default:
				keep(at + 1)
			}
		}
	}
	keep(len(lines))
	return out.String()
}

// refuse says why a hunk cannot be applied. Paths are absolute where the caller made them so.
func (f *File) refuse(hunk int, why Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: why, Path: f.Path, Text: fmt.Sprintf("Hunk %d of %s (line %d of patchText): %s. Nothing was changed.",
		hunk+1, f.Path, f.Hunks[hunk].Line, fmt.Sprintf(format, args...))}
}

func (f *File) unclear(k *seeker, hunk int, places []place) *Refusal {
	at := make([]int, len(places))
	for i, p := range places {
		at[i] = p.at + 1
	}
	r := f.refuse(hunk, Ambiguous, "its lines are in the file %s times, at lines %s. Add lines of context, or put the line that begins the function or class before it, as @@ <that line>",
		atLeast(len(places)), placeWords(at))
	r.Excerpt = withBefore(k.lines, at)
	return r
}

// unfound says which line of a hunk is not in the file, and what is at the likeliest place.
func (f *File) unfound(k *seeker, hunk, cursor int) *Refusal {
	h := &f.Hunks[hunk]
	from := cursor
	for _, text := range h.Anchors {
		below := k.anchors(text, from)
		if len(below) == 0 {
			return f.noAnchor(k, hunk, text, from)
		}
		from = below[0]
	}
	want := quoted(h.Lines)
	if earlier := k.find(want, 0, false); len(earlier) > 0 {
		first := &f.Hunks[0]
		problem := "which is before the hunk above it. Hunks of a file go from its top to its bottom"
		if len(h.Anchors) > 0 {
			problem = "which is not below its @@ line. Leave the @@ text out, or name a line above the place"
		} else if h == first {
			problem = "which another hunk covers"
		}
		return f.refuse(hunk, Missing, "its lines stand at line %d, %s", earlier[0]+1, problem)
	}
	start, ok := nearest(k.lines, want, &budget{left: searchWork})
	if !ok {
		return f.refuse(hunk, Missing, "its lines are not in the file, and nothing similar is. The first of them is %q. Read the file and copy the lines", clip(want[0]))
	}
	return f.near(k, hunk, want, start)
}

func (f *File) near(k *seeker, hunk int, want []string, start int) *Refusal {
	first := max(start, 0)
	n := max(0, min(len(want)-(first-start), len(k.lines)-first))
	have, rest := k.lines[first:first+n], want[first-start:]
	mark, wanted := -1, want[0]
	if start >= 0 {
		for i := range rest {
			if i >= n || strings.TrimSpace(have[i]) != strings.TrimSpace(rest[i]) {
				mark, wanted = first+i, rest[i]
				break
			}
		}
	}
	problem := fmt.Sprintf("its lines are not in the file. The closest are %s", lineRange(first, n))
	if kind := unlike(have, rest); kind != "" {
		problem += ": " + strings.ReplaceAll(kind, "oldString", "the patch")
	}
	r := f.refuse(hunk, Missing, "%s. Copy the lines as they stand, with a space or - in front", problem)
	s := search{src: &source{lines: k.lines}}
	r.Excerpt = s.present(first, min(n+1, len(k.lines)-first), mark)
	if mark >= first && mark < first+n {
		r.Excerpt += "\nThe first line that does not match:\n" + contrast(mark+1, k.lines[mark], wanted, "the patch")
	} else {
		r.Text += " The first line that does not match: " + clip(wanted)
	}
	return r
}

func (f *File) noAnchor(k *seeker, hunk int, text string, from int) *Refusal {
	if above := k.anchors(text, 0); len(above) > 0 && from > 0 {
		return f.refuse(hunk, Missing, "its @@ line %q stands at line %d, which is not below what comes before it (line %d). Hunks of a file go from its top to its bottom",
			clip(text), above[0], from)
	}
	r := f.refuse(hunk, Missing, "its @@ line %q is not a line of the file. Put a whole line of the file there, such as the first line of the function, or @@ alone", clip(text))
	if at, ok := nearest(k.lines, []string{text}, &budget{left: searchWork}); ok && at >= 0 {
		s := search{src: &source{lines: k.lines}}
		r.Excerpt = s.present(at, 1, -1)
	}
	return r
}
