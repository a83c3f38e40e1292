package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/toast"
)

// sessionDialogs are the dialogs about sessions and their messages.
type sessionDialogs struct {
	*services
	conversation *conversation
	export       *exporter
	look         *look
	overlays     *overlays
	sessions     *sessions
	turns        *turns
}

// list lists sessions; the filter searches all sessions of the engine.
func (sd *sessionDialogs) list() tea.Cmd {
	var found []lathe.Session
	first := map[lathe.SessionID]string{}
	shown := func() dialog.Sessions {
		return dialog.Sessions{
			List: found, Current: sd.state.Current, Directory: sd.state.Info.Directory, Pinned: sd.sessions.pins, First: first, Home: sd.state.Info.Home,
			Running: sd.state.Statuses(), Waiting: sd.state.Waiting(), Cut: sd.state.Interrupted, Now: sd.now(),
		}
	}
	list := dialog.NewSessions(sd.keys, shown(), func(id string) string { return shown().Preview(id) })
	list.SetLoading(true)
	o := &overlay{box: list, keepOpen: true, refill: func() { list.SetItems(shown().Items(sd.keys)) }}
	o.isAnimated = func() bool { return len(sd.state.Statuses()) > 0 }
	search := func(text string) tea.Cmd {
		return sd.call("list the sessions", func(ctx context.Context, e Engine) (then, error) {
			all, err := sd.listSessions(ctx, e, lathe.Query{Search: text, Limit: 200}, !sd.look.prefs.SessionDirectoryFilter)
			cut, failed := e.Interrupted(ctx)
			return onSuccess(err, func() tea.Cmd {
				if failed == nil { // an OpenCode server knows none
					sd.state.SetInterrupted(cut)
				}
				if sd.overlays.current != o || list.Text() != text {
					return nil
				}
				found = all
				list.SetLoading(false)
				o.refill()
				id, _ := list.Selected()
				return sd.readFirst(found, lathe.SessionID(id), first)
			})
		})
	}
	o.onResult = func(out dialog.Result) tea.Cmd {
		switch out := out.(type) {
		case dialog.Query:
			if text, ok := strings.CutPrefix(out.Text, "/"); ok { // all text, not only titles
				return sd.search(text)
			}
			return search(out.Text)
		case dialog.Moved:
			return sd.readFirst(found, lathe.SessionID(out.ID), first)
		case dialog.Chosen:
			return sd.choose(out, found, search, list.Text())
		default:
			return nil
		}
	}
	return tea.Batch(sd.overlays.show(o), search(""))
}

// readFirst reads the first words of a session, once. A session is created with its first prompt, so the messages of
// its first seconds are enough; reading a long one from its end would be slow.
func (sd *sessionDialogs) readFirst(all []lathe.Session, id lathe.SessionID, known map[lathe.SessionID]string) tea.Cmd {
	i := slices.IndexFunc(all, func(s lathe.Session) bool { return s.ID == id })
	if _, done := known[id]; i < 0 || done {
		return nil
	}
	known[id] = ""
	begin := lathe.Position{Time: all[i].Created + 5000, ID: "~"}
	return sd.call("read the first prompt", func(ctx context.Context, e Engine) (then, error) {
		page, err := e.Messages(ctx, id, begin, 4)
		if err != nil {
			return nil, nil // only a preview
		}
		return func() tea.Cmd { known[id] = dialog.FirstWords(page.Messages); return nil }, nil
	})
}

// choose runs the action of a key on a session.
func (sd *sessionDialogs) choose(c dialog.Chosen, all []lathe.Session, again func(string) tea.Cmd, query string) tea.Cmd {
	id := lathe.SessionID(c.ID)
	switch c.Key {
	case key.SessionDelete:
		return sd.call("delete the session", func(ctx context.Context, e Engine) (then, error) {
			return onSuccess(e.Remove(ctx, id), func() tea.Cmd { return tea.Batch(sd.sessions.leave(id), again(query)) })
		})
	case key.SessionArchive:
		return sd.call("archive the session", func(ctx context.Context, e Engine) (then, error) {
			at := lathe.TimeOf(sd.now())
			_, err := e.Archive(ctx, id, &at)
			return onSuccess(err, func() tea.Cmd {
				return tea.Batch(sd.sessions.leave(id), again(query), sd.notify(toast.Info, "Archived: lathe session list --archived lists it"))
			})
		})
	case key.SessionRename:
		title := ""
		if i := slices.IndexFunc(all, func(s lathe.Session) bool { return s.ID == id }); i >= 0 {
			title = all[i].Title
		}
		return sd.rename(id, title, sd.list)
	case key.SessionPinToggle:
		return tea.Batch(sd.sessions.togglePin(id), sd.overlays.refresh())
	default:
		sd.overlays.current = nil
		sd.state.AddSessions(all...)
		return sd.sessions.open(id)
	}
}

