package eval

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Write is the file as YAML that Parse reads.
func (f *File) Write() []byte {
	w := &yamlWriter{}
	w.add(0, "name", f.Name)
	if f.Budget > 0 {
		w.plain(0, "budget", fmt.Sprint(f.Budget))
	}
	if f.Jobs > 0 {
		w.plain(0, "jobs", fmt.Sprint(f.Jobs))
	}
	w.b.WriteString("cases:\n")
	for _, c := range f.Cases {
		w.b.WriteString("  - name: " + quoted(c.Name) + "\n")
		s := c.Source
		w.add(4, "repo", s.Repo)
		w.add(4, "commit", s.Commit)
		w.add(4, "folder", s.Folder)
		w.list(4, "exclude", s.Exclude)
		w.add(4, "session", s.Session)
		w.add(4, "step", s.Step)
		w.add(4, "agent", c.Agent)
		w.add(4, "prompt", c.Prompt)
		w.add(4, "check", c.Check.Command)
		w.span(4, "check_timeout", c.Check.Timeout)
		w.list(4, "check_files", c.Check.Files)
		w.add(4, "check_patch", c.Check.Patch)
		w.limits(c.Limits)
		if len(c.Models) > 0 && c.Models[0] != "" {
			w.list(4, "models", c.Models)
		}
		if c.Runs > 1 {
			w.plain(4, "runs", fmt.Sprint(c.Runs))
		}
	}
	return []byte(w.b.String())
}

// yamlWriter writes keys and values. Long texts become blocks that people can read.
type yamlWriter struct{ b strings.Builder }

// plain writes a value that needs no quotes.
func (w *yamlWriter) plain(indent int, key, value string) {
	w.b.WriteString(strings.Repeat(" ", indent) + key + ": " + value + "\n")
}

// add writes a text. An empty one is left out, because Parse refuses it.
func (w *yamlWriter) add(indent int, key, value string) {
	if value == "" {
		return
	}
	if !isBlock(value) {
		w.plain(indent, key, quoted(value))
		return
	}
	mark := "|-"
	if strings.HasSuffix(value, "\n") {
		mark = "|"
	}
	w.plain(indent, key, mark)
	for line := range strings.SplitSeq(strings.TrimSuffix(value, "\n"), "\n") {
		if line != "" {
			line = strings.Repeat(" ", indent+2) + line
		}
		w.b.WriteString(line + "\n")
	}
}

// isBlock reports whether a text of several lines keeps each byte as a block of YAML.
func isBlock(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") || strings.HasSuffix(body, " ") || strings.ContainsAny(body[:1], " \t\n") {
		return false
	}
	for _, c := range s {
		if c != '\n' && (c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u2028' || c == '\u2029' || c == '\ufeff' || c == utf8.RuneError) {
			return false
		}
	}
	return true
}

// quoted is a text in double quotes: YAML reads what JSON writes.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text has an encoding
	return strings.TrimSpace(b.String())
}

func (w *yamlWriter) list(indent int, key string, all []string) {
	if len(all) == 0 {
		return
	}
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = quoted(s)
	}
	w.plain(indent, key, "["+strings.Join(out, ", ")+"]")
}

func (w *yamlWriter) span(indent int, key string, d time.Duration) {
	if d > 0 {
		w.plain(indent, key, d.String())
	}
}

// limits writes those that are set.
func (w *yamlWriter) limits(l Limits) {
	if l == (Limits{}) {
		return
	}
	w.b.WriteString("    limits:\n")
	if l.Budget > 0 {
		w.plain(6, "budget", fmt.Sprint(l.Budget))
	}
	if l.Tokens > 0 {
		w.plain(6, "tokens", fmt.Sprint(l.Tokens))
	}
	if l.Steps > 0 {
		w.plain(6, "steps", fmt.Sprint(l.Steps))
	}
	w.span(6, "timeout", l.Timeout)
}
