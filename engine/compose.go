package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/directory"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/workspace"
)

// composer makes messages of prompts, with what the settings of a directory offer.
type composer struct {
	*services
	dirs *directory.Directories
	away func(ctx context.Context, directory string) string // see [Node]; it may be nil
}

// settingsAt opens a directory and reads its settings.
func (c *composer) settingsAt(ctx context.Context, dir string) (workspace.Place, *StepSettings, error) {
	if c.env == nil {
		return workspace.Place{}, nil, lathe.Errorf(lathe.Unavailable, "this engine has no models configured")
	}
	inst, err := c.dirs.Instance(ctx, dir)
	if err != nil {
		return inst.Place, nil, err
	}
	s, err := c.env.Settings(ctx, inst.Place)
	return inst.Place, s, err
}

// compose makes the user message of a prompt. It publishes an error to the session's listeners,
// because the sender may not wait for the answer.
func (c *composer) compose(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Submission, error) {
	rec, err := c.store.Session(ctx, id)
	if err != nil {
		return lathe.Submission{}, err
	}
	in, err := c.composeMessage(ctx, rec, p)
	if err != nil {
		c.publishFailure(rec, err)
	}
	return in, err
}

// composeMessage chooses agent and model, and reads what the parts refer to.
func (c *composer) composeMessage(ctx context.Context, rec lathe.Session, p lathe.Prompt) (in lathe.Submission, err error) {
	if err := checkPrompt(p); err != nil {
		return in, err
	}
	said, settings, err := c.choose(ctx, rec, p)
	if err != nil {
		return in, err
	}
	m := lathe.Message{ID: p.ID, Session: rec.ID, Data: said}
	if m.ID == "" {
		m.ID = c.ids.Message()
	}
	m.Parts = c.attachments(rec, said.Agent, settings).Expand(ctx, p.Parts)
	c.assignParts(&m)
	if hook := settings.Hooks.ChatMessage; hook != nil {
		if err := hook(ctx, &m); err != nil {
			return in, err
		}
		if err := checkParts(m.Parts); err != nil {
			return in, err
		}
		c.assignParts(&m)
	}
	settings.Images.FitPrompt(m.Parts)
	return lathe.Submission{Message: m, Delivery: p.Delivery, NoReply: p.NoReply, Digest: digest(p)}, nil
}

// attachments read what the parts of a prompt refer to.
func (c *composer) attachments(rec lathe.Session, agent string, settings *StepSettings) prompt.Attachments {
	return prompt.Attachments{
		Session: rec.ID, Dir: rec.Directory, Resource: settings.Resource,
		Report: func(err error) { c.publishFailure(rec, err) },
		Denies: func(other string) bool {
			a, err := settings.agent(agent)
			return err == nil && permission.Scope{Session: rec.Rules, Agent: a.permissions()}.Evaluate(fold.TaskTool, other).Action == lathe.Deny
		},
	}
}

// assignParts gives the parts of a message their ids and their message's id.
func (c *composer) assignParts(m *lathe.Message) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Session, p.Message = m.Session, m.ID; p.ID == "" {
			p.ID = c.ids.Part()
		}
	}
}

// check refuses what no session could take.
func checkPrompt(p lathe.Prompt) error {
	if p.ID != "" {
		if err := lathe.CheckID(lathe.PrefixMessage, string(p.ID)); err != nil {
			return err
		}
	}
	if p.Delivery != "" && p.Delivery != lathe.Steer && p.Delivery != lathe.Queue {
		return lathe.Errorf(lathe.Invalid, "delivery is steer or queue, not %q", p.Delivery)
	}
	if _, err := readFormat(p.Format); err != nil {
		return err
	}
	return checkParts(p.Parts)
}

func checkParts(parts []lathe.Part) error {
	for _, part := range parts {
		switch part.Body.(type) {
		case *lathe.Text, *lathe.File, *lathe.AgentMention, *lathe.Subtask, *lathe.Compaction:
		case nil:
			return lathe.Errorf(lathe.Invalid, "a part of the prompt is empty")
		default:
			return lathe.Errorf(lathe.Invalid, "a prompt cannot hold a part of type %s", part.Body.Kind())
		}
	}
	return nil
}

