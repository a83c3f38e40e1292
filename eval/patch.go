package eval

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// FilePatch is the part of a unified diff for one file.
type FilePatch struct {
	From, To   string // slashes; "" where there is no file
	Executable bool   // a new file is
	hunks      []hunk
}

// hunk replaces lines. The lines have their ends.
type hunk struct {
	at       int      // first line in the old file, from 1
	old, new []string // unchanged lines are in both
}

// maxPatchFiles is how many files a patch may name.
const maxPatchFiles = 2000

// ParsePatch reads a unified diff, as git prints it. It must apply exactly: it was made for the files of the case.
func ParsePatch(text string) (out []FilePatch, err error) {
	r := &patchReader{lines: strings.SplitAfter(text, "\n")}
	for r.at < len(r.lines) {
		line := r.lines[r.at]
		switch {
		case strings.HasPrefix(line, "diff --git "):
			r.flush(&out)
			r.open, r.now, r.head = true, FilePatch{}, strings.TrimSpace(strings.TrimPrefix(line, "diff --git "))
			r.at++
		case strings.HasPrefix(line, "--- ") && r.at+1 < len(r.lines) && strings.HasPrefix(r.lines[r.at+1], "+++ "):
			if !r.open || len(r.now.hunks) > 0 {
				r.flush(&out)
				r.open, r.now, r.head = true, FilePatch{}, ""
			}
			r.now.From, r.now.To = r.path(line[4:]), r.path(r.lines[r.at+1][4:])
			r.named = true
			r.at += 2
		case strings.HasPrefix(line, "@@ ") && r.open && r.named:
			r.hunk()
		default:
			r.readGitLine(line)
			r.at++
		}
		if r.err != nil {
			return nil, fmt.Errorf("line %d: %w", min(r.at+1, len(r.lines)), r.err)
		}
	}
	if r.flush(&out); r.err != nil {
		return nil, r.err
	}
	if len(out) == 0 {
		return nil, errors.New("it has no changes; want a unified diff, as `git diff` prints it")
	}
	if len(out) > maxPatchFiles {
		return nil, fmt.Errorf("it changes more than %d files", maxPatchFiles)
	}
	return out, nil
}

// patchReader is where the reading of a patch is.
type patchReader struct {
	lines []string
	at    int
	open  bool      // a file has begun
	named bool      // its names were read
	head  string    // after "diff --git"
	now   FilePatch // the file
	err   error
}

// flush ends a file.
func (r *patchReader) flush(out *[]FilePatch) {
	if !r.open {
		return
	}
	if !r.named { // an empty file that is new or deleted has only a head
		a, b, ok := strings.Cut(r.head, " b/")
		if !ok || a != "a/"+b {
			r.err = fmt.Errorf("cannot read the names in %.200q", r.head)
			return
		}
		switch {
		case r.now.From == "new":
			r.now.From, r.now.To = "", b
		case r.now.From == "deleted":
			r.now.From, r.now.To = b, ""
		case r.now.From == "": // only its mode changes
			r.now.From, r.now.To = b, b
		}
		for _, name := range []string{r.now.From, r.now.To} {
			r.checkName(name)
		}
	}
	if r.now.From == "" && r.now.To == "" && r.err == nil {
		r.err = errors.New("a file has no name")
	}
	*out = append(*out, r.now)
	r.open, r.named = false, false
}

// readGitLine reads a line of git between the names and the hunks.
func (r *patchReader) readGitLine(line string) {
	line = strings.TrimRight(line, "\r\n")
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(line, "new file mode "):
		r.now.From, r.now.Executable = "new", strings.HasSuffix(line, "755")
		if strings.HasSuffix(line, "120000") {
			r.err = errors.New("it creates a symlink, which is not supported")
		}
	case strings.HasPrefix(line, "deleted file mode "):
		r.now.From = "deleted"
	case strings.HasPrefix(line, "rename from "):
		r.now.From, r.named = r.name(strings.TrimPrefix(line, "rename from ")), true
	case strings.HasPrefix(line, "rename to "):
		r.now.To, r.named = r.name(strings.TrimPrefix(line, "rename to ")), true
	case strings.HasPrefix(line, "copy from "), strings.HasPrefix(line, "copy to "):
		r.err = errors.New("it copies a file, which is not supported")
	case line == "GIT binary patch", word == "Binary" && strings.HasSuffix(rest, " differ"):
		r.err = errors.New("it changes a binary file, which is not supported; use check_files")
	}
}

