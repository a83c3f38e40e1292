package eval

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// Parse reads a file of cases. The name is for errors, which have the line. Paths stay as they are written.
func Parse(name string, text []byte) (*File, error) {
	d := &document{name: termtext.Plain(name)}
	root := d.parse(text)
	if d.err != nil {
		return nil, d.err
	}
	f := &File{}
	var list ast.Node
	top := settings{}
	known := top.keys(d)
	known["name"] = func(n ast.Node) { f.Name = d.text(n, "name", maxName) }
	known["budget"] = func(n ast.Node) { f.Budget = d.dollars(n, "budget") }
	known["jobs"] = func(n ast.Node) { f.Jobs = int(d.whole(n, "jobs", 1, MaxJobs)) }
	known["cases"] = func(n ast.Node) { list = n }
	if d.members(root, "the file", known); d.err != nil {
		return nil, d.err
	}
	d.cases(f, list, top)
	if d.err != nil {
		return nil, d.err
	}
	return f, nil
}

// MaxJobs is how many runs may be at work at once.
const MaxJobs = 64

// cases reads the list of cases, each on top of the defaults.
func (d *document) cases(f *File, list ast.Node, top settings) {
	all, ok := list.(*ast.SequenceNode)
	switch {
	case list == nil:
		d.fail(nil, "it has no cases; add a list with the key cases")
	case !ok || len(all.Values) == 0:
		d.wrong(list, "cases", "a list with at least one case")
	case len(all.Values) > maxCases:
		d.fail(list, "it has more than %d cases; split it", maxCases)
	}
	if d.err != nil {
		return
	}
	lines := map[string]int{}
	for _, n := range all.Values {
		own := settings{}
		name := ""
		known := own.keys(d)
		known["name"] = func(n ast.Node) { name = d.text(n, "name", maxName) }
		if d.members(n, "a case", known); d.err != nil {
			return
		}
		c := own.over(top)
		c.Name, c.Line = name, lineOf(n)
		switch {
		case name == "":
			d.fail(n, "the case has no name")
		case !isName(name):
			d.fail(n, "the name %s is not allowed: use letters, digits, spaces and . _ - / @ : # +, without two dots in a row", termtext.Quote(name))
		case lines[name] > 0:
			d.fail(n, "the name %s is also that of the case on line %d", termtext.Quote(name), lines[name])
		default:
			d.check(n, &c)
		}
		if d.err != nil {
			return
		}
		lines[name] = c.Line
		f.Cases = append(f.Cases, c)
	}
}

// isName reports whether a name of a case is safe to show, to write and to type.
func isName(s string) bool {
	return strings.TrimSpace(s) == s && len(s) <= maxName && !strings.Contains(s, "..") && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" ._-/@:#+", r))
	})
}

// check reports the keys that a case lacks, or that exclude each other.
func (d *document) check(n ast.Node, c *Case) {
	s := c.Source
	kinds := 0
	for _, set := range []string{s.Repo, s.Folder, s.Session} {
		if set != "" {
			kinds++
		}
	}
	what := "case " + c.Name
	switch {
	case kinds != 1:
		d.fail(n, "%s needs one of repo, folder and session, which has its files", what)
	case s.Repo != "" && s.Commit == "":
		d.fail(n, "%s has a repo and needs a commit: a full hash, a tag or a branch", what)
	case s.Repo == "" && s.Commit != "":
		d.fail(n, "%s has a commit, which needs a repo", what)
	case s.Session == "last":
		d.fail(n, "%s: the last session is soon another one; give its ID, as `lathe session list` prints it", what)
	case s.Session != "" && s.Step == "":
		d.fail(n, "%s has a session and needs a step", what)
	case s.Session == "" && s.Step != "":
		d.fail(n, "%s has a step, which needs a session", what)
	case s.Folder == "" && len(s.Exclude) > 0:
		d.fail(n, "%s has exclude, which needs a folder", what)
	case c.Prompt == "" && s.Session == "":
		d.fail(n, "%s has no prompt", what)
	case c.Check.Command == "":
		d.fail(n, "%s has no check: a command whose exit code 0 means that the work is done", what)
	}
	for _, name := range s.Exclude {
		if name != filepath.Base(name) || !filepath.IsLocal(name) {
			d.fail(n, "%s: exclude has %s; name files and folders at the top of the folder", what, termtext.Quote(name))
		}
	}
	if c.Check.Patch != "" {
		if _, err := ParsePatch(c.Check.Patch); err != nil {
			d.fail(n, "%s: check_patch: %v", what, err)
		}
	}
}

