package mini

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/diff"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/inline"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/report"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/tty"
)

// screenFace draws the conversation with live rows and the prompt below it.
type screenFace struct {
	p      *program
	screen *inline.Screen
	follow inline.Follow
	drawn  time.Time
	late   bool // something has changed since
	prints int  // texts that were printed, for their IDs

	region    region // the open request; nil for none
	lastTyped time.Time
	list      *dialog.List
}

// region is a request of package ask.
type region interface {
	Key(k tea.KeyPressMsg, now time.Time) ask.Result
	Paste(text string) ask.Result
	View(th *style.Theme, width, height int) []style.Line
	Cursor() (x, y int, ok bool)
	StartGuard(at time.Time)
	Unsent() string
}

// frameTime is the least time between two frames that only show progress.
const frameTime = 40 * time.Millisecond

// spinTime is how often moving signs move, and stillTime how often times are updated when they do not.
const (
	spinTime  = 80 * time.Millisecond
	stillTime = time.Second
)

func newScreenFace(p *program) *screenFace {
	s := &screenFace{p: p, follow: inline.Follow{Reasoning: map[lathe.PartID]bool{}, Printed: map[lathe.PartID]bool{}}}
	s.screen = inline.NewScreen(inline.Options{
		Out: bufio.NewWriterSize(crlf{p.o.Out}, 64<<10), Size: p.o.Size, Now: p.o.Now, Log: slog.New(slog.DiscardHandler), Still: p.o.Still, Foot: s.foot,
		NoColor: tty.Colors(p.o.Env) == 0,
	})
	return s
}

// crlf ends lines as a terminal in raw mode needs it.
type crlf struct{ to io.Writer }

func (w crlf) Write(b []byte) (int, error) {
	if _, err := io.WriteString(w.to, strings.ReplaceAll(string(b), "\n", "\r\n")); err != nil {
		return 0, err
	}
	return len(b), nil
}

// begin draws the empty prompt at once, before the engine is open.
func (s *screenFace) begin() { s.draw(true) }

// end removes the live rows, so that the shell continues below the conversation.
func (s *screenFace) end() {
	s.region, s.list = nil, nil
	s.screen.End()
	_, _ = s.p.o.Out.WriteString("\r\n")
}

// event draws an event with the live view of `lathe run`.
func (s *screenFace) event(ev lathe.Event, own bool) {
	s.follow.Thinking = s.p.thinking
	if own {
		s.follow.Own(s.screen, ev.Fact)
		return
	}
	id := lathe.SessionOf(ev.Fact)
	title := string(id)
	if of, ok := s.p.state.Session(id); ok {
		title = style.Clean(of.Title)
	}
	s.follow.Child(s.screen, id, title, ev.Fact)
}

func (s *screenFace) note(text string)        { s.screen.Notice(style.Clean(text)) }
func (s *screenFace) prompt(text, how string) { s.screen.Prompt(text, how) }

// print renders Markdown as one finished text.
func (s *screenFace) print(markdown string) {
	s.prints++
	id := lathe.PartID(fmt.Sprint("printed ", s.prints))
	s.screen.EndText("")
	s.screen.AppendText(id, markdown, false)
	s.screen.EndText(id)
}

// maxReport is the width of reports, so that a number stays near its name on a wide screen.
const maxReport = 92

// report prints the rows of a report.
func (s *screenFace) report(rows func(width int) []report.Row) {
	s.screen.Print(report.Lines(s.screen.Theme(), rows(min(maxReport, s.screen.Width())))...)
}

// restore puts a draft into the prompt, to be edited.
func (s *screenFace) restore(d editor.Draft) { s.p.edit.Restore(d) }

// keep has nothing to do: the prompt shows its text.
func (s *screenFace) keep() {}

func (s *screenFace) keyHelp() string {
	return "`!` runs a shell command, `@` mentions a file, Alt+Enter or Ctrl+J starts a new line, Up recalls earlier prompts. " +
		"A prompt during a turn steers it. Ctrl-C interrupts the turn, twice leaves. Ctrl-D leaves."
}

// ask opens the region of a request in place of the prompt.
func (s *screenFace) ask(group []lathe.Fact, from string) {
	if s.region != nil && s.region.Unsent() != "" {
		sender{s.p}.addHistory(editor.Draft{Input: s.region.Unsent()})
	}
	if s.region = nil; group == nil {
		return
	}
	switch f := group[0].(type) {
	case *lathe.PermissionAsked:
		o := ask.Options{From: from, Also: others(group), Diff: func(patch string, width int) []style.Line {
			return diff.Lines(patch, diff.Options{Theme: s.screen.Theme(), Width: width, Wrap: true})
		}}
		s.region = ask.NewPermission(s.p.keys, f, o)
	case *lathe.QuestionAsked:
		s.region = ask.NewQuestion(s.p.keys, f)
	default: // no other fact is a request
		return
	}
	s.screen.EndText("")
	s.region.StartGuard(s.p.o.Now())
	s.lastTyped = s.p.o.Now()
}

// others are the requests of a group after the first.
func others(group []lathe.Fact) (out []lathe.PermissionRequest) {
	for _, f := range group[1:] {
		if r, ok := f.(*lathe.PermissionAsked); ok {
			out = append(out, r.PermissionRequest)
		}
	}
	return out
}

