package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/diff"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// asking is what waits for an answer on the screen: a permission or a question.
type asking struct {
	id         lathe.AskID
	permission *ask.Permission
	question   *ask.Question
	quiet      time.Time // since when no key came that was meant for the prompt
	sent       bool      // an answer was
}

// lookForAsks shows the oldest request of the session on the screen, and of those that work for it. Sessions
// that work for another show none: their root does.
func (p *program) lookForAsks() tea.Cmd {
	if p.state.Current == "" || p.state.IsChild() || p.o.Start.Auto {
		return tea.Batch(p.dropAsking(), p.approve())
	}
	all := p.state.Asks(p.state.Current)
	if len(all) == 0 {
		return p.dropAsking()
	}
	var kept tea.Cmd
	id := lathe.AskOf(all[0])
	if p.asking == nil || p.asking.id != id {
		kept = p.dropAsking()
		p.asking = p.newAsking(all[0], id)
	}
	if p.asking != nil && p.asking.permission != nil {
		p.asking.permission.SetWaiting(len(all) - 1)
	}
	return kept
}

// dropAsking takes what is asked from the screen. Words that were not sent are kept.
func (p *program) dropAsking() tea.Cmd {
	a := p.asking
	p.asking = nil
	if a == nil || a.sent {
		return nil
	}
	return p.keepTyped(a.words())
}

// words are what was typed for an answer and not sent.
func (a *asking) words() string {
	if a.permission != nil {
		return a.permission.Words()
	}
	return a.question.Words()
}

// askedElsewhere tells of a request that this screen does not show: of another session, or of the one above it.
func (p *program) askedElsewhere(id lathe.SessionID) tea.Cmd {
	if _, known := p.state.Session(id); !known || p.o.Start.Auto { // who is not known is met first
		return nil
	}
	root, here := p.state.Root(id), p.state.Root(p.state.Current)
	switch {
	case root.ID != here.ID:
		return p.say(toast.Warning, fmt.Sprintf("“%s” waits for your answer: /sessions", root.Title))
	case p.state.IsChild():
		return p.say(toast.Warning, "Your answer is wanted; "+p.keys.Label(key.SessionParent)+" goes to where it is asked")
	default:
		return nil
	}
}

// wantedAbove says, in a session that works for another, that an answer is wanted there.
func (p *program) wantedAbove(th *style.Theme) style.Line {
	if len(p.state.Asks(p.state.Root(p.state.Current).ID)) == 0 {
		return nil
	}
	return style.Of("  △ Your answer is wanted: "+p.keys.Label(key.SessionParent), style.Bold(th.Warning))
}

// approve gives every permission that is asked for, where the user has said so.
func (p *program) approve() tea.Cmd {
	if !p.o.Start.Auto {
		return nil
	}
	var cmds []tea.Cmd
	for _, f := range p.state.AllAsks() {
		r, ok := f.(*lathe.PermissionAsked)
		if !ok || p.approved[r.ID] {
			continue
		}
		if p.approved == nil {
			p.approved = map[lathe.AskID]bool{}
		}
		p.approved[r.ID] = true
		cmds = append(cmds, p.call("give a permission", func(ctx context.Context, e host.Engine) (then, error) {
			return nil, e.Reply(ctx, r.ID, lathe.Once, "")
		}))
	}
	return tea.Batch(cmds...)
}

func (p *program) newAsking(f lathe.Fact, id lathe.AskID) *asking {
	a := &asking{id: id, quiet: p.now()}
	switch f := f.(type) {
	case *lathe.PermissionAsked:
		o := ask.Options{Diff: func(patch string, width int) []style.Line {
			return diff.Lines(patch, diff.Options{Theme: p.theme(), Width: width, Split: width > 116 && !p.wants.Stacked, Wrap: true})
		}}
		if s, ok := p.state.Session(f.Session); ok && f.Session != p.state.Current {
			o.From = s.Agent
			if o.From == "" {
				o.From = s.Title
			}
		}
		a.permission = ask.NewPermission(p.keys, f, o)
	case *lathe.QuestionAsked:
		a.question = ask.NewQuestion(p.keys, f)
	default: // state keeps no other facts as requests
		return nil
	}
	a.shown(p.now())
	return a
}

// askKey gives a key to what is asked. Keys that are typed in the first moment, or go on without a pause, were meant for
// the prompt: there they go, and it comes back as it was left. No choice is selected then.
func (p *program) askKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	a := p.asking
	if now := p.now(); (key.IsTyped(k) || key.IsComposed(k)) && now.Sub(a.quiet) < ask.Quiet {
		a.quiet = now
		if a.permission != nil {
			a.permission.Deselect()
		}
		a.shown(now) // its own wait begins anew, too: an enter behind the sentence must not allow anything
		p.edit.Insert(k.Text)
		return nil, true
	}
	var out ask.Out
	if a.permission != nil {
		out = a.permission.Key(k, p.now())
	} else {
		out = a.question.Key(k, p.now())
	}
	if _, unused := out.(ask.Unused); unused {
		return nil, false
	}
	return p.answerAsk(out), true
}

// answerAsk tells the engine what was said.
func (p *program) answerAsk(out ask.Out) tea.Cmd {
	id := p.asking.id
	switch out := out.(type) {
	case ask.Reply:
		p.asking.sent = out.Reply == lathe.Reject && out.Message != ""
		return p.call("answer", func(ctx context.Context, e host.Engine) (then, error) {
			return nil, e.Reply(ctx, id, out.Reply, out.Message)
		})
	case ask.Answer:
		p.asking.sent = true
		return p.call("answer", func(ctx context.Context, e host.Engine) (then, error) {
			return nil, e.Answer(ctx, id, out.Answers)
		})
	case ask.Dismiss:
		return p.call("dismiss the question", func(ctx context.Context, e host.Engine) (then, error) {
			return nil, e.Dismiss(ctx, id)
		})
	default:
		return nil
	}
}

// shown tells the region that it has just come into sight.
func (a *asking) shown(at time.Time) {
	if a.permission != nil {
		a.permission.Shown(at)
	} else {
		a.question.Shown(at)
	}
}

func (a *asking) view(th *style.Theme, width, height, most int) []style.Line {
	if a.permission == nil {
		return a.question.View(th, width, height)
	}
	if !a.permission.Fullscreen() {
		height = max(8, height*2/3)
	}
	return a.permission.View(th, width, min(height, most))
}

func (a *asking) cursor() (x, y int, ok bool) {
	if a.permission != nil {
		return a.permission.Cursor()
	}
	return a.question.Cursor()
}

func (a *asking) paste(text string) {
	if a.permission != nil {
		a.permission.Paste(text)
		return
	}
	a.question.Paste(text)
}

func (a *asking) wheel(dy int) {
	if a.permission != nil {
		a.permission.Wheel(dy)
	} else {
		a.question.Wheel(dy)
	}
}

// askClick gives a click to what is asked.
func (p *program) askClick(x, y int) tea.Cmd {
	a := p.asking
	if a.permission != nil {
		return p.answerAsk(a.permission.Click(x, y, p.now()))
	}
	return p.answerAsk(a.question.Click(x, y, p.now()))
}
