// Package live draws a turn on a terminal while it runs: the answer, a line for each tool, and what is under way.
package live

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// View is the live picture of a turn on a terminal: above, what is said and done, which stays as it
// was written; below it a few rows that are drawn anew while something is under way.
//
// One goroutine owns the screen and standard output. Nothing on the terminal is ever switched on that
// would have to be switched off again: the cursor stays visible, each write ends the styles it began.
// So there is nothing to restore, however the program ends. A mistake in the drawing ends the picture,
// and not the turn.
type View struct {
	ops    chan func(*Screen)
	done   chan struct{}
	Broken chan struct{} // closed when the picture has ended by a mistake
	Why    string        // then; read after broken or done
}

// frame is how often the picture may change, and how fast the sign of work turns.
const frame = 80 * time.Millisecond

func StartView(a *cli.App) *View {
	v := &View{ops: make(chan func(*Screen), 64), done: make(chan struct{}), Broken: make(chan struct{})}
	s := &Screen{App: a, now: a.Now(), Size: func() (int, int) { return screenSize(a) }}
	go func() {
		defer close(v.done)
		defer v.caught(s)
		s.run(v.ops)
	}()
	return v
}

// caught ends a picture in which something went wrong: what comes next begins a line of its own, in the
// usual look. Nobody who wants the screen changed is kept waiting.
func (v *View) caught(s *Screen) {
	p := recover()
	if p == nil {
		return
	}
	s.App.Log.Error("the live view failed", "panic", p, "stack", string(debug.Stack()))
	s.App.Printf("\x1b[0m\n")
	s.App.Flush()
	v.Why = fmt.Sprint(p)
	close(v.Broken)
	for range v.ops { // until it is closed
	}
}

// Do has the screen changed.
func (v *View) Do(f func(*Screen)) { v.ops <- f }

// Did has the screen changed and waits for it; it is false for a picture that has ended.
func (v *View) Did(f func(*Screen)) bool {
	done := make(chan struct{})
	v.Do(func(s *Screen) {
		f(s)
		close(done)
	})
	select {
	case <-done:
		return true
	case <-v.Broken:
		return false
	}
}

// Close draws the last picture, without what was under way, and waits for it.
func (v *View) Close() {
	close(v.ops)
	<-v.done
}

// screenSize is the size of the terminal, or a usual one where it does not say.
func screenSize(a *cli.App) (width, height int) {
	width, height, err := term.GetSize(int(a.Stdout.File.Fd()))
	if err != nil || width <= 0 {
		width = max(a.Width(), 0)
	}
	if width == 0 {
		width = 80
	}
	if height <= 0 {
		height = 24
	}
	return width, height
}

// Screen is what the view's goroutine knows.
type Screen struct {
	App  *cli.App
	Size func() (width, height int)
	now  time.Time
	turn int // of the sign of work

	words  *markdown // what is being said, nil if nothing is
	Saying lathe.PartID
	voice  kind // answers or thoughts
	told   bool // rows of it are above
	calls  []*call
	Idle   time.Time // since when the model is waited for; zero if it is not
	Muses  bool      // and it thinks, unseen
	Asking []Row     // a question, and nothing moves

	Above []Row // rows to be written above
	last  kind  // what the newest of them is
	Below []Row // what is drawn anew, as it stands on the screen; the cursor is at its end
}

// kind is what a row belongs to: between kinds an empty row is left.
type kind int

const (
	nothing kind = iota
	remarks
	answers
	thoughts
	deeds
)

func (s *Screen) run(ops <-chan func(*Screen)) {
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for {
		select {
		case f, open := <-ops:
			if !open {
				s.End()
				return
			}
			f(s)
			if len(ops) == 0 && s.App.Now().Sub(s.now) >= frame {
				s.Draw()
			}
		case <-tick.C:
			s.turn++
			s.Draw()
		}
	}
}

// Width is how many columns are used: two are left for the ^C that a terminal shows by itself.
func (s *Screen) Width() int {
	w, _ := s.Size()
	return max(leastText, w-2)
}

// add puts rows above for good.
func (s *Screen) add(what kind, rows ...Row) {
	if len(rows) == 0 {
		return
	}
	if s.last != nothing && s.last != what {
		s.Above = append(s.Above, Row{})
	}
	s.last = what
	s.Above = append(s.Above, rows...)
}

