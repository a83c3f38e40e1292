package mini

import (
	"context"
	"errors"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
)

// sender sends prompts, commands and shell lines.
type sender struct{ *program }

// carryOut carries out the result of the editor.
func (p sender) carryOut(out editor.Result) {
	switch out := out.(type) {
	case editor.Submit:
		p.submit(out, true)
	case editor.ServerCommand:
		p.runCommand(out)
	case editor.Shell:
		p.runShell(out)
	case editor.RunCommand:
		slash(p).runSlash(out)
	case editor.UnknownCommand:
		p.refuseCommand(out)
	case editor.Remember:
		p.remember(out)
	case editor.WantFiles:
		p.findFiles(out.Query)
		p.findSymbols(out.Query)
	case editor.WantDropped:
		p.carryOut(p.edit.PasteText(out.Text)) // pictures need the full screen
	case editor.OpenEditor:
		p.hint = "The external editor needs the full-screen UI"
	case editor.WantClipboard:
		p.hint = "Use your terminal's own paste key"
	case editor.SaveDiscarded:
		p.addHistory(out.Draft)
		p.hint = "Cleared: press " + p.keys.Label(key.HistoryPrevious) + " to get it back"
	case editor.Stash:
		p.save("stash the prompt", func(ctx context.Context) error {
			return p.memory.SaveStash(ctx, out.Draft, lathe.Time(p.o.Now().UnixMilli()))
		})
		p.hint = "Stashed"
	case editor.Unstash:
		p.unstash()
	case editor.Quit:
		p.left = true
	default:
	}
}

// save runs a local side effect in the background. A failure is logged.
func (p *program) save(what string, do func(ctx context.Context) error) {
	p.inBackground(func(ctx context.Context) func() {
		if err := do(ctx); err != nil && !errors.Is(err, context.Canceled) {
			p.log("%s: %v", what, err)
		}
		return nil
	})
}

func (p sender) unstash() {
	p.inBackground(func(ctx context.Context) func() {
		s, ok, err := p.memory.PopStash(ctx)
		return func() {
			if err != nil || !ok {
				p.hint = "The stash is empty"
				return
			}
			p.edit.Restore(s.Draft)
		}
	})
}

// addHistory saves a prompt in the history, which the terminal UI shares.
func (p sender) addHistory(d editor.Draft) {
	if n := len(p.history); d.IsEmpty() || n > 0 && p.history[n-1].Input == d.Input {
		return
	}
	p.history = append(p.history, d)
	p.edit.SetHistory(p.history)
	p.save("save the prompt history", func(ctx context.Context) error { return p.memory.SaveHistory(ctx, d) })
}

// saveDraft keeps unsent text in the history and the stash at exit.
func (p sender) saveDraft() {
	d := p.edit.Draft()
	if d.IsEmpty() {
		return
	}
	ctx := context.WithoutCancel(p.ctx) // also when a signal ended the program
	err := errors.Join(p.memory.SaveHistory(ctx, d), p.memory.SaveStash(ctx, d, lathe.Time(p.o.Now().UnixMilli())))
	if err != nil {
		p.log("save the draft: %v", err)
	}
}

// findFiles finds the files that match a mention.
func (p sender) findFiles(query string) {
	if p.engine == nil {
		return
	}
	p.call("find files", func(ctx context.Context, e Engine) (func(), error) {
		found, err := e.FindFiles(ctx, p.dir(), query, 20)
		if err != nil {
			return nil, nil // the list stays as it is
		}
		return func() {
			name := func(file string) string { return p.state.Info.Directory + "/" + file }
			p.edit.SetFiles(query, memory.Sort(p.mentions, found, lathe.Time(p.o.Now().UnixMilli()), name))
		}, nil
	})
}

// findSymbols finds the symbols that match a mention, with the language servers that run.
func (p sender) findSymbols(query string) {
	if p.engine == nil || !editor.WantsSymbols(query) {
		return
	}
	p.call("find symbols", func(ctx context.Context, e Engine) (func(), error) {
		found, err := e.FindSymbols(ctx, p.dir(), query)
		if err != nil {
			return nil, nil // the list stays as it is
		}
		return func() { p.edit.SetSymbols(query, editor.SymbolsOf(found, p.state.Info.Directory)) }, nil
	})
}

// refuseCommand reports a slash command that does not exist, so that a typing error is not sent to the model. The text
// stays in the prompt.
func (p sender) refuseCommand(c editor.UnknownCommand) {
	if c.Known && slash(p).runWithOption(p.edit.Text()) {
		return
	}
	if !p.state.Loaded && !c.Known {
		p.hint = "Still starting: try /" + c.Name + " again in a moment"
		return
	}
	text := "Unknown command /" + c.Name + "."
	switch {
	case c.Known:
		text = "/" + c.Name + " takes no text after it."
	case c.Nearest != "":
		text += " Did you mean /" + c.Nearest + "?"
	default:
		text += " /help lists the commands."
	}
	p.face.note(text + " Put a space before it to send it as text.")
	p.face.keep()
}

