package tui

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/home"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/status"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
	"github.com/lathe-agent/lathe/tui/vim"
)

// prompt is the input area: it sends prompts, commands and shell lines.
type prompt struct {
	*services
	choice       *choice
	conversation *conversation
	drafts       *drafts
	look         *look
	menu         *menu
	overlays     *overlays
	setup        *setup

	ids      *lathe.IDs
	feed     *feed  // opens a new session by an event
	until    string // command that the next prompt is repeated for
	remember func(line string, d editor.Draft) tea.Cmd
}

// handle processes the result of the editor.
func (p *prompt) handle(out editor.Result) tea.Cmd {
	switch out := out.(type) {
	case editor.Submit:
		return p.submit(out, true)
	case editor.ServerCommand:
		return p.runCommand(out)
	case editor.Shell:
		return p.runShell(out)
	case editor.RunCommand:
		return p.menu.runSlash(out)
	case editor.UnknownCommand:
		return p.refuseCommand(out)
	case editor.Remember:
		return tea.Batch(p.drafts.addHistory(out.Draft), p.remember(out.Line, out.Draft))
	case editor.WantFiles:
		return p.findMentions(out.Query)
	case editor.WantDropped:
		return p.attachDropped(out)
	case editor.WantClipboard:
		return p.readClipboard()
	case editor.OpenEditor:
		return p.editOutside()
	case editor.SaveDiscarded:
		return p.drafts.saveAside(out.Draft, "Cleared: get it back from the history or /stash")
	case editor.Stash:
		return p.drafts.saveStash(out.Draft)
	case editor.Unstash:
		return p.drafts.unstash()
	case editor.CopyText:
		return p.copy(out.Text)
	case editor.Quit:
		return p.quit()
	default:
		return nil
	}
}

// refuseCommand says why a command is not sent. The name of a file of the root directory is a text.
func (p *prompt) refuseCommand(c editor.UnknownCommand) tea.Cmd {
	if _, err := os.Lstat("/" + c.Name); err == nil && !c.Known && !p.o.Remote {
		return p.handle(p.drafts.edit.SubmitText())
	}
	text := "Unknown command /" + c.Name + "."
	switch {
	case !p.state.IsReady() && !c.Known:
		return p.notify(toast.Info, "Still starting: try /"+c.Name+" again in a moment")
	case c.Known:
		text = "/" + c.Name + " takes no text after it."
	case c.Nearest != "":
		text += " Did you mean /" + c.Nearest + "?"
	}
	return p.notify(toast.Warning, text+"\nPut a space before it to send it as text.")
}

// submit sends a prompt, to a new session if none is on the screen. While a turn runs it steers that turn, or
// waits for its end.
func (p *prompt) submit(s editor.Submit, steer bool) tea.Cmd {
	if !p.state.IsReady() {
		p.drafts.edit.Restore(s.Draft)
		p.drafts.pending = &s
		return p.notify(toast.Info, "Still starting: your prompt is sent in a moment")
	}
	ref := p.choice.ref()
	if ref == nil {
		p.drafts.edit.Restore(s.Draft) // keep the text
		return tea.Batch(p.notify(toast.Warning, "No model yet: connect a provider first"), p.setup.showOptions())
	}
	prompt := lathe.Prompt{ID: p.ids.Message(), Agent: p.choice.agent, Model: ref, Variant: p.choice.variant(), Delivery: lathe.Queue, Parts: s.Parts}
	if steer {
		prompt.Delivery = lathe.Steer
	}
	p.state.NoteSent(prompt.ID, prompt.Delivery)
	if p.until != "" {
		return tea.Batch(p.drafts.addHistory(s.Draft), p.choice.recordUse(*ref), p.submitUntil(s.Draft, prompt))
	}
	return tea.Batch(p.drafts.addHistory(s.Draft), p.choice.recordUse(*ref), p.runIn("send the prompt", s.Draft, func(ctx context.Context, e Engine, id lathe.SessionID) error {
		_, err := e.Submit(ctx, id, prompt)
		return err
	}))
}