// digest stands for the words as they were sent.
func digest(p lathe.Prompt) string {
	h := sha256.New()
	write := func(data []byte) {
		h.Write(data)
		h.Write([]byte{0})
	}
	write([]byte(p.Agent))
	if p.Model != nil {
		write([]byte(p.Model.Provider + "/" + p.Model.Model))
	}
	write([]byte(p.Variant))
	write([]byte(p.System))
	write(p.Format)
	tools, _ := json.Marshal(p.Tools)
	write(tools)
	for _, part := range p.Parts {
		write([]byte(part.Body.Kind()))
		write(part.AppendRow(nil))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// choose settles agent, model and variant: what the prompt says, else the agent, else what
// the session used before, else the default.
func (c *composer) choose(ctx context.Context, rec lathe.Session, p lathe.Prompt) (*lathe.User, *StepSettings, error) {
	settings, err := c.settingsOf(ctx, rec.Directory)
	if err != nil {
		if settings, err = c.settingsAway(ctx, rec.Directory, err); err != nil {
			return nil, nil, err
		}
	}
	agent, err := settings.agent(p.Agent)
	if err != nil {
		return nil, nil, err
	}
	u := &lathe.User{Agent: agent.Name, System: p.System, Format: p.Format}
	if len(p.Tools) > 0 {
		u.Tools, _ = json.Marshal(p.Tools)
	}
	u.Model, err = chooseModel(rec, agent, settings, p)
	return u, settings, err
}

// settingsAway returns the settings of this node for a prompt that waits for a node with its directory. They know no
// config of the project. For other prompts it returns the error.
func (c *composer) settingsAway(ctx context.Context, dir string, err error) (*StepSettings, error) {
	if c.away == nil {
		return nil, err
	}
	why := c.away(ctx, dir)
	if why == "" {
		return nil, err
	}
	settings, err := c.env.Settings(ctx, workspace.Place{Directory: "/", Worktree: "/"})
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "%s", why)
	}
	return settings, nil
}

// chooseModel picks the model of a prompt: its own, else the agent's, the session's or the default.
func chooseModel(rec lathe.Session, agent *Agent, settings *StepSettings, p lathe.Prompt) (lathe.ModelRef, error) {
	var candidates []lathe.ModelRef
	if p.Model != nil {
		candidates = append(candidates, *p.Model)
	}
	if agent.Model != nil {
		own := *agent.Model
		own.Variant = agent.Variant
		candidates = append(candidates, own)
	}
	if m := rec.Model; m != nil {
		used := lathe.ModelRef{Provider: m.Provider, Model: m.ID}
		if m.Variant != "default" {
			used.Variant = m.Variant
		}
		candidates = append(candidates, used)
	}
	candidates = append(candidates, settings.DefaultModel)
	i := slices.IndexFunc(candidates, func(m lathe.ModelRef) bool { return m.Provider != "" && m.Model != "" })
	if i < 0 {
		return lathe.ModelRef{}, lathe.Errorf(lathe.Invalid, "%w: name one (provider/model), set \"model\" in the config, or log in to a provider", lathe.ErrNoModel)
	}
	ref := candidates[i]
	if p.Variant != "" {
		ref.Variant = p.Variant
	}
	return lathe.ModelRef{Provider: ref.Provider, Model: ref.Model, Variant: ref.Variant}, nil
}

// Agents lists the agents of a directory: the default one first, the others by name.
func (c *composer) Agents(ctx context.Context, dir string) ([]lathe.Agent, error) {
	s, err := c.settingsOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	return s.Ordered(), nil
}

// Commands lists the slash commands of a directory.
func (c *composer) Commands(ctx context.Context, dir string) ([]lathe.Command, error) {
	s, err := c.settingsOf(ctx, dir)
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
func (c *composer) Skills(ctx context.Context, dir string) ([]lathe.Skill, error) {
	s, err := c.settingsOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	return s.Skills, nil
}

func (c *composer) settingsOf(ctx context.Context, dir string) (*StepSettings, error) {
	_, s, err := c.settingsAt(ctx, dir)
	return s, err
}
