package diff

import (
	"cmp"
	"strconv"
	"strings"
)

// Status is the kind of change of a file.
type Status string

// The statuses of a file.
const (
	Modified Status = "modified"
	Added    Status = "added"
	Deleted  Status = "deleted"
	Renamed  Status = "renamed"
	Copied   Status = "copied"
)

// File is the patch of one file. Names are without the a/ and b/ of git; "" where there is none.
type File struct {
	Old, New string
	Status   Status
	Binary   bool
	Hunks    []Hunk
}

// Path is the name to call the file by.
func (f *File) Path() string { return cmp.Or(f.New, f.Old) }

// Hunk is a stretch of lines.
type Hunk struct {
	Old, New int    // the first line on each side
	Section  string // the function name that git adds
	Rows     []Row
}

// Row is a line of a hunk: ' ' on both sides, '-' only on the old, '+' only on the new, '\\' a remark.
type Row struct {
	Op   byte
	Text string
}

// Parse reads a patch of one or several files. It skips lines it cannot read: counts may be
// wrong, heads may be missing. Text without a file or hunk gives nothing.
func Parse(patch string) []File {
	p := reader{lines: strings.Split(strings.TrimSuffix(patch, "\n"), "\n")}
	for p.at < len(p.lines) {
		line := p.line(0)
		switch {
		case p.open && p.row(line):
		case strings.HasPrefix(line, "@@"):
			p.hunk(line)
		case p.isNames():
			p.names()
			continue
		default:
			p.head(line)
		}
		p.at++
	}
	return p.files
}

type reader struct {
	lines            []string
	at               int
	files            []File
	oldLeft, newLeft int  // rows the hunk says it still has
	open             bool // a hunk is open
	named            bool // the open file has its names from --- and +++
}

func (p *reader) line(ahead int) string {
	if p.at+ahead >= len(p.lines) {
		return ""
	}
	return strings.TrimSuffix(p.lines[p.at+ahead], "\r")
}

// isNames reports whether the two lines from here are the names of a file.
func (p *reader) isNames() bool {
	return strings.HasPrefix(p.line(0), "--- ") && strings.HasPrefix(p.line(1), "+++ ")
}

// row takes a line of the open hunk; false if the hunk has ended. Lines are believed before counts: models
// count badly.
func (p *reader) row(line string) bool {
	full := p.oldLeft <= 0 && p.newLeft <= 0
	if p.isNames() {
		// A removed "-- x" above an added "++ y" looks the same, but then the counts end just there.
		real := p.oldLeft == 1 && p.newLeft == 1
		if full || !real && strings.HasPrefix(p.line(2), "@@") {
			p.open = false
			return false
		}
	}
	f := &p.files[len(p.files)-1]
	h := &f.Hunks[len(f.Hunks)-1]
	switch {
	case line == "":
		if full || p.at+1 == len(p.lines) {
			p.open = !full
			return full
		}
		h.Rows = append(h.Rows, Row{Op: ' '}) // a space at the end was lost on the way
		p.oldLeft, p.newLeft = p.oldLeft-1, p.newLeft-1
	case line[0] == '\\':
		h.Rows = append(h.Rows, Row{Op: '\\', Text: "No newline at end of file"})
	case line[0] == '+':
		p.newLeft--
		h.Rows = append(h.Rows, Row{Op: '+', Text: line[1:]})
	case line[0] == '-':
		p.oldLeft--
		h.Rows = append(h.Rows, Row{Op: '-', Text: line[1:]})
	case line[0] == ' ' || line[0] == '\t':
		p.oldLeft, p.newLeft = p.oldLeft-1, p.newLeft-1
		h.Rows = append(h.Rows, Row{Op: ' ', Text: strings.TrimPrefix(line, " ")})
	default:
		p.open = false
		return false
	}
	return true
}