// Draw writes what is new above and all that is below, in one piece.
func (s *Screen) Draw() {
	s.now = s.App.Now()
	if s.App.OnDraw != nil {
		s.App.OnDraw()
	}
	width, height := s.Size()
	below := s.Asking
	if below == nil {
		below = s.Live(max(1, height-1))
	}
	if len(s.Above) == 0 && same(below, s.Below) {
		return
	}
	var b strings.Builder
	b.WriteString(erased(s.Below, width))
	for _, r := range s.Above {
		b.WriteString(r.Text + "\n")
	}
	for i, r := range below {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(r.Text)
	}
	s.Above, s.Below = nil, below
	s.App.Printf("%s", b.String())
	s.App.Flush()
}

// erased moves to the first of some rows and removes them. Of a terminal that became narrower each
// may take several.
func erased(rows []Row, width int) string {
	if len(rows) == 0 {
		return ""
	}
	up := -1
	for _, r := range rows {
		up += max(1, (r.Width+width-1)/width)
	}
	if up == 0 {
		return "\r\x1b[J"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", up)
}

func same(a, b []Row) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Live is what is under way, in at most so many rows: the end of the text that grows, the calls that
// run, or that the model is waited for.
func (s *Screen) Live(most int) (out []Row) {
	for _, c := range s.calls {
		out = append(out, s.callRows(c, 0, true)...)
	}
	out = out[max(0, len(out)-most):]
	var text []Row
	if s.words != nil {
		text = s.words.pending(s.Width())
	}
	if room := most - len(out) - 1; len(text) > room { // it would leave the screen, where nothing can be drawn anew
		s.say(s.words.cut(len(s.words.open)*max(1, room/2)/len(text), s.Width()))
		text = s.words.pending(s.Width())
		text = text[max(0, len(text)-max(1, room)):]
	}
	if len(text) > 0 {
		if s.last != nothing && s.last != s.voice {
			text = append([]Row{{}}, text...)
		}
		if len(out) > 0 {
			text = append(text, Row{})
		}
		return append(text, out...)
	}
	if waits := s.now.Sub(s.Idle); len(out) == 0 && !s.Idle.IsZero() && waits >= patience {
		word := " working · "
		if s.Muses {
			word = " thinking · "
		}
		out = append(out, drawn(joined(s.sign(), Cells(word+Elapsed(waits), Dim))))
	}
	if len(out) > 0 && s.last != nothing && s.last != deeds && most > 1 {
		out = append([]Row{{}}, out...)
	}
	return out
}

// patience is how long nothing may happen before it is said that something does: less would flicker
// between the lines of an answer.
const patience = 400 * time.Millisecond

// sign is the sign of work, which turns.
func (s *Screen) sign() []cell {
	all := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	return Cells(string(all[s.turn%len(all)]), cyan)
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

// Grow takes more of a text. Another one ends the one before.
func (s *Screen) Grow(id lathe.PartID, text string, look Style) {
	if s.words == nil || s.Saying != id {
		s.EndText()
		s.words, s.Saying, s.told = &markdown{look: look}, id, false
		if s.voice = answers; look != 0 {
			s.voice = thoughts
		}
		text = strings.TrimLeft(text, "\n")
	}
	s.say(s.words.write(text, s.Width()))
	if !s.Idle.IsZero() {
		s.Idle = s.App.Now()
	}
}

func (s *Screen) say(rows []Row) {
	s.add(s.voice, rows...)
	s.told = s.told || len(rows) > 0
}

// EndText completes the text that is being said.
func (s *Screen) EndText() {
	if s.words != nil {
		s.say(s.words.end(s.Width()))
	}
	s.words, s.Saying, s.told = nil, "", false
}

// TakeBack forgets a text that will be said again, as far as it can be forgotten.
func (s *Screen) TakeBack(id lathe.PartID) {
	if s.Saying != id || s.told {
		s.EndText()
		s.Remark("(the connection broke; what stands above is said again)")
		return
	}
	s.words, s.Saying = nil, ""
}

// Remark tells something beside the answer.
func (s *Screen) Remark(text string) {
	s.EndText()
	line, indent := "", []cell(nil)
	write := func() {
		s.add(remarks, Wrapped(Cells(line, Dim), indent, Cells("  ", 0), s.Width())...)
		indent = Cells("  ", 0)
	}
	for i, piece := range strings.Split(strings.ReplaceAll(text, "\n", " "), " · ") { // where it is best broken
		switch longer := line + " · " + piece; {
		case i == 0:
			line = piece
		case termtext.Columns(longer) > s.Width()-widthOf(indent):
			write()
			line = piece
		default:
			line = longer
		}
	}
	write()
}

// End leaves on the screen what stays.
func (s *Screen) End() {
	s.EndText()
	for _, c := range s.calls {
		c.breakOff(s.App.Now())
		s.add(deeds, s.callRows(c, 0, false)...)
	}
	s.calls, s.Idle, s.Asking = nil, time.Time{}, nil
	s.Draw()
}
