package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/jsonscan"
)

// Words that stored histories and other clients know; they must not change.
const (
	compactionPrompt = "What did we do so far?"
	subtaskPrompt    = "The following tool was executed by the user"
	clearedOutput    = "[Old tool result content cleared]"
	interruptedCall  = "[Tool execution was interrupted]"
	resultMedia      = "Attached media from tool result:"
)

// interruptedAfter follows the partial output of an interrupted call.
const interruptedAfter = "[Tool execution was interrupted; its output until then is above]"

// Target is the model a history is converted for.
type Target struct {
	Provider, Model string // ids of the catalog
	// Input lists the media types that the model reads beside text: image, pdf, audio, video. A notice
	// replaces other media. Nil means that it reads all.
	Input []string
	// ResultMedia reports which media a tool's result may hold; nil means none.
	ResultMedia func(mime string) bool
	StripMedia  bool // replace attachments by a notice
	MaxOutput   int  // of a tool, in UTF-16 units; 0 means all of it
}

func (t Target) same(m lathe.ModelRef) bool { return m.Provider == t.Provider && m.Model == t.Model }

func (t Target) reads(mime string) bool {
	kind := Modality(mime)
	return kind == "" || t.Input == nil || slices.Contains(t.Input, kind)
}

// media is a file for the model: itself, or a notice that the model cannot read it.
func (t Target) media(f FileContent) Content {
	switch {
	case Modality(f.Mime) == "image" && f.Data == "" && (f.URL == "" || strings.HasPrefix(f.URL, "data:")):
		return TextContent{Text: "[The image " + f.title() + " is empty or damaged. Tell the user and ask for it again.]"}
	case !t.reads(f.Mime):
		return TextContent{Text: f.UnreadableNotice()}
	}
	return f
}

// Convert turns a history into the neutral prompt: every call has a result, content that only
// another model understands becomes text, and empty content is dropped. It is pure: the same history
// gives the same messages.
func Convert(history []lathe.Message, to Target) []Message {
	var out []Message
	for _, m := range history {
		switch said := m.Data.(type) {
		case *lathe.User:
			if content := userContent(m.Parts, to); len(content) > 0 {
				out = append(out, Message{Role: UserRole, Content: content})
			}
		case *lathe.Assistant:
			out = append(out, answer(said, m.Parts, to)...)
		}
	}
	return out
}

// userContent converts the parts of a prompt. Stripped media become a note with their name.
func userContent(parts []lathe.Part, to Target) (out []Content) {
	for _, p := range parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if !b.Ignored.On() && strings.TrimSpace(b.Text) != "" { // a blank one is refused by some
				out = append(out, TextContent{Text: clean(b.Text)})
			}
		case *lathe.File:
			if b.Mime == "text/plain" || b.Mime == "application/x-directory" {
				continue // their content was put into text parts when they were attached
			}
			if to.StripMedia && isMedia(b.Mime) {
				name := cmp.Or(b.Filename, "file")
				out = append(out, TextContent{Text: fmt.Sprintf("[Attached %s: %s]", b.Mime, name)})
				continue
			}
			out = append(out, to.media(file(b)))
		case *lathe.Compaction:
			out = append(out, TextContent{Text: compactionPrompt})
		case *lathe.Subtask:
			out = append(out, TextContent{Text: subtaskPrompt})
		default:
		}
	}
	return out
}

func isMedia(mime string) bool {
	return strings.HasPrefix(mime, "image/") || mime == "application/pdf"
}

// answer converts an assistant message: a block for each step, each followed by the
// results of its calls and by media their tools may not hold.
func answer(a *lathe.Assistant, parts []lathe.Part, to Target) (out []Message) {
	if !worthSending(a, parts) {
		return nil
	}
	c := converter{to: to, same: to.same(a.Model)}
	c.signed = c.same && isSigned(parts)
	for _, p := range parts {
		if _, ok := p.Body.(*lathe.StepStart); ok {
			out = append(out, c.flush()...)
			continue
		}
		c.part(p)
	}
	return append(out, c.flush()...)
}

// worthSending leaves out answers that failed, and those that were cut off before they
// said anything but thoughts, which providers refuse.
func worthSending(a *lathe.Assistant, parts []lathe.Part) bool {
	said := false
	for _, p := range parts {
		switch b := p.Body.(type) {
		case *lathe.StepStart, *lathe.Reasoning:
		case *lathe.Text:
			said = said || !b.Ignored.On()
		default:
			said = true
		}
	}
	if a.Error == nil {
		return len(parts) > 0
	}
	_, aborted := a.Error.(*lathe.AbortedFault)
	return aborted && said
}

// isSigned reports whether a reasoning of the message carries a signature: then empty
// texts between such blocks must stay, or the provider refuses them.
func isSigned(parts []lathe.Part) bool {
	for _, p := range parts {
		if r, ok := p.Body.(*lathe.Reasoning); ok {
			var meta struct {
				Anthropic struct{ Signature, RedactedData string }
			}
			if json.Unmarshal(r.Metadata, &meta) == nil && (meta.Anthropic.Signature != "" || meta.Anthropic.RedactedData != "") {
				return true
			}
		}
	}
	return false
}

// converter gathers one block of an answer.
type converter struct {
	to      Target
	same    bool
	signed  bool
	content []Content
	results []Content
	media   []Content
}

// flush ends a block.
func (c *converter) flush() (out []Message) {
	if len(c.content) > 0 {
		out = append(out, Message{Role: AssistantRole, Content: c.content})
	}
	if len(c.results) > 0 {
		out = append(out, Message{Role: ToolRole, Content: c.results})
	}
	if len(c.media) > 0 {
		out = append(out, Message{Role: UserRole, Content: append([]Content{TextContent{Text: resultMedia}}, c.media...)})
	}
	c.content, c.results, c.media = nil, nil, nil
	return out
}

