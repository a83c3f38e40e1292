// Package permit controls what runs without asking: the permission mode, saved permissions, and the grant that accepts
// edits in a session. It has the dialog of /permissions and the key that cycles through modes.
//
// Start at Controller.
package permit

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// Engine are the operations that change permissions.
type Engine interface {
	SetMode(ctx context.Context, dir string, m lathe.Mode) (lathe.Mode, error)
	ListGrants(ctx context.Context, dir string, session lathe.SessionID) ([]grant.Grant, error)
	AddGrant(ctx context.Context, dir string, g grant.Grant) error
	RevokeGrant(ctx context.Context, dir string, g grant.Grant) error
}

// Box is a dialog.
type Box interface {
	Key(k tea.KeyPressMsg) dialog.Result
	Paste(text string) dialog.Result
	Click(x, y int) dialog.Result
	Wheel(dy int) dialog.Result
	View(th *style.Theme, width, height int) []style.Line
	Cursor() (x, y int, ok bool)
}

// Controller changes permissions. Its functions reach the screen.
type Controller struct {
	Keys  *key.Map
	State *state.State
	Dir   func() string // of calls to the engine
	Agent func() string // the selected agent
	// Call runs work in the background and then next, which may be nil.
	Call func(what string, work func(ctx context.Context, e Engine) (next func() tea.Cmd, err error)) tea.Cmd
	// Show opens a dialog. onClose, if any, is called when it closes without a choice.
	Show     func(b Box, onResult func(dialog.Result) tea.Cmd, onClose func() tea.Cmd) tea.Cmd
	Notify   func(n toast.Note) tea.Cmd
	LoadInfo func() tea.Cmd // reads the mode again
	ErrText  func(err error) string
}

// acceptEdits is the grant that lets a session change every file of the project.
func acceptEdits(root lathe.SessionID) grant.Grant {
	return grant.Grant{Permission: "edit", Pattern: "*", Session: root}
}

// root is the root session of the screen, "" on the home screen.
func (c *Controller) root() lathe.SessionID {
	if c.State.Current == "" {
		return ""
	}
	return c.State.Root(c.State.Current).ID
}

// Load reads the saved permissions of the project and the session, for the status line.
func (c *Controller) Load() tea.Cmd {
	return c.withGrants(func([]grant.Grant) tea.Cmd { return nil })
}

func (c *Controller) withGrants(do func(all []grant.Grant) tea.Cmd) tea.Cmd {
	root := c.root()
	return c.Call("load the permissions", func(ctx context.Context, e Engine) (func() tea.Cmd, error) {
		all, err := e.ListGrants(ctx, c.Dir(), root)
		if err != nil {
			return nil, err
		}
		if root == "" { // those of all sessions
			all = slices.DeleteFunc(all, func(g grant.Grant) bool { return g.Session != "" })
		}
		return func() tea.Cmd {
			c.noteEdits(root, root != "" && slices.Contains(all, acceptEdits(root)))
			return do(all)
		}, nil
	})
}

// noteEdits notes whether a session accepts edits, for the status line.
func (c *Controller) noteEdits(root lathe.SessionID, on bool) {
	switch {
	case on:
		c.State.AcceptsEdits = root
	case c.State.AcceptsEdits == root:
		c.State.AcceptsEdits = ""
	}
}

// Dialog lists, adds and revokes permissions, and changes the mode.
func (c *Controller) Dialog() tea.Cmd {
	return c.withGrants(func(all []grant.Grant) tea.Cmd {
		list := ask.NewRules(c.Keys, c.rules(all))
		return c.Show(list, func(out dialog.Result) tea.Cmd { return c.choose(list, out) }, nil)
	})
}

// choose handles a choice in the list of rules.
func (c *Controller) choose(list *dialog.List, out dialog.Result) tea.Cmd {
	chosen, _ := out.(dialog.Chosen)
	open := func() tea.Cmd {
		return c.Show(list, func(out dialog.Result) tea.Cmd { return c.choose(list, out) }, nil)
	}
	g, saved := ask.ChosenGrant(chosen.ID)
	switch mode := ask.ChosenMode(chosen.ID); {
	case chosen.Key == key.SessionDelete && saved:
		return tea.Batch(open(), c.revoke(list, g))
	case chosen.Key != "":
	case mode != "":
		return c.SetMode(mode)
	case chosen.ID == ask.AddForSession:
		return c.add(c.root())
	case chosen.ID == ask.AddForProject:
		return c.add("")
	}
	return open() // a rule, which does nothing
}

// rules are the contents of the dialog.
func (c *Controller) rules(all []grant.Grant) ask.Rules {
	r := ask.Rules{Session: c.root(), Grants: all, Agent: c.Agent(), Modes: dialog.ModeItems(c.State.Info.Mode, c.State.Info.Confined)}
	if a := c.State.Agent(r.Agent); a != nil {
		r.Config = a.Rules
	}
	return r
}

