package chat

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/markdown"
	"github.com/lathe-agent/lathe/tui/style"
)

// blockID identifies a drawn block.
type blockID struct {
	message lathe.MessageID
	part    lathe.PartID
	kind    blockKind
}

// foldKey is the name under which a block is unfolded: a part, or a message for its prompt or its footer.
func (id blockID) foldKey() lathe.PartID {
	if id.part != "" {
		return id.part
	}
	return lathe.PartID(id.message)
}

type blockKind uint8

const (
	partBlock blockKind = iota
	userBlock
	footerBlock
	revertBlock
)

// block is a drawn block and its inputs.
type block struct {
	lines []style.Line
	head  []style.Line // rows above them
	lead  int          // empty rows above those
	pad   int          // columns left of all
	bar   style.Span   // left of the rows but for the head, if any
	tint  style.Color  // of their text, if any
	stamp stamp
	drawn bool
	used  int // the last frame that wanted it

	doc     *markdown.Doc // of a text, with its own cache
	child   lathe.SessionID
	canFold bool // whether it can be unfolded
	foldRow int  // of a prompt: the row that unfolds it with a click; other rows have actions
}

// stamp holds everything the rows of a block depend on, except the shared look.
type stamp struct {
	rev, parts  int
	open, tight bool
	queued      bool
	paused      bool
	frame       int   // of animations
	second      int64 // of running timers
	child       Child
}

// id names the block at a spot.
func (w *walk) id(s blockPos) blockID {
	if s.message >= w.count {
		return blockID{kind: revertBlock}
	}
	h := w.t.View(s.message)
	if isUser(h) {
		return blockID{message: h.ID(), kind: userBlock}
	}
	if s.block >= h.Len() {
		return blockID{message: h.ID(), kind: footerBlock}
	}
	part, _, _ := h.Peek(s.block)
	return blockID{message: h.ID(), part: part}
}

// draw renders the rows again if their stamp has changed.
func (b *block) draw(w *walk, s blockPos, id blockID) {
	now := w.stamp(s, id)
	if b.drawn && now == b.stamp {
		return
	}
	b.stamp, b.drawn = now, true
	b.child, b.canFold, b.foldRow, b.pad = "", false, 0, 0
	b.head, b.bar, b.tint = nil, style.Span{}, style.Color{}
	switch id.kind {
	case revertBlock:
		b.lines = w.reverted()
	case userBlock:
		b.lines = w.user(b, w.t.View(s.message), now)
	case footerBlock:
		b.lines = w.footer(b, s.message)
	default:
		b.lines = w.part(b, w.t.View(s.message), s.block)
	}
	b.lead = 0
	if len(b.lines)+len(b.head) > 0 && !now.tight {
		b.lead = 1
	}
}

// height is how many rows the block has.
func (b *block) height() int { return b.lead + len(b.head) + len(b.lines) }

// row is one of them, behind the margin. What is not on the screen is never copied.
func (b *block) row(i int) style.Line {
	if i -= b.lead; i < 0 {
		return nil
	}
	var l style.Line
	if b.pad > 0 {
		l = style.Line{{Text: "  "}}
	}
	if i < len(b.head) {
		return append(l, b.head[i]...)
	}
	i -= len(b.head)
	if b.bar.Text != "" {
		l = append(l, b.bar)
	}
	if !b.tint.IsSet() {
		return append(l, b.lines[i]...)
	}
	return append(l, b.lines[i].With(func(a style.Attr) style.Attr { a.FG = b.tint; return a })...)
}

