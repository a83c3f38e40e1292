package server

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/workspace"
)

// commandAPI answers for slash commands, skills and compaction.
type commandAPI struct{ engine Engine }

func (a commandAPI) routes() []row {
	missing, bad := []failure{failsBad, failsMissing}, []failure{failsBad}
	return []row{
		answer(route("GET /command", "command.list", "instance", mayRead, "List the slash commands", bad), inPlace(a.listCommands)),
		answer(route("GET /skill", "app.skills", "instance", mayRead, "List the skills", bad), inPlace(a.listSkills)),
		answer(route("POST /session/{sessionID}/command", "session.command", "session", mayAll,
			"Run a slash command and wait for the answer", missing, withoutCompression), ofSession(a.command)),
		answer(route("POST /session/{sessionID}/init", "session.init", "session", mayAll,
			"Create AGENTS.md for the project", missing, withoutCompression), ofSession(a.initSession)),
		answer(route("POST /session/{sessionID}/summarize", "session.summarize", "session", mayAll,
			"Summarize a long session", missing, withoutCompression), ofSession(a.summarize)),
	}
}

func (a commandAPI) listCommands(c *call, at workspace.Place, _, _ none) ([]lathe.Command, error) {
	return a.engine.Commands(c.Context(), at.Directory)
}

func (a commandAPI) listSkills(c *call, at workspace.Place, _, _ none) ([]lathe.Skill, error) {
	return a.engine.Skills(c.Context(), at.Directory)
}

type commandBody struct {
	Message   lathe.MessageID `json:"messageID,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Model     string          `json:"model,omitempty" doc:"as provider/model"`
	Arguments string          `json:"arguments"`
	Command   string          `json:"command"`
	Variant   string          `json:"variant,omitempty"`
	Parts     []partInput     `json:"parts,omitempty"`
}

// command responds when the session is idle. The turn continues if the client disconnects.
func (a commandAPI) command(c *call, rec lathe.Session, _ none, in commandBody) (lathe.Message, error) {
	call := lathe.CommandCall{Command: in.Command, Arguments: in.Arguments, Message: in.Message, Agent: in.Agent, Variant: in.Variant}
	if in.Model != "" {
		provider, model, ok := strings.Cut(in.Model, "/")
		if !ok {
			return lathe.Message{}, badRequest("Body", "model: %q is not provider/model", phrase.Shorten(in.Model, 100))
		}
		call.Model = &lathe.ModelRef{Provider: provider, Model: model}
	}
	for _, part := range in.Parts {
		call.Parts = append(call.Parts, lathe.Part(part))
	}
	return a.runCommand(c, rec.ID, call)
}

func (a commandAPI) runCommand(c *call, id lathe.SessionID, call lathe.CommandCall) (lathe.Message, error) {
	if err := checkMessage(call.Message); err != nil {
		return lathe.Message{}, err
	}
	return a.engine.Command(context.WithoutCancel(c.Context()), id, call)
}

type initBody struct {
	Message  lathe.MessageID `json:"messageID"`
	Provider string          `json:"providerID"`
	Model    string          `json:"modelID"`
}

// initSession runs the command that describes a project for agents.
func (a commandAPI) initSession(c *call, rec lathe.Session, _ none, in initBody) (bool, error) {
	call := lathe.CommandCall{Command: "init", Message: in.Message}
	if in.Provider != "" && in.Model != "" {
		call.Model = &lathe.ModelRef{Provider: in.Provider, Model: in.Model}
	}
	_, err := a.runCommand(c, rec.ID, call)
	return err == nil, err
}

type summarizeBody struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
	Auto     bool   `json:"auto,omitempty"`
}

// summarize responds when the compaction is done. A failure is published as session.error and
// recorded on the summary.
func (a commandAPI) summarize(c *call, rec lathe.Session, _ none, in summarizeBody) (bool, error) {
	err := a.engine.Compact(context.WithoutCancel(c.Context()), rec.ID, lathe.CompactRequest{Model: &lathe.ModelRef{Provider: in.Provider, Model: in.Model}, Auto: in.Auto})
	return err == nil, err
}
