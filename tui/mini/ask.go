package mini

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/dialog"
)

// asking is what the user is asked: requests of the session, or a list to choose from.
type asking struct {
	current  []lathe.AskID        // the open requests that one answer answers; nil for none
	subject  string               // of that request
	answered bool                 // its answer was sent
	approved map[lathe.AskID]bool // by --auto
	list     *picker              // nil for none
	turn     turn
	thinking bool // reasoning is shown
}

func (a *asking) isAsking() bool { return a.current != nil }

// picker is a list to choose from.
type picker struct {
	title   string
	empty   string        // the notice instead of an empty list
	items   []dialog.Item // their IDs are distinct, or mean the same
	current string        // the ID in use
	choose  func(id string)
	closed  func() // without a choice; may be nil
}

// show opens a list.
func (p *program) show(pick *picker) {
	if len(pick.items) == 0 {
		p.face.note(cmp.Or(pick.empty, "Nothing to choose from"))
		return
	}
	for i := range pick.items {
		if pick.items[i].ID == pick.current {
			pick.items[i].Mark = dialog.Current
		}
	}
	p.list = pick
	p.face.pick(pick)
}

// choose takes the entry with a name, or opens the list.
func (p *program) choose(name string, pick *picker) {
	if name == "" {
		p.show(pick)
		return
	}
	for _, it := range pick.items {
		if it.ID == name || it.Title == name {
			pick.choose(it.ID)
			return
		}
	}
	p.face.note("No entry " + name + " in " + pick.title)
	p.show(pick)
}

// chosen closes the list with a choice; "" is none.
func (p *program) chosen(id string) {
	pick := p.list
	p.list = nil
	p.face.pick(nil)
	switch {
	case pick == nil:
	case id != "":
		pick.choose(id)
	case pick.closed != nil:
		pick.closed()
	}
}

// refreshAsk shows the oldest request of the session and its subagents.
func (p *program) refreshAsk() {
	if p.o.Start.Auto {
		p.approve()
	}
	var all []lathe.Fact
	if p.state.Current != "" {
		all = p.state.Asks(p.state.Current)
	}
	// An approved request is still open until the engine has recorded the reply.
	for len(all) > 0 && p.approved[lathe.AskOf(all[0])] {
		all = all[1:]
	}
	if len(all) == 0 {
		if p.current != nil {
			p.current = nil
			p.face.ask(nil, "")
		}
		return
	}
	group := grant.Group(all)
	var ids []lathe.AskID
	for _, f := range group {
		ids = append(ids, lathe.AskOf(f))
	}
	if slices.Equal(p.current, ids) {
		return
	}
	p.current, p.subject, p.answered = ids, "Question", false
	if f, ok := group[0].(*lathe.PermissionAsked); ok {
		p.subject = termtext.Clip(termtext.OneLine(f.Permission+" "+f.Summary()), 100)
	}
	from := ""
	if s, ok := p.state.Session(lathe.SessionOf(group[0])); ok && s.ID != p.state.Current {
		from = cmp.Or(s.Agent, s.Title)
	}
	p.face.ask(group, from)
}

// approve answers every permission request of the session once.
func (p *program) approve() {
	if p.approved == nil {
		p.approved = map[lathe.AskID]bool{}
	}
	for _, f := range p.state.AllAsks() {
		r, ok := f.(*lathe.PermissionAsked)
		if !ok || p.approved[r.ID] {
			continue
		}
		p.approved[r.ID] = true
		p.call("approve a permission request", func(ctx context.Context, e Engine) (func(), error) { return nil, e.Reply(ctx, r.ID, lathe.Once, "") })
	}
}

// answer sends the answer to the open requests.
func (p *program) answer(out ask.Result) {
	ids := p.current
	switch out := out.(type) {
	case ask.Reply:
		p.face.note("Permission for " + p.subject + ": " + replyWord(out))
		if out.Reply == lathe.Reject { // the engine rejects the others of the session with it
			ids = ids[:1]
		}
		p.settle(ids, func(ctx context.Context, e Engine, _ int, id lathe.AskID) error {
			return e.Reply(ctx, id, out.Reply, out.Message)
		})
	case ask.Grant:
		word := "allowed for this session"
		if out.Scope == grant.Project {
			word = "allowed always"
		}
		p.face.note("Permission for " + p.subject + ": " + word)
		p.settle(ids, func(ctx context.Context, e Engine, i int, id lathe.AskID) error {
			if out.Patterns[i] == nil {
				return e.Reply(ctx, id, lathe.Once, "")
			}
			return e.Grant(ctx, id, out.Scope, out.Patterns[i])
		})
	case ask.Answer:
		p.settle(ids[:1], func(ctx context.Context, e Engine, _ int, id lathe.AskID) error {
			return e.Answer(ctx, id, out.Answers)
		})
	case ask.Dismiss:
		p.settle(ids[:1], func(ctx context.Context, e Engine, _ int, id lathe.AskID) error { return e.Dismiss(ctx, id) })
	default: // the request is still open
	}
}

// settle answers requests one after the other. Until the engine has recorded it, keys answer nothing more.
func (p *program) settle(ids []lathe.AskID, do func(ctx context.Context, e Engine, i int, id lathe.AskID) error) {
	p.answered = true
	p.call("answer", func(ctx context.Context, e Engine) (func(), error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute) // a server may not answer
		defer cancel()
		for i, id := range ids {
			if err := do(ctx, e, i, id); err != nil {
				return func() { p.answered = false }, err
			}
		}
		return nil, nil
	})
}

// replyWord says how a request was answered.
func replyWord(r ask.Reply) string {
	switch {
	case r.Reply == lathe.Once:
		return "allowed once"
	case r.Message != "":
		return "rejected: " + r.Message
	default:
		return "rejected"
	}
}
