package patch

import (
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// Patch lists the changes that a model wants, file by file, in its order.
type Patch struct{ Files []File }

// Kind is the kind of change to a file.
type Kind string

// The kinds. Move only comes out of [Patch.Apply]; a [File] that moves is an Update.
const (
	Add    Kind = "add"
	Update Kind = "update"
	Delete Kind = "delete"
	Move   Kind = "move"
)

// File is one section of a patch.
type File struct {
	Kind    Kind
	Path    string
	MoveTo  string // of an Update, may be ""
	Content string // of an Add
	Hunks   []Hunk // of an Update
	Line    int    // of its header in the text, counted from 1
}

// Hunk is one change in a file.
type Hunk struct {
	Anchors []string // lines to find first, the outermost first
	Lines   []Line
	End     bool // it is at the end of the file
	Line    int  // of its first line in the text
}

// Line is a line of a hunk: ' ' stays, '-' goes, '+' comes.
type Line struct {
	Sign byte
	Text string
	bare bool // an empty line without its sign
}

const (
	beginMark = "*** Begin Patch"
	endMark   = "*** End Patch"
	eofMark   = "*** End of File"
	addMark   = "*** Add File:"
	delMark   = "*** Delete File:"
	updMark   = "*** Update File:"
	moveMark  = "*** Move to:"
)

// example is the patch shown to a model that wrote something else.
const example = "*** Begin Patch\n*** Update File: src/a.go\n@@ func main() {\n context line\n-old line\n+new line\n*** End Patch"

// Parse reads a patch. What stands before its first and after its last line is ignored, so that a
// here document or a fence around it does no harm. A text it cannot read is a [*Refusal] of reason
// Syntax that names the line.
func Parse(text string) (Patch, error) {
	p := parser{lines: strings.Split(plain(text), "\n")}
	if r := p.markers(); r != nil {
		return Patch{}, r
	}
	var out Patch
	for p.at < p.end {
		f, r := p.section()
		if r != nil {
			return Patch{}, r
		}
		if f != nil {
			out.Files = append(out.Files, *f)
		}
	}
	if len(out.Files) == 0 {
		return Patch{}, p.nothing()
	}
	return out, nil
}

type parser struct {
	lines      []string
	begin, end int // the lines of the two marks
	at         int
}

// fault is a refusal that names a line of the text, counted from 0.
func fault(line int, format string, args ...any) *Refusal {
	return refuse(Syntax, "Line %d of patchText: %s. Nothing was changed.", line+1, fmt.Sprintf(format, args...))
}

// markers finds where the patch begins and ends. A mark that is at the beginning of its line
// goes before one with white space in front: that may be a line of a file.
func (p *parser) markers() *Refusal {
	p.begin, p.end = -1, -1
	for i, line := range p.lines {
		switch strings.TrimSpace(line) {
		case beginMark:
			if p.begin < 0 {
				p.begin = i
			}
		case endMark:
			if p.begin >= 0 && (p.end < 0 || strings.HasPrefix(line, "*") && !strings.HasPrefix(p.lines[p.end], "*")) {
				p.end = i
			}
		}
	}
	switch {
	case p.begin < 0:
		return p.noBegin()
	case p.end < 0:
		return refuse(Syntax, "The patch has no line %q: it was cut off after line %d (%q). Nothing was changed. "+
			"Send the whole patch again, in several calls if it is long, each with its own %q and %[1]q.",
			endMark, len(p.lines), clip(p.lines[len(p.lines)-1]), beginMark)
	}
	for i := p.end + 1; i < len(p.lines); i++ {
		if strings.TrimRight(p.lines[i], " \t") == beginMark {
			return fault(i, "a second %q; put all files between one %[1]q and one %q", beginMark, endMark)
		}
	}
	p.at = p.begin + 1
	return nil
}

func (p *parser) noBegin() *Refusal {
	text := strings.Join(p.lines, "\n")
	switch {
	case blank(text):
		return refuse(Empty, "patchText is empty. Send a patch such as:\n%s", example)
	case len(p.lines) == 1 && strings.Contains(text, `\n`):
		return refuse(Syntax, "patchText is one line with \\n written as two characters. Nothing was changed. Send it with real line breaks:\n%s", example)
	case strings.Contains(text, "\n+++ ") || strings.HasPrefix(text, "diff --git"):
		return refuse(Syntax, "patchText is a unified diff, and this tool reads another form. Nothing was changed. "+
			"Put %q before it and %q after it, name each file by a line such as %q instead of --- and +++, and write @@ without line numbers:\n%s",
			beginMark, endMark, updMark+" src/a.go", example)
	}
	return refuse(Syntax, "patchText has no line %q. Nothing was changed. Send a patch such as:\n%s", beginMark, example)
}

func (p *parser) nothing() *Refusal {
	for _, line := range p.lines[p.begin+1 : p.end] {
		if !blank(line) {
			return fault(p.begin+1, "no file is named before %q, and no hunks follow. A section begins with %q, %q or %q and a path",
				endMark, addMark, updMark, delMark)
		}
	}
	return refuse(Syntax, "The patch is empty: nothing between %q and %q. Nothing was changed. Send a patch such as:\n%s", beginMark, endMark, example)
}

// section reads one line between sections, or a section with all of its lines.
func (p *parser) section() (*File, *Refusal) {
	line := strings.TrimRight(p.lines[p.at], " \t")
	head := p.at
	p.at++
	for _, k := range []struct {
		mark string
		kind Kind
	}{{addMark, Add}, {updMark, Update}, {delMark, Delete}} {
		path, ok := strings.CutPrefix(line, k.mark)
		if !ok {
			continue
		}
		f := &File{Kind: k.kind, Path: strings.TrimSpace(path), Line: head + 1}
		if f.Path == "" {
			return nil, fault(head, "no path after %q; write %q", k.mark, k.mark+" src/a.go")
		}
		return f, p.body(f)
	}
	switch {
	case line == eofMark:
		return nil, nil
	case strings.HasPrefix(line, "***"):
		return nil, p.unknown(head)
	case strings.HasPrefix(line, "@@"):
		return nil, fault(head, "a hunk before any file is named; write %q before it", updMark+" <path>")
	}
	return nil, nil
}

// unknown is a line that begins like a mark and is none.
func (p *parser) unknown(at int) *Refusal {
	line := strings.TrimSpace(p.lines[at])
	_, path, _ := strings.Cut(line, ":")
	path = strings.TrimSpace(path)
	lower := strings.ToLower(line)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(lower, w) {
				return true
			}
		}
		return false
	}
	meant := ""
	switch {
	case strings.HasPrefix(line, moveMark):
		return fault(at, "%q must stand directly below the line %q of its file", clip(line), updMark+" <old path>")
	case path == "":
	case has("delete", "remove"):
		meant = delMark + " " + path
	case has("rename", "move"):
		meant = updMark + " <old path>\" and below it \"" + moveMark + " " + path
	case has("add", "create", "new"):
		meant = addMark + " " + path
	case has("update", "modify", "edit", "change"):
		meant = updMark + " " + path
	}
	if meant != "" {
		return fault(at, "%q is not known; write \"%s\"", clip(line), meant)
	}
	return fault(at, "%q is not known here. Known are %q, %q, %q, %q, %q, %q. A line of a file that begins with *** needs its sign in front: a space, + or -",
		clip(line), addMark, updMark, moveMark, delMark, eofMark, endMark)
}

