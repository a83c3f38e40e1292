package inline

import (
	"fmt"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/markdown"
	"github.com/lathe-agent/lathe/tui/style"
)

// Screen is the state of the view's goroutine.
type Screen struct {
	Options
	theme *style.Theme
	drawn time.Time
	turn  int // of the spinner

	text     *text // the growing text, nil if there is none
	calls    []*call
	idle     time.Time // since when the model is awaited; zero if it is not
	thinking bool      // and it reasons, unseen
	asking   []style.Line

	above  []style.Line // rows to be written above
	last   kind         // of the newest of them
	below  string       // the live rows as drawn; the cursor is at their end
	widths []int        // of its rows
}

// text is a part that grows.
type text struct {
	part    lathe.PartID
	kind    kind // answers or thoughts
	written strings.Builder
	doc     markdown.Doc
	above   bool // rows of it are above
}

// kind is the kind of a row: an empty row separates kinds.
type kind int

const (
	noKind kind = iota
	notices
	answers
	thoughts
	toolCalls
)

// NewScreen is a screen without its goroutine.
func NewScreen(o Options) *Screen { return &Screen{Options: o, theme: theme()} }

// theme has the terminal's own colors. Its background is not known: colors that cannot be read on every one are
// left out.
func theme() *style.Theme {
	t := style.System(false, style.Color{}, style.Color{})
	cyan := t.Secondary
	for _, c := range []*style.Color{&t.MarkdownHeading, &t.MarkdownStrong, &t.MarkdownEmph, &t.MarkdownListItem, &t.MarkdownListEnumeration, &t.MarkdownLinkText} {
		*c = style.Color{}
	}
	t.MarkdownBlockQuote = t.TextMuted
	for _, c := range []*style.Color{&t.MarkdownCode, &t.MarkdownLink, &t.SyntaxFunction} {
		*c = cyan
	}
	return t
}

var (
	faint = style.Attr{Faint: true}
	bold  = style.Attr{Bold: true}
)

// Width is how many columns are used: two are left for the ^C that a terminal shows by itself.
func (s *Screen) Width() int {
	w, _ := s.Size()
	return max(8, w-2)
}

// add puts rows above for good.
func (s *Screen) add(what kind, rows ...style.Line) {
	if len(rows) == 0 {
		return
	}
	if s.last != noKind && s.last != what {
		s.above = append(s.above, nil)
	}
	s.last = what
	s.above = append(s.above, rows...)
}

// Draw writes the new final rows and all live rows in one piece.
func (s *Screen) Draw() {
	s.drawn = s.Now()
	if s.OnDraw != nil {
		s.OnDraw()
	}
	width, height := s.Size()
	rows := s.asking
	if rows == nil {
		rows = s.live(max(1, height-1))
	}
	below := style.Render(rows)
	if len(s.above) == 0 && below == s.below && len(rows) == len(s.widths) {
		return
	}
	out := erase(s.widths, width)
	if len(s.above) > 0 {
		out += style.Render(s.above) + "\n"
	}
	s.above, s.below, s.widths = nil, below, s.widths[:0]
	for _, r := range rows {
		s.widths = append(s.widths, r.Width())
	}
	s.write(out + below)
}

// write sends text to the terminal. An error stays with the writer.
func (s *Screen) write(text string) {
	_, _ = s.Out.WriteString(text)
	_ = s.Out.Flush()
}

