package inline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/style"
)

// call is a tool call, or a background subagent, with the calls below it.
type call struct {
	part    lathe.PartID
	session lathe.SessionID // that works for it
	tool    string
	title   string
	began   time.Time
	took    time.Duration // when it has ended
	mark    string        // ✓ or ✗ when it has ended
	result  style.Line    // how it ended
	below   []*call
}

// mostBelow is how many calls of a task are shown while it runs, and when it has ended.
const (
	mostBelow = 3
	mostKept  = 12
)

// callMeta is the known metadata of calls.
type callMeta struct {
	Exit     *int
	Exists   bool
	FileDiff *lineCount
	Files    []lineCount
	Session  lathe.SessionID `json:"sessionId"`
}

type lineCount struct{ Additions, Deletions int }

// UpdateCall shows a call as it is now. One that has ended is written down with all that was done for it;
// one of a session that works for another stays with that.
func (s *Screen) UpdateCall(in lathe.SessionID, p lathe.PartID, t *lathe.ToolCall) {
	list := &s.calls
	if over := s.worker(in); over != nil {
		list = &over.below
	}
	i := slices.IndexFunc(*list, func(c *call) bool { return c.part == p })
	if i < 0 {
		if list == &s.calls {
			s.EndText("") // it stands before the call
		}
		*list = append(*list, &call{part: p, began: s.Now()})
		i = len(*list) - 1
	}
	c := (*list)[i]
	s.update(c, t)
	if c.mark != "" && list == &s.calls {
		s.settle()
	}
}

// settle writes down the calls that have ended, in the order in which they began: one that began later
// waits for those before it.
func (s *Screen) settle() {
	s.EndText("")
	waiting := false
	s.calls = slices.DeleteFunc(s.calls, func(c *call) bool {
		if c.mark == "" {
			waiting = waiting || c.part != ""
			return false
		}
		if waiting {
			return false
		}
		s.add(toolCalls, s.callRows(c, 0, false)...)
		return true
	})
}

// worker is the call for which a session works, nil if that is none that is shown.
func (s *Screen) worker(id lathe.SessionID) *call {
	if id == "" {
		return nil
	}
	return find(s.calls, func(c *call) bool { return c.session == id && c.mark == "" })
}

// AddBackground shows a session that works in the background, unless it is shown.
func (s *Screen) AddBackground(id lathe.SessionID, title string) {
	if s.worker(id) == nil {
		s.calls = append(s.calls, &call{session: id, tool: "task", title: title, began: s.Now()})
	}
}

// EndBackground ends a session that worked in the background.
func (s *Screen) EndBackground(id lathe.SessionID) {
	if c := find(s.calls, func(c *call) bool { return c.session == id && c.part == "" }); c != nil {
		c.mark, c.took = "✓", s.Now().Sub(c.began)
		s.settle()
	}
}

// find looks for a call among those that are shown, and those below them.
func find(all []*call, is func(*call) bool) *call {
	for _, c := range all {
		if is(c) {
			return c
		}
		if below := find(c.below, is); below != nil {
			return below
		}
	}
	return nil
}

// abort ends calls that will not come to their end.
func (c *call) abort(s *Screen) {
	if c.mark == "" {
		c.mark, c.took, c.result = "✗", s.Now().Sub(c.began), s.failure("not finished")
	}
	for _, b := range c.below {
		b.abort(s)
	}
}

func (s *Screen) failure(text string) style.Line { return style.Of(text, style.Fg(s.theme.Error)) }

