package inline

import (
	"fmt"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/markdown"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/waiting"
)

// Screen is the state of the view's goroutine.
type Screen struct {
	Options
	theme *style.Theme
	drawn time.Time
	turn  int // of the spinner

	text  *text // the growing text, nil if there is none
	calls []*call
	awaited
	asking []style.Line

	above   []style.Line // rows to be written above
	last    kind         // of the newest of them
	started bool         // there are some, or were
	below   string       // the live rows as drawn
	widths  []int        // of its rows
	caret   caret        // where the cursor is among them
}

// awaited is the wait for the model.
type awaited struct {
	idle     time.Time // since when the model is awaited; zero if it is not
	thinking bool      // and it reasons, unseen
	heard    time.Time // when something came last
	giveUp   time.Duration
}

// caret is the place of the cursor among the live rows.
type caret struct{ row, column int }

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
	prompts
)

// Theme returns the colors of the view.
func (s *Screen) Theme() *style.Theme { return s.theme }

// IsMoving reports whether the view changes with time: something runs or is awaited.
func (s *Screen) IsMoving() bool { return len(s.calls) > 0 || !s.idle.IsZero() }

// Forget draws everything again below the cursor: the terminal was used by others.
func (s *Screen) Forget() { s.below, s.widths, s.caret = "", nil, caret{} }

// Clear clears the screen and draws the live rows at its top. The scrollback stays.
func (s *Screen) Clear() {
	s.write("\x1b[H\x1b[2J")
	s.Forget()
}

// Tick advances what moves.
func (s *Screen) Tick() { s.turn++ }

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
	s.last, s.started = what, true
	s.above = append(s.above, rows...)
}

// Draw writes the new final rows and all live rows in one piece.
func (s *Screen) Draw() {
	s.drawn = s.Now()
	if s.OnDraw != nil {
		s.OnDraw()
	}
	width, height := s.Size()
	rows, at := s.liveRows(max(1, height-1))
	below := s.render(rows)
	if len(s.above) == 0 && below == s.below && len(rows) == len(s.widths) && at == s.caret {
		return
	}
	out := below
	if len(s.above) > 0 {
		out = s.render(s.above) + "\n" + below
	}
	if len(s.widths) > 0 { // row by row: some terminals move a screen that is cleared as a whole to the scrollback
		out = toTop(s.widths, s.caret, width) + "\x1b[2K" + strings.ReplaceAll(out, "\n", "\n\x1b[2K") + "\x1b[J"
	}
	s.above, s.below, s.widths, s.caret = nil, below, s.widths[:0], at
	for _, r := range rows {
		s.widths = append(s.widths, r.Width())
	}
	s.write(out + moveTo(s.widths, at))
}

// render writes rows as the terminal reads them.
func (s *Screen) render(rows []style.Line) string {
	if s.NoColor {
		rows = style.Monochrome(s.theme, rows)
	}
	return style.Render(rows)
}

// liveRows are all rows that are drawn again: a question, or the activity with the foot below it.
func (s *Screen) liveRows(most int) ([]style.Line, caret) {
	rows := s.asking
	switch {
	case rows != nil:
	case s.Foot != nil:
		return s.withFoot(most)
	default:
		rows = s.live(most)
	}
	last := max(0, len(rows)-1)
	if len(rows) == 0 {
		return nil, caret{}
	}
	return rows, caret{last, rows[last].Width()}
}

// withFoot puts the foot below the activity, with an empty row before it.
func (s *Screen) withFoot(most int) ([]style.Line, caret) {
	foot := s.Foot(s.Width(), most)
	rows := s.live(max(1, most-len(foot.Rows)-1))
	if len(rows) > 0 || s.last != noKind {
		rows = append(rows, nil)
	}
	at := caret{len(rows) + foot.Y, foot.X}
	for _, r := range foot.Rows {
		rows = append(rows, trim(r))
	}
	return rows, at
}

// moveTo moves the cursor from the end of the rows to its place.
func moveTo(widths []int, at caret) string {
	last := len(widths) - 1
	if last < 0 || at == (caret{last, widths[last]}) {
		return ""
	}
	out := "\r"
	if up := last - at.row; up > 0 {
		out = fmt.Sprintf("\r\x1b[%dA", up)
	}
	if at.column > 0 {
		out += fmt.Sprintf("\x1b[%dC", at.column)
	}
	return out
}