// settings are the keys that a case and the top of a file have. Unset ones are zero.
type settings struct{ Case }

// keys returns the readers of the keys.
func (s *settings) keys(d *document) map[string]func(ast.Node) {
	text := func(key string, to *string, most int) func(ast.Node) {
		return func(n ast.Node) { *to = d.text(n, key, most) }
	}
	return map[string]func(ast.Node){
		"repo":          text("repo", &s.Source.Repo, 4096),
		"commit":        text("commit", &s.Source.Commit, 300),
		"folder":        text("folder", &s.Source.Folder, 4096),
		"exclude":       func(n ast.Node) { s.Source.Exclude = d.texts(n, "exclude") },
		"session":       text("session", &s.Source.Session, maxName),
		"step":          text("step", &s.Source.Step, maxName),
		"prompt":        text("prompt", &s.Prompt, maxText),
		"agent":         text("agent", &s.Agent, maxName),
		"check":         text("check", &s.Check.Command, 100_000),
		"check_timeout": func(n ast.Node) { s.Check.Timeout = d.span(n, "check_timeout") },
		"check_files":   func(n ast.Node) { s.Check.Files = d.texts(n, "check_files") },
		"check_patch":   text("check_patch", &s.Check.Patch, MaxFile),
		"limits":        func(n ast.Node) { d.limits(n, &s.Limits) },
		"models":        func(n ast.Node) { s.Models = d.models(n) },
		"runs":          func(n ast.Node) { s.Runs = int(d.whole(n, "runs", 1, maxRuns)) },
	}
}

// limits reads the limits of one run. A case overrides those of the file one by one.
func (d *document) limits(n ast.Node, to *Limits) {
	d.members(n, "limits", map[string]func(ast.Node){
		"budget":  func(n ast.Node) { to.Budget = d.dollars(n, "limits.budget") },
		"tokens":  func(n ast.Node) { to.Tokens = d.whole(n, "limits.tokens", 1, 1e12) },
		"steps":   func(n ast.Node) { to.Steps = d.whole(n, "limits.steps", 1, 1e6) },
		"timeout": func(n ast.Node) { to.Timeout = d.span(n, "limits.timeout") },
	})
}

// models reads names of models, each once: the results of a model have its name.
func (d *document) models(n ast.Node) (out []string) {
	for _, m := range d.texts(n, "models") {
		if m = strings.TrimSpace(m); slices.Contains(out, m) {
			d.fail(n, "models has %s twice", termtext.Quote(m))
		}
		out = append(out, m)
	}
	if len(out) == 0 {
		d.fail(n, "models is empty; leave it out for your default model")
	}
	return out
}

// over returns a case with the defaults of the file where it has nothing of its own. A source and a check are taken as a
// whole: the commit of one repository is none of another.
func (s *settings) over(top settings) Case {
	c, t := s.Case, top.Case
	own := c.Source
	if own.Repo == "" && own.Folder == "" && own.Session == "" {
		c.Source = t.Source
		c.Source.Commit, c.Source.Step = cmp.Or(own.Commit, t.Source.Commit), cmp.Or(own.Step, t.Source.Step)
		if own.Exclude != nil {
			c.Source.Exclude = own.Exclude
		}
	}
	c.Prompt, c.Agent = cmp.Or(c.Prompt, t.Prompt), cmp.Or(c.Agent, t.Agent)
	c.Check.Command, c.Check.Patch = cmp.Or(c.Check.Command, t.Check.Command), cmp.Or(c.Check.Patch, t.Check.Patch)
	c.Check.Timeout = cmp.Or(c.Check.Timeout, t.Check.Timeout, DefaultCheckTimeout)
	if c.Check.Files == nil {
		c.Check.Files = t.Check.Files
	}
	l, d := &c.Limits, t.Limits
	l.Budget, l.Tokens = cmp.Or(l.Budget, d.Budget), cmp.Or(l.Tokens, d.Tokens)
	l.Steps, l.Timeout = cmp.Or(l.Steps, d.Steps), cmp.Or(l.Timeout, d.Timeout, defaultTimeout)
	c.Runs = cmp.Or(c.Runs, t.Runs, 1)
	if c.Models == nil {
		c.Models = t.Models
	}
	if c.Models == nil {
		c.Models = []string{""}
	}
	return c
}

// The limits of a case that names none.
const (
	DefaultCheckTimeout = 10 * time.Minute
	defaultTimeout      = time.Hour
)