// pick opens the list in place of the prompt.
func (s *screenFace) pick(pick *picker) {
	if s.list = nil; pick != nil {
		s.list = dialog.NewList(s.p.keys, dialog.Options{Title: pick.title, Placeholder: "Search", Items: pick.items, Selected: pick.current, Wide: true})
	}
}

// handle gives a key or a paste to the list, the request or the prompt.
func (s *screenFace) handle(in any) {
	switch in := in.(type) {
	case tea.KeyPressMsg:
		s.key(in)
	case tea.PasteMsg:
		switch {
		case s.list != nil:
			s.list.Paste(in.Content)
		case s.region != nil:
			s.p.answer(s.region.Paste(in.Content))
		default:
			sender{s.p}.carryOut(s.p.edit.Paste(in.Content))
		}
	}
}

// key gives a key to the innermost open thing.
func (s *screenFace) key(k tea.KeyPressMsg) {
	switch {
	case s.list != nil:
		s.listKey(k)
	case s.region != nil:
		s.regionKey(k)
	case s.p.keys.Match(k, key.TerminalSuspend):
		s.suspend()
	case k.Code == 'l' && k.Mod == tea.ModCtrl:
		s.screen.Clear()
	case s.p.keys.Match(k, key.PermissionModeCycle) && !s.p.edit.Suggesting():
		slash{s.p}.cycleMode()
	default:
		sender{s.p}.carryOut(s.p.edit.Key(k))
	}
}

// listKey moves in the list or closes it.
func (s *screenFace) listKey(k tea.KeyPressMsg) {
	switch out := s.list.Key(k).(type) {
	case dialog.Chosen:
		s.p.chosen(out.ID)
	case dialog.Closed:
		s.p.chosen("")
	default: // the list has changed only itself
	}
}

// regionKey answers a request. Keys typed in the first moment, or without a pause since, were meant for the prompt.
func (s *screenFace) regionKey(k tea.KeyPressMsg) {
	now := s.p.o.Now()
	if s.p.answered {
		return // the engine is about to close it
	}
	if (key.IsTyped(k) || key.IsComposed(k)) && now.Sub(s.lastTyped) < ask.Quiet {
		s.lastTyped = now
		if r, ok := s.region.(*ask.Permission); ok {
			r.Deselect()
		}
		s.region.StartGuard(now)
		s.p.edit.Insert(k.Text)
		return
	}
	s.p.answer(s.region.Key(k, now))
}

// suspend gives the terminal back until the shell continues the program.
func (s *screenFace) suspend() {
	foot := s.screen.Foot
	s.screen.Foot = nil
	s.screen.Draw()
	s.p.tty.give()
	suspend()
	if err := s.p.tty.take(); err != nil {
		s.p.failed = err
	}
	s.screen.Foot = foot
	s.screen.Forget()
}

// draw draws now, or at the next frame.
func (s *screenFace) draw(force bool) {
	if now := s.p.o.Now(); force || now.Sub(s.drawn) >= frameTime {
		s.drawn, s.late = now, false
		s.screen.Draw()
		return
	}
	s.late = true
}

// interval is the time to the next frame. Without a turn nothing moves, so that an idle program uses no CPU.
func (s *screenFace) interval() (time.Duration, bool) {
	switch {
	case s.late:
		return frameTime, true
	case s.screen.IsMoving() && s.p.o.Still:
		return stillTime, true
	default:
		return spinTime, s.screen.IsMoving()
	}
}

// tick moves the spinner.
func (s *screenFace) tick() { s.screen.Tick() }

// maxPrompt is the most rows of the prompt, as a share of the screen.
const maxPrompt = 3

// foot draws the list, the request, or the prompt with its suggestions and the status below it.
func (s *screenFace) foot(width, height int) inline.Foot {
	th := s.screen.Theme()
	if s.list != nil {
		rows := s.list.View(th, width, min(height, 16))
		x, y, _ := s.list.Cursor()
		return inline.Foot{Rows: rows, X: x, Y: y}
	}
	// A request gets most of the screen, since the user must read it all.
	if s.region != nil {
		rows := s.region.View(th, width, max(8, height*2/3))
		x, y, ok := s.region.Cursor()
		if !ok {
			x, y = 0, len(rows)-1
		}
		return inline.Foot{Rows: rows, X: x, Y: y}
	}
	// A third of the screen at most: the conversation stays in sight while a long prompt is written.
	e := s.p.edit
	look := editor.ViewOptions{Bar: th.Primary, Focused: true, Placeholder: "Ask anything, / for commands, @ for files"}
	switch {
	case e.InShell():
		look.Bar, look.Placeholder = th.Warning, "Run a command in your shell"
	case s.p.isBusy():
		look.Placeholder = "Add a message while it works"
	}
	popup := e.Popup(th, width)
	popup = popup[:min(len(popup), max(0, height-4))]
	rows := e.View(th, look, width, max(2, height/maxPrompt))
	x, y, _ := e.Cursor()
	out := inline.Foot{Rows: append(popup, rows...), X: x, Y: len(popup) + y}
	status := style.Of("  "+strings.Join(slash{s.p}.statusLine(), " · "), style.Attr{Faint: true}).Truncate(width)
	out.Rows = append(out.Rows, status)
	return out
}
