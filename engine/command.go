package engine

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/workspace"
)

// SlashCommand is a command that people call by its name.
type SlashCommand struct {
	lathe.Command
	Variant string // of its model
	// Outside lets its template name files outside of the project. A template of an untrusted project
	// must not: it could attach the user's private files to a prompt.
	Outside bool
	// Fetch gets the expanded text from the MCP server that offers the command; nil uses Template.
	// Fetched text attaches no files and runs no commands.
	Fetch func(ctx context.Context, arguments []string) (string, error)
}

// Command runs a slash command and waits until the session is idle. It returns the newest
// answer and then publishes command.executed, even if the caller has gone.
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
func (e *Engine) command(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (*turnResult, lathe.Message, error) {
	rec, err := e.store.Session(ctx, id)
	if err != nil {
		return nil, lathe.Message{}, err
	}
	p, err := (&commandRun{engine: e, session: rec, call: call}).prompt(ctx)
	if err != nil {
		e.publishFailure(rec, err)
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
		e.publish(rec, &lathe.CommandExecuted{Name: call.Command, Session: id, Arguments: call.Arguments, Message: end.message.ID})
	})
	return end, m, nil
}

// commandRun is a running command with its inputs.
type commandRun struct {
	engine   *Engine
	session  lathe.Session
	place    workspace.Place
	settings *StepSettings
	command  SlashCommand
	call     lathe.CommandCall
	agent    *Agent
	model    *lathe.ModelRef // nil leaves the choice to the prompt
}

// prompt makes a prompt of the call.
func (c *commandRun) prompt(ctx context.Context) (lathe.Prompt, error) {
	call := c.call
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
	text, err := c.runSnippets(ctx, pieces)
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
		p.Parts, err = hook(ctx, c.session.ID, call.Command, call.Arguments, p.Parts)
	}
	return p, err
}

// pieces are the text of the command, and the words in it that may name files: those of
// template and arguments, never command output. A skill is a text for models: nothing in it is
// a place, a command or a name.
func (c *commandRun) pieces() (list []prompt.Piece, said string) {
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
func (c *commandRun) prepare(ctx context.Context) error {
	var err error
	if c.place, c.settings, err = c.engine.settingsAt(ctx, c.session.Directory); err != nil {
		return err
	}
	i := slices.IndexFunc(c.settings.Commands, func(s SlashCommand) bool { return s.Name == c.call.Command })
	if i < 0 {
		names := []string{}
		for _, s := range c.settings.Commands {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		meant := ""
		if near := phrase.Nearest(c.call.Command, names); near != "" {
			meant = " Did you mean " + near + "?"
		}
		return lathe.Errorf(lathe.NotFound, "Command not found: %q.%s Available commands: %s", c.call.Command, meant, strings.Join(names, ", "))
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
		_, err = c.engine.env.Model(ctx, c.place, *c.model)
	}
	return err
}

// variant is that of the command if it names its model, else the caller's.
func (c *commandRun) variant() string {
	if c.command.Variant != "" && c.command.Model != "" {
		return c.command.Variant
	}
	return c.call.Variant
}

func (c *commandRun) isSubtask() bool {
	return c.command.Subtask.On() || c.command.Subtask == lathe.Unset && c.agent.Mode == lathe.Subagent
}

// parts are the words of a command, what they name, and what the caller has attached.
func (c *commandRun) parts(text string, names []string) []lathe.Part {
	parts := []lathe.Part{{Body: &lathe.Text{Text: text}}}
	given := map[string]bool{}
	for _, p := range c.call.Parts {
		if f, ok := p.Body.(*lathe.File); ok {
			if path, ok := prompt.FilePath(f.URL); ok {
				given[path] = true
			}
		}
	}
	at := prompt.Referrer{
		Place: c.place, Home: c.settings.Home, Arguments: c.call.Arguments, External: c.command.Outside, Agent: func(name string) string {
			if a, err := c.settings.agent(name); err == nil {
				return a.Name
			}
			return ""
		},
	}
	for _, name := range names {
		body := at.Resolve(name)
		if f, ok := body.(*lathe.File); ok {
			if path, ok := prompt.FilePath(f.URL); ok && given[path] {
				continue // the caller has attached it
			}
		}
		if body != nil {
			parts = append(parts, lathe.Part{Body: body})
		}
	}
	return append(parts, c.call.Parts...)
}