// stamp collects the inputs of a block. Live parts include the frame and the second, so that they are drawn again.
func (w *walk) stamp(s blockPos, id blockID) (out stamp) {
	if s.message >= w.count {
		return stamp{rev: w.t.Count(), parts: w.count}
	}
	h := w.t.View(s.message)
	out.open = w.c.open[id.foldKey()]
	switch id.kind {
	case userBlock:
		out.rev, out.parts, out.queued = h.Revision(), h.Len(), s.message > w.busy
		out.paused = out.queued && w.env.PausedPrompts
		for i := range h.Len() {
			_, _, rev := h.Peek(i)
			out.rev += rev
		}
	case footerBlock:
		out.rev, out.parts = h.Revision(), h.Len()
		if a, ok := h.Data().(*lathe.Assistant); ok { // the notes stand on its prompt
			if i := w.t.Find(a.Parent); i >= 0 {
				out.parts += w.t.View(i).Len()
			}
		}
	default:
		_, body, rev := h.Peek(s.block)
		out.rev, out.tight = rev, w.tight(s)
		if isLive(body) {
			out.frame, out.second = w.env.Frame, w.env.Now.Unix()
			out.child = w.childOf(body)
		}
	}
	return out
}

// isLive reports whether a part changes without events: a spinner or a timer.
func isLive(b lathe.Body) bool {
	switch b := b.(type) {
	case *lathe.ToolCall:
		return !b.Settled()
	case *lathe.Reasoning:
		return b.Time.End == 0
	default:
		return false
	}
}

// form is how a part is shown.
type form uint8

const (
	hidden form = iota
	inline      // one row, close to its neighbors
	boxed       // with space around it
)

// form tells how a part is shown without drawing it.
func (w *walk) form(id lathe.PartID, b lathe.Body) form {
	switch b := b.(type) {
	case *lathe.Text:
		if b.Synthetic.On() || b.Text == "" && b.Time != nil && b.Time.End != 0 {
			return hidden
		}
		return boxed
	case *lathe.Reasoning:
		if b.Text == "" && b.Time.End != 0 {
			return hidden
		}
		if w.env.Show.Thinking != w.c.open[id] {
			return boxed
		}
		return inline
	case *lathe.ToolCall:
		return w.toolForm(id, b)
	case *lathe.File, *lathe.Compaction:
		return inline
	default:
		return hidden
	}
}

// tight reports whether a block stands directly below the one before it.
func (w *walk) tight(s blockPos) bool {
	h := w.t.View(s.message)
	if id, body, _ := h.Peek(s.block); w.form(id, body) != inline {
		return false
	}
	for n, at, ok := 0, s, true; n < 32; n++ {
		if at, ok = w.before(at); !ok || at.message >= w.count {
			return false
		}
		h := w.t.View(at.message)
		if isUser(h) {
			return false
		}
		if at.block >= h.Len() {
			if w.hasFooter(at.message) {
				return false
			}
			continue
		}
		id, body, _ := h.Peek(at.block)
		if f := w.form(id, body); f != hidden {
			return f == inline
		}
	}
	return false
}

// part draws a part of an answer.
func (w *walk) part(b *block, h lathe.MessageView, i int) []style.Line {
	id, body, _ := h.Peek(i)
	if w.form(id, body) == hidden {
		return nil
	}
	switch body := body.(type) {
	case *lathe.Text:
		p := h.Part(i)
		return w.text(b, p.GrowingText(), p.Open())
	case *lathe.Reasoning:
		return w.reasoning(b, id, h.Part(i).Body.(*lathe.Reasoning))
	case *lathe.ToolCall:
		return w.tool(b, id, body)
	case *lathe.File:
		return []style.Line{indent(w.badge(body)).Truncate(w.env.Width)}
	case *lathe.Compaction:
		return []style.Line{w.compacted()}
	default:
		return nil
	}
}

// margin is the left margin of answers.
const margin = 2

// indent moves a row behind the margin.
func indent(l style.Line) style.Line {
	return append(style.Line{{Text: "  "}}, l...)
}

// text draws an answer.
func (pt *painter) text(b *block, text string, growing bool) []style.Line {
	b.pad = margin
	return b.markdown(text, markdown.Options{Theme: pt.env.Theme, Width: max(1, pt.env.Width-2*margin), Conceal: !pt.env.Show.Raw, Growing: growing})
}

// markdown draws a text of a model. Rows that were drawn before are taken as they are.
func (b *block) markdown(text string, look markdown.Options) []style.Line {
	if b.doc == nil {
		b.doc = &markdown.Doc{}
	}
	b.doc.Set(text)
	return b.doc.Lines(look)
}
