package engine

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// stepConfig is the config for a prompt, loaded at the start of a round.
type stepConfig struct {
	settings  *StepSettings
	agent     *Agent
	model     *Model
	user      *history.Message // the prompt to answer
	variant   string           // of the model
	format    *format
	mentioned bool // the prompt names an agent
	output    tool.Output
	summary   lathe.MessageID // the newest of the history
	err       error           // why there is no agent or model
}

// turnConfig loads the configuration of each step of a session. Edits of the config count from the next
// turn on, so it remembers what the turn began with.
type turnConfig struct {
	engine *Engine
	log    *sessionLog
	place  workspace.Place
	// Reset at the start of a turn:
	started    stepConfig // the last of this turn that could be loaded
	isReported bool       // that the config cannot be read
}

func (t *turnConfig) reset() { t.started, t.isReported = stepConfig{}, false }

// load loads the config for a prompt. If the config was edited since the turn started, it
// uses the config from the start.
func (t *turnConfig) load(ctx context.Context, u *history.Message) (c stepConfig) {
	e, said := t.engine, u.Data.(*lathe.User)
	c.user, c.variant = u, said.Model.Variant
	switch edited := t.isEdited(); {
	case e.env == nil:
		c.err = lathe.Errorf(lathe.Unavailable, "this engine has no models configured")
	case edited:
		c.settings = t.started.settings
	default:
		c.settings, c.err = e.env.Settings(ctx, t.place)
		if source, ok := e.env.(sessionSource); ok && c.err == nil {
			c.settings, c.err = source.SessionSettings(ctx, u.Session, c.settings)
		}
	}
	if c.err != nil {
		return c
	}
	c.output = e.files.output(u.Session, c.settings.Limits)
	if c.agent, c.err = c.settings.agent(said.Agent); c.err != nil {
		return c
	}
	if c.format, c.err = readFormat(said.Format); c.err != nil {
		return c
	}
	c.mentioned = slices.ContainsFunc(u.Parts, func(p lathe.Part) bool {
		_, ok := p.Body.(*lathe.AgentMention)
		return ok
	})
	if was := t.started; was.model != nil && c.settings == was.settings && was.user.Data.(*lathe.User).Model == said.Model {
		c.model = was.model
	} else if c.model, c.err = e.env.Model(ctx, t.place, said.Model); c.err != nil {
		return c
	}
	c.output.Limits = prompt.FamilyOf(c.model.Name).Limits(c.output.Limits)
	t.started = c
	return c
}

// sessionSource is an [Environment] with MCP servers for single sessions.
type sessionSource interface {
	SessionSettings(ctx context.Context, id lathe.SessionID, of *StepSettings) (*StepSettings, error)
}

// editable is a [Environment] whose settings people may change while a turn runs.
type editable interface {
	// HasConfigChanged reports whether the config files have changed since. The error is why
	// they cannot be read.
	HasConfigChanged(at workspace.Place, was *StepSettings) (bool, error)
}

// isEdited reports whether the config was edited since the turn started. It publishes an unreadable
// config once.
func (t *turnConfig) isEdited() bool {
	source, ok := t.engine.env.(editable)
	if !ok || t.started.settings == nil {
		return false
	}
	edited, err := source.HasConfigChanged(t.place, t.started.settings)
	if err != nil && !t.isReported {
		t.isReported = true
		t.engine.log.Warn("config cannot be read; the turn keeps the config it started with", "session", t.log.lease.Session, "error", err)
		t.log.publish(&lathe.TUIToast{
			Title: "The config was edited and cannot be read", Message: err.Error() + "\nThis turn keeps the config it started with.", Variant: "warning",
		})
	}
	return edited || err != nil
}

// snapshots is where the files of the session's directory are saved for an undo; nil where they are not.
func (t *turnConfig) snapshots(ctx context.Context) (*snapshot.Worktree, error) {
	settings, err := t.started.settings, error(nil) // the settings of this turn
	switch {
	case t.engine.env == nil:
		settings = &StepSettings{}
	case settings == nil:
		settings, err = t.engine.env.Settings(ctx, t.place)
	}
	if err != nil {
		return nil, err
	}
	return t.engine.files.undoable(t.place, settings), nil
}
