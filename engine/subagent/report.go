package subagent

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
)

// Silent is the state of a child that ended without a word: it is asked for some.
const Silent = "silent"

// StoppedText is the report of a child that was stopped.
const StoppedText = "It was stopped before it was done."

// Report returns the result of a child's last prompt. It is pure. Steps is how many its agent
// may take, 0 without limit.
func Report(child lathe.Session, steps int, messages []lathe.Message) tool.Report {
	r := tool.Report{Session: child.ID}
	from := 0
	for i, m := range slices.Backward(messages) {
		if _, ok := m.Data.(*lathe.User); ok && !history.IsSynthetic(m.Parts) && !isWords(m.Parts) {
			from = i
			break
		}
	}
	var last *lathe.Message
	for i, m := range messages[from:] {
		a, ok := m.Data.(*lathe.Assistant)
		if !ok {
			continue
		}
		last = &messages[from+i]
		if r.Tokens += lathe.TokensUsed(a.Tokens); a.Error == nil {
			r.Steps++
		}
		r.Files = append(r.Files, filesOf(child, m)...)
	}
	slices.Sort(r.Files)
	r.Files = slices.Compact(r.Files)
	if last == nil {
		r.State, r.Text = tool.TaskFailed, "It had not started."
		return r
	}
	r.State, r.Text = outcomeOf(*last)
	switch {
	case r.Failed():
		r.Text += findingsText(lastFindings(messages[from:]))
	case r.Text == "" && steps > 0 && r.Steps >= steps:
		r.State, r.Text = tool.TaskPartial, "It reached its step limit before it could conclude."+findingsText(lastFindings(messages[from:]))
	case r.Text == "":
		r.State = Silent
	case steps > 0 && r.Steps >= steps:
		r.State = tool.TaskPartial
	}
	return r
}

// outcomeOf looks at the last answer of a child: how it ended, and its last text.
func outcomeOf(m lathe.Message) (state, words string) {
	switch fault := m.Data.(*lathe.Assistant).Error.(type) {
	case nil:
	case *lathe.AbortedFault:
		return tool.TaskCanceled, StoppedText
	default:
		return tool.TaskFailed, lathe.FaultMessage(fault)
	}
	for _, p := range m.Parts {
		c, ok := p.Body.(*lathe.ToolCall)
		if !ok {
			continue
		}
		what := c.Tool + " " + phrase.Shorten(string(history.InputOf(c.State)), 300)
		switch meta := history.MetadataOf(c.State); {
		case history.HasMark(meta, history.RejectedMark):
			return tool.TaskFailed, "The user rejected its call of " + what + ", which ended it. Do not do the same in another way."
		case history.HasMark(meta, history.StoppedMark):
			return tool.TaskFailed, "It repeated its call of " + what + " until it was stopped. Take another approach."
		}
	}
	return tool.TaskCompleted, lastText(m)
}

// lastText is the last text of an answer that says something.
func lastText(m lathe.Message) string {
	for _, p := range slices.Backward(m.Parts) {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Ignored.On() && strings.TrimSpace(t.Text) != "" {
			return strings.TrimSpace(t.Text)
		}
	}
	return ""
}

// lastFindings are the last three intermediate texts of a child.
func lastFindings(messages []lathe.Message) string {
	var said []string
	for _, m := range slices.Backward(messages) {
		if _, ok := m.Data.(*lathe.Assistant); !ok {
			continue
		}
		if words := lastText(m); words != "" && len(said) < 3 {
			said = append(said, phrase.Shorten(words, 1000))
		}
	}
	slices.Reverse(said)
	return strings.Join(said, "\n\n")
}

// LastTexts is what a session said last, for people who look at it from outside.
func LastTexts(messages []lathe.Message) string { return lastFindings(messages) }

func findingsText(said string) string {
	if said == "" {
		return ""
	}
	return "\nWhat it had said until then:\n\n" + said
}

// filesOf are the files an answer changed, as seen from the session's directory.
func filesOf(s lathe.Session, m lathe.Message) (files []string) {
	for _, p := range m.Parts {
		if patch, ok := p.Body.(*lathe.Patch); ok {
			for _, f := range patch.Files {
				if rel, err := filepath.Rel(s.Directory, filepath.FromSlash(f)); err == nil && filepath.IsLocal(rel) {
					f = filepath.ToSlash(rel)
				}
				files = append(files, f)
			}
		}
	}
	return files
}
