package compact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
)

const (
	promptTokens = 4000 // of the prompts that stay verbatim
	promptEach   = 6000 // bytes of one of them, where not all fit
	filesRead    = 10   // named in the records
	filesChanged = 100
	testLines    = 5 // of what the last test printed
)

// Records are facts about a conversation that need no model. They follow a summary, because
// summaries lose just these.
type Records struct {
	prompts []string
	changed []changedFile // in the order of their first change
	read    []readFile    // most often first
	test    string        // the last command that ran tests
	result  string        // and its result
	Todos   []lathe.Todo
	File    string // with the whole history, "" if there is none
}

type changedFile struct {
	name                 string
	additions, deletions int
	counted              bool
}

type readFile struct {
	name        string
	times, last int
}

// callFacts are the fields of arguments and metadata that records use; each tool has some of them.
type callFacts struct {
	FilePath string `json:"filePath"`
	Path     string `json:"path"`
	Offset   int    `json:"offset"`
	Limit    int    `json:"limit"`
	Command  string `json:"command"`

	Written  string `json:"filepath"`
	Exit     *int   `json:"exit"`
	FileDiff *struct {
		File                 string
		Additions, Deletions int
	} `json:"filediff"`
	Files []struct {
		RelativePath, FilePath string
		Additions, Deletions   int
	} `json:"files"`
}

func factsOf(s lathe.ToolState) (f callFacts) {
	_ = json.Unmarshal(history.InputOf(s), &f) // missing or malformed fields stay empty
	_ = json.Unmarshal(history.MetadataOf(s), &f)
	return f
}

// RecordsOf reads a history. What the prompts say counts of prompts only; the rest of all.
func RecordsOf(messages, prompts []*history.Message, diffs []lathe.FileDiff) (r Records) {
	for _, h := range prompts {
		if words := userText(h); words != "" && (len(r.prompts) == 0 || r.prompts[len(r.prompts)-1] != words) {
			r.prompts = append(r.prompts, words)
		}
	}
	changed, read := map[string]int{}, map[string]int{}
	for _, d := range diffs {
		changed[d.File] = len(r.changed)
		r.changed = append(r.changed, changedFile{d.File, d.Additions, d.Deletions, true})
	}
	for i, c := range history.Calls(messages) {
		done, ok := c.State.(*lathe.Completed)
		if !ok {
			continue
		}
		f := factsOf(done)
		for _, one := range f.changes(c.Tool) {
			r.change(changed, one, len(diffs) == 0)
		}
		if c.Tool == "read" && f.FilePath != "" {
			at, seen := read[f.FilePath]
			if !seen {
				at, read[f.FilePath] = len(r.read), len(r.read)
				r.read = append(r.read, readFile{name: f.FilePath})
			}
			r.read[at].times++
			r.read[at].last = i
		}
		if f.Command != "" && check.RunsTests(f.Command) {
			r.test, r.result = f.Command, testResult(f, done.Output)
		}
	}
	slices.SortStableFunc(r.read, func(a, b readFile) int {
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(b.last, a.last))
	})
	return r
}

// changes are the files a call has changed.
func (f callFacts) changes(tool string) (out []changedFile) {
	if f.FileDiff != nil {
		return []changedFile{{f.FileDiff.File, f.FileDiff.Additions, f.FileDiff.Deletions, true}}
	}
	for _, one := range f.Files {
		out = append(out, changedFile{cmp.Or(one.RelativePath, one.FilePath), one.Additions, one.Deletions, true})
	}
	if len(out) == 0 && tool == "write" {
		if name := cmp.Or(f.Written, f.FilePath, f.Path); name != "" {
			out = append(out, changedFile{name: name})
		}
	}
	return out
}

