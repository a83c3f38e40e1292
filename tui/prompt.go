package tui

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/toast"
)

// edited does what the prompt wants.
func (p *program) edited(out editor.Out) tea.Cmd {
	switch out := out.(type) {
	case editor.Submit:
		return p.submit(out, true)
	case editor.ServerCommand:
		return p.serverCommand(out)
	case editor.Shell:
		return p.runShell(out)
	case editor.RunCommand:
		return p.doSlash(out)
	case editor.WantFiles:
		return p.findFiles(out.Query)
	case editor.WantAttachment:
		return p.attach(out)
	case editor.WantDropped:
		return p.dropped(out)
	case editor.WantClipboard:
		return p.readClipboard()
	case editor.OpenEditor:
		return p.editOutside()
	case editor.Remember:
		return p.keepAside(out.Draft, "Cleared; the history and /stash have it")
	case editor.Stash:
		return p.keepStash(out.Draft)
	case editor.Unstash:
		return p.unstash()
	case editor.Quit:
		return p.quit()
	default:
		return nil
	}
}

// submit sends a prompt, to a new session if none is on the screen. While a turn runs it steers that turn, or
// waits for its end.
func (p *program) submit(s editor.Submit, steer bool) tea.Cmd {
	if !p.state.IsReady() {
		p.edit.Restore(s.Draft)
		p.early = &s
		return p.say(toast.Info, "Opening; it is sent in a moment")
	}
	ref := p.ref()
	if ref == nil {
		p.edit.Restore(s.Draft) // nothing is lost
		return tea.Batch(p.say(toast.Warning, "There is no model to answer yet"), p.offerFirst())
	}
	prompt := host.Prompt{ID: p.ids.Message(), Agent: p.choice.agent, Model: ref, Variant: p.variant(), Steer: steer, Parts: s.Parts}
	return tea.Batch(p.addHistory(s.Draft), p.useModel(*ref), p.inSession("send the prompt", s.Draft, func(ctx context.Context, e host.Engine, id lathe.SessionID) error {
		return e.Submit(ctx, id, prompt)
	}))
}

// inSession does something in the session on the screen, or in a new one. When it fails the draft comes back.
func (p *program) inSession(what string, d editor.Draft, do func(ctx context.Context, e host.Engine, id lathe.SessionID) error) tea.Cmd {
	id, agent := p.state.Current, p.choice.agent
	if id != "" {
		p.chat().ToEnd()
	}
	p.carry = id == ""
	return p.longCall(what, func(ctx context.Context, e host.Engine) (then, error) {
		if id == "" {
			s, err := e.Create(ctx, host.NewSession{Agent: agent})
			if err != nil {
				return p.giveBack(d), err
			}
			id = s.ID
			p.feedNew(s)
		}
		if err := do(ctx, e, id); err != nil {
			return p.giveBack(d), err
		}
		return nil, nil
	})
}

// feedNew brings a session that was just made onto the screen, before anything happens in it.
func (p *program) feedNew(s lathe.Session) {
	p.feed.put(lathe.Event{Session: s.ID, Fact: &lathe.TUISessionSelect{Session: s.ID}}, nil)
}

// giveBack puts a draft back that could not be sent.
func (p *program) giveBack(d editor.Draft) then {
	return func() tea.Cmd {
		p.carry = false
		if p.edit.IsEmpty() {
			p.edit.Restore(d)
		}
		return nil
	}
}

func (p *program) serverCommand(c editor.ServerCommand) tea.Cmd {
	call := host.Command{Name: c.Name, Arguments: c.Arguments, Agent: p.choice.agent, Model: p.ref(), Variant: p.variant(), Parts: c.Parts}
	return tea.Batch(p.addHistory(c.Draft), p.inSession("run /"+c.Name, c.Draft, func(ctx context.Context, e host.Engine, id lathe.SessionID) error {
		return e.Command(ctx, id, call)
	}))
}