// runIn runs do in the session on the screen, or in a new one. If it fails, the draft is restored.
func (p *prompt) runIn(what string, d editor.Draft, do func(ctx context.Context, e Engine, id lathe.SessionID) error) tea.Cmd {
	id, agent := p.state.Current, p.choice.agent
	if id != "" {
		p.conversation.chat().ToEnd()
	}
	p.drafts.carryOver = id == ""
	return p.longCall(what, func(ctx context.Context, e Engine) (then, error) {
		if id == "" {
			s, err := e.Create(ctx, p.dir(), lathe.NewSession{Agent: agent})
			if err != nil {
				return p.drafts.restoreOnError(d), err
			}
			id = s.ID
			// Show the new session before its first event.
			p.feed.put(lathe.Event{Session: s.ID, Fact: &lathe.TUISessionSelect{Session: s.ID}}, nil)
		}
		if err := do(ctx, e, id); err != nil {
			return p.drafts.restoreOnError(d), err
		}
		return nil, nil
	})
}

func (p *prompt) runCommand(c editor.ServerCommand) tea.Cmd {
	call := lathe.CommandCall{Command: c.Name, Arguments: c.Arguments, Agent: p.choice.agent, Model: p.choice.ref(), Variant: p.choice.variant(), Parts: c.Parts}
	return tea.Batch(p.menu.countUse(c.Name), p.drafts.addHistory(c.Draft), p.runIn("run /"+c.Name, c.Draft, func(ctx context.Context, e Engine, id lathe.SessionID) error {
		_, err := e.SubmitCommand(ctx, id, call)
		return err
	}))
}

// runShell runs a shell command in the session. It waits for the end of a running turn.
func (p *prompt) runShell(s editor.Shell) tea.Cmd {
	if p.state.Current != "" && p.state.Busy(p.state.Current) {
		p.drafts.edit.Restore(s.Draft)
		return p.notify(toast.Warning, "Commands run after the turn ends; press "+p.keys.Label(key.SessionInterrupt)+" twice to interrupt it")
	}
	sh := lathe.ShellCommand{Command: s.Line, Agent: p.choice.agent, Model: p.choice.ref(), Local: true}
	return tea.Batch(p.drafts.addHistory(s.Draft), p.runIn("run the command", s.Draft, func(ctx context.Context, e Engine, id lathe.SessionID) error {
		_, err := e.Shell(ctx, id, sh)
		return err
	}))
}

// sendFirst sends the prompt of the command line, or one that was submitted too early, once a model is ready
// and the session is open.
func (p *prompt) sendFirst() tea.Cmd {
	if !p.state.IsReady() {
		return nil
	}
	if text := p.o.Start.Prompt; text != "" {
		p.o.Start.Prompt = ""
		return p.submit(plainPrompt(text), true) // a pending one follows when its session is shown
	}
	s := p.drafts.pending
	p.drafts.pending = nil
	if s == nil || !reflect.DeepEqual(p.drafts.edit.Draft(), s.Draft) { // the user has edited it since
		return nil
	}
	p.drafts.edit.Restore(editor.Draft{})
	return p.submit(*s, true)
}

func plainPrompt(text string) editor.Submit {
	return editor.Submit{Text: text, Parts: []lathe.Part{{Body: &lathe.Text{Text: text}}}, Draft: editor.Draft{Input: text}}
}

// queueNext sends a prompt for after the turn.
func (p *prompt) queueNext(text string) tea.Cmd {
	if strings.TrimSpace(text) == "" {
		return p.notify(toast.Info, "Usage: /queue TEXT")
	}
	return p.submit(plainPrompt(text), false)
}

// editOutside opens the user's editor on the prompt.
func (p *prompt) editOutside() tea.Cmd {
	return p.editText(p.drafts.edit.Text(), func(text string) { p.drafts.edit.SetEdited(text) })
}

func (p *prompt) skillsDialog() tea.Cmd {
	return p.overlays.show(&overlay{box: dialog.NewSkills(p.keys, p.state.Skills), onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
		return p.handle(p.drafts.edit.Insert("/" + c.ID + " "))
	})})
}

// stashDialog lists the stashed prompts.
func (p *prompt) stashDialog() tea.Cmd {
	return p.background("load the stash", func(context.Context) (then, error) {
		all, err := p.memory.Stash()
		return func() tea.Cmd { return p.showStash(all) }, err
	})
}

// showStash lists the stashed prompts, to restore or delete one.
func (p *prompt) showStash(all []memory.Stashed) tea.Cmd {
	list := func() (out []dialog.Stashed) {
		for _, s := range all {
			out = append(out, dialog.Stashed{Text: s.Input, Files: len(s.Files()), At: time.UnixMilli(int64(s.At))})
		}
		return out
	}
	box := dialog.NewStash(p.keys, list(), p.now())
	o := &overlay{box: box, keepOpen: true}
	o.onResult = onChosen(func(c dialog.Chosen) tea.Cmd {
		i, err := strconv.Atoi(c.ID)
		if err != nil || i < 0 || i >= len(all) {
			return nil
		}
		s := all[i]
		drop := p.save("delete the stashed prompt", func(ctx context.Context) error { return p.memory.DropStash(ctx, s) })
		if c.Key == key.StashDelete {
			all = slices.Delete(slices.Clone(all), i, i+1)
			box.SetItems(dialog.StashItems(list(), p.now()))
			return drop
		}
		p.overlays.current = nil
		return tea.Batch(drop, p.drafts.swapIn(s.Draft))
	})
	return p.overlays.show(o)
}

