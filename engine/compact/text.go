// Package compact shortens a history. It finds the start of the part that stays, writes the
// request for a summary, checks the summary, adds records to it, and selects old outputs to
// leave out.
//
// It is pure: the engine asks the model and stores the result. Start at TailStart, Serialize
// and Faults.
package compact

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

//go:embed prompt/compaction.md
var SystemPrompt string

//go:embed prompt/compactionask.md
var Ask string

//go:embed prompt/compactionmerge.md
var compactionMerge string

//go:embed prompt/continue.md
var ContinuePrompt string

const (
	// ResultLimit limits a tool's output in the input of a summary, in bytes.
	ResultLimit = 2000
	// clearedText stands for outputs that were left out of the context before.
	clearedText = "[Old tool result content cleared]"
)

// Serialize writes a history as plain text, an entry for each message that says anything. As
// text, no provider minds a call without its result, a foreign signature or media. An output
// longer than limit bytes is cut; 0 is all of it.
func Serialize(messages []*history.Message, limit int) (out []string) {
	for _, h := range messages {
		var lines []string
		_, user := h.Data.(*lathe.User)
		for _, p := range h.Parts {
			if line := serializePart(p, user, limit); line != "" {
				lines = append(lines, line)
			}
		}
		if a, ok := h.Data.(*lathe.Assistant); ok && a.Error != nil {
			lines = append(lines, "[Assistant failed] "+lathe.FaultMessage(a.Error))
		}
		if len(lines) > 0 {
			out = append(out, strings.Join(lines, "\n"))
		}
	}
	return out
}

// serializePart writes a part for the summary request, cut to the limit.
func serializePart(p lathe.Part, user bool, limit int) string {
	switch b := p.Body.(type) {
	case *lathe.Text:
		switch {
		case b.Ignored.On() || strings.TrimSpace(b.Text) == "":
			return ""
		case user:
			return "[User] " + b.Text
		}
		return "[Assistant] " + b.Text
	case *lathe.Reasoning:
		if strings.TrimSpace(b.Text) == "" {
			return ""
		}
		return "[Assistant thinks] " + b.Text
	case *lathe.File:
		return FileLabel(b)
	case *lathe.Subtask:
		return "[User hands to " + b.Agent + "] " + b.Prompt
	case *lathe.ToolCall:
		return serializeCall(b, limit)
	default:
		return ""
	}
}

func serializeCall(c *lathe.ToolCall, limit int) string {
	call := "[Tool call] " + c.Tool + " " + string(history.InputOf(c.State))
	switch s := c.State.(type) {
	case *lathe.Completed:
		if s.Compacted != 0 {
			return call + "\n[Tool result] " + clearedText
		}
		text := call + "\n[Tool result] " + cutText(s.Output, limit)
		for _, a := range s.Attachments {
			if f, ok := a.Body.(*lathe.File); ok {
				text += "\n" + FileLabel(f)
			}
		}
		return text
	case *lathe.Failed:
		return call + "\n[Tool error] " + cutText(s.Error, limit)
	default:
		return call + "\n[Tool error] it was interrupted"
	}
}

func FileLabel(f *lathe.File) string {
	return fmt.Sprintf("[Attached %s: %s]", f.Mime, cmp.Or(f.Filename, "file"))
}

// cutText shortens a text to so many bytes and says by how much; whole characters stay.
func cutText(s string, limit int) string {
	if limit <= 0 || len(s) <= limit {
		return s
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s\n[%d more characters are left out]", s[:n], utf8.RuneCountInString(s[n:]))
}

// Fit joins entries to a text of about that many bytes, 0 is all of them: what it began
// with and the newest stay.
func Fit(entries []string, limit int) string {
	total := 0
	for _, e := range entries {
		total += len(e) + 2
	}
	if limit <= 0 || total <= limit || len(entries) == 0 {
		return strings.Join(entries, "\n\n")
	}
	left, from := limit-min(len(entries[0]), limit/4), len(entries)
	for from > 1 && len(entries[from-1])+2 <= left {
		from--
		left -= len(entries[from]) + 2
	}
	out, rest := []string{cutText(entries[0], max(limit/4, 1))}, slices.Clone(entries[from:])
	if from == len(entries) && from > 1 { // the newest alone is too long
		from--
		rest = []string{cutText(entries[from], max(left, 1))}
	}
	if from > 1 {
		out = append(out, fmt.Sprintf("[%d messages are left out here]", from-1))
	}
	return strings.Join(append(out, rest...), "\n\n")
}

// Request is the prompt for a summary: the conversation, the earlier summary, and instructions.
func Request(conversation, previous, ask string, more []string) string {
	texts := []string{"<conversation>\n" + conversation + "\n</conversation>"}
	if previous != "" {
		texts = append(texts, "<previous-memory>\n"+previous+"\n</previous-memory>", strings.TrimSpace(compactionMerge))
	}
	texts = append(texts, more...)
	return strings.Join(append(texts, strings.TrimSpace(ask)), "\n\n")
}

// FaultsText names what was wrong with a summary, for the one attempt more.
func FaultsText(faults []string) string {
	return "Your last attempt could not be used:\n- " + strings.Join(faults, "\n- ") + "\nWrite it again, whole, without these faults."
}

// ModelText are the texts of a summary that a model wrote; ours are marked synthetic, and
// stand for it where there are no others.
func ModelText(h *history.Message) string {
	var words, ours []string
	for _, p := range h.Parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Ignored.On() {
			if t.Synthetic.On() {
				ours = append(ours, t.Text)
			} else {
				words = append(words, t.Text)
			}
		}
	}
	if len(words) == 0 {
		words = ours
	}
	return strings.TrimSpace(strings.Join(words, "\n\n"))
}

func IsMedia(f *lathe.File) bool {
	return strings.HasPrefix(f.Mime, "image/") || f.Mime == "application/pdf"
}

func HasMedia(h *history.Message) bool {
	return slices.ContainsFunc(h.Parts, func(p lathe.Part) bool {
		f, ok := p.Body.(*lathe.File)
		return ok && IsMedia(f)
	})
}
