package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/toast"
)

// sessions opens, loads and switches sessions.
type sessions struct {
	*services
	asks         *asks
	catalog      *catalog
	choice       *choice
	conversation *conversation
	drafts       *drafts
	menu         *menu
	prompt       *prompt
	turns        *turns

	pins     []lathe.SessionID
	followed map[lathe.PartID]bool // calls of subagents whose sessions were looked up
}

// pageSize is how many messages are loaded at a time.
const pageSize = 100

// targetPage is how many messages are loaded at a time on the way to a place far back.
const targetPage = 2000

// openFirst opens the session of the command line.
func (ss *sessions) openFirst() tea.Cmd {
	s := ss.o.Start
	ss.state.Opening = s.Session != "" || s.Continue
	ss.drafts.carryOver = ss.state.Opening
	switch {
	case s.Session != "" && s.Fork:
		return ss.fork(s.Session, "")
	case s.Session != "":
		return ss.open(s.Session)
	case s.Continue:
		return ss.call("find the last session", func(ctx context.Context, e Engine) (then, error) {
			all, err := ss.listSessions(ctx, e, lathe.Query{Limit: 20}, false)
			i := slices.IndexFunc(all, func(s lathe.Session) bool { return s.Parent == "" })
			if err != nil || i < 0 {
				return func() tea.Cmd {
					ss.state.Opening, ss.drafts.carryOver = false, false
					if err != nil {
						return ss.prompt.sendFirst()
					}
					return tea.Batch(ss.notify(toast.Info, "No session to continue here: this is a new one"), ss.prompt.sendFirst())
				}, err
			}
			return func() tea.Cmd {
				if ss.o.Start.Fork {
					return ss.fork(all[i].ID, "")
				}
				return ss.open(all[i].ID)
			}, nil
		})
	default:
		return nil
	}
}

// open shows a session, and loads it if needed.
func (ss *sessions) open(id lathe.SessionID) tea.Cmd {
	if id != ss.state.Current {
		d := ss.drafts.edit.Draft()
		ss.switchScreen(id)
		if ss.drafts.carryOver && ss.drafts.edit.IsEmpty() {
			ss.drafts.edit.Restore(d)
			delete(ss.drafts.saved, "")
		}
		ss.turns.escapedAt = ss.turns.escapedAt.AddDate(-1, 0, 0)
	}
	ss.drafts.carryOver = false
	if o := ss.state.Track(id); o.Transcript != nil && !o.Transcript.Stale() {
		return tea.Batch(ss.afterOpen(), ss.animate())
	}
	return ss.load(id)
}

// switchScreen shows another session with its draft, "" for the home screen.
func (ss *sessions) switchScreen(id lathe.SessionID) {
	ss.drafts.storeCurrent()
	if ss.state.Current = id; id == "" {
		ss.asks.current = nil
	}
	ss.menu.setCommands(nil) // some are available only in a session
	ss.drafts.edit.Restore(ss.drafts.saved[id])
}

// load reads the newest page of a session, its todos, diff and subagents.
func (ss *sessions) load(id lathe.SessionID) tea.Cmd {
	o := ss.state.Track(id)
	if o.Loading {
		return nil
	}
	o.Loading = true
	return ss.call("open the session", func(ctx context.Context, e Engine) (then, error) {
		s, err := e.Get(ctx, id)
		if err != nil {
			return func() tea.Cmd { return tea.Batch(ss.leave(id), ss.openFailed()) }, err
		}
		ss.scope.add(s.Directory)
		page, err := e.Messages(ctx, id, lathe.Position{}, pageSize)
		if err != nil {
			return func() tea.Cmd { o.Loading = false; return ss.openFailed() }, err
		}
		todos, err1 := e.Todos(ctx, id)
		diff, err2 := e.Diff(ctx, id, "")
		children, err3 := e.Children(ctx, id)
		for _, c := range children { // one in a worktree has a directory of its own
			ss.scope.add(c.Directory)
		}
		if err := cmp.Or(err1, err2, err3); err != nil {
			ss.log("load details of session %s: %v", id, err) // the messages are loaded
		}
		return func() tea.Cmd {
			ss.state.SetTranscript(s, page, todos, diff)
			ss.state.AddSessions(children...)
			return tea.Batch(ss.afterOpen(), ss.animate())
		}, nil
	})
}

