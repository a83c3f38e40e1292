package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// board lists the sessions of all projects by state. It is read again every second: sessions of other projects and
// processes send no events here.
func (sd *sessionDialogs) board() tea.Cmd {
	var found []lathe.BoardEntry
	list := dialog.NewBoard(sd.keys, func(id string) string { return dialog.BoardPreview(found, id, sd.state.Info.Home) })
	list.SetLoading(true)
	o := &overlay{box: list, keepOpen: true}
	load := func() tea.Cmd {
		return sd.call("read the board", func(ctx context.Context, e Engine) (then, error) {
			all, err := e.Board(ctx, lathe.BoardQuery{})
			return onSuccess(err, func() tea.Cmd {
				found = all
				list.SetLoading(false)
				list.SetItems(dialog.BoardItems(found, sd.state.Current, sd.now()))
				return nil
			})
		})
	}
	o.isAnimated = func() bool {
		return slices.ContainsFunc(found, func(e lathe.BoardEntry) bool { return e.State == lathe.BoardRunning })
	}
	o.onResult = onChosen(func(c dialog.Chosen) tea.Cmd { return sd.chooseOnBoard(c, load) })
	return tea.Batch(sd.overlays.show(o), load(), sd.repeat(o, load))
}

// chooseOnBoard runs the action of a key on a session of the board.
func (sd *sessionDialogs) chooseOnBoard(c dialog.Chosen, load func() tea.Cmd) tea.Cmd {
	id := lathe.SessionID(c.ID)
	switch c.Key {
	case key.SessionPeek:
		return sd.peek(id)
	case key.SessionAnswer:
		return sd.answerOnBoard(id)
	case key.SessionDelete:
		return sd.call("stop the session", func(ctx context.Context, e Engine) (then, error) {
			return onSuccess(e.Cancel(ctx, id), func() tea.Cmd { return tea.Batch(sd.notify(toast.Info, "Stopped"), load()) })
		})
	case key.SessionArchive:
		return sd.call("archive the session", func(ctx context.Context, e Engine) (then, error) {
			at := lathe.TimeOf(sd.now())
			_, err := e.Archive(ctx, id, &at)
			return onSuccess(err, func() tea.Cmd {
				return tea.Batch(sd.sessions.leave(id), load(), sd.notify(toast.Info, "Archived: lathe session list --archived lists it"))
			})
		})
	default:
		return sd.openFromBoard(id)
	}
}

// openFromBoard opens a session, which may be of another project.
func (sd *sessionDialogs) openFromBoard(id lathe.SessionID) tea.Cmd {
	sd.overlays.current = nil
	return sd.sessions.open(id)
}

// peek shows the end of a session, and returns to the board.
func (sd *sessionDialogs) peek(id lathe.SessionID) tea.Cmd {
	const messages = 20
	return sd.call("read the session", func(ctx context.Context, e Engine) (then, error) {
		rec, err := e.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		page, err := e.Messages(ctx, id, lathe.Position{}, messages)
		return onSuccess(err, func() tea.Cmd {
			box := dialog.NewTail(sd.keys, rec.Title, func(th *style.Theme) (lines []style.Line) {
				for _, line := range dialog.Peek(page.Messages) {
					lines = append(lines, style.Of(line, style.Fg(th.Text)))
				}
				return lines
			})
			return sd.overlays.show(&overlay{box: box, onClose: sd.board})
		})
	})
}

// answerOnBoard answers the oldest request of a session or its subagents, and returns to the board.
func (sd *sessionDialogs) answerOnBoard(root lathe.SessionID) tea.Cmd {
	return sd.call("read the requests", func(ctx context.Context, e Engine) (then, error) {
		all, err := asksBelow(ctx, e, root)
		return onSuccess(err, func() tea.Cmd {
			if len(all) == 0 {
				return sd.notify(toast.Info, "This session asks nothing")
			}
			group := grant.Group(all)
			o := &overlay{box: dialog.NewAnswer(sd.keys, group, len(all)-len(group)), onClose: sd.board}
			o.onResult = onChosen(func(c dialog.Chosen) tea.Cmd {
				if c.ID == dialog.AnswerOpen {
					return sd.openFromBoard(root)
				}
				return sd.call("answer", func(ctx context.Context, e Engine) (then, error) {
					return onSuccess(sendAnswer(ctx, e, askIDs(group), c.ID), func() tea.Cmd {
						return tea.Batch(sd.notify(toast.Info, "Answered"), sd.board())
					})
				})
			})
			return sd.overlays.show(o)
		})
	})
}

// sendAnswer sends the choice of a dialog.NewAnswer. The engine rejects the others of a group with the first.
func sendAnswer(ctx context.Context, e Engine, ids []lathe.AskID, choice string) error {
	if label, ok := dialog.Option(choice); ok {
		return e.Answer(ctx, ids[0], [][]string{{label}})
	}
	if choice != dialog.AnswerOnce {
		return e.Reply(ctx, ids[0], lathe.Reject, "")
	}
	return forEach(ids, func(ctx context.Context, e Engine, _ int, id lathe.AskID) error {
		return e.Reply(ctx, id, lathe.Once, "")
	})(ctx, e)
}

// asksBelow are the open requests of a session and its subagents, oldest first.
func asksBelow(ctx context.Context, e Engine, root lathe.SessionID) (out []lathe.Fact, err error) {
	const deepest = 32 // parents in a circle end somewhere
	all, err := e.Asks(ctx, lathe.Scope{})
	for _, f := range all {
		id := lathe.SessionID("")
		switch f := f.(type) {
		case *lathe.PermissionAsked:
			id = f.Session
		case *lathe.QuestionAsked:
			id = f.Session
		default:
		}
		for range deepest {
			if id == root {
				out = append(out, f)
			}
			if id == root || id == "" {
				break
			}
			s, err := e.Get(ctx, id)
			if err != nil {
				break // it was removed meanwhile
			}
			id = s.Parent
		}
	}
	return out, err
}