func (sd *sessionDialogs) renameDialog() tea.Cmd {
	s, _ := sd.state.Session(sd.state.Current)
	return sd.rename(s.ID, s.Title, nil)
}

// rename asks for a new title, and then returns to the previous dialog.
func (sd *sessionDialogs) rename(id lathe.SessionID, title string, back func() tea.Cmd) tea.Cmd {
	return sd.overlays.show(&overlay{box: dialog.NewRename(sd.keys, title), onClose: back, onResult: onEntered(func(text string) tea.Cmd {
		return sd.call("rename the session", func(ctx context.Context, e Engine) (then, error) {
			s, err := e.Rename(ctx, id, text)
			return onSuccess(err, func() tea.Cmd {
				if sd.state.AddSessions(s); back != nil {
					return back()
				}
				return nil
			})
		})
	})})
}

// timeline jumps to a prompt and shows its actions.
func (sd *sessionDialogs) timeline() tea.Cmd {
	box := dialog.NewTimeline(sd.keys, sd.state.Prompts(), sd.now())
	fill := func() { box.SetItems(dialog.TimelineItems(sd.state.Prompts(), sd.now())) }
	return tea.Batch(sd.overlays.show(&overlay{box: box, onOlderLoaded: fill, onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
		sd.conversation.chat().To(lathe.MessageID(c.ID))
		return sd.message(lathe.MessageID(c.ID))
	})}), sd.conversation.loadOlder())
}

// message shows the actions for a prompt.
func (sd *sessionDialogs) message(id lathe.MessageID) tea.Cmd {
	return sd.overlays.show(&overlay{box: dialog.NewMessageActions(sd.keys), onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
		switch c.ID {
		case dialog.RevertMessage:
			return sd.turns.undoTo(id)
		case dialog.ForkMessage:
			return sd.sessions.fork(sd.state.Current, id)
		default:
			return sd.export.copyMessage(id)
		}
	})})
}

// editEarlier picks a prompt to send again in other words: here, where it and its effects are undone, or in a copy of the
// session. Nothing changes before both choices are made.
func (sd *sessionDialogs) editEarlier() tea.Cmd {
	box := dialog.NewEditEarlier(sd.keys, sd.state.Prompts(), sd.now())
	fill := func() { box.SetItems(dialog.TimelineItems(sd.state.Prompts(), sd.now())) }
	return tea.Batch(sd.overlays.show(&overlay{box: box, onOlderLoaded: fill, onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
		id := lathe.MessageID(c.ID)
		return sd.overlays.show(&overlay{box: dialog.NewEditActions(sd.keys), onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
			if c.ID == dialog.ForkMessage {
				return sd.sessions.fork(sd.state.Current, id)
			}
			return sd.turns.undoTo(id)
		})})
	})}), sd.conversation.loadOlder())
}

func (sd *sessionDialogs) fork() tea.Cmd {
	box := dialog.NewFork(sd.keys, sd.state.Prompts(), sd.now())
	fill := func() { box.SetItems(dialog.ForkItems(sd.state.Prompts(), sd.now())) }
	return tea.Batch(sd.overlays.show(&overlay{box: box, onOlderLoaded: fill, onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
		if c.ID == dialog.WholeSession {
			return sd.sessions.fork(sd.state.Current, "")
		}
		return sd.sessions.fork(sd.state.Current, lathe.MessageID(c.ID))
	})}), sd.conversation.loadOlder())
}

// queued shows the queued prompts.
func (sd *sessionDialogs) queued() tea.Cmd {
	return sd.overlays.show(&overlay{box: dialog.NewQueued(sd.keys, sd.state.Queued(), sd.now()), onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
		sd.conversation.chat().To(lathe.MessageID(c.ID))
		return nil
	})})
}

// firstChild opens the only subagent of this session, or lists several.
func (sd *sessionDialogs) firstChild() tea.Cmd {
	children := sd.state.Children(sd.state.Current)
	switch len(children) {
	case 0:
		return sd.notify(toast.Info, "This session has no subagents")
	case 1:
		return sd.sessions.open(children[0].ID)
	default:
		box := dialog.NewSubagents(sd.keys, dialog.Sessions{List: children, Current: sd.state.Current, Running: sd.state.Statuses(), Now: sd.now()})
		return sd.overlays.show(&overlay{box: box, onResult: onChosen(func(c dialog.Chosen) tea.Cmd { return sd.sessions.open(lathe.SessionID(c.ID)) })})
	}
}
