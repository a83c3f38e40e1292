package patch

import (
	"slices"
	"strings"
)

// hunks reads the hunks of a file that is updated.
func (p *parser) hunks(f *File, first int) *Refusal {
	var h *Hunk
	begin := func(line int) {
		f.Hunks = append(f.Hunks, Hunk{Line: line + 1})
		h = &f.Hunks[len(f.Hunks)-1]
	}
	for i := p.headers(first, p.at); i < p.at; i++ {
		line := p.lines[i]
		switch {
		case strings.HasPrefix(line, "@@"):
			if h == nil || len(h.Lines) > 0 || h.End {
				begin(i)
			}
			if text := anchor(line); text != "" {
				h.Anchors = append(h.Anchors, text)
			}
		case strings.HasPrefix(line, "***"): // only the mark of the end comes here
			if h == nil || len(h.Lines) == 0 {
				return fault(i, "%q must stand below the lines of a hunk", eofMark)
			}
			h.End = true
		case line == `\ No newline at end of file`:
		case line == "" && (h == nil || h.End):
		case line == "":
			h.Lines = append(h.Lines, Line{Sign: ' ', bare: true})
		case strings.ContainsRune(" +-", rune(line[0])) && h != nil && h.End:
			return fault(i, "a line of a hunk after %q; begin the next hunk with @@", eofMark)
		case strings.ContainsRune(" +-", rune(line[0])):
			if h == nil {
				begin(i)
			}
			h.Lines = append(h.Lines, Line{Sign: line[0], Text: line[1:]})
		case h != nil:
			return fault(i, "%q has no sign. A line of a hunk begins with a space (it stays), - (it goes) or + (it comes); write %q if it stays",
				clip(line), " "+clip(line))
		}
	}
	return f.settle()
}

// settle drops what has no meaning in the hunks of a file, and refuses what could mean two things.
func (f *File) settle() *Refusal {
	changes := false
	for i := range f.Hunks {
		h := &f.Hunks[i]
		for n := len(h.Lines); n > 0 && h.Lines[n-1].bare; n = len(h.Lines) {
			h.Lines = h.Lines[:n-1] // a separator of hunks is not a line of the file
		}
		comes := slices.ContainsFunc(h.Lines, func(l Line) bool { return l.Sign == '+' })
		goes := slices.ContainsFunc(h.Lines, func(l Line) bool { return l.Sign == '-' })
		stays := slices.ContainsFunc(h.Lines, func(l Line) bool { return l.Sign == ' ' && !l.bare })
		changes = changes || comes || goes
		if comes && !goes && !stays && len(h.Anchors) > 0 && !h.End {
			return fault(h.Line-1, "the hunk only adds lines, and @@ does not say whether they come below %q or at the end of the file. "+
				"Begin it with the line above the place, with a space in front: %q", clip(h.Anchors[len(h.Anchors)-1]), " "+clip(h.Anchors[len(h.Anchors)-1]))
		}
	}
	f.Hunks = slices.DeleteFunc(f.Hunks, func(h Hunk) bool { return len(h.Lines) == 0 && len(h.Anchors) == 0 })
	if !changes && f.MoveTo == "" {
		return fault(f.Line-1, "%q is followed by no line that begins with + or -, so it would change nothing. Below it write @@ and the lines, as in:\n%s\n",
			updMark+" "+clip(f.Path), example)
	}
	return nil
}

// quoted is those of the lines of a hunk that must be in the file.
func quoted(lines []Line) []string {
	var out []string
	for _, l := range lines {
		if l.Sign != '+' {
			out = append(out, l.Text)
		}
	}
	return out
}

// variants are the ways to read a hunk: as it is; without an empty line at its end, as models
// leave one there; without an empty line at its beginning that has no sign.
func (h *Hunk) variants() [][]Line {
	out := [][]Line{h.Lines}
	last := func(lines []Line) []Line {
		i := len(lines) - 1
		for i >= 0 && lines[i].Sign == '+' {
			i--
		}
		if i < 0 || lines[i].Text != "" {
			return nil
		}
		rest := slices.Delete(slices.Clone(lines), i, i+1)
		if n := len(rest); lines[i].Sign == '-' && n > 0 && rest[n-1] == (Line{Sign: '+'}) {
			rest = rest[:n-1]
		}
		return rest
	}
	if rest := last(h.Lines); rest != nil {
		out = append(out, rest)
	}
	if len(h.Lines) > 0 && h.Lines[0].bare {
		out = append(out, h.Lines[1:])
		if rest := last(h.Lines[1:]); rest != nil {
			out = append(out, rest)
		}
	}
	return slices.DeleteFunc(out, func(lines []Line) bool { return len(quoted(lines)) == 0 })
}