// afterOpen updates the rest of the screen for a session that was opened.
func (ss *sessions) afterOpen() tea.Cmd {
	o := ss.state.Shown()
	if o == nil {
		return nil
	}
	ss.state.Opening = false
	ss.choice.follow(o.Transcript)
	return tea.Batch(ss.asks.refresh(), ss.prompt.sendFirst(), ss.checkInterrupted(), ss.conversation.toTarget())
}

// openFailed continues when the session of the command line cannot be opened. Its prompt was not meant for another
// session: it stays in the editor.
func (ss *sessions) openFailed() tea.Cmd {
	if !ss.state.Opening {
		return nil
	}
	ss.state.Opening, ss.drafts.carryOver, ss.drafts.pending = false, false, nil
	if ss.drafts.edit.IsEmpty() && ss.o.Start.Prompt != "" {
		ss.drafts.edit.Insert(ss.o.Start.Prompt)
	}
	ss.o.Start.Prompt = ""
	return nil
}

// leave goes back to the home screen if this session is on the screen.
func (ss *sessions) leave(id lathe.SessionID) tea.Cmd {
	if ss.state.Current != id {
		return nil
	}
	ss.switchScreen("")
	delete(ss.conversation.chats, id)
	return nil
}

// fork makes a copy of a session, up to a message if one is given, and shows it.
func (ss *sessions) fork(id lathe.SessionID, before lathe.MessageID) tea.Cmd {
	var again editor.Draft // the message after the copy, to be rephrased
	if o := ss.state.Shown(); o != nil && before != "" {
		if i := o.Transcript.Find(before); i >= 0 {
			again = ss.drafts.draftOf(o.Transcript.View(i))
		}
	}
	return ss.call("fork the session", func(ctx context.Context, e Engine) (then, error) {
		s, err := e.Fork(ctx, "", id, before)
		if err != nil {
			return ss.openFailed, err
		}
		return func() tea.Cmd {
			ss.state.AddSessions(s)
			cmd := ss.open(s.ID)
			if ss.drafts.edit.IsEmpty() {
				ss.drafts.edit.Restore(again)
			}
			return tea.Batch(cmd, ss.notify(toast.Success, "Forked: this is the copy, the original is unchanged"))
		}, nil
	})
}

// forkStep makes a copy of a session up to the end of a step, and shows it.
func (ss *sessions) forkStep(id lathe.SessionID, step int) tea.Cmd {
	return ss.call("fork the session", func(ctx context.Context, e Engine) (then, error) {
		s, err := e.ForkStep(ctx, "", id, step)
		if err != nil {
			return ss.openFailed, err
		}
		return func() tea.Cmd {
			ss.state.AddSessions(s)
			return tea.Batch(ss.open(s.ID), ss.notify(toast.Success, "Forked: this is the copy, the original is unchanged"))
		}, nil
	})
}

// identify loads an unknown session that has a request.
func (ss *sessions) identify(id lathe.SessionID) tea.Cmd {
	return ss.call("load the session that asks", func(ctx context.Context, e Engine) (then, error) {
		s, err := e.Get(ctx, id)
		ss.scope.add(s.Directory)
		return onSuccess(err, func() tea.Cmd {
			ss.state.AddSessions(s)
			return tea.Batch(ss.asks.refresh(), ss.asks.notifyElsewhere(id))
		})
	})
}