// submit sends a prompt. While a turn runs it steers that turn, or waits for its end.
func (p sender) submit(s editor.Submit, steer bool) {
	if !p.state.IsReady() {
		p.pending = &s
		p.hint = "Still starting: your prompt is sent in a moment"
		return
	}
	ref := p.choice.ref()
	if ref == nil {
		p.edit.Restore(s.Draft)
		p.face.note("No model yet. Run `lathe auth login` to save an API key, or `lathe` to choose one.")
		return
	}
	how := ""
	prompt := lathe.Prompt{ID: p.ids.Message(), Agent: p.choice.agent, Model: ref, Variant: p.choice.variant(), Delivery: lathe.Steer, Parts: s.Parts}
	if p.isBusy() {
		how = "(steers the turn)"
	}
	if !steer {
		prompt.Delivery, how = lathe.Queue, "(queued)"
	}
	p.addHistory(s.Draft)
	// The prompt is printed at once. If the engine refuses it, its text returns to the prompt.
	p.showPrompt(prompt.ID, s.Text, how)
	p.save("save the recent model", func(ctx context.Context) error { return p.memory.SaveRecent(ctx, *ref) })
	p.turn.sent = true
	if p.until != "" {
		p.submitUntil(prompt, s.Draft)
		return
	}
	conversation(p).inSession("send the prompt", func(ctx context.Context, e Engine, id lathe.SessionID) (func(), error) {
		_, err := e.Submit(ctx, id, prompt)
		return nil, err
	}, p.restore(s.Draft))
}

func (p *program) isBusy() bool { return p.state.Current != "" && p.state.Busy(p.state.Current) }

// showPrompt prints a prompt of this program.
func (p sender) showPrompt(id lathe.MessageID, text, how string) {
	p.sent[id] = true
	p.face.prompt(text, how)
}

// restore puts a draft back that could not be sent.
func (p sender) restore(d editor.Draft) func() {
	return func() {
		if p.edit.IsEmpty() {
			p.edit.Restore(d)
		}
	}
}

// sendFirst sends the prompt of the command line, or one that was submitted too early.
func (p sender) sendFirst() {
	if !p.state.IsReady() {
		return
	}
	if text := p.o.Start.Prompt; text != "" {
		p.o.Start.Prompt = ""
		p.submit(plainPrompt(text), true)
	}
	if s := p.pending; s != nil { // typed while the engine was opening
		p.pending = nil
		p.submit(*s, true)
	}
}

func plainPrompt(text string) editor.Submit {
	return editor.Submit{Text: text, Parts: []lathe.Part{{Body: &lathe.Text{Text: text}}}, Draft: editor.Draft{Input: text}}
}

// runCommand runs a slash command of the engine.
func (p sender) runCommand(c editor.ServerCommand) {
	call := lathe.CommandCall{Command: c.Name, Arguments: c.Arguments, Message: p.ids.Message(), Agent: p.choice.agent, Model: p.choice.ref(), Variant: p.choice.variant(), Parts: c.Parts}
	p.addHistory(c.Draft)
	p.showPrompt(call.Message, strings.TrimSpace("/"+c.Name+" "+c.Arguments), "")
	p.turn.sent = true
	conversation(p).inSession("run /"+c.Name, func(ctx context.Context, e Engine, id lathe.SessionID) (func(), error) {
		_, err := e.SubmitCommand(ctx, id, call)
		return nil, err
	}, p.restore(c.Draft))
}

// runShell runs a shell command of the user in the session.
func (p sender) runShell(s editor.Shell) {
	if p.isBusy() {
		p.edit.Restore(s.Draft)
		p.face.note("Commands run after the turn ends. Press Ctrl-C to interrupt it.")
		return
	}
	// The user typed it, so that nothing confines it: the same as in the terminal UI.
	sh := lathe.ShellCommand{Message: p.ids.Message(), Command: s.Line, Agent: p.choice.agent, Model: p.choice.ref(), Local: true}
	p.addHistory(s.Draft)
	p.showPrompt(sh.Message, "!"+s.Line, "")
	conversation(p).inSession("run the command", func(ctx context.Context, e Engine, id lathe.SessionID) (func(), error) {
		m, err := e.Shell(ctx, id, sh)
		return func() { p.showOutput(m) }, err
	}, p.restore(s.Draft))
}

// maxOutput is how much of the output of a shell command is printed, in bytes.
const maxOutput = 64 << 10

// showOutput prints the output of a shell command.
func (p sender) showOutput(m lathe.Message) {
	for _, part := range m.Parts {
		c, ok := part.Body.(*lathe.ToolCall)
		if !ok {
			continue
		}
		if done, ok := c.State.(*lathe.Completed); ok && strings.TrimSpace(done.Output) != "" {
			text := strings.TrimRight(done.Output, "\n")
			if len(text) > maxOutput {
				text = strings.ToValidUTF8(text[:maxOutput], "") + "\n…"
			}
			p.face.print(codeBlock("", text))
		}
	}
}

// codeBlock fences a text, whatever fences it has itself.
func codeBlock(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + text + "\n" + fence
}
