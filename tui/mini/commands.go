package mini

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/state"
)

// slash runs slash commands.
type slash struct{ *program }

// command is a slash command of this program. One without do needs the full-screen UI.
type command struct {
	names   []string
	about   string
	args    bool // needs arguments
	option  bool // takes an argument, and works without
	session bool // needs a session
	do      func(p slash, args string)
}

// commands are the slash commands, with the names of the terminal UI.
func commands() []command {
	return []command{
		{names: []string{"help"}, about: "list the commands and keys", do: slash.help},
		{names: []string{"new", "clear"}, about: "start a new session", do: slash.startNew},
		{names: []string{"sessions", "resume", "continue"}, about: "switch to another session", do: slash.pickSession},
		{names: []string{"models", "mo"}, about: "choose the model", option: true, do: slash.pickModel},
		{names: []string{"agents"}, about: "choose the agent", option: true, do: slash.pickAgent},
		{names: []string{"variants"}, about: "choose how much the model reasons", do: slash.pickVariant},
		{names: []string{"permissions"}, about: "choose what runs without asking", do: slash.pickMode},
		{names: []string{"undo"}, about: "undo the last message and its changes", session: true, do: slash.undo},
		{names: []string{"redo"}, about: "redo what was undone", session: true, do: slash.redo},
		{names: []string{"rewind"}, about: "go back to any step: files, conversation or both; or fork there", session: true, do: func(p slash, _ string) { rewinding(p).listBefore(0) }},
		{names: []string{"compact", "summarize"}, about: "summarize the conversation", session: true, do: slash.compact},
		{names: []string{"context"}, about: "show what fills the context", session: true, do: slash.showContext},
		{names: []string{"cost"}, about: "show tokens and cost", session: true, do: slash.showCost},
		{names: []string{"usage"}, about: "show where time and money went", session: true, do: showUsage},
		{names: []string{"memory"}, about: "list the instruction files; # before a line adds one", do: slash.showMemory},
		{names: []string{"doctor"}, about: "check providers, sandbox, git and the terminal", do: slash.doctor},
		{names: []string{"diff"}, about: "show the changes of this session", session: true, do: slash.showDiff},
		{names: []string{"worktree"}, about: "work in an isolated copy: /worktree [NAME], or diff|merge|drop NAME", option: true, do: slash.worktree},
		{names: []string{"rename"}, about: "rename the session: /rename TITLE", args: true, session: true, do: slash.rename},
		{names: []string{"fork"}, about: "continue in a copy of the session", session: true, do: slash.fork},
		{names: []string{"share"}, about: "publish the session on the server", session: true, do: slash.share},
		{names: []string{"unshare"}, about: "stop sharing", session: true, do: slash.unshare},
		{names: []string{"export"}, about: "write the transcript: /export [FILE]", option: true, session: true, do: slash.export},
		{names: []string{"go"}, about: "resume an interrupted turn", session: true, do: slash.resume},
		{names: []string{"queue"}, about: "send TEXT after this turn", args: true, session: true, do: slash.queue},
		{names: []string{"until"}, about: "repeat your next prompt until a command passes: /until COMMAND, or off", args: true, do: func(p slash, command string) { sender(p).setUntil(command) }},
		{names: []string{"thinking"}, about: "show or hide reasoning", do: slash.toggleThinking},
		{names: []string{"status", "debug"}, about: "show session, model and directory", do: slash.status},
		{names: []string{"exit", "quit", "q"}, about: "leave", do: func(p slash, _ string) { p.left = true }},
		{names: []string{"themes", "timestamps", "timeline", "subagents", "unfold", "editor", "stash", "skills", "mcps", "connect", "copy", "config"}},
	}
}

// runSlash runs a slash command of this program.
func (p slash) runSlash(c editor.RunCommand) {
	all := commands()
	i := slices.IndexFunc(all, func(k command) bool { return slices.Contains(k.names, c.Name) })
	switch {
	case i < 0:
	case all[i].do == nil:
		p.face.note("/" + c.Name + " needs the full-screen UI. Leave, then run `lathe -c`.")
	case all[i].session && p.state.Current == "":
		p.face.note("/" + c.Name + " needs a session: send a message first")
	default:
		all[i].do(p, c.Arguments)
	}
}