// change notes a changed file; its lines are added up unless they are known already.
func (r *Records) change(places map[string]int, one changedFile, add bool) {
	if one.name == "" {
		return
	}
	at, ok := places[one.name]
	if !ok {
		for name, i := range places { // one is relative to the repository root, the other is not
			if strings.HasSuffix(one.name, "/"+name) || strings.HasSuffix(name, "/"+one.name) {
				at, ok = i, true
				break
			}
		}
	}
	if !ok {
		places[one.name] = len(r.changed)
		r.changed = append(r.changed, one)
		return
	}
	if add && one.counted {
		r.changed[at].additions += one.additions
		r.changed[at].deletions += one.deletions
		r.changed[at].counted = true
	}
}

// testResult is how a test ended, and its last lines.
func testResult(f callFacts, output string) string {
	exit := -1
	if f.Exit != nil {
		exit = check.ExitOf(f.Command, *f.Exit, check.IsTest)
	}
	end := "ended"
	switch {
	case exit == 0:
		end = "passed"
	case exit > 0:
		end = fmt.Sprintf("failed (exit %d)", exit)
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	lines = lines[max(0, len(lines)-testLines):]
	return end + ": " + cutText(strings.Join(lines, "\n"), 600)
}

// userText is the user's own text in a prompt.
func userText(h *history.Message) string {
	if !history.IsUserPrompt(h) {
		return ""
	}
	var texts []string
	for _, p := range h.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if !b.Synthetic.On() && !b.Ignored.On() && strings.TrimSpace(b.Text) != "" {
				texts = append(texts, strings.TrimSpace(b.Text))
			}
		case *lathe.File:
			texts = append(texts, FileLabel(b))
		default:
		}
	}
	return strings.Join(texts, "\n")
}

// Names lists the changed files.
func (r Records) Names() (out []string) {
	for _, c := range r.changed {
		out = append(out, c.name)
	}
	return out
}

// Text is the text of the records below a summary.
func (r Records) Text() string {
	var b strings.Builder
	b.WriteString("<records>\nMade by the program and exact, also where the memory says otherwise. Read a file again before you edit it.\n")
	r.writePrompts(&b)
	if len(r.changed) > 0 {
		b.WriteString("\nFiles changed:\n")
		for _, c := range r.changed[max(0, len(r.changed)-filesChanged):] {
			b.WriteString("- " + c.name)
			if c.counted {
				fmt.Fprintf(&b, " +%d -%d", c.additions, c.deletions)
			}
			b.WriteByte('\n')
		}
	}
	if len(r.read) > 0 {
		b.WriteString("\nFiles read most:\n")
		for _, f := range r.read[:min(filesRead, len(r.read))] {
			fmt.Fprintf(&b, "- %s (%d times)\n", f.name, f.times)
		}
	}
	if r.test != "" {
		fmt.Fprintf(&b, "\nLast test: %s\n%s\n", r.test, r.result)
	}
	if len(r.Todos) > 0 {
		b.WriteString("\nTodo list:\n")
		for _, t := range r.Todos {
			fmt.Fprintf(&b, "- [%s] %s\n", t.Status, t.Content)
		}
	}
	if r.File != "" {
		fmt.Fprintf(&b, "\nThe whole conversation so far, for grep and read with offset and limit: %s\n", r.File)
	}
	b.WriteString("</records>")
	return b.String()
}

// writePrompts writes the user's prompts: all of them, or if they are too long the first and
// the last ones.
func (r Records) writePrompts(b *strings.Builder) {
	if len(r.prompts) == 0 {
		return
	}
	total, last := 0, r.prompts[len(r.prompts)-1]
	for _, p := range r.prompts {
		total += TokensIn(p)
	}
	b.WriteString("\nPrompts of the user, oldest first:\n")
	if total <= promptTokens {
		for _, p := range r.prompts {
			writePrompt(b, p)
		}
		return
	}
	writePrompt(b, cutText(r.prompts[0], promptEach))
	if n := len(r.prompts) - 2; n > 0 {
		fmt.Fprintf(b, "(%d more)\n", n)
	}
	if len(r.prompts) > 1 {
		writePrompt(b, cutText(last, promptEach))
	}
}

func writePrompt(b *strings.Builder, words string) {
	b.WriteString("- " + strings.ReplaceAll(words, "\n", "\n  ") + "\n")
}
