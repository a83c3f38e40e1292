// Package searchtext says what a search finds in a session: the texts of each kind of part, their words for an
// index, and the words that stand for filters.
//
// It is pure. The store puts the words into the index of its database, and looks for a query in the texts again.
//
// Start with [Of].
package searchtext

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/fulltext"
)

// The limits of a part: text beyond them is not found.
const (
	maxBytes = 1 << 20
	maxWords = 50_000
)

// Text is a text of a part.
type Text struct {
	Place string // of a lathe.SearchHit
	Text  string
}

// The places of texts.
const (
	inPrompt = "prompt"
	inAnswer = "answer"
	inInput  = "tool input"
	inOutput = "tool output"
	inFile   = "file"
)

// Of returns the texts of a part of a message with a role. Running calls and reasoning have none.
func Of(b lathe.Body, role string) []Text {
	said := inPrompt
	if role == "assistant" {
		said = inAnswer
	}
	t := texts{left: maxBytes}
	switch b := b.(type) {
	case *lathe.Text:
		if !b.IsReminder() { // every session has an overview, with the same names
			t.add(said, b.Text)
		}
	case *lathe.Subtask:
		t.add(said, b.Description)
		t.add(said, b.Prompt)
		t.add(said, b.Command)
	case *lathe.File:
		t.addFile(b)
	case *lathe.Patch:
		t.add(inFile, strings.Join(b.Files, "\n"))
	case *lathe.ToolCall:
		t.addCall(b.State)
	case *lathe.Reasoning, *lathe.StepStart, *lathe.StepFinish, *lathe.Snapshot, *lathe.AgentMention,
		*lathe.Compaction, *lathe.Retry, *lathe.UnknownBody:
	}
	return t.out
}

// texts collects texts up to a size.
type texts struct {
	out  []Text
	left int // bytes
}

func (t *texts) add(place, text string) {
	if len(text) > t.left {
		text = strings.ToValidUTF8(text[:t.left], "")
	}
	if t.left -= len(text); text != "" {
		t.out = append(t.out, Text{place, text})
	}
}

func (t *texts) addFile(f *lathe.File) {
	t.add(inFile, f.Filename)
	if f.Source != nil && f.Source.Path != f.Filename {
		t.add(inFile, f.Source.Path)
	}
}

func (t *texts) addCall(s lathe.ToolState) {
	switch s := s.(type) {
	case *lathe.Completed:
		t.add(inInput, inputText(s.Input))
		t.add(inOutput, s.Output)
		for _, a := range s.Attachments {
			if f, ok := a.Body.(*lathe.File); ok {
				t.addFile(f)
			}
		}
	case *lathe.Failed:
		t.add(inInput, inputText(s.Input))
		t.add(inOutput, s.Error)
	case *lathe.Pending, *lathe.Running:
	}
}

// inputText is the strings in a call's arguments, one per line. The names of arguments are not searched: every
// call has them.
func inputText(input json.RawMessage) string {
	var v any
	if json.Unmarshal(input, &v) != nil {
		return string(input)
	}
	var b strings.Builder
	appendStrings(&b, v)
	return b.String()
}

func appendStrings(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(v)
	case []any:
		for _, e := range v {
			appendStrings(b, e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			appendStrings(b, v[k])
		}
	}
}

// Strings returns the texts alone.
func Strings(list []Text) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.Text
	}
	return out
}

// Words are the words of a part for an index, with that of its tool. Text that still grows has none.
func Words(p lathe.Part) []string {
	if p.Open() {
		return nil
	}
	list := Of(p.Body, "")
	if len(list) == 0 {
		return nil
	}
	words := fulltext.Words(maxWords, Strings(list)...)
	if call, ok := p.Body.(*lathe.ToolCall); ok && len(words) > 0 {
		words = append(words, Filters("", "", call.Tool)...)
	}
	return words
}

// Filters are words that stand for a session, a project, a tool and models; "" has none. No text has them,
// because of their first character. Names may contain any character, so their hash is taken.
func Filters(session lathe.SessionID, project, tool string, models ...string) (out []string) {
	add := func(kind, name string) {
		if name == "" {
			return
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(name))
		out = append(out, "§"+kind+hex.EncodeToString(h.Sum(nil)[:6]))
	}
	add("s", string(session))
	add("p", project)
	add("t", tool)
	for _, m := range models {
		add("m", m)
	}
	return out
}