// draw renders the prompt with a placeholder for the state of the session.
func (p *prompt) draw(th *style.Theme, width int, focused bool) []style.Line {
	look := editor.ViewOptions{Bar: p.look.agentColor(p.choice.agent), Focused: focused, Padded: p.height >= paddedRows}
	switch {
	case p.drafts.edit.InShell():
		look.Bar, look.Placeholder = th.Warning, "Run a command in your shell"
	case p.drafts.edit.InMemory():
		look.Bar = th.Info
	case p.state.Current != "" && p.state.Busy(p.state.Current):
		look.Placeholder = "Add a message while it works"
	case p.state.HasPausedPrompts():
		look.Placeholder = "Your prompts are paused: /go sends them"
	case p.state.Interrupted[p.state.Current]:
		look.Placeholder = "This turn was interrupted: /go resumes it"
	default:
		look.Placeholder = home.Placeholder(p.tip)
	}
	return p.drafts.edit.View(th, look, width, p.promptMax())
}

// paddedRows is the height of a screen from which the prompt has padding, tallRows the one from which the area below the
// conversation has margins.
const (
	paddedRows = 16
	tallRows   = 30
)

// isTall reports whether the screen has rows for margins.
func (t *terminal) isTall() bool { return t.height >= tallRows }

// promptMax is the maximum height of the prompt box: a third of the screen, or the setting and the padding.
func (p *prompt) promptMax() int {
	if n := p.o.Look.PromptMaxHeight; n > 0 {
		return n + 2
	}
	if p.height < paddedRows {
		return max(min(6, p.height-4), p.height/3)
	}
	return max(5, p.height/3)
}

// lineBelow renders the line below the prompt: the status, or the search in the history.
func (p *prompt) lineBelow(th *style.Theme, f *frame, v status.Values) (line style.Line) {
	s, on := p.drafts.edit.Searching()
	if !on {
		return status.Line(th, v, f.promptWidth)
	}
	line, f.searchX = status.SearchLine(th, status.Search{Query: s.Query, Found: s.Found, Older: p.keys.Label(key.HistorySearch)}, f.promptWidth)
	return line
}

// shapeCursor shows the mode of vi: a bar inserts, a block is on a character.
func (p *prompt) shapeCursor(c *tea.Cursor) {
	if mode, _ := p.drafts.edit.VimMode(); mode == vim.Insert {
		c.Shape = tea.CursorBar
	} else if mode != "" {
		c.Shape = tea.CursorBlock
	}
}

func (p *prompt) cursor(f frame) *tea.Cursor {
	x, y, ok := p.drafts.edit.Cursor()
	switch {
	case !ok:
		return nil
	case f.searchX > 0:
		return tea.NewCursor(f.promptX+f.searchX, f.promptY+f.promptHeight)
	}
	return tea.NewCursor(x+f.promptX, y+f.inputY)
}

// drawPopup draws the suggestions above the prompt, or below it if they do not fit.
func (p *prompt) drawPopup(th *style.Theme, f *frame, lines []style.Line) []style.Line {
	var rows []style.Line
	switch {
	case p.drafts.edit.Suggesting():
		rows = p.drafts.edit.Popup(th, f.promptWidth)
	case p.drafts.edit.InMemory() && !p.drafts.edit.InShell():
		hint := style.Of(" # ", style.Bold(th.Info)).Add("enter adds this line to AGENTS.md; put a space before # to send it", style.Fg(th.TextMuted))
		rows = []style.Line{hint.Truncate(max(1, f.promptWidth-1)).On(th.BackgroundMenu).Fit(f.promptWidth, style.Attr{BG: th.BackgroundMenu})}
	default:
		return lines
	}
	f.popupRows = len(rows)
	f.popupY = f.inputY - len(rows)
	if f.popupY < 0 {
		f.popupY = f.promptY + f.promptHeight
	}
	return drawOver(lines, rows, f.promptX, f.popupY)
}