func (p *program) runShell(s editor.Shell) tea.Cmd {
	if p.state.Current != "" && p.state.Busy(p.state.Current) {
		p.edit.Restore(s.Draft)
		return p.say(toast.Warning, "Commands wait for the end of the turn; "+p.keys.Label(key.SessionInterrupt)+" twice ends it now")
	}
	sh := host.Shell{Line: s.Line, Agent: p.choice.agent, Model: p.ref()}
	return tea.Batch(p.addHistory(s.Draft), p.inSession("run the command", s.Draft, func(ctx context.Context, e host.Engine, id lathe.SessionID) error {
		return e.Shell(ctx, id, sh)
	}))
}

// sendFirst sends the prompt of the command line, or what somebody sent too early, once a model is there and the
// session is open.
func (p *program) sendFirst() tea.Cmd {
	if !p.state.IsReady() {
		return nil
	}
	if text := p.o.Start.Prompt; text != "" {
		p.o.Start.Prompt = ""
		return p.submit(plainPrompt(text), true) // the other comes when its session is shown
	}
	s := p.early
	p.early = nil
	if s == nil || !reflect.DeepEqual(p.edit.Draft(), s.Draft) { // they have thought of something better
		return nil
	}
	p.edit.Restore(editor.Draft{})
	return p.submit(*s, true)
}

func plainPrompt(text string) editor.Submit {
	return editor.Submit{Text: text, Parts: []lathe.Part{{Body: &lathe.Text{Text: text}}}, Draft: editor.Draft{Input: text}}
}

// queueNext sends a prompt that waits until the turn has ended.
func (p *program) queueNext(text string) tea.Cmd {
	if strings.TrimSpace(text) == "" {
		return p.say(toast.Info, "Say what is to be done then: /queue TEXT")
	}
	return p.submit(plainPrompt(text), false)
}

// findFiles looks for what a mention could mean.
func (p *program) findFiles(query string) tea.Cmd {
	return p.call("look for files", func(ctx context.Context, e host.Engine) (then, error) {
		found, err := e.Find(ctx, query, 20)
		if err != nil {
			return nil, nil // the list stays as it is
		}
		return func() tea.Cmd { p.edit.SetFiles(query, p.rankFiles(found)); return nil }, nil
	})
}

// attach reads a file of this machine that was pasted or dropped.
func (p *program) attach(w editor.WantAttachment) tea.Cmd {
	if p.o.ReadFile == nil {
		p.edit.PasteText(w.Text)
		return nil
	}
	return func() tea.Msg {
		if !p.calls.enter() {
			return nil
		}
		defer p.calls.wg.Done()
		data, err := p.o.ReadFile(w.Path)
		return answered{then: func() tea.Cmd {
			if err != nil {
				p.edit.PasteText(w.Text)
				return nil
			}
			return p.edited(p.edit.Attach(filepath.Base(w.Path), http.DetectContentType(data), data))
		}}
	}
}

// dropped puts several files into the prompt. One that is not there, or a server elsewhere that does not have it, lets
// all of it be the text that it was.
func (p *program) dropped(w editor.WantDropped) tea.Cmd {
	if p.o.ReadFile == nil {
		p.edit.PasteText(w.Text)
		return nil
	}
	dir, remote := p.state.Info.Directory, p.o.Remote
	return p.recalled("read what was dropped", func(context.Context) (then, error) {
		found := make([]droppedFile, 0, len(w.Paths))
		for _, path := range w.Paths {
			f, err := p.readDropped(path, dir, remote)
			if err != nil {
				return func() tea.Cmd { return p.edited(p.edit.PasteText(w.Text)) }, nil
			}
			found = append(found, f)
		}
		return func() tea.Cmd {
			var cmds []tea.Cmd
			for _, f := range found {
				if f.data == nil {
					cmds = append(cmds, p.edited(p.edit.Mention(f.path)))
				} else {
					cmds = append(cmds, p.edited(p.edit.Attach(filepath.Base(f.path), http.DetectContentType(f.data), f.data)))
				}
			}
			return tea.Batch(cmds...)
		}, nil
	})
}