// runWithOption runs a slash command with an argument, which the editor does not know of because it also works without.
func (p slash) runWithOption(text string) bool {
	name, argument, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	all := commands()
	i := slices.IndexFunc(all, func(k command) bool { return slices.Contains(k.names, name) })
	if i < 0 || !all[i].option || !strings.HasPrefix(text, "/") {
		return false
	}
	p.edit.Clear()
	p.runSlash(editor.RunCommand{Name: name, Arguments: strings.TrimSpace(argument)})
	return true
}

// help lists the commands of this program and of the engine.
func (p slash) help(string) {
	var b strings.Builder
	for _, c := range commands() {
		if c.do != nil {
			fmt.Fprintf(&b, "- `/%s` %s\n", c.names[0], c.about)
		}
	}
	for _, c := range p.state.Commands {
		if !slices.Contains(localNames(commands()), c.Name) {
			fmt.Fprintf(&b, "- `/%s` %s\n", c.Name, termtext.OneLine(c.Description))
		}
	}
	b.WriteString("\n" + p.face.keyHelp())
	p.face.print(b.String())
}

// startNew leaves the session. The next prompt creates another, so that none stays empty.
func (p slash) startNew(string) {
	if p.isBusy() {
		p.face.note("A turn is running: interrupt it with Ctrl-C first")
		return
	}
	p.state.Current, p.turn = "", turn{}
	p.face.note("New session: your next prompt starts it")
}

// mostSessions is how many sessions can be chosen from.
const mostSessions = 50

// pickSession switches to a session of this directory.
func (p slash) pickSession(string) {
	if p.isBusy() {
		p.face.note("A turn is running: interrupt it with Ctrl-C first")
		return
	}
	p.call("list the sessions", func(ctx context.Context, e Engine) (func(), error) {
		all, err := conversation(p).listSessions(ctx, e, mostSessions)
		return func() {
			pick := &picker{title: "Sessions", empty: "No sessions in this directory", current: string(p.state.Current)}
			for _, s := range all {
				pick.items = append(pick.items, dialog.Item{ID: string(s.ID), Title: s.Title, Right: age(s.Updated, p.o.Now()), Search: string(s.ID)})
			}
			pick.choose = func(id string) { conversation(p).openSession(lathe.SessionID(id), false) }
			p.show(pick)
		}, err
	})
}

// pickModel chooses the model for the current agent in this run.
func (p slash) pickModel(name string) {
	now, _ := p.choice.model()
	shown := dialog.Models{Providers: p.state.Providers.Connected, Favorite: p.choice.used.Favorite, Recent: p.choice.used.Recent, Current: now.Ref}
	p.choose(name, &picker{title: "Models", empty: "No models: run `lathe auth login`", items: shown.Items(), current: state.ModelKey(now.Ref), choose: func(id string) {
		ref := dialog.ParseModelID(id)
		p.choice.models[p.choice.agent] = ref
		p.face.note("Model: " + p.state.ModelName(ref))
		p.save("save the recent model", func(ctx context.Context) error { return p.memory.SaveRecent(ctx, ref) })
	}})
}

// pickAgent chooses the agent of the next prompt.
func (p slash) pickAgent(name string) {
	pick := &picker{title: "Agents", current: p.choice.agent, choose: func(id string) {
		p.choice.agent = id
		p.face.note("Agent: " + id)
	}}
	for _, a := range p.state.Agents {
		if state.IsSelectable(a) {
			pick.items = append(pick.items, dialog.Item{ID: a.Name, Title: a.Name, Detail: a.Description})
		}
	}
	p.choose(name, pick)
}

// pickVariant chooses the reasoning level, which is saved per model.
func (p slash) pickVariant(string) {
	m, ok := p.choice.model()
	if !ok || len(m.Variants) == 0 {
		p.face.note("This model has no variants")
		return
	}
	const usual = "default"
	pick := &picker{title: "Variants", current: cmp.Or(p.choice.variant(), usual), items: []dialog.Item{{ID: usual, Title: usual}}, choose: func(id string) {
		if id == usual {
			id = ""
		}
		p.choice.variants[state.ModelKey(m.Ref)] = id
		p.save("save the variant", func(ctx context.Context) error { return p.memory.SaveVariant(ctx, m.Ref, id) })
	}}
	for _, v := range m.Variants {
		pick.items = append(pick.items, dialog.Item{ID: v, Title: v})
	}
	p.show(pick)
}

// pickMode chooses the permission mode.
func (p slash) pickMode(string) {
	pick := &picker{title: "Permission mode", current: string(p.state.Info.Mode), choose: func(id string) { p.setMode(lathe.Mode(id)) }}
	for _, m := range []lathe.Mode{lathe.AskMode, lathe.SandboxMode, lathe.ReadOnlyMode} {
		pick.items = append(pick.items, dialog.Item{ID: string(m), Title: dialog.ModeTitle(m)})
	}
	p.show(pick)
}

