package archtest

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	mdLink     = regexp.MustCompile(`\]\(([^()\s]+)(?:\s+"[^"]*")?\)`)
	mdSpan     = regexp.MustCompile("`([^`]+)`")
	mdHeading  = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	makeTarget = regexp.MustCompile(`(?m)^([A-Za-z][A-Za-z0-9_-]*)\s*:(?:[^=]|$)`)
	makeWord   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
)

// page is a Markdown file with its fenced code told apart from its prose.
type page struct {
	name  string
	prose []string // one entry a line; empty inside fences
	fence []string // the opposite
}

// pages reads every Markdown file of the module.
func (t *Tree) pages() ([]page, error) {
	var out []page
	err := walk(t.fsys, func(name string) error {
		if !strings.HasSuffix(name, ".md") {
			return nil
		}
		src, err := fs.ReadFile(t.fsys, name)
		if err != nil {
			return err
		}
		out = append(out, readPage(name, string(src)))
		return nil
	})
	return out, err
}

func readPage(name, src string) page {
	p := page{name: name}
	mark := ""
	for line := range strings.Lines(src) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		prose, fence := line, ""
		switch {
		case mark != "":
			prose, fence = "", line
			if strings.HasPrefix(trimmed, mark) {
				mark = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			mark, prose = trimmed[:3], ""
		}
		p.prose = append(p.prose, prose)
		p.fence = append(p.fence, fence)
	}
	return p
}

// Links finds relative links in Markdown files that are broken, to a file or to a heading.
func (t *Tree) Links() ([]Problem, error) {
	pages, err := t.pages()
	if err != nil {
		return nil, err
	}
	headings := map[string][]string{}
	for _, p := range pages {
		headings[p.name] = p.headings()
	}
	var out []Problem
	for _, p := range pages {
		for i, line := range p.prose {
			line = mdSpan.ReplaceAllString(line, "")
			for _, m := range mdLink.FindAllStringSubmatch(line, -1) {
				if why := t.brokenLink(p.name, m[1], headings); why != "" {
					out = append(out, Problem{fmt.Sprintf("%s:%d", p.name, i+1), why})
				}
			}
		}
	}
	return out, nil
}

func (t *Tree) brokenLink(from, link string, headings map[string][]string) string {
	u, err := url.Parse(link)
	if err != nil {
		return "link " + link + " is not a URL"
	}
	if u.Scheme != "" || u.Host != "" {
		return ""
	}
	target := from
	if u.Path != "" {
		target = path.Join(path.Dir(from), u.Path)
		if path.IsAbs(u.Path) || !fs.ValidPath(target) {
			return "link " + link + " leaves the repository: make it relative to this file"
		}
		if _, err := fs.Stat(t.fsys, target); err != nil {
			return "link " + link + " leads nowhere: no " + target
		}
	}
	if known, md := headings[target]; u.Fragment != "" && md && !slices.Contains(known, u.Fragment) {
		return "link " + link + " leads nowhere: " + target + " has no such heading"
	}
	return ""
}

// headings lists the anchors of a page, spelled as forges spell them.
func (p page) headings() []string {
	var out []string
	for _, line := range p.prose {
		m := mdHeading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			default:
				return -1
			}
		}, m[1])
		out = append(out, anchor)
	}
	return out
}

// MakeTargets finds `make X` in code of Markdown files where the Makefile has no target X.
func (t *Tree) MakeTargets() ([]Problem, error) {
	src, err := fs.ReadFile(t.fsys, "Makefile")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(string(src), -1) {
		known[m[1]] = true
	}
	pages, err := t.pages()
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, p := range pages {
		for i := range p.prose {
			for _, code := range p.code(i) {
				for _, target := range madeBy(code) {
					if !known[target] {
						out = append(out, Problem{fmt.Sprintf("%s:%d", p.name, i+1), "the Makefile has no target " + target})
					}
				}
			}
		}
	}
	return out, nil
}

// madeBy lists the targets in a command line that calls make.
func madeBy(command string) []string {
	words := strings.Fields(strings.TrimPrefix(command, "$ "))
	if len(words) == 0 || words[0] != "make" {
		return nil
	}
	var out []string
	for _, w := range words[1:] {
		switch {
		case strings.Contains(w, "="): // a variable
		case makeWord.MatchString(w):
			out = append(out, w)
		default: // a comment, another command
			return out
		}
	}
	return out
}

// code lists the pieces of code on a line: its spans, or the line itself inside a fence.
func (p page) code(line int) []string {
	out := []string{p.fence[line]}
	for _, m := range mdSpan.FindAllStringSubmatch(p.prose[line], -1) {
		out = append(out, m[1])
	}
	return out
}

// namedFile recognizes a Go file or a document that a comment sends its reader to.
var namedFile = regexp.MustCompile(`(?:[A-Za-z0-9_.*-]+/)*[A-Za-z0-9_*-]+\.(?:go|md)\b`)

// NamedFiles finds comments that send the reader to a file that is neither beside them nor, by its path,
// in the module.
func (t *Tree) NamedFiles() []Problem {
	var out []Problem
	t.eachCode(func(p *Package, f *File) {
		for _, group := range f.AST.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:") {
					continue
				}
				for _, name := range namedFile.FindAllString(c.Text, -1) {
					// A pattern, or a file of the user's projects (AGENTS.md, SKILL.md …).
					pattern := strings.Contains(name, "*") || name[0] == '_' || name == strings.ToUpper(path.Base(name[:len(name)-3]))+".md"
					if !pattern && !t.exists(path.Join(p.Dir, name)) && !t.exists(name) {
						out = append(out, t.problem(c.Pos(), "no file %s: name another, or explain it here", name))
					}
				}
			}
		}
	})
	return out
}

func (t *Tree) exists(name string) bool {
	_, err := fs.Stat(t.fsys, name)
	return err == nil
}

// PackageTable compares the table of packages in a document, which has the head "| Package | Owns |", with the tree. The root
// package goes by its name.
func (t *Tree) PackageTable(document string) ([]Problem, error) {
	src, err := fs.ReadFile(t.fsys, document)
	if err != nil {
		return nil, err
	}
	rows, inTable := map[string]bool{}, false
	for _, line := range readPage(document, string(src)).prose {
		cells := Cells(line)
		inTable = slices.Equal(cells, []string{"Package", "Owns"}) || inTable && strings.HasPrefix(line, "|")
		if inTable && len(cells) == 2 {
			rows[strings.Trim(cells[0], "`")] = true
		}
	}
	delete(rows, "Package")
	var out []Problem
	for _, p := range t.Packages {
		name := p.Dir
		if name == "." {
			name = p.Name
		}
		if len(p.code()) > 0 && !rows[name] {
			out = append(out, Problem{document, "add a row for `" + name + "` to the table of packages"})
		}
		delete(rows, name)
	}
	for name := range rows {
		out = append(out, Problem{document, "`" + name + "` has no Go files: delete the row"})
	}
	return out, nil
}

// Cells splits a row of a Markdown table; it is nil for any other line and for the rule under the head.
func Cells(line string) []string {
	line = strings.TrimSpace(line)
	if len(line) < 2 || line[0] != '|' || line[len(line)-1] != '|' {
		return nil
	}
	if strings.Trim(line, "|-: ") == "" {
		return nil
	}
	cells := strings.Split(strings.ReplaceAll(line[1:len(line)-1], `\|`, "\x00"), "|")
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|")
	}
	return cells
}
