package tui

import (
	"cmp"
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/diff"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// asks shows the permission requests and questions of sessions, and sends the answers.
type asks struct {
	*services
	drafts *drafts
	look   *look

	current  *pendingAsk          // the request on this screen
	approved map[lathe.AskID]bool // approved automatically, when auto-approve is on
}

// pendingAsk is the request on the screen: a permission or a question.
type pendingAsk struct {
	id lathe.AskID
	region
	permission *ask.Permission // the region, for a permission
	lastTyped  time.Time       // the last key that was meant for the prompt
	sent       bool            // an answer was sent
}

// region takes the place of the prompt while a request is open.
type region interface {
	Key(k tea.KeyPressMsg, now time.Time) ask.Result
	Click(x, y int, now time.Time) ask.Result
	Paste(text string) ask.Result
	Wheel(dy int)
	View(th *style.Theme, width, height int) []style.Line
	Cursor() (x, y int, ok bool)
	StartGuard(at time.Time) // ignores keys until the keyboard was quiet for a moment
	Unsent() string          // text that was typed and not sent
}

// refresh shows the oldest request of the current session and its subagents. The session of a subagent
// shows none: its root does.
func (as *asks) refresh() tea.Cmd {
	if as.state.Current == "" || as.state.IsChild() || as.o.Start.Auto {
		return tea.Batch(as.close(), as.approve())
	}
	all := as.state.Asks(as.state.Current)
	if len(all) == 0 {
		return as.close()
	}
	var kept tea.Cmd
	id := lathe.AskOf(all[0])
	if as.current == nil || as.current.id != id {
		kept = as.close()
		as.current = as.open(all[0], id)
	}
	if as.current != nil && as.current.permission != nil {
		as.current.permission.SetWaiting(len(all) - 1)
	}
	return kept
}

// close removes the request from the screen and saves unsent text.
func (as *asks) close() tea.Cmd {
	a := as.current
	as.current = nil
	if a == nil || a.sent {
		return nil
	}
	return as.drafts.saveTyped(a.Unsent())
}

// notifyElsewhere notifies about a request that this screen does not show: in another session, or in the parent.
func (as *asks) notifyElsewhere(id lathe.SessionID) tea.Cmd {
	if _, known := as.state.Session(id); !known || as.o.Start.Auto { // unknown sessions are loaded first
		return nil
	}
	root, here := as.state.Root(id), as.state.Root(as.state.Current)
	switch {
	case root.ID != here.ID:
		return as.notify(toast.Warning, fmt.Sprintf("“%s” is waiting for your answer: /sessions", root.Title))
	case as.state.IsChild():
		return as.notify(toast.Warning, "Your answer is needed: press "+as.keys.Label(key.SessionParent)+" to see the request")
	default:
		return nil
	}
}

// parentNotice says, in a subagent's session, that the parent has an open request.
func (as *asks) parentNotice(th *style.Theme) style.Line {
	if len(as.state.Asks(as.state.Root(as.state.Current).ID)) == 0 {
		return nil
	}
	return style.Of("  △ Your answer is needed: "+as.keys.Label(key.SessionParent), style.Bold(th.Warning))
}

// approve answers every permission request, when auto-approve is on.
func (as *asks) approve() tea.Cmd {
	if !as.o.Start.Auto {
		return nil
	}
	var cmds []tea.Cmd
	for _, f := range as.state.AllAsks() {
		r, ok := f.(*lathe.PermissionAsked)
		if !ok || as.approved[r.ID] {
			continue
		}
		if as.approved == nil {
			as.approved = map[lathe.AskID]bool{}
		}
		as.approved[r.ID] = true
		cmds = append(cmds, as.send("approve a permission request", func(ctx context.Context, e Engine) error { return e.Reply(ctx, r.ID, lathe.Once, "") }))
	}
	return tea.Batch(cmds...)
}

// open makes the region for a request. A request of a subagent names the agent.
func (as *asks) open(f lathe.Fact, id lathe.AskID) *pendingAsk {
	a := &pendingAsk{id: id, lastTyped: as.now()}
	switch f := f.(type) {
	case *lathe.PermissionAsked:
		o := ask.Options{Diff: func(patch string, width int) []style.Line {
			return diff.Lines(patch, diff.Options{Theme: as.look.theme(), Width: width, Split: width > 116 && !as.look.show.Stacked, Wrap: true})
		}}
		if s, ok := as.state.Session(f.Session); ok && f.Session != as.state.Current {
			o.From = cmp.Or(s.Agent, s.Title)
		}
		a.permission = ask.NewPermission(as.keys, f, o)
		a.region = a.permission
	case *lathe.QuestionAsked:
		a.region = ask.NewQuestion(as.keys, f)
	default: // state keeps no other facts as requests
		return nil
	}
	a.StartGuard(as.now())
	return a
}

// handleKey passes a key to the request. Keys typed in the first moment, or without a pause since, were meant for
// the prompt and go there. No choice is selected then.
func (as *asks) handleKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	a := as.current
	if now := as.now(); (key.IsTyped(k) || key.IsComposed(k)) && now.Sub(a.lastTyped) < ask.Quiet {
		a.lastTyped = now
		if a.permission != nil {
			a.permission.Deselect()
		}
		a.StartGuard(now) // restart its own wait too: an enter after the sentence must not allow anything
		as.drafts.edit.Insert(k.Text)
		return nil, true
	}
	out := a.Key(k, as.now())
	if _, unused := out.(ask.Unused); unused {
		return nil, false
	}
	return as.answer(out), true
}

// answer sends the answer to the engine.
func (as *asks) answer(out ask.Result) tea.Cmd {
	id := as.current.id
	switch out := out.(type) {
	case ask.Reply:
		as.current.sent = out.Reply == lathe.Reject && out.Message != ""
		return as.send("answer", func(ctx context.Context, e Engine) error { return e.Reply(ctx, id, out.Reply, out.Message) })
	case ask.Answer:
		as.current.sent = true
		return as.send("answer", func(ctx context.Context, e Engine) error { return e.Answer(ctx, id, out.Answers) })
	case ask.Dismiss:
		return as.send("dismiss the question", func(ctx context.Context, e Engine) error { return e.Dismiss(ctx, id) })
	default:
		return nil
	}
}

// view draws the region. A permission request gets most of the screen, since the user must read it all.
func (a *pendingAsk) view(th *style.Theme, width, height, most int) []style.Line {
	if a.permission == nil {
		return a.View(th, width, height)
	}
	if !a.permission.Fullscreen() {
		height = max(8, height*2/3)
	}
	return a.View(th, width, min(height, most))
}

// toggleAuto is not saved: auto-approve must be switched on in each run.
func (as *asks) toggleAuto() tea.Cmd {
	as.o.Start.Auto = !as.o.Start.Auto
	words, v := "Auto-approve off", toast.Info
	if as.o.Start.Auto {
		words, v = "Auto-approve on: every request is allowed until you switch it off or exit", toast.Warning
	}
	return tea.Batch(as.notify(v, words), as.refresh())
}