// chooseFirstMode asks for the permission mode on the first start. Closing the list takes the default.
func (p slash) chooseFirstMode() {
	usual := lathe.SandboxMode
	if !p.state.Info.Confined {
		usual = lathe.AskMode
	}
	set := func(id string) {
		p.state.Info.ChooseMode = false
		p.setMode(lathe.Mode(id))
		sender(p).sendFirst()
	}
	pick := &picker{title: "What can lathe do without asking? Change it later with /permissions", current: string(usual), choose: set, closed: func() { set(string(usual)) }}
	for _, m := range []lathe.Mode{lathe.AskMode, lathe.SandboxMode, lathe.ReadOnlyMode} {
		pick.items = append(pick.items, dialog.Item{ID: string(m), Title: dialog.ModeTitle(m)})
	}
	p.show(pick)
}

// cycleMode goes to the next permission mode.
func (p slash) cycleMode() {
	if p.state.InfoLoaded {
		all := []lathe.Mode{lathe.AskMode, lathe.SandboxMode, lathe.ReadOnlyMode}
		p.setMode(all[(slices.Index(all, p.state.Info.Mode)+1)%len(all)])
	}
}

// setMode changes the permission mode from the next tool call on. The project may override it.
func (p slash) setMode(m lathe.Mode) {
	p.call("change the permission mode", func(ctx context.Context, e Engine) (func(), error) {
		is, err := e.SetMode(ctx, p.dir(), m)
		if err != nil {
			return nil, err
		}
		return func() {
			p.state.Info.Mode = is
			text := "Permission mode: " + dialog.ModeTitle(is)
			if is != m {
				text += ", as the project or LATHE_CONFIG_CONTENT sets it"
			}
			p.face.note(text)
		}, nil
	})
}

// undo reverts the last prompt that stands. Its text returns to the prompt.
func (p slash) undo(string) {
	id := p.state.Current
	p.call("undo the message", func(ctx context.Context, e Engine) (func(), error) {
		if err := e.Cancel(ctx, id); err != nil { // a running turn would write on
			return nil, err
		}
		done, err := e.Undo(ctx, id, lathe.Undo{})
		if err != nil {
			return nil, err
		}
		m, err := e.Message(ctx, id, done.Message)
		return func() {
			p.reportUndo("Undone", done)
			if err == nil && p.edit.IsEmpty() {
				p.face.restore(editor.DraftOf(m.Parts))
			}
		}, nil
	})
}

// redo reverts the last undo.
func (p slash) redo(string) {
	id := p.state.Current
	p.call("redo the message", func(ctx context.Context, e Engine) (func(), error) {
		done, err := e.Redo(ctx, id, lathe.Undo{})
		if err != nil {
			return nil, err
		}
		return func() { p.reportUndo("Redone", done) }, nil
	})
}

// reportUndo lists the files that an undo changed or left alone.
func (p slash) reportUndo(what string, u lathe.Undone) {
	changed := 0
	for _, f := range u.Files {
		if f.Conflict == "" {
			changed++
		} else {
			p.face.note("Left unchanged: " + f.File + " (" + f.Conflict + ")")
		}
	}
	if changed > 0 {
		what += ": " + termtext.Plural(changed, "file") + " changed"
	}
	p.face.note(what)
}

// compact summarizes the conversation with the selected model.
func (p slash) compact(string) {
	m, ok := p.choice.model()
	if !ok {
		p.face.note("No model to write the summary")
		return
	}
	id := p.state.Current
	p.face.note("Compacting the conversation")
	p.call("compact the session", func(ctx context.Context, e Engine) (func(), error) {
		if err := e.Compact(ctx, id, lathe.CompactRequest{Model: &m.Ref}); err != nil {
			return nil, err
		}
		return func() { p.face.note("Conversation compacted") }, nil
	})
}

// rename sets the title of the session.
func (p slash) rename(title string) {
	id := p.state.Current
	if title == "" {
		p.face.note("Usage: /rename TITLE")
		return
	}
	p.call("rename the session", func(ctx context.Context, e Engine) (func(), error) {
		s, err := e.Rename(ctx, id, title)
		return func() { p.face.note("Title: " + s.Title) }, err
	})
}