// revoke deletes a saved permission and updates the dialog.
func (c *Controller) revoke(list *dialog.List, g grant.Grant) tea.Cmd {
	return c.Call("revoke the permission", func(ctx context.Context, e Engine) (func() tea.Cmd, error) {
		if err := e.RevokeGrant(ctx, c.Dir(), g); err != nil {
			return nil, err
		}
		return func() tea.Cmd {
			return c.withGrants(func(all []grant.Grant) tea.Cmd { list.SetItems(ask.RuleItems(c.rules(all))); return nil })
		}, nil
	})
}

// add asks for a permission and a pattern, and shows what they cover before they are saved.
func (c *Controller) add(session lathe.SessionID) tea.Cmd {
	scope := "in this project, from now on"
	if session != "" {
		scope = "in this session and its subagents"
	}
	box := dialog.NewInput(c.Keys, dialog.InputOptions{
		Title: "Allow without asking", Description: "A permission and a pattern, to allow " + scope + ". * is any text.", Placeholder: "bash git push *",
		Required: true, SubmitLabel: "next",
	})
	return c.Show(box, func(out dialog.Result) tea.Cmd {
		text, _ := out.(dialog.Entered)
		g, err := ask.ParseRule(text.Text)
		if g.Session = session; err != nil {
			return tea.Batch(c.Notify(toast.Note{Variant: toast.Error, Text: c.ErrText(err)}), c.add(session))
		}
		return c.confirm(g, scope)
	}, c.Dialog)
}

// confirm shows what a new rule covers, and saves it.
func (c *Controller) confirm(g grant.Grant, scope string) tea.Cmd {
	sure := dialog.NewConfirm(c.Keys, dialog.ConfirmOptions{
		Title: "Allow without asking?", Text: g.Permission + " " + g.Pattern + "\n\nCovers " + grant.Describe(g.Permission, g.Pattern) + ", " + scope + ".",
		Yes: "Save", No: "Cancel", Danger: true,
	})
	return c.Show(sure, func(out dialog.Result) tea.Cmd {
		if out != (dialog.Chosen{ID: dialog.Yes}) {
			return c.Dialog()
		}
		return c.Call("save the permission", func(ctx context.Context, e Engine) (func() tea.Cmd, error) {
			return c.Dialog, e.AddGrant(ctx, c.Dir(), g)
		})
	}, c.Dialog)
}

// Cycle goes to the next permission mode: ask, ask but accept edits in this session, sandbox, read only. Each step says
// what it allows.
func (c *Controller) Cycle() tea.Cmd {
	if !c.State.InfoLoaded { // not known yet
		return nil
	}
	root := c.root()
	accepts := root != "" && c.State.AcceptsEdits == root
	switch {
	case accepts:
		c.noteEdits(root, false)
		return c.change(func(ctx context.Context, e Engine) error { return e.RevokeGrant(ctx, c.Dir(), acceptEdits(root)) }, c.nextMode)
	case c.State.Info.Mode == lathe.AskMode && root != "":
		return c.AcceptEdits()
	}
	return c.nextMode()
}

// AcceptEdits accepts all edits in the project for the session of the screen.
func (c *Controller) AcceptEdits() tea.Cmd {
	root := c.root()
	c.noteEdits(root, true) // a second press continues from here
	return c.change(func(ctx context.Context, e Engine) error { return e.AddGrant(ctx, c.Dir(), acceptEdits(root)) }, func() tea.Cmd {
		return c.notifyMode("Edits in the project are accepted in this session; commands still need your approval")
	})
}

// change changes saved permissions, and reads them again if that fails.
func (c *Controller) change(do func(ctx context.Context, e Engine) error, next func() tea.Cmd) tea.Cmd {
	return c.Call("change the permissions of the session", func(ctx context.Context, e Engine) (func() tea.Cmd, error) {
		if err := do(ctx, e); err != nil {
			return c.Load, err
		}
		return next, nil
	})
}

// notifyMode says what the mode allows now, in place of what it allowed before.
func (c *Controller) notifyMode(text string) tea.Cmd {
	return c.Notify(toast.Note{Text: text, Topic: "mode"})
}

func (c *Controller) nextMode() tea.Cmd {
	all := []lathe.Mode{lathe.AskMode, lathe.SandboxMode, lathe.ReadOnlyMode}
	return c.SetMode(all[(slices.Index(all, c.State.Info.Mode)+1)%len(all)])
}

// SetMode changes the permission mode. It applies from the next tool call.
func (c *Controller) SetMode(m lathe.Mode) tea.Cmd {
	c.State.Info.Mode = m // a second press continues from here
	return c.Call("change the permission mode", func(ctx context.Context, e Engine) (func() tea.Cmd, error) {
		is, err := e.SetMode(ctx, c.Dir(), m)
		if err != nil {
			return c.LoadInfo, err
		}
		return func() tea.Cmd {
			if is == m {
				return c.notifyMode("Permission mode: " + dialog.ModeTitle(m))
			}
			c.State.Info.Mode = is
			return c.Notify(toast.Note{Variant: toast.Warning, Text: "The project or LATHE_CONFIG_CONTENT sets the permission mode here: it stays " + dialog.ModeTitle(is)})
		}, nil
	})
}
