package tui

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
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
	answered map[lathe.AskID]bool // an answer is on its way
}

// pendingAsk is the request on the screen: a permission or a question.
type pendingAsk struct {
	ids []lathe.AskID // of one permission request or question, then of those that the same answer answers
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
	all := slices.DeleteFunc(as.state.Asks(as.state.Current), func(f lathe.Fact) bool { return as.answered[lathe.AskOf(f)] })
	if len(all) == 0 {
		return as.close()
	}
	var kept tea.Cmd
	group := grant.Group(all)
	ids := askIDs(group)
	if as.current == nil || !slices.Equal(as.current.ids, ids) || as.hasPlanNow(group[0]) {
		kept = as.close()
		as.current = as.open(group, ids)
	}
	if as.current != nil && as.current.permission != nil {
		as.current.permission.SetWaiting(len(all) - len(group))
	}
	return kept
}

func askIDs(all []lathe.Fact) (ids []lathe.AskID) {
	for _, f := range all {
		ids = append(ids, lathe.AskOf(f))
	}
	return ids
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
func (as *asks) open(group []lathe.Fact, ids []lathe.AskID) *pendingAsk {
	a := &pendingAsk{ids: ids, lastTyped: as.now()}
	switch f := group[0].(type) {
	case *lathe.PermissionAsked:
		o := ask.Options{Diff: func(patch string, width int) []style.Line {
			return diff.Lines(patch, diff.Options{Theme: as.look.theme(), Width: width, Split: width > 116 && !as.look.show.Stacked, Wrap: true})
		}}
		if s, ok := as.state.Session(f.Session); ok && f.Session != as.state.Current {
			o.From = cmp.Or(s.Agent, s.Title)
		}
		for _, g := range group[1:] {
			o.Also = append(o.Also, g.(*lathe.PermissionAsked).PermissionRequest)
		}
		a.permission = ask.NewPermission(as.keys, f, o)
		a.region = a.permission
	case *lathe.QuestionAsked:
		a.region = ask.NewQuestion(as.keys, f)
		if text, file, ok := as.planOf(f); ok {
			a.region = ask.NewPlan(as.keys, text, file)
		}
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
		if d, ok := a.region.(interface{ Deselect() }); ok {
			d.Deselect()
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
	id := as.current.ids[0]
	switch out := out.(type) {
	case ask.Reply:
		as.current.sent = out.Reply == lathe.Reject && out.Message != ""
		if out.Reply == lathe.Reject { // the engine rejects the others of the session with it
			return as.settle(func(ctx context.Context, e Engine) error { return e.Reply(ctx, id, lathe.Reject, out.Message) })
		}
		return as.settle(forEach(as.current.ids, func(ctx context.Context, e Engine, _ int, id lathe.AskID) error {
			return e.Reply(ctx, id, out.Reply, "")
		}))
	case ask.Grant:
		return as.settle(forEach(as.current.ids, func(ctx context.Context, e Engine, i int, id lathe.AskID) error {
			if out.Patterns[i] == nil {
				return e.Reply(ctx, id, lathe.Once, "")
			}
			return e.Grant(ctx, id, out.Scope, out.Patterns[i])
		}))
	case ask.Answer:
		as.current.sent = true
		return as.settle(func(ctx context.Context, e Engine) error { return e.Answer(ctx, id, out.Answers) })
	case ask.EditPlan:
		return as.editPlan()
	case ask.Dismiss:
		return as.settle(func(ctx context.Context, e Engine) error { return e.Dismiss(ctx, id) })
	default:
		return nil
	}
}

// forEach calls do for each request, until one fails.
func forEach(ids []lathe.AskID, do func(ctx context.Context, e Engine, i int, id lathe.AskID) error) func(context.Context, Engine) error {
	return func(ctx context.Context, e Engine) error {
		for i, id := range ids {
			if err := do(ctx, e, i, id); err != nil {
				return err
			}
		}
		return nil
	}
}

// settle sends an answer to the open requests. They leave the screen at once, and come back if it fails.
func (as *asks) settle(send func(ctx context.Context, e Engine) error) tea.Cmd {
	ids := as.current.ids
	if as.answered == nil {
		as.answered = map[lathe.AskID]bool{}
	}
	for _, id := range ids {
		as.answered[id] = true
	}
	sent := as.call("answer", func(ctx context.Context, e Engine) (then, error) {
		err := send(ctx, e)
		if err == nil {
			return nil, nil
		}
		return func() tea.Cmd {
			for _, id := range ids {
				delete(as.answered, id)
			}
			return as.refresh()
		}, err
	})
	return tea.Batch(sent, as.refresh())
}

// hasPlanNow reports whether the plan of an open question was loaded since it was shown.
func (as *asks) hasPlanNow(f lathe.Fact) bool {
	q, ok := f.(*lathe.QuestionAsked)
	_, plain := as.current.region.(*ask.Question)
	if !ok || !plain {
		return false
	}
	_, _, ok = as.planOf(q)
	return ok
}

// planOf returns the plan that a question is about.
func (as *asks) planOf(q *lathe.QuestionAsked) (text, file string, ok bool) {
	o := as.state.Tracked(q.Session)
	if q.Tool == nil || o == nil || o.Transcript == nil {
		return "", "", false
	}
	t := o.Transcript
	at := t.Find(q.Tool.Message)
	for i := 0; at >= 0 && i < t.View(at).Len(); i++ {
		if call, is := t.View(at).Part(i).Body.(*lathe.ToolCall); is && call.CallID == q.Tool.Call {
			return ask.PlanOf(call, q)
		}
	}
	return "", "", false
}

// editPlan opens the plan in the user's editor and saves it. The file must be on this machine and as it is shown.
func (as *asks) editPlan() tea.Cmd {
	plan := as.current.region.(*ask.Plan)
	path := plan.File()
	if !filepath.IsAbs(path) {
		path = filepath.Join(as.state.Info.Directory, path)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return as.notify(toast.Warning, "Cannot edit the plan: "+path+" is not a regular file")
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != plan.Text() || as.state.Info.Remote {
		return as.notify(toast.Warning, "Cannot edit the plan here; edit the file on its machine: "+path)
	}
	return as.editText(plan.Text(), func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			as.notify(toast.Error, errorText(err))
			return
		}
		plan.SetText(text)
		plan.StartGuard(as.now())
	})
}

// view draws the region. A permission request gets most of the screen, since the user must read it all.
func (a *pendingAsk) view(th *style.Theme, width, height, most int) []style.Line {
	_, plan := a.region.(*ask.Plan)
	if a.permission == nil && !plan {
		return a.View(th, width, height)
	}
	if plan || !a.permission.Fullscreen() {
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
