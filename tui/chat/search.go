package chat

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/find"
)

// search is a search in the texts of a conversation, from the newest message to the oldest. It reads parts, not
// drawn rows, so that a session of 100,000 parts is searched in a moment; only a match that is shown is drawn.
type search struct {
	pattern find.Pattern
	word    find.Pattern // its longest word: parts without it are skipped
	found   []foundBlock // newest first
	total   int
	oldest  lathe.MessageID // the oldest message that was searched, "" before the first
	newest  lathe.MessageID // the newest one, which may still grow
	at, nth int             // the current match: its block in found, -1 for none, and its number in there
	place   place
}

// foundBlock is a block with matches.
type foundBlock struct {
	id      blockID
	created lathe.Time
	block   int
	count   int
}

// Search begins a search. An empty text ends it.
func (c *Chat) Search(text string) {
	p := find.New(text)
	c.search = search{pattern: p, word: p.Word(), at: -1}
}

// Found is the state of a search.
type Found struct {
	Pattern        string
	Current, Total int // the number of the current match, from the oldest found, and how many were found so far
	IsFirst        bool
}

// Found tells the state of the search.
func (c *Chat) Found() Found {
	s := &c.search
	f := Found{Pattern: s.pattern.Text(), Total: s.total, IsFirst: s.at == len(s.found)-1 && s.nth == 0}
	if s.at < 0 {
		return f
	}
	f.Current = s.total - (s.found[s.at].count - 1 - s.nth)
	for _, newer := range s.found[:s.at] {
		f.Current -= newer.count
	}
	return f
}

// SearchOn searches older messages while more says so. It reports whether all loaded messages were searched.
func (rd Reader) SearchOn(more func() bool) (done bool) {
	s := &rd.c.search
	if s.pattern.IsEmpty() {
		return true
	}
	i := rd.count - 1
	if s.oldest != "" {
		i = min(i, rd.t.Find(s.oldest)-1)
	} else if i >= 0 {
		s.newest = rd.t.View(i).ID()
	}
	for ; i >= 0; i-- {
		if !more() {
			return false
		}
		s.found = s.add(s.found, rd.walk, i)
		s.oldest = rd.t.View(i).ID()
	}
	return true
}

// add searches a message, and adds its blocks with matches, the last one first.
func (s *search) add(to []foundBlock, w *walk, i int) []foundBlock {
	h := w.t.View(i)
	for block := w.blocks(i) - 1; block >= 0; block-- {
		if n := s.count(w, h, block); n > 0 {
			to = append(to, foundBlock{w.id(blockPos{i, block}), h.Message().Created, block, n})
			s.total += n
		}
	}
	return to
}

// update searches what came since the search began: the rest of the newest message, and those after it.
func (rd Reader) update() {
	s := &rd.c.search
	from := rd.t.Find(s.newest)
	if from < 0 || rd.count == 0 {
		return
	}
	old := 0
	for old < len(s.found) && s.found[old].id.message == s.newest {
		s.total -= s.found[old].count
		old++
	}
	var fresh []foundBlock
	for i := rd.count - 1; i >= from; i-- {
		fresh = s.add(fresh, rd.walk, i)
	}
	if s.at >= old {
		s.at += len(fresh) - old
	} else if s.at >= 0 { // a match stays where it is: texts grow at their end
		is := s.found[s.at].id
		s.at = slices.IndexFunc(fresh, func(f foundBlock) bool { return f.id == is })
	}
	s.found, s.newest = append(fresh, s.found[old:]...), rd.t.View(rd.count-1).ID()
	if s.at >= 0 {
		s.nth = min(s.nth, s.found[s.at].count-1)
	}
}

// count is how many matches a block has.
func (s *search) count(w *walk, h lathe.MessageView, block int) (n int) {
	switch {
	case isUser(h):
		for i := range h.Len() {
			n += s.countPart(w, h, i)
		}
	case block < h.Len():
		return s.countPart(w, h, block)
	default:
		if a := h.Data().(*lathe.Assistant); a.Error != nil {
			if _, aborted := a.Error.(*lathe.AbortedFault); !aborted {
				return s.pattern.Count(FaultText(a.Error))
			}
		}
	}
	return n
}

func (s *search) countPart(w *walk, h lathe.MessageView, i int) int {
	_, body, _ := h.Peek(i)
	switch b := body.(type) {
	case *lathe.Text:
		if b.Synthetic.On() {
			return 0
		}
		return s.pattern.Count(h.Part(i).GrowingText())
	case *lathe.Reasoning:
		return s.pattern.Count(h.Part(i).GrowingText())
	case *lathe.ToolCall:
		return s.countCall(w, b)
	case *lathe.File:
		return s.pattern.Count(b.Filename)
	case *lathe.Subtask:
		return s.pattern.Count(b.Agent + ": " + b.Description)
	default:
		return 0
	}
}

// countCall counts matches in the texts of a tool call that its view shows unfolded.
func (s *search) countCall(w *walk, t *lathe.ToolCall) (n int) {
	if !s.mayMatch(t) {
		return 0
	}
	c := parseCall(t)
	_, words := w.words(&c)
	for _, text := range append([]string{words}, c.texts()...) {
		n += s.pattern.Count(text)
	}
	return n
}

// mayMatch looks at a call before it is parsed, which takes much longer.
func (s *search) mayMatch(t *lathe.ToolCall) bool {
	var input, meta json.RawMessage
	var output string
	switch st := t.State.(type) {
	case *lathe.Pending:
		input = st.Input
	case *lathe.Running:
		input, meta = st.Input, st.Metadata
	case *lathe.Completed:
		input, meta, output = st.Input, st.Metadata, st.Output
	case *lathe.Failed:
		input, meta, output = st.Input, st.Metadata, st.Error
	}
	return !s.word.IsPlain() || s.word.In(t.Tool) || s.word.In(output) || s.word.In(string(input)) || s.word.In(string(meta))
}

// texts are the texts of a call below its head, as its unfolded view has them.
func (c *call) texts() (out []string) {
	if c.failed != "" {
		return []string{c.failed}
	}
	switch c.tool {
	case "bash":
		return []string{c.restOfCommand(), c.shownOutput()}
	case "write":
		return []string{c.args.Content}
	case "edit":
		return []string{hunks(c.meta.Diff)}
	case "apply_patch":
		for _, f := range c.meta.Files {
			out = append(out, cmp.Or(f.RelativePath, f.FilePath), hunks(f.Patch))
		}
	case "todowrite":
		for _, t := range c.args.Todos {
			out = append(out, t.Content)
		}
	case "question":
		for _, q := range c.args.Questions {
			out = append(out, q.Question)
		}
		for _, a := range c.meta.Answers {
			out = append(out, a...)
		}
	case "task": // its answer is in the session of the subagent
	default:
		return []string{c.output}
	}
	return out
}

// hunks is a patch without the names of its files, which its view does not repeat.
func hunks(patch string) string { return patch[max(0, strings.Index(patch, "\n@@")):] }
