package main

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

// view is the live picture of a turn on a terminal: above, what is said and done, which stays as it
// was written; below it a few rows that are drawn anew while something is under way.
//
// One goroutine owns the screen and standard output. Nothing on the terminal is ever switched on that
// would have to be switched off again: the cursor stays visible, each write ends the styles it began.
// So there is nothing to restore, however the program ends. A mistake in the drawing ends the picture,
// and not the turn.
type view struct {
	ops    chan func(*screen)
	done   chan struct{}
	broken chan struct{} // closed when the picture has ended by a mistake
	why    string        // then; read after broken or done
}

// frame is how often the picture may change, and how fast the sign of work turns.
const frame = 80 * time.Millisecond

func startView(a *cli.App) *view {
	v := &view{ops: make(chan func(*screen), 64), done: make(chan struct{}), broken: make(chan struct{})}
	s := &screen{app: a, now: a.Now(), size: func() (int, int) { return screenSize(a) }}
	go func() {
		defer close(v.done)
		defer v.caught(s)
		s.run(v.ops)
	}()
	return v
}

// caught ends a picture in which something went wrong: what comes next begins a line of its own, in the
// usual look. Nobody who wants the screen changed is kept waiting.
func (v *view) caught(s *screen) {
	p := recover()
	if p == nil {
		return
	}
	s.app.Log.Error("the live view failed", "panic", p, "stack", string(debug.Stack()))
	s.app.Printf("\x1b[0m\n")
	s.app.Flush()
	v.why = fmt.Sprint(p)
	close(v.broken)
	for range v.ops { // until it is closed
	}
}

// do has the screen changed.
func (v *view) do(f func(*screen)) { v.ops <- f }

// did has the screen changed and waits for it; it is false for a picture that has ended.
func (v *view) did(f func(*screen)) bool {
	done := make(chan struct{})
	v.do(func(s *screen) {
		f(s)
		close(done)
	})
	select {
	case <-done:
		return true
	case <-v.broken:
		return false
	}
}