// path reads a name after --- or +++.
func (r *patchReader) path(s string) string {
	s = strings.TrimRight(s, "\r\n")
	if !strings.HasPrefix(s, `"`) {
		s, _, _ = strings.Cut(s, "\t") // a time may follow
	}
	s = r.unquote(s)
	if s == "/dev/null" {
		return ""
	}
	if len(s) > 2 && (s[0] == 'a' || s[0] == 'b') && s[1] == '/' {
		s = s[2:]
	}
	r.checkName(s)
	return s
}

// name reads a name of git that has no prefix.
func (r *patchReader) name(s string) string {
	s = r.unquote(s)
	r.checkName(s)
	return s
}

// unquote reads a name with unusual characters as git quotes it.
func (r *patchReader) unquote(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	out, err := strconv.Unquote(s)
	if err != nil {
		r.err = fmt.Errorf("cannot read the name %.200q", s)
	}
	return out
}

// checkName refuses names that lead out of the project or into its repository.
func (r *patchReader) checkName(s string) {
	if s != "" && r.err == nil && !IsLocal(s) {
		r.err = fmt.Errorf("the path %.200q leads out of the project", s)
	}
}

// IsLocal reports whether a path with slashes names something in the project that is not git's.
func IsLocal(s string) bool {
	if s == "" || strings.ContainsAny(s, "\x00\\") || !filepath.IsLocal(filepath.FromSlash(s)) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(s, "/"), func(name string) bool {
		return name == ".." || strings.EqualFold(strings.TrimRight(name, ". "), ".git")
	})
}

// hunk reads the lines after @@ -1,2 +1,3 @@.
func (r *patchReader) hunk() {
	var h hunk
	fields := strings.Fields(r.lines[r.at])
	if len(fields) < 4 || fields[3] != "@@" {
		r.err = errors.New("cannot read the place of a hunk")
		return
	}
	at, old, ok := span(fields[1], "-")
	_, after, fine := span(fields[2], "+")
	if h.at = at; !ok || !fine {
		r.err = errors.New("cannot read the place of a hunk")
		return
	}
	last := ' ' // the mark of the line before, to which a missing newline belongs
	for r.at++; r.at < len(r.lines) && (old > 0 || after > 0 || strings.HasPrefix(r.lines[r.at], `\`)); r.at++ {
		line := r.lines[r.at]
		if line == "" { // the end of the text
			break
		}
		mark := rune(line[0])
		text := line[1:]
		switch mark {
		case '\n', '\r': // a context line whose space was lost
			mark, text = ' ', line
		case '\\': // no newline at the end of the line before
			h.trim(last)
			continue
		}
		if mark == ' ' || mark == '-' {
			h.old, old = append(h.old, text), old-1
		}
		if mark == ' ' || mark == '+' {
			h.new, after = append(h.new, text), after-1
		}
		if !strings.ContainsRune(" +-", mark) || old < 0 || after < 0 {
			r.err = errors.New("a hunk has other lines than its head says")
			return
		}
		last = mark
	}
	if old > 0 || after > 0 {
		r.err = errors.New("a hunk has fewer lines than its head says")
	}
	r.now.hunks = append(r.now.hunks, h)
}

// trim removes the end of the line that was read last.
func (h *hunk) trim(mark rune) {
	cut := func(lines []string) {
		if n := len(lines); n > 0 {
			lines[n-1] = strings.TrimSuffix(lines[n-1], "\n")
		}
	}
	if mark != '+' {
		cut(h.old)
	}
	if mark != '-' {
		cut(h.new)
	}
}

// span reads -1,2.
func span(s, sign string) (at, n int, ok bool) {
	s, ok = strings.CutPrefix(s, sign)
	first, second, has := strings.Cut(s, ",")
	at, err := strconv.Atoi(first)
	n = 1
	if has && err == nil {
		n, err = strconv.Atoi(second)
	}
	return at, n, ok && err == nil && at >= 0 && n >= 0 && at < 1<<30 && n < 1<<30
}

// Apply returns the new content of a file. Every line must be where the patch says.
func (p FilePatch) Apply(old string) (string, error) {
	lines := strings.SplitAfter(old, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	at := 0
	for _, h := range p.hunks {
		from := h.at - 1 // patches count lines from 1
		if len(h.old) == 0 {
			from = h.at // it is inserted after that line
		}
		if from < at || from+len(h.old) > len(lines) || !slices.Equal(lines[from:from+len(h.old)], h.old) {
			return "", fmt.Errorf("the patch does not fit %s at line %d; it was made for other files", p.From, h.at)
		}
		for _, l := range lines[at:from] {
			out.WriteString(l)
		}
		for _, l := range h.new {
			out.WriteString(l)
		}
		at = from + len(h.old)
	}
	for _, l := range lines[at:] {
		out.WriteString(l)
	}
	return out.String(), nil
}