type droppedFile struct {
	path string
	data []byte // nil for what is only named
}

// readDropped looks at one of them.
func (p *program) readDropped(path, dir string, remote bool) (droppedFile, error) {
	if editor.IsMedia(path) {
		data, err := p.o.ReadFile(path)
		return droppedFile{path, data}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return droppedFile{}, err
	}
	if remote {
		return droppedFile{}, os.ErrNotExist // there
	}
	if below, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(below) && below != "." {
		path = filepath.ToSlash(below)
	}
	if info.IsDir() {
		path = strings.TrimSuffix(path, "/") + "/"
	}
	return droppedFile{path: path}, nil
}

// readClipboard asks for what was copied: a picture of this machine, else the text that the terminal has.
func (p *program) readClipboard() tea.Cmd {
	if p.o.Clipboard == nil {
		return tea.ReadClipboard
	}
	return p.recalled("read the clipboard", func(ctx context.Context) (then, error) {
		mime, data := p.o.Clipboard(ctx)
		return func() tea.Cmd {
			if len(data) == 0 {
				return tea.ReadClipboard
			}
			return p.edited(p.edit.Attach("clipboard", mime, data))
		}, nil
	})
}

// editOutside opens the user's editor on what is in the prompt.
func (p *program) editOutside() tea.Cmd {
	return p.editText(p.edit.TextForEditor(), func(text string) { p.edit.FromEditor(text) })
}

// editText opens the user's editor on a text. What it is afterwards goes to done, if anybody wants it.
func (p *program) editText(text string, done func(string)) tea.Cmd {
	if len(p.o.Editor) == 0 {
		return p.say(toast.Info, "Set EDITOR or VISUAL to edit in your own editor")
	}
	f, err := os.CreateTemp("", "lathe-*.md")
	if err != nil {
		return p.say(toast.Error, words(err))
	}
	path := f.Name()
	_, err = f.WriteString(text)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return p.say(toast.Error, words(err))
	}
	cmd := exec.Command(p.o.Editor[0], append(slices.Clone(p.o.Editor[1:]), path)...)
	return tea.Exec(lent{cmd, p.o}, func(err error) tea.Msg {
		text, readErr := os.ReadFile(path)
		_ = os.Remove(path) // it is in the temporary folder
		return answered{what: "use your editor", err: firstOf(err, readErr), then: func() tea.Cmd {
			if err == nil && readErr == nil && done != nil {
				done(string(text))
			}
			return nil
		}}
	})
}

// lent is a command that has the terminal while it runs: ours, since what the library has is no file.
type lent struct {
	*exec.Cmd
	o Options
}

func (c lent) SetStdin(r io.Reader) { c.Stdin = r }

func (c lent) SetStdout(w io.Writer) {
	if c.Stdout = w; c.o.Out != nil {
		c.Stdout = c.o.Out
	}
}

func (c lent) SetStderr(w io.Writer) { c.Stderr = w }

// Run runs it to its end.
func (c lent) Run() error {
	if c.o.Lend != nil {
		defer c.o.Lend()()
	}
	return c.Cmd.Run()
}

// pasted takes a paste to who has the keys.
func (p *program) pasted(text string) tea.Cmd {
	switch {
	case p.over != nil:
		return p.overlaid(p.over.box.Paste(text))
	case p.asking != nil:
		p.asking.paste(text)
		return nil
	case p.review != nil || p.state.IsChild() || p.offering():
		return nil
	default:
		return p.edited(p.edit.Paste(text))
	}
}

// keepDraft puts what is in the prompt aside for the session on the screen.
func (p *program) keepDraft() { p.drafts[p.state.Current] = p.edit.Draft() }

// bringDraft takes it back.
func (p *program) bringDraft() {
	p.setCommands(nil) // some have meaning only in a session
	p.edit.Restore(p.drafts[p.state.Current])
}
