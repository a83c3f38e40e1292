package bash

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/tool"
	sh "github.com/lathe-agent/lathe/tool/shell"
	"github.com/lathe-agent/lathe/tool/target"
)

// scanned are the permission requests for a command line.
type scanned struct {
	tool.Permission
	paths   []sh.Path
	plan    sh.Plan
	unknown []sh.Unknown
	line    Line
}

// scanCommand makes of what a command line would do what rules are asked about. See package
// shell for how they see it. A line without anything to check is asked as a whole.
func scanCommand(command string, in sh.Environment) scanned {
	plan := sh.Analyze(command, in)
	s := scanned{paths: plan.Paths, plan: plan, unknown: plan.Unknown, line: newLine(plan)}
	s.Name = "bash"
	if plan.Unparsed != "" {
		s.Patterns, s.Unparsed = []string{command}, true
		s.unknown = []sh.Unknown{{Text: command, Why: plan.Unparsed}}
		return s
	}
	for _, c := range plan.Commands {
		if !slices.Contains(s.Patterns, c.Text) {
			s.Patterns, s.Written, s.RequiredPrefix = append(s.Patterns, c.Text), append(s.Written, c.Written), append(s.RequiredPrefix, c.RequiredPrefix)
		}
		if always, ok := alwaysFor(c); ok {
			s.Always = target.AppendUnique(s.Always, always)
		}
		for _, a := range c.Also {
			s.Also = target.AppendUnique(s.Also, a)
		}
		if c.Maybe != "" {
			s.Maybe = target.AppendUnique(s.Maybe, c.Maybe)
		}
	}
	for _, e := range plan.Extra {
		s.Patterns = target.AppendUnique(s.Patterns, e.Text)
		if e.Text == sh.UnknownCommand { // it may be any
			s.Maybe, s.Written = target.AppendUnique(s.Maybe, "*"), nil
		}
		if e.Kind != sh.IsUnknown && !strings.ContainsAny(e.Text, "*?") {
			s.Always = target.AppendUnique(s.Always, e.Text)
		}
	}
	if len(plan.Functions)+len(plan.Aliases) > 0 { // a name may be another's
		s.Written = nil
	}
	if len(s.Patterns) == 0 && !plan.ChangesDir {
		s.Patterns = []string{command}
	}
	return s
}

// alwaysFor returns the patterns that "always" would allow. Unknown parts, and texts that would
// mean more in a rule than here, are never allowed permanently.
func alwaysFor(c sh.Command) (string, bool) {
	var texts []string
	for _, w := range c.Words[:min(len(c.Words), 3)] {
		texts = append(texts, w.Text)
	}
	prefix := arityPrefix(texts)
	for i, t := range prefix {
		if w := c.Words[i]; !w.Known || w.Glob || strings.ContainsAny(t, "*? \t\n'\"\\$`;&|<>()#") {
			return "", false
		}
	}
	return strings.Join(prefix, " ") + " *", len(prefix) > 0
}

// externalDirs returns the directories outside of the project among where a command runs and
// what it names; of a file it is the one it is in.
func externalDirs(c *tool.Call, dir target.Target, paths []sh.Path) []string {
	var out []string
	add := func(name string, p sh.Path) {
		t, err := target.Locate(c, name)
		if err != nil || t.Inside { // an unreachable path cannot be used
			return
		}
		if !p.Write && (p.Certain || p.Reads) && target.Readable(c, t) { // its command is known to read it
			return
		}
		if t.Info == nil && (p.IfExists || !p.Certain && !isDirectory(filepath.Dir(t.Path))) {
			return // it only looked like a path
		}
		d := t.Path
		if !t.IsDir() {
			d = filepath.Dir(d)
		}
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	budget := maxGlobbed
	for _, p := range paths {
		names := []string{p.Name}
		if p.Glob {
			names, _ = globbed(p.Name, &budget)
		}
		for _, name := range names {
			add(name, p)
			if strings.Contains(name, "..") { // programs go up from where a link leads
				add(physical(name), p)
			}
		}
	}
	if add(dir.Path, sh.Path{Certain: true}); !dir.Inside && len(out) == 0 {
		out = append(out, dir.Path)
	}
	return out
}

// isDirectory is false of the root: anything could be a file there.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && filepath.Dir(path) != path
}

// physical is a path with each ".." taken where the links before it lead.
func physical(name string) string {
	at := filepath.VolumeName(name) + string(filepath.Separator)
	for part := range strings.SplitSeq(name[len(filepath.VolumeName(name)):], string(filepath.Separator)) {
		if part != ".." {
			at = filepath.Join(at, part)
			continue
		}
		if real, err := filepath.EvalSymlinks(at); err == nil {
			at = real
		}
		at = filepath.Dir(at)
	}
	return at
}

// maxGlobbed is how many names are looked at for the wildcards of one line.
const maxGlobbed = 2000

// globbed is what a pattern stands for. Where it may lead is the directory where it begins, and the
// links among what it matches, which may lead anywhere; names is all that it matches.
func globbed(pattern string, budget *int) (leads, names []string) {
	parts := strings.Split(pattern, string(filepath.Separator))
	first := slices.IndexFunc(parts, func(s string) bool { return strings.ContainsAny(s, `*?[`) })
	if first < 0 {
		return []string{unescapeGlob(pattern)}, []string{unescapeGlob(pattern)}
	}
	base := unescapeGlob(strings.Join(parts[:first], string(filepath.Separator)))
	if base == "" {
		base = string(filepath.Separator)
	}
	leads, names = []string{base}, []string{base}
	for _, part := range parts[first:] {
		var next []string
		for _, dir := range names {
			if !strings.ContainsAny(part, `*?[`) {
				next = append(next, filepath.Join(dir, unescapeGlob(part)))
				continue
			}
			entries, err := os.ReadDir(dir)
			for _, e := range entries {
				if *budget--; err != nil || *budget < 0 {
					return leads, append(names, next...)
				}
				if ok, err := filepath.Match(part, e.Name()); ok || err != nil {
					next = append(next, filepath.Join(dir, e.Name()))
				}
			}
		}
		for _, name := range next {
			if info, err := os.Lstat(name); err == nil && (info.Mode()&os.ModeSymlink != 0 || part == "..") {
				leads = append(leads, name)
			}
		}
		names = next
	}
	return leads, names
}

func unescapeGlob(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