func (c *converter) meta(m json.RawMessage) Meta {
	if !c.same {
		return nil // signatures and item ids mean nothing to another model
	}
	return m
}

// part converts one part of an answer. Reasoning of another model becomes plain text, because its signature would
// be refused.
func (c *converter) part(p lathe.Part) {
	switch b := p.Body.(type) {
	case *lathe.Text:
		if b.Ignored.On() {
			return // said to people
		}
		text := clean(b.Text)
		if text == "" && c.signed {
			text = " "
		}
		if meta := c.meta(b.Metadata); text != "" || meta != nil {
			c.content = append(c.content, TextContent{Text: text, Meta: meta})
		}
	case *lathe.Reasoning:
		switch {
		case c.same:
			c.content = append(c.content, ReasoningContent{Text: clean(b.Text), Meta: b.Metadata})
		case strings.TrimSpace(b.Text) != "":
			c.content = append(c.content, TextContent{Text: clean(b.Text)})
		}
	case *lathe.ToolCall:
		c.call(b)
	default:
	}
}

// call converts a tool call and its result. An unfinished call gets the result "interrupted", because
// every call needs one.
func (c *converter) call(t *lathe.ToolCall) {
	executed := c.same && isExecuted(t.Metadata)
	call := CallContent{ID: t.CallID, Name: t.Tool, Executed: executed, Meta: c.meta(t.Metadata)}
	res := ResultContent{ID: t.CallID, Name: t.Tool, Executed: executed, Meta: c.meta(t.Metadata)}
	switch s := t.State.(type) {
	case *lathe.Pending:
		call.Input, res.Text, res.Failed = s.Input, interruptedCall, true
	case *lathe.Running:
		call.Input, res.Text, res.Failed = s.Input, interruptedCall, true
	case *lathe.Failed:
		call.Input = s.Input
		if partial := partialOutput(s.Metadata); partial != "" {
			res.Text = c.cut(clean(partial)) + "\n\n" + interruptedAfter
		} else {
			res.Text, res.Failed = clean(s.Error), true
		}
	case *lathe.Completed:
		call.Input = s.Input
		c.output(s, &res)
	}
	if call.Input = jsonscan.ReplaceInvalid(call.Input); call.Input == nil {
		call.Input = json.RawMessage(`{}`)
	}
	c.content = append(c.content, call)
	if executed {
		c.content = append(c.content, res)
	} else {
		c.results = append(c.results, res)
	}
}

// output puts a result's text and media where the target takes them.
func (c *converter) output(s *lathe.Completed, res *ResultContent) {
	if s.Compacted != 0 {
		res.Text = cleared(res.Name, s)
		return
	}
	res.Text = c.cut(clean(s.Output))
	for _, p := range s.Attachments {
		f, ok := p.Body.(*lathe.File)
		if !ok || !strings.HasPrefix(f.URL, "data:") || !strings.Contains(f.URL, ",") {
			continue
		}
		switch m := file(f); {
		case c.to.StripMedia && isMedia(f.Mime):
			continue
		case !isMedia(f.Mime) || c.to.reads(f.Mime) && c.to.ResultMedia != nil && c.to.ResultMedia(f.Mime):
			res.Media = append(res.Media, m)
		default:
			c.media = append(c.media, c.to.media(m))
		}
	}
}

// cleared is the notice for a dropped output: its tool, its length, and how to get it again.
func cleared(tool string, s *lathe.Completed) string {
	var meta struct{ OutputPath string }
	_ = json.Unmarshal(s.Metadata, &meta) // without one the call can be made again
	back := "Look again if you need it, with a call that changes nothing."
	switch {
	case meta.OutputPath != "":
		back = "It is in " + meta.OutputPath + "."
	case tool == "read" || tool == "grep" || tool == "glob" || tool == "webfetch" || tool == "websearch":
		back = "Call it again if you need it."
	}
	what := tool
	if title := clean(strings.TrimSpace(s.Title)); title != "" && title != tool {
		what += " " + title
	}
	return fmt.Sprintf("%s\n%s: %d bytes removed to save context. %s", clearedOutput, what, len(s.Output), back)
}

// cut shortens an output and says by how much.
func (c *converter) cut(s string) string {
	if c.to.MaxOutput <= 0 || len(s) <= c.to.MaxOutput {
		return s
	}
	units := utf16.Encode([]rune(s))
	if len(units) <= c.to.MaxOutput {
		return s
	}
	shown := string(utf16.Decode(units[:c.to.MaxOutput]))
	return fmt.Sprintf("%s\n\n[%d more characters of this output are left out]", clean(shown), len(units)-c.to.MaxOutput)
}

// isExecuted reports whether the provider ran the call itself.
func isExecuted(meta json.RawMessage) bool {
	if !bytes.Contains(meta, []byte(`"providerExecuted"`)) {
		return false // most have no such mark, and a history has many
	}
	var m struct{ ProviderExecuted bool }
	return json.Unmarshal(meta, &m) == nil && m.ProviderExecuted
}

// partialOutput is the output of an interrupted tool, "" if empty or unknown.
func partialOutput(meta json.RawMessage) string {
	var m struct {
		Interrupted bool
		Output      string
	}
	if len(meta) == 0 || json.Unmarshal(meta, &m) != nil || !m.Interrupted {
		return ""
	}
	return m.Output
}

// clean replaces broken characters, which some providers refuse.
func clean(s string) string {
	if utf8.ValidString(s) { // nearly always, and ten times faster to find out
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