// hunk reads "@@ -1,2 +3,4 @@ section".
func (p *reader) hunk(line string) {
	if len(p.files) == 0 {
		p.files = append(p.files, File{Status: Modified})
	}
	h := Hunk{Old: 1, New: 1}
	p.oldLeft, p.newLeft = 0, 0
	body, section, _ := strings.Cut(strings.TrimLeft(line, "@"), "@@")
	for _, w := range strings.Fields(body) {
		switch w[0] {
		case '-':
			h.Old, p.oldLeft = span(w[1:])
		case '+':
			h.New, p.newLeft = span(w[1:])
		}
	}
	h.Section = strings.TrimSpace(section)
	f := &p.files[len(p.files)-1]
	f.Hunks = append(f.Hunks, h)
	p.open = true
}

// span reads "12,3"; a count that is not said is one.
func span(s string) (start, count int) {
	first, second, more := strings.Cut(s, ",")
	start, count = number(first), 1
	if more {
		count = number(second)
	}
	return start, count
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return n
}

// names reads --- and +++.
func (p *reader) names() {
	from, to := name(p.line(0)[4:], "a/"), name(p.line(1)[4:], "b/")
	if len(p.files) == 0 || p.named {
		p.files = append(p.files, File{Status: Modified})
	}
	f := &p.files[len(p.files)-1]
	f.Old, f.New, p.named = from, to, true
	switch {
	case from == "" && to != "":
		f.Status = Added
	case to == "" && from != "":
		f.Status = Deleted
	}
	p.at += 2
}

// name reads the name of a file: quoted as git does, with a time behind a tab, or nothing at all.
func name(s, prefix string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, `"`) {
		if u, err := strconv.Unquote(s); err == nil {
			s = u
		}
	}
	if s == "/dev/null" {
		return ""
	}
	return strings.TrimPrefix(s, prefix)
}

// head reads a line before the hunks of a file.
func (p *reader) head(line string) {
	p.open = false
	if rest, ok := strings.CutPrefix(line, "diff --git "); ok {
		from, to := gitNames(rest)
		p.files, p.named = append(p.files, File{Old: from, New: to, Status: Modified}), false
		return
	}
	if rest, ok := strings.CutPrefix(line, "Index: "); ok {
		p.files, p.named = append(p.files, File{Old: name(rest, ""), New: name(rest, ""), Status: Modified}), false
		return
	}
	if len(p.files) == 0 {
		return
	}
	f := &p.files[len(p.files)-1]
	word := func(prefix string) (string, bool) { return strings.CutPrefix(line, prefix) }
	if _, ok := word("new file mode"); ok {
		f.Status, f.Old = Added, ""
	} else if _, ok := word("deleted file mode"); ok {
		f.Status, f.New = Deleted, ""
	} else if s, ok := word("rename from "); ok {
		f.Status, f.Old = Renamed, name(s, "")
	} else if s, ok := word("rename to "); ok {
		f.Status, f.New = Renamed, name(s, "")
	} else if s, ok := word("copy from "); ok {
		f.Status, f.Old = Copied, name(s, "")
	} else if s, ok := word("copy to "); ok {
		f.Status, f.New = Copied, name(s, "")
	} else if strings.HasPrefix(line, "Binary files ") || strings.HasPrefix(line, "GIT binary patch") {
		f.Binary = true
	}
}

// gitNames divides "a/x b/x". Names may have spaces: then the two halves are alike.
func gitNames(s string) (from, to string) {
	if half := len(s) / 2; len(s)%2 == 1 && s[half] == ' ' && name(s[:half], "a/") == name(s[half+1:], "b/") {
		return name(s[:half], "a/"), name(s[half+1:], "b/")
	}
	if i := strings.Index(s, " b/"); i > 0 {
		return name(s[:i], "a/"), name(s[i+1:], "b/")
	}
	from, to, _ = strings.Cut(s, " ")
	return name(from, "a/"), name(to, "b/")
}
