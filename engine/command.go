package engine

import (
	"cmp"
	"context"
	_ "embed"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/workspace"
)

//go:embed prompt/init.md
var initTemplate string

//go:embed prompt/review.md
var reviewTemplate string

// SlashCommand is a command that people call by its name.
type SlashCommand struct {
	lathe.Command
	Variant string // of its model
	// Outside lets its template name files outside of the project. Those of a project that
	// nobody trusts could make a file of the user's part of a prompt.
	Outside bool
	// Fetch gets what the command says from whoever offers it, who puts the arguments in; nil
	// has it in Template. What comes from elsewhere names no files and runs nothing.
	Fetch func(ctx context.Context, arguments []string) (string, error)
}

// BuiltinCommands are those that come with the program.
func BuiltinCommands() []lathe.Command {
	out := []lathe.Command{
		{Name: "init", Description: "Write or improve AGENTS.md", Template: strings.TrimSpace(initTemplate)},
		{Name: "review", Description: "Review changes: what is not committed, a commit, a branch, a pull request", Template: strings.TrimSpace(reviewTemplate), Agent: "general", Subtask: lathe.Yes},
	}
	for i := range out {
		out[i].Source, out[i].Hints = lathe.CommandOwn, prompt.Hints(out[i].Template)
	}
	return out
}