// fork continues in a copy of the session. The original is unchanged.
func (p slash) fork(string) { conversation(p).openSession(p.state.Current, true) }

// share publishes the session. Only a server has an address for it.
func (p slash) share(string) {
	id := p.state.Current
	if !p.o.Remote {
		p.face.note("Sharing needs a server. Run `lathe serve`, open the session with `lathe attach --mini`, and share it there.")
		return
	}
	p.show(&picker{title: "Publish this session? Everyone who has the link can read it.", items: []dialog.Item{{ID: dialog.No, Title: "No"}, {ID: dialog.Yes, Title: "Yes, publish it"}}, choose: func(answer string) {
		if answer == dialog.Yes {
			p.shareNow(id)
		}
	}})
}

// shareNow publishes a session and prints its address.
func (p slash) shareNow(id lathe.SessionID) {
	p.call("share the session", func(ctx context.Context, e Engine) (func(), error) {
		s, err := e.Share(ctx, id)
		if err != nil || s.Share == nil {
			return nil, err
		}
		return func() { p.face.note("Shared: " + s.Share.URL) }, nil
	})
}

// unshare removes the published page.
func (p slash) unshare(string) {
	id := p.state.Current
	p.call("stop sharing", func(ctx context.Context, e Engine) (func(), error) {
		if _, err := e.Unshare(ctx, id); err != nil {
			return nil, err
		}
		return func() { p.face.note("No longer shared") }, nil
	})
}

// resume continues an interrupted turn, or sends the paused prompts.
func (p slash) resume(string) {
	id := p.state.Current
	if p.isBusy() {
		p.face.note("A turn is already running")
		return
	}
	waits := p.state.HasPausedPrompts() // they were sent before the turn was interrupted
	p.call("resume the turn", func(ctx context.Context, e Engine) (func(), error) {
		if cut, err := e.Interrupted(ctx); err == nil && !waits && !slices.Contains(cut, id) {
			return func() { p.face.note("Nothing to resume: send a new prompt") }, nil
		}
		return nil, e.Resume(ctx, id)
	})
}

// queue sends a prompt after the turn instead of into it.
func (p slash) queue(text string) {
	if strings.TrimSpace(text) == "" {
		p.face.note("Usage: /queue TEXT")
		return
	}
	sender(p).submit(plainPrompt(text), false)
}

// showDiff prints the changes of the session.
func (p slash) showDiff(string) {
	id := p.state.Current
	p.call("read the changes", func(ctx context.Context, e Engine) (func(), error) {
		all, err := e.Diff(ctx, id, "")
		return func() {
			if len(all) == 0 && err == nil {
				p.face.note("No changes in this session")
			}
			p.printDiffs(all)
		}, err
	})
}

// printDiffs prints changes of files.
func (p slash) printDiffs(all []lathe.FileDiff) {
	for _, d := range all {
		p.face.note(fmt.Sprintf("%s +%d −%d", d.File, d.Additions, d.Deletions))
		p.face.print(codeBlock("diff", strings.TrimRight(d.Patch, "\n")))
	}
}

// export writes the transcript to a new file.
func (p slash) export(file string) {
	id := p.state.Current
	s, _ := p.state.Session(id)
	path := cmp.Or(strings.TrimSpace(file), string(s.ID)+".md")
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.o.Dir, path)
	}
	in := chat.Include{Tools: true, ModelName: p.state.ModelNames(), Location: p.o.Now().Location()}
	p.call("export the session", func(ctx context.Context, e Engine) (func(), error) {
		var all []lathe.Message
		var err error
		for page := (lathe.Page{More: true}); page.More; {
			if page, err = e.Messages(ctx, id, page.Next, pageSize); err != nil {
				return nil, err
			}
			all = append(page.Messages, all...)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // never overwrite
		if errors.Is(err, fs.ErrExist) {
			return nil, lathe.Errorf(lathe.Conflict, "%s already exists: choose another name", path)
		}
		if err != nil {
			return nil, err
		}
		_, err = f.WriteString(chat.Markdown(s, all, in))
		if err = cmp.Or(err, f.Close()); err != nil {
			return nil, err
		}
		return func() { p.face.note("Saved to " + p.state.Tilde(path)) }, nil
	})
}

// toggleThinking shows or hides the reasoning from here on. Printed lines stay.
func (p slash) toggleThinking(string) {
	p.thinking = !p.thinking
	if p.thinking {
		p.face.note("Reasoning is shown")
	} else {
		p.face.note("Reasoning is hidden")
	}
}