// update updates a call from its part.
func (s *Screen) update(c *call, t *lathe.ToolCall) {
	var meta callMeta
	read := func(raw json.RawMessage) { _ = json.Unmarshal(raw, &meta) } // as far as it is ours
	c.tool = termtext.Plain(t.Tool)
	switch st := t.State.(type) {
	case *lathe.Pending:
		c.rename("", st.Input)
	case *lathe.Running:
		read(st.Metadata)
		c.rename(st.Title, st.Input)
	case *lathe.Completed:
		read(st.Metadata)
		c.rename(st.Title, st.Input)
		c.mark, c.took = "✓", lathe.ActiveTime(st.Start, st.End, t.Waits())
		s.setResult(c, t.Tool, meta, st.Input)
	case *lathe.Failed:
		read(st.Metadata)
		c.rename("", st.Input)
		c.mark, c.took = "✗", lathe.ActiveTime(st.Start, st.End, t.Waits())
		c.result = s.failure(termtext.OneLine(st.Error))
	}
	if meta.Session != "" {
		c.session = meta.Session
	}
}

func (c *call) rename(title string, input json.RawMessage) {
	if title == "" && c.tool != "question" { // which is asked in full
		title = phrase.Hint(input)
	}
	if title = termtext.OneLine(title); title != "" {
		c.title = title
	}
}

// setResult sets the result of a call: an exit code, or line counts.
func (s *Screen) setResult(c *call, tool string, meta callMeta, input json.RawMessage) {
	var n lineCount
	switch {
	case tool == "bash" && meta.Exit == nil:
		c.mark, c.result = "✗", s.failure("ended")
	case tool == "bash" && *meta.Exit != 0:
		c.mark, c.result = "✗", s.failure(fmt.Sprint("exit ", *meta.Exit))
	case meta.FileDiff != nil:
		n = *meta.FileDiff
	case tool == "apply_patch":
		for _, f := range meta.Files {
			n.Additions, n.Deletions = n.Additions+f.Additions, n.Deletions+f.Deletions
		}
	case tool == "write" && !meta.Exists:
		var in struct{ Content string }
		_ = json.Unmarshal(input, &in) // it was read once
		n.Additions = strings.Count(strings.TrimSuffix(in.Content, "\n"), "\n") + 1
	}
	if n != (lineCount{}) {
		c.result = style.Of("+"+termtext.Count(n.Additions), style.Fg(s.theme.Success)).Add(" ", style.Attr{}).
			Add("−"+termtext.Count(n.Deletions), style.Fg(s.theme.Error))
	}
}

// callRows are the row of a call and the rows of the calls below it.
func (s *Screen) callRows(c *call, depth int, live bool) []style.Line {
	out := []style.Line{s.callRow(c, depth)}
	most := mostKept
	if live {
		most = mostBelow
	}
	if left := len(c.below) - most; left > 0 {
		indent := strings.Repeat("  ", depth+1)
		out = append(out, style.Of(indent+"… "+termtext.Plural(left, "call")+" earlier", faint))
	}
	for _, b := range c.below[max(0, len(c.below)-most):] {
		out = append(out, s.callRows(b, depth+1, live)...)
	}
	return out
}

// callRow is a sign, the tool, what it is about, and how long it took; the words in the middle are cut
// so that all of it fits.
func (s *Screen) callRow(c *call, depth int) style.Line {
	sign, took := s.spinner(), s.Now().Sub(c.began)
	switch c.mark {
	case "✓":
		sign, took = style.Of(c.mark, style.Fg(s.theme.Success)), c.took
	case "✗":
		sign, took = s.failure(c.mark), c.took
	}
	head := append(style.Plain(strings.Repeat("  ", depth)), sign...).Add(" "+c.tool, bold)
	tail := style.Of(" · "+Elapsed(max(0, took)), faint)
	free := s.Width() - head.Width() - tail.Width()
	result := c.result
	if len(result) > 0 {
		result = append(style.Of(" · ", faint), result...)
	}
	most := free - 1 - result.Width()
	if result.Width() > free/2 { // words, not a number
		most = max(most, free/2)
	}
	var title style.Line
	if c.title != "" && most > 3 {
		title = style.Plain(" " + termtext.Clip(c.title, most))
	}
	return slices.Concat(head, title, result.Truncate(free-title.Width()), tail)
}