// write sends text to the terminal. An error stays with the writer.
func (s *Screen) write(text string) {
	_, _ = s.Out.WriteString(text)
	_ = s.Out.Flush()
}

// toTop moves from the cursor to the first of some rows. On a terminal that became narrower each may take several.
func toTop(widths []int, at caret, width int) string {
	up := max(0, at.column-1) / width
	for _, w := range widths[:min(at.row, len(widths))] {
		up += max(1, (w+width-1)/width)
	}
	if up == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", up)
}

// live renders the current activity, up to a number of rows: the end of the growing text, the running
// calls, or a spinner while waiting for the model.
func (s *Screen) live(most int) (out []style.Line) {
	for _, c := range s.calls {
		out = append(out, s.callRows(c, 0, true)...)
	}
	out = out[max(0, len(out)-most):]
	silence := waiting.Text(s.drawn.Sub(s.heard), s.giveUp)
	if waits := s.drawn.Sub(s.idle); len(out) == 0 && !s.idle.IsZero() && waits >= patience && (s.isLineEnd() || silence != "") {
		word := " working · " + Elapsed(waits)
		if s.thinking {
			word = " thinking · " + Elapsed(waits)
		}
		if silence != "" { // it tells the same time
			word = " " + silence
		}
		out = append(out, s.spinner().Add(word, faint))
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
	if s.Still {
		return style.Of("•", style.Fg(s.theme.Secondary))
	}
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
	s.heard = s.Now()
}

// hear notes that something came from the session, shown or not, and how long its model may send nothing; 0 is not
// known.
func (a *awaited) hear(now time.Time, giveUp time.Duration) { a.heard, a.giveUp = now, giveUp }

// SetThinking says whether the model reasons.
func (a *awaited) SetThinking(thinks bool) { a.thinking = thinks }

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
	s.heard = s.Now()
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
		out[i] = trim(r).With(func(a style.Attr) style.Attr {
			if a.Link = ""; a.FG == s.theme.TextMuted || s.text.kind == thoughts {
				a.FG, a.Faint = style.Color{}, true
			}
			return a
		})
	}
	return out
}

// trim removes spaces at the end that no ground makes visible. A narrower terminal would wrap them.
func trim(r style.Line) style.Line {
	for len(r) > 0 && !r[len(r)-1].Attr.BG.IsSet() {
		last := r[len(r)-1]
		if last.Text = strings.TrimRight(last.Text, " "); last.Text != "" {
			return append(r[:len(r)-1:len(r)-1], last)
		}
		r = r[:len(r)-1]
	}
	return r
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

// Prompt prints a prompt of the user, and in faint how it is delivered.
func (s *Screen) Prompt(text, how string) {
	s.EndText("")
	var rows []style.Line
	for line := range strings.SplitSeq(text, "\n") {
		rows = append(rows, style.Of(line, bold).Wrap(s.Width()-2, nil)...)
	}
	if how != "" {
		rows = append(rows[:len(rows)-1], rows[len(rows)-1].Add("  "+how, faint).Wrap(s.Width()-2, nil)...)
	}
	for i := range rows {
		mark := style.Plain("  ")
		if i == 0 {
			mark = style.Of("› ", style.Fg(s.theme.Primary))
		}
		rows[i] = append(mark, rows[i]...)
	}
	s.last = noKind // also between two prompts
	if s.started {
		s.above = append(s.above, nil)
	}
	s.add(prompts, rows...)
}

// Print prints finished rows, such as the output of a slash command.
func (s *Screen) Print(rows ...style.Line) {
	s.EndText("")
	if s.last == answers {
		s.last = toolCalls // separate them from the answer
	}
	s.add(answers, rows...)
}

// End leaves only the final rows on the screen.
func (s *Screen) End() {
	s.Foot = nil
	s.EndText("")
	for _, c := range s.calls {
		c.abort(s)
		s.add(toolCalls, s.callRows(c, 0, false)...)
	}
	s.calls, s.idle, s.asking = nil, time.Time{}, nil
	s.Draw()
}
