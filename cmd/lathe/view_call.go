package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// call is a call of a tool, or a session that works in the background, and what is done for it.
type call struct {
	part    lathe.PartID
	session lathe.SessionID // that works for it
	tool    string
	title   string
	began   time.Time
	took    time.Duration // when it has ended
	mark    string        // ✓ or ✗ when it has ended
	result  []cell        // how it ended
	below   []*call
}

// mostBelow is how many calls of a task are shown while it runs, and when it has ended.
const (
	mostBelow = 3
	mostKept  = 12
)

// callMeta is what calls tell of themselves for people.
type callMeta struct {
	Exit     *int
	Exists   bool
	FileDiff *lineCount
	Files    []lineCount
	Session  lathe.SessionID `json:"sessionId"`
}

type lineCount struct{ Additions, Deletions int }

// change shows a call as it is now. One that has ended is written down with all that was done for it;
// one of a session that works for another stays with that.
func (s *screen) change(in lathe.SessionID, p lathe.PartID, t *lathe.ToolCall) {
	list := &s.calls
	if over := s.worker(in); over != nil {
		list = &over.below
	}
	i := slices.IndexFunc(*list, func(c *call) bool { return c.part == p })
	if i < 0 {
		if list == &s.calls {
			s.endText() // it stands before the call
		}
		*list = append(*list, &call{part: p, began: s.app.Now()})
		i = len(*list) - 1
	}
	c := (*list)[i]
	c.update(t)
	if c.mark != "" && list == &s.calls {
		s.settle()
	}
}

// settle writes down the calls that have ended, in the order in which they began: one that began later
// waits for those before it.
func (s *screen) settle() {
	s.endText()
	waiting := false
	s.calls = slices.DeleteFunc(s.calls, func(c *call) bool {
		if c.mark == "" {
			waiting = waiting || c.part != ""
			return false
		}
		if waiting {
			return false
		}
		s.add(deeds, s.callRows(c, 0, false)...)
		return true
	})
}

// worker is the call for which a session works, nil if that is none that is shown.
func (s *screen) worker(id lathe.SessionID) *call {
	if id == "" {
		return nil
	}
	return find(s.calls, func(c *call) bool { return c.session == id && c.mark == "" })
}

// beside shows a session that works in the background, unless it is shown.
func (s *screen) beside(id lathe.SessionID, title string) {
	if s.worker(id) == nil {
		s.calls = append(s.calls, &call{session: id, tool: "task", title: title, began: s.app.Now()})
	}
}

// rested ends a session that worked in the background.
func (s *screen) rested(id lathe.SessionID) {
	if c := find(s.calls, func(c *call) bool { return c.session == id && c.part == "" }); c != nil {
		c.mark, c.took = "✓", s.app.Now().Sub(c.began)
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

// breakOff ends calls that will not come to their end.
func (c *call) breakOff(now time.Time) {
	if c.mark == "" {
		c.mark, c.took, c.result = "✗", now.Sub(c.began), cells("not finished", red)
	}
	for _, b := range c.below {
		b.breakOff(now)
	}
}

// update takes what a part says of the call.
func (c *call) update(t *lathe.ToolCall) {
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
		c.mark, c.took = "✓", lathe.Worked(st.Start, st.End, t.Waits())
		c.succeeded(t.Tool, meta, st.Input)
	case *lathe.Failed:
		read(st.Metadata)
		c.rename("", st.Input)
		c.mark, c.took = "✗", lathe.Worked(st.Start, st.End, t.Waits())
		c.result = cells(termtext.OneLine(st.Error), red)
	}
	if meta.Session != "" {
		c.session = meta.Session
	}
}

func (c *call) rename(title string, input json.RawMessage) {
	if title == "" {
		title = hint(input)
	}
	if title = termtext.OneLine(title); title != "" {
		c.title = title
	}
}

// succeeded says what a call did: how a command ended, how many lines were changed.
func (c *call) succeeded(tool string, meta callMeta, input json.RawMessage) {
	var n lineCount
	switch {
	case tool == "bash" && meta.Exit == nil:
		c.mark, c.result = "✗", cells("ended", red)
	case tool == "bash" && *meta.Exit != 0:
		c.mark, c.result = "✗", cells(fmt.Sprint("exit ", *meta.Exit), red)
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
		c.result = lines(n)
	}
}

// lines are how many lines were added and taken away.
func lines(n lineCount) []cell {
	return joined(cells("+"+termtext.Count(n.Additions), green), cells(" ", 0), cells("−"+termtext.Count(n.Deletions), red))
}

// callRows are the row of a call, and those of what is done for it.
func (s *screen) callRows(c *call, depth int, live bool) []row {
	out := []row{s.callRow(c, depth)}
	most := mostKept
	if live {
		most = mostBelow
	}
	if left := len(c.below) - most; left > 0 {
		indent := strings.Repeat("  ", depth+1)
		out = append(out, drawn(cells(indent+"… "+termtext.Several(left, "call")+" before", dim)))
	}
	for _, b := range c.below[max(0, len(c.below)-most):] {
		out = append(out, s.callRows(b, depth+1, live)...)
	}
	return out
}

// callRow is a sign, the tool, what it is about, and how long it took; the words in the middle are cut
// so that all of it has room.
func (s *screen) callRow(c *call, depth int) row {
	sign, took := s.sign(), s.app.Now().Sub(c.began)
	switch c.mark {
	case "✓":
		sign, took = cells(c.mark, green), c.took
	case "✗":
		sign, took = cells(c.mark, red), c.took
	}
	head := joined(cells(strings.Repeat("  ", depth), 0), sign, cells(" "+c.tool, bold))
	tail := cells(" · "+elapsed(max(0, took)), dim)
	room := s.width() - widthOf(head) - widthOf(tail)
	result := c.result
	if len(result) > 0 {
		result = joined(cells(" · ", dim), result)
	}
	most := room - 1 - widthOf(result)
	if widthOf(result) > room/2 { // words, not a number
		most = max(most, room/2)
	}
	title := ""
	if c.title != "" && most > 3 {
		title = " " + termtext.Clip(c.title, most)
	}
	return drawn(joined(head, cells(title, 0), clipped(result, room-termtext.Columns(title)), tail))
}

// clipped shortens cells to so many columns.
func clipped(line []cell, most int) []cell {
	if widthOf(line) <= most {
		return line
	}
	n := 0
	for i, c := range line {
		if n+c.Width > most-1 {
			if i == 0 {
				return nil
			}
			return joined(line[:i], cells("…", line[i-1].style))
		}
		n += c.Width
	}
	return line
}