// Command runs a slash command and waits until the session rests. It returns the newest
// answer; command.executed is told then, also when the caller has gone.
func (e *Engine) Command(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (lathe.Message, error) {
	end, _, err := e.command(ctx, id, call)
	if err != nil {
		return lathe.Message{}, err
	}
	return end.wait(ctx)
}

// SubmitCommand is [Engine.Command] without waiting for the answer: it returns the prompt.
func (e *Engine) SubmitCommand(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (lathe.Message, error) {
	_, m, err := e.command(ctx, id, call)
	return m, err
}

// Init runs the command that writes the instructions of a project.
func (e *Engine) Init(ctx context.Context, id lathe.SessionID, message lathe.MessageID, model *lathe.ModelRef) (lathe.Message, error) {
	return e.Command(ctx, id, lathe.CommandCall{Command: "init", Message: message, Model: model})
}

// command makes a prompt of a call and sends it.
func (e *Engine) command(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (*ending, lathe.Message, error) {
	rec, err := e.store.Session(ctx, id)
	if err != nil {
		return nil, lathe.Message{}, err
	}
	p, err := e.commandPrompt(ctx, rec, call)
	if err != nil {
		e.complain(rec, err)
		return nil, lathe.Message{}, err
	}
	m, err := e.Submit(ctx, id, p)
	if err != nil {
		return nil, lathe.Message{}, err
	}
	end, err := e.actors.wake(id)
	if err != nil {
		return nil, lathe.Message{}, err
	}
	e.work.Go(func() {
		<-end.done
		e.bus.Publish(lathe.Event{Session: id, Directory: rec.Directory, Project: rec.Project, Fact: &lathe.CommandExecuted{
			Name: call.Command, Session: id, Arguments: call.Arguments, Message: end.message.ID,
		}})
	})
	return end, m, nil
}

// commanding is a call under way, and what it rests on.
type commanding struct {
	engine   *Engine
	session  lathe.Session
	place    workspace.Place
	settings *Settings
	command  SlashCommand
	call     lathe.CommandCall
	agent    *Agent
	model    *lathe.ModelRef // nil leaves the choice to the prompt
}

func (e *Engine) commandPrompt(ctx context.Context, rec lathe.Session, call lathe.CommandCall) (lathe.Prompt, error) {
	c := &commanding{engine: e, session: rec, call: call}
	if err := c.prepare(ctx); err != nil {
		return lathe.Prompt{}, err
	}
	if c.command.Fetch != nil {
		var err error
		if c.command.Template, err = c.command.Fetch(ctx, prompt.SplitArguments(call.Arguments)); err != nil {
			return lathe.Prompt{}, lathe.Errorf(lathe.Unavailable, "the command %s could not be fetched: %w", c.command.Name, err)
		}
	}
	pieces, said := c.pieces()
	text, err := c.printed(ctx, pieces)
	if err != nil {
		return lathe.Prompt{}, err
	}
	p := lathe.Prompt{ID: call.Message, Agent: c.agent.Name, Model: c.model, Variant: c.variant()}
	if c.isSubtask() { // the conversation keeps the agent and the model it has
		p.Agent, p.Model, p.Variant = call.Agent, call.Model, call.Variant
		p.Parts = []lathe.Part{{Body: &lathe.Subtask{
			Prompt: text, Description: c.command.Description, Agent: c.agent.Name, Model: c.model, Command: c.command.Name,
		}}}
	} else {
		p.Parts = c.parts(text, prompt.References(said))
	}
	if hook := c.settings.Hooks.CommandBefore; hook != nil {
		p.Parts, err = hook(ctx, rec.ID, call.Command, call.Arguments, p.Parts)
	}
	return p, err
}

// pieces are what the command says, and the words in it that may name files: those of template
// and arguments, never what commands print. A skill is a text for models: nothing in it is a
// place, a command or a name.
func (c *commanding) pieces() (list []prompt.Piece, said string) {
	if c.command.Source == lathe.CommandSkill {
		return []prompt.Piece{{Text: c.command.Template}, {Text: "\n\n" + c.call.Arguments}}, c.call.Arguments
	}
	if c.command.Fetch != nil {
		return []prompt.Piece{{Text: c.command.Template}}, c.call.Arguments
	}
	list = prompt.Fill(c.command.Template, c.call.Arguments)
	for _, p := range list {
		if !p.Snippet {
			said += p.Text + " "
		}
	}
	return list, said
}

// prepare finds the command, its agent and its model.
func (c *commanding) prepare(ctx context.Context) error {
	if c.engine.setup == nil {
		return lathe.Errorf(lathe.Unavailable, "this engine was opened without models")
	}
	inst, err := c.engine.Instance(ctx, c.session.Directory)
	if err != nil {
		return err
	}
	c.place = inst.Place
	if c.settings, err = c.engine.setup.Settings(ctx, c.place); err != nil {
		return err
	}
	i := slices.IndexFunc(c.settings.Commands, func(s SlashCommand) bool { return s.Name == c.call.Command })
	if i < 0 {
		names := []string{}
		for _, s := range c.settings.Commands {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		return lathe.Errorf(lathe.NotFound, "Command not found: %q. Available commands: %s", c.call.Command, strings.Join(names, ", "))
	}
	c.command = c.settings.Commands[i]
	if c.agent, err = c.settings.agent(cmp.Or(c.command.Agent, c.call.Agent)); err != nil {
		return err
	}
	switch {
	case c.command.Model != "":
		provider, name, _ := strings.Cut(c.command.Model, "/")
		c.model = &lathe.ModelRef{Provider: provider, Model: name}
	case c.command.Agent != "" && c.agent.Model != nil:
		own := *c.agent.Model
		c.model = &own
	case c.call.Model != nil:
		c.model = c.call.Model
	}
	if c.model != nil {
		_, err = c.engine.setup.Model(ctx, c.place, *c.model)
	}
	return err
}

// variant is that of the command if it names its model, else the caller's.
func (c *commanding) variant() string {
	if c.command.Variant != "" && c.command.Model != "" {
		return c.command.Variant
	}
	return c.call.Variant
}

func (c *commanding) isSubtask() bool {
	return c.command.Subtask.On() || c.command.Subtask == lathe.Unset && c.agent.Mode == lathe.Subagent
}

// parts are the words of a command, what they name, and what the caller has attached.
func (c *commanding) parts(text string, names []string) []lathe.Part {
	parts := []lathe.Part{{Body: &lathe.Text{Text: text}}}
	given := map[string]bool{}
	for _, p := range c.call.Parts {
		if f, ok := p.Body.(*lathe.File); ok {
			if path, ok := filePath(f.URL); ok {
				given[path] = true
			}
		}
	}
	for _, name := range names {
		body := c.refer(name)
		if f, ok := body.(*lathe.File); ok {
			if path, ok := filePath(f.URL); ok && given[path] {
				continue // the caller has attached it
			}
		}
		if body != nil {
			parts = append(parts, lathe.Part{Body: body})
		}
	}
	return append(parts, c.call.Parts...)
}

// refer is what a name behind an @ means: a file or folder of the project, else an agent, else
// nothing. One that is nothing may have the bracket or the mark of its sentence at its end.
func (c *commanding) refer(name string) lathe.Body {
	if body := c.named(name); body != nil {
		return body
	}
	if bare := strings.TrimRight(name, ")]}>\"':;!?"); bare != name && bare != "" {
		return c.named(bare)
	}
	return nil
}

func (c *commanding) named(name string) lathe.Body {
	path := filepath.FromSlash(name)
	base := c.place.Worktree
	if c.place.VCS == "" { // the root of the disk is nobody's project
		base = c.place.Directory
	}
	switch {
	case strings.HasPrefix(name, "~/"):
		path = filepath.Join(c.settings.Home, path[2:])
	case !filepath.IsAbs(path):
		path = filepath.Join(base, path)
	}
	if info, err := os.Stat(path); err == nil && c.mayName(name, path) {
		mime := "text/plain"
		if info.IsDir() {
			mime = "application/x-directory"
		}
		return &lathe.File{Mime: mime, Filename: name, URL: fileURL(path)}
	}
	if a, err := c.settings.agent(name); err == nil {
		return &lathe.AgentMention{Name: a.Name}
	}
	return nil
}

// mayName reports whether a file may be named here: by the user anywhere, by a template of an
// untrusted project only in it.
func (c *commanding) mayName(name, path string) bool {
	if c.command.Outside || slices.Contains(prompt.References(c.call.Arguments), name) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for _, dir := range []string{c.place.Directory, c.place.Sandbox} {
		if dir, err := filepath.EvalSymlinks(dir); err == nil && filepath.Dir(dir) != dir && workspace.Inside(dir, real) {
			return true
		}
	}
	return false
}

// fileURL names a file of this machine, with whatever is in its name escaped.
func fileURL(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") { // a drive
		p = "/" + p
	}
	u := url.URL{Scheme: "file", Path: p}
	return u.String()
}

// filePath is the path of a file URL.
func filePath(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" {
		return "", false
	}
	return filepath.Clean(pathOf(u)), true
}

// Agents lists the agents of a directory: the default one first, the others by name.
func (e *Engine) Agents(ctx context.Context, dir string) ([]lathe.Agent, error) {
	s, err := e.settingsOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	return s.Ordered(), nil
}

// Commands lists the slash commands of a directory.
func (e *Engine) Commands(ctx context.Context, dir string) ([]lathe.Command, error) {
	s, err := e.settingsOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	out := make([]lathe.Command, len(s.Commands))
	for i, c := range s.Commands {
		out[i] = c.Command
	}
	return out, nil
}

// Skills lists the skills of a directory by name.
func (e *Engine) Skills(ctx context.Context, dir string) ([]lathe.Skill, error) {
	s, err := e.settingsOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	return s.Skills, nil
}

func (e *Engine) settingsOf(ctx context.Context, dir string) (*Settings, error) {
	if e.setup == nil {
		return nil, lathe.Errorf(lathe.Unavailable, "this engine was opened without models")
	}
	inst, err := e.Instance(ctx, dir)
	if err != nil {
		return nil, err
	}
	return e.setup.Settings(ctx, inst.Place)
}

// SkillTemplate is a skill as the template of a command: its text, and where its files are. It
// has no places for arguments; they stand below it.
func SkillTemplate(s lathe.Skill) string {
	text := strings.TrimSpace(s.Content)
	if filepath.IsAbs(s.Location) {
		text += "\n\nBase directory of this skill: " + filepath.Dir(s.Location) + " (paths in it are relative to that)"
	}
	return text
}