// body reads the lines of a section up to the next mark.
func (p *parser) body(f *File) *Refusal {
	if f.Kind == Update && p.at < p.end {
		if to, ok := strings.CutPrefix(strings.TrimRight(p.lines[p.at], " \t"), moveMark); ok {
			if f.MoveTo = strings.TrimSpace(to); f.MoveTo == "" {
				return fault(p.at, "no path after %q", moveMark)
			}
			p.at++
		}
	}
	first := p.at
	for p.at < p.end && (!strings.HasPrefix(p.lines[p.at], "***") || strings.TrimRight(p.lines[p.at], " \t") == eofMark) {
		p.at++
	}
	switch f.Kind {
	case Add:
		return p.added(f, first)
	case Update:
		return p.hunks(f, first)
	case Delete, Move: // ignore lines after a deletion
	}
	return nil
}

// added reads the lines of a new file.
func (p *parser) added(f *File, first int) *Refusal {
	first = p.headers(first, p.at)
	last := p.at
	for last > first && (blank(p.lines[last-1]) || strings.TrimRight(p.lines[last-1], " \t") == eofMark) {
		last--
	}
	var out strings.Builder
	for i := first; i < last; i++ {
		text, ok := strings.CutPrefix(p.lines[i], "+")
		if !ok && !blank(text) {
			if i == first && strings.HasPrefix(text, "@@") {
				continue
			}
			return fault(i, "every line of an added file begins with +; write %q", "+"+clip(text))
		}
		if !ok {
			text = ""
		}
		out.WriteString(text)
		out.WriteByte('\n')
	}
	f.Content = out.String()
	return nil
}

// headers skips what other kinds of diffs put in front of their hunks.
func (p *parser) headers(at, end int) int {
	for ; at < end; at++ {
		line := p.lines[at]
		switch {
		case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "index "), strings.HasPrefix(line, "new file mode "),
			strings.HasPrefix(line, "similarity index "), strings.HasPrefix(line, "rename "):
		case strings.HasPrefix(line, "--- ") && at+1 < end && strings.HasPrefix(p.lines[at+1], "+++ "):
			at++
		default:
			return at
		}
	}
	return at
}

// numbers is the place a unified diff gives in an @@ line. Models guess it, so it says nothing.
var numbers = phrase.Regexp(`^-\d+(,\d+)? \+\d+(,\d+)? @@.*$`)

// anchor is the text of an @@ line, with the indentation it has.
func anchor(line string) string {
	text := strings.TrimRight(strings.TrimPrefix(line, "@@"), " \t")
	if numbers().MatchString(strings.TrimSpace(text)) {
		return ""
	}
	text = strings.TrimRight(strings.TrimSuffix(text, "@@"), " \t")
	return strings.TrimPrefix(text, " ")
}