// close draws the last picture, without what was under way, and waits for it.
func (v *view) close() {
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

// screen is what the view's goroutine knows.
type screen struct {
	app  *cli.App
	size func() (width, height int)
	now  time.Time
	turn int // of the sign of work

	words  *markdown // what is being said, nil if nothing is
	saying lathe.PartID
	voice  kind // answers or thoughts
	told   bool // rows of it are above
	calls  []*call
	idle   time.Time // since when the model is waited for; zero if it is not
	muses  bool      // and it thinks, unseen
	asking []row     // a question, and nothing moves

	above []row // rows to be written above
	last  kind  // what the newest of them is
	below []row // what is drawn anew, as it stands on the screen; the cursor is at its end
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

func (s *screen) run(ops <-chan func(*screen)) {
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for {
		select {
		case f, open := <-ops:
			if !open {
				s.end()
				return
			}
			f(s)
			if len(ops) == 0 && s.app.Now().Sub(s.now) >= frame {
				s.draw()
			}
		case <-tick.C:
			s.turn++
			s.draw()
		}
	}
}

// width is how many columns are used: two are left for the ^C that a terminal shows by itself.
func (s *screen) width() int {
	w, _ := s.size()
	return max(leastText, w-2)
}

// add puts rows above for good.
func (s *screen) add(what kind, rows ...row) {
	if len(rows) == 0 {
		return
	}
	if s.last != nothing && s.last != what {
		s.above = append(s.above, row{})
	}
	s.last = what
	s.above = append(s.above, rows...)
}

// draw writes what is new above and all that is below, in one piece.
func (s *screen) draw() {
	s.now = s.app.Now()
	if s.app.OnDraw != nil {
		s.app.OnDraw()
	}
	width, height := s.size()
	below := s.asking
	if below == nil {
		below = s.live(max(1, height-1))
	}
	if len(s.above) == 0 && same(below, s.below) {
		return
	}
	var b strings.Builder
	b.WriteString(erased(s.below, width))
	for _, r := range s.above {
		b.WriteString(r.text + "\n")
	}
	for i, r := range below {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(r.text)
	}
	s.above, s.below = nil, below
	s.app.Printf("%s", b.String())
	s.app.Flush()
}

// erased moves to the first of some rows and removes them. Of a terminal that became narrower each
// may take several.
func erased(rows []row, width int) string {
	if len(rows) == 0 {
		return ""
	}
	up := -1
	for _, r := range rows {
		up += max(1, (r.width+width-1)/width)
	}
	if up == 0 {
		return "\r\x1b[J"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", up)
}

func same(a, b []row) bool {
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

// live is what is under way, in at most so many rows: the end of the text that grows, the calls that
// run, or that the model is waited for.
func (s *screen) live(most int) (out []row) {
	for _, c := range s.calls {
		out = append(out, s.callRows(c, 0, true)...)
	}
	out = out[max(0, len(out)-most):]
	var text []row
	if s.words != nil {
		text = s.words.pending(s.width())
	}
	if room := most - len(out) - 1; len(text) > room { // it would leave the screen, where nothing can be drawn anew
		s.say(s.words.cut(len(s.words.open)*max(1, room/2)/len(text), s.width()))
		text = s.words.pending(s.width())
		text = text[max(0, len(text)-max(1, room)):]
	}
	if len(text) > 0 {
		if s.last != nothing && s.last != s.voice {
			text = append([]row{{}}, text...)
		}
		if len(out) > 0 {
			text = append(text, row{})
		}
		return append(text, out...)
	}
	if waits := s.now.Sub(s.idle); len(out) == 0 && !s.idle.IsZero() && waits >= patience {
		word := " working · "
		if s.muses {
			word = " thinking · "
		}
		out = append(out, drawn(joined(s.sign(), cells(word+elapsed(waits), dim))))
	}
	if len(out) > 0 && s.last != nothing && s.last != deeds && most > 1 {
		out = append([]row{{}}, out...)
	}
	return out
}

// patience is how long nothing may happen before it is said that something does: less would flicker
// between the lines of an answer.
const patience = 400 * time.Millisecond

// sign is the sign of work, which turns.
func (s *screen) sign() []cell {
	all := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	return cells(string(all[s.turn%len(all)]), cyan)
}

// elapsed is a duration as people read it.
func elapsed(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// grow takes more of a text. Another one ends the one before.
func (s *screen) grow(id lathe.PartID, text string, look style) {
	if s.words == nil || s.saying != id {
		s.endText()
		s.words, s.saying, s.told = &markdown{look: look}, id, false
		if s.voice = answers; look != 0 {
			s.voice = thoughts
		}
		text = strings.TrimLeft(text, "\n")
	}
	s.say(s.words.write(text, s.width()))
	if !s.idle.IsZero() {
		s.idle = s.app.Now()
	}
}

func (s *screen) say(rows []row) {
	s.add(s.voice, rows...)
	s.told = s.told || len(rows) > 0
}

// endText completes the text that is being said.
func (s *screen) endText() {
	if s.words != nil {
		s.say(s.words.end(s.width()))
	}
	s.words, s.saying, s.told = nil, "", false
}

// takeBack forgets a text that will be said again, as far as it can be forgotten.
func (s *screen) takeBack(id lathe.PartID) {
	if s.saying != id || s.told {
		s.endText()
		s.remark("(the connection broke; what stands above is said again)")
		return
	}
	s.words, s.saying = nil, ""
}

// remark tells something beside the answer.
func (s *screen) remark(text string) {
	s.endText()
	line, indent := "", []cell(nil)
	write := func() {
		s.add(remarks, wrapped(cells(line, dim), indent, cells("  ", 0), s.width())...)
		indent = cells("  ", 0)
	}
	for i, piece := range strings.Split(strings.ReplaceAll(text, "\n", " "), " · ") { // where it is best broken
		switch longer := line + " · " + piece; {
		case i == 0:
			line = piece
		case termtext.Columns(longer) > s.width()-widthOf(indent):
			write()
			line = piece
		default:
			line = longer
		}
	}
	write()
}

// end leaves on the screen what stays.
func (s *screen) end() {
	s.endText()
	for _, c := range s.calls {
		c.breakOff(s.app.Now())
		s.add(deeds, s.callRows(c, 0, false)...)
	}
	s.calls, s.idle, s.asking = nil, time.Time{}, nil
	s.draw()
}