// followTask includes the events of a subagent that works in a directory of its own: its requests need an answer here.
func (ss *sessions) followTask(p lathe.Part) tea.Cmd {
	c, ok := p.Body.(*lathe.ToolCall)
	if !ok || c.Tool != "task" || ss.followed[p.ID] {
		return nil
	}
	run, ok := c.State.(*lathe.Running)
	var meta struct {
		Session lathe.SessionID `json:"sessionId"`
	}
	if !ok || json.Unmarshal(run.Metadata, &meta) != nil || meta.Session == "" {
		return nil
	}
	if ss.followed == nil {
		ss.followed = map[lathe.PartID]bool{}
	}
	ss.followed[p.ID] = true
	if _, known := ss.state.Session(meta.Session); known {
		return nil // its events arrive
	}
	return ss.call("load the subagent", func(ctx context.Context, e Engine) (then, error) {
		s, err := e.Get(ctx, meta.Session)
		if err != nil {
			return nil, nil // it has ended and is gone
		}
		ss.scope.add(s.Directory)
		asks, err := e.Asks(ctx, lathe.Scope{Directory: s.Directory}) // those before the events
		return onSuccess(err, func() tea.Cmd {
			ss.state.AddSessions(s)
			ss.state.AddAsks(asks)
			return ss.asks.refresh()
		})
	})
}

// reload loads sessions again after missed events.
func (ss *sessions) reload(id lathe.SessionID) tea.Cmd {
	if id != "" && id != ss.state.Current {
		ss.state.Forget(id) // loaded again when it is opened
		return nil
	}
	ss.state.KeepOnly(ss.state.Current)
	cmd := ss.catalog.loadActivity()
	if ss.state.Current == "" {
		return cmd
	}
	return tea.Batch(cmd, ss.load(ss.state.Current)) // the screen keeps the old messages until then
}

// togglePin pins or unpins a session.
func (ss *sessions) togglePin(id lathe.SessionID) tea.Cmd {
	on := !slices.Contains(ss.pins, id)
	if on {
		ss.pins = append(ss.pins, id)
	} else {
		ss.pins = slices.DeleteFunc(slices.Clone(ss.pins), func(o lathe.SessionID) bool { return o == id })
	}
	return ss.save("save the pin", func(ctx context.Context) error { return ss.memory.SavePinned(ctx, id, on) })
}

// unpin unpins a deleted session.
func (ss *sessions) unpin(id lathe.SessionID) tea.Cmd {
	if !slices.Contains(ss.pins, id) {
		return nil
	}
	return ss.togglePin(id)
}

// quickSwitch opens a pinned session by its slot.
func (ss *sessions) quickSwitch(i int) tea.Cmd {
	if i >= len(ss.pins) {
		return ss.notify(toast.Info, "No session pinned there: press "+ss.keys.Label(key.SessionPinToggle)+" in the session list to pin one")
	}
	return ss.open(ss.pins[i])
}

// checkInterrupted checks whether the turn of the session on the screen was interrupted: by a crash,
// or by exiting.
func (ss *sessions) checkInterrupted() tea.Cmd {
	id := ss.state.Current
	if id == "" || ss.state.IsChild() || ss.state.Busy(id) {
		return nil
	}
	return ss.call("check for interrupted turns", func(ctx context.Context, e Engine) (then, error) {
		all, err := e.Interrupted(ctx)
		if err != nil {
			return nil, nil // such a server cannot resume, either
		}
		return func() tea.Cmd {
			ss.state.SetInterrupted(all)
			return nil
		}, nil
	})
}

// startNew shows the home screen; the session is created with its first prompt.
func (ss *sessions) startNew() tea.Cmd {
	ss.switchScreen("")
	return ss.asks.refresh()
}

func (ss *sessions) openParent() tea.Cmd {
	if s, ok := ss.state.Session(ss.state.Current); ok && s.Parent != "" {
		return ss.open(s.Parent)
	}
	return nil
}

// openSibling opens the next subagent of the same parent.
func (ss *sessions) openSibling(step int) tea.Cmd {
	s, _ := ss.state.Session(ss.state.Current)
	all := ss.state.Children(s.Parent)
	if i := slices.IndexFunc(all, func(c lathe.Session) bool { return c.ID == ss.state.Current }); i >= 0 {
		return ss.open(all[(i+step+len(all))%len(all)].ID)
	}
	return nil
}