// erase moves to the first of some rows and removes them. On a terminal that became narrower each
// may take several.
func erase(widths []int, width int) string {
	if len(widths) == 0 {
		return ""
	}
	up := -1
	for _, w := range widths {
		up += max(1, (w+width-1)/width)
	}
	if up == 0 {
		return "\r\x1b[J"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", up)
}

// live renders the current activity, up to a number of rows: the end of the growing text, the running
// calls, or a spinner while waiting for the model.
func (s *Screen) live(most int) (out []style.Line) {
	for _, c := range s.calls {
		out = append(out, s.callRows(c, 0, true)...)
	}
	out = out[max(0, len(out)-most):]
	if waits := s.drawn.Sub(s.idle); len(out) == 0 && !s.idle.IsZero() && waits >= patience && s.isLineEnd() {
		word := " working · "
		if s.thinking {
			word = " thinking · "
		}
		out = append(out, s.spinner().Add(word+Elapsed(waits), faint))
	}
	before, now := s.last, toolCalls
	if text := s.pending(max(1, most-len(out)-1)); len(text) > 0 {
		if len(out) > 0 {
			text = append(text, nil)
		}
		before, now, out = s.last, s.text.kind, append(text, out...)
	}
	if len(out) > 0 && before != noKind && before != now && most > 1 {
		out = append([]style.Line{nil}, out...)
	}
	return out
}

// patience is how long nothing may happen before the screen says that something does: less would flicker
// between the lines of an answer.
const patience = 400 * time.Millisecond

// isLineEnd reports whether there is no growing text, or it is at the end of a line.
func (s *Screen) isLineEnd() bool {
	return s.text == nil || strings.HasSuffix(s.text.written.String(), "\n")
}

func (s *Screen) spinner() style.Line {
	return style.Of(style.Spinner(s.turn), style.Fg(s.theme.Secondary))
}

// Elapsed is a duration as people read it.
func Elapsed(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// SetWaiting says that the model is waited for, or not, and whether it reasons meanwhile.
func (s *Screen) SetWaiting(waits bool) {
	if s.idle, s.thinking = (time.Time{}), false; waits {
		s.idle = s.Now()
	}
}

// SetThinking says whether the model reasons.
func (s *Screen) SetThinking(thinks bool) { s.thinking = thinks }

// AppendText takes more of a text; reasoning is faint. Another part ends the one before.
func (s *Screen) AppendText(part lathe.PartID, more string, reasoning bool) {
	if s.text == nil || s.text.part != part {
		s.EndText("")
		s.text = &text{part: part, kind: answers}
		if reasoning {
			s.text.kind = thoughts
		}
	}
	s.text.written.WriteString(more)
	if !s.idle.IsZero() {
		s.idle = s.Now()
	}
}

// pending puts the rows of the text above that can no longer change, and returns the last of the others.
func (s *Screen) pending(most int) []style.Line {
	t := s.text
	if t == nil {
		return nil
	}
	look := s.look(true)
	t.doc.Set(t.written.String())
	if rows := t.doc.TakeFinal(look); len(rows) > 0 {
		t.above = true
		s.add(t.kind, s.plain(rows)...)
	}
	rows := t.doc.Lines(look)
	return s.plain(rows[max(0, len(rows)-most):])
}

func (s *Screen) look(growing bool) markdown.Options {
	return markdown.Options{Theme: s.theme, Width: s.Width(), Conceal: true, Addresses: true, Growing: growing}
}

// plain adapts rows for any terminal: muted text is faint, since the gray of the terminal is unknown,
// links are removed, and trailing spaces too, which a narrower terminal would wrap.
func (s *Screen) plain(rows []style.Line) []style.Line {
	out := make([]style.Line, len(rows))
	for i, r := range rows {
		for len(r) > 0 && !r[len(r)-1].Attr.BG.IsSet() {
			last := r[len(r)-1]
			if last.Text = strings.TrimRight(last.Text, " "); last.Text != "" {
				r = append(r[:len(r)-1:len(r)-1], last)
				break
			}
			r = r[:len(r)-1]
		}
		out[i] = r.With(func(a style.Attr) style.Attr {
			if a.Link = ""; a.FG == s.theme.TextMuted || s.text.kind == thoughts {
				a.FG, a.Faint = style.Color{}, true
			}
			return a
		})
	}
	return out
}

// EndText completes the text of a part, or any if part is "".
func (s *Screen) EndText(part lathe.PartID) {
	t := s.text
	if t == nil || part != "" && t.part != part {
		return
	}
	t.doc.Set(t.written.String())
	s.add(t.kind, s.plain(t.doc.Lines(s.look(false)))...)
	s.text = nil
}

// DiscardText discards a text that will be repeated, if it is not final on the screen yet.
func (s *Screen) DiscardText(part lathe.PartID) {
	if s.text != nil && s.text.part == part && !s.text.above {
		s.text = nil
		return
	}
	s.EndText("")
	s.Notice("(connection lost; the text above is repeated)")
}

// Notice prints a notice between answers.
func (s *Screen) Notice(text string) {
	s.EndText("")
	var line, indent string
	write := func() {
		s.add(notices, style.Plain(indent).Add(line, faint).Wrap(s.Width(), style.Plain("  "))...)
		indent = "  "
	}
	for i, piece := range strings.Split(text, " · ") { // where it is best broken
		switch longer := line + " · " + piece; {
		case i == 0:
			line = piece
		case style.Width(indent+longer) > s.Width():
			write()
			line = piece
		default:
			line = longer
		}
	}
	write()
}

// End leaves only the final rows on the screen.
func (s *Screen) End() {
	s.EndText("")
	for _, c := range s.calls {
		c.abort(s)
		s.add(toolCalls, s.callRows(c, 0, false)...)
	}
	s.calls, s.idle, s.asking = nil, time.Time{}, nil
	s.Draw()
}
