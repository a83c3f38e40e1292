package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/overview"
)

// Environment provides config, models and tools to the engine. Each step asks again, because tools of
// MCP servers come and go. A config change applies from the next turn (see [editable]), a rule change
// from the next call (see [rulesSource]). Callers must not change the answers. It is called by
// many goroutines.
type Environment interface {
	// Settings returns the settings of a directory.
	Settings(ctx context.Context, at workspace.Place) (*StepSettings, error)
	// Model returns a model that can be used there. A model that does not exist is
	// NotFound, one without a credential Unauthorized.
	Model(ctx context.Context, at workspace.Place, ref lathe.ModelRef) (*Model, error)
}

// StepSettings are the parts of a directory's config that the engine needs.
type StepSettings struct {
	// Source belongs to the Environment: the data it made them from.
	Source any

	Agents       []Agent
	DefaultAgent string               // "" is the first that people may choose
	DefaultModel lathe.ModelRef       // empty if none can be used
	SmallModel   lathe.ModelRef       // for titles; empty means the one of the prompt
	Instructions []prompt.Instruction // that go before every model, in their order
	Skills       []lathe.Skill
	Commands     []SlashCommand
	Tools        *tool.Set
	Shell        *bash.Shell // for commands of the user's; nil refuses them
	Limits       tool.Limits // of what a model sees of a tool's output
	// NoSnapshots saves nothing for an undo; Retention limits the saved snapshots.
	NoSnapshots bool
	Retention   Retention
	Worktree    WorktreeSettings
	// ContinueOnDeny lets the turn continue after the user rejected a call.
	ContinueOnDeny bool
	Retry          Retry
	Deadlines      Deadlines
	Budget         lathe.Budget
	Fallback       Fallback
	Subagents      subagent.Limits
	Compaction     compact.Settings
	Images         prompt.Images
	// Checks are the checks that run regardless of the model.
	Checks check.Checks
	// Resource reads an MCP resource; nil has none.
	Resource func(ctx context.Context, server, uri string) ([]prompt.Resource, error)
	// Edits looks at changed files; nil does not.
	Edits EditObserver
	// Hooks are the hooks of plugins.
	Hooks Hooks
	// Headless says that no user can answer questions.
	Headless bool
	// PromptCache is how long providers are asked to remember a prompt.
	PromptCache PromptCache
	// Unattended refuses every permission that neither rules, approvals nor hooks give: the call
	// fails and the turn continues. Without it a request waits for a person.
	Unattended bool
	// Overview adds a project overview to the first prompt of a session; nil does not.
	Overview  *overview.Config
	Outside   *tool.External // the machine outside the project, for tools; nil is unknown
	Temporary string         // folder for temporary files in the system prompt; "" omits it
	Plans     string         // folder for the plans of directories without a repository; "" saves none
	Home      string         // the user's folder, for names that begin with ~/
	ShellName string         // of models' commands, for the system prompt
}

// Deadlines limit every wait except requests to models, whose clients have their own limits. Zero
// means the default, negative means no limit.
type Deadlines struct {
	Tool     time.Duration // one call
	Subagent time.Duration // one call that is the work of another agent
	Ask      time.Duration // an answer of the user; by default no limit
}

// Retention limits the snapshots saved for an undo. Zero is the default.
type Retention struct {
	Age   time.Duration
	Bytes int64
}

// WorktreeSettings say what a new worktree gets. The setup command has the user's trust.
type WorktreeSettings struct {
	Links []string // ignored names to copy
	Setup string   // command to run in it
}

// Agent is an agent with the evaluation of its rules.
type Agent struct {
	lathe.Agent
	Permissions permission.Rules // nil evaluates Rules
	Fallback    []lathe.ModelRef // empty are those of the settings
	Confined    prompt.Confined
	Isolated    bool // its tasks work in worktrees of their own
}

func (a *Agent) permissions() permission.Rules {
	if a.Permissions != nil {
		return a.Permissions
	}
	return a.Rules
}

// Model is a model as it may be used.
type Model struct {
	Ref    lathe.ModelRef // ids of the catalog
	Name   string         // on the wire
	Client model.Model
	Price  model.Price
	// Limits in tokens; 0 is not known. Output is how long an answer may be here.
	Context, Input, Output int
	MaxOutput              int  // tokens of an answer that the model can give at most
	Temperature            bool // takes one
	// Defaults of the model family, for agents that set none.
	DefaultTemperature, DefaultTopP *float64
	DefaultTopK                     *int
	// Options are merged from provider and model; Variants add to them by name. A provider
	// whose cache has a name for each session has them made for it.
	Options        map[string]json.RawMessage
	SessionOptions func(lathe.SessionID) map[string]json.RawMessage
	Variants       map[string]map[string]json.RawMessage
	Headers        map[string]string
	Target         model.Target
	Cache          model.CacheTTL
}

// agent finds an agent by name; "" is the default one, which people must be able to choose.
func (s *StepSettings) agent(name string) (*Agent, error) {
	visible := func(a *Agent) bool { return !a.Hidden.On() }
	open := func(a *Agent) bool { return a.Mode != lathe.Subagent && visible(a) }
	standard := name == ""
	if standard {
		name = s.DefaultAgent
	}
	for i := range s.Agents {
		a := &s.Agents[i]
		if standard && a.Name == name && !open(a) {
			return nil, lathe.Errorf(lathe.Invalid, "the default agent %q is hidden or a subagent; set default_agent to one of: %s", name, strings.Join(s.names(open), ", "))
		}
		if a.Name == name || name == "" && open(a) {
			return a, nil
		}
	}
	if standard && name != "" {
		return nil, lathe.Errorf(lathe.NotFound, "agent %q of default_agent not found; set default_agent to one of: %s", name, strings.Join(s.names(open), ", "))
	}
	end := "."
	if near := phrase.Similar(name, s.names(visible)); len(near) > 0 {
		end = phrase.DidYouMean(near)
	}
	return nil, lathe.Errorf(lathe.NotFound, "Agent not found: %q%s Available agents: %s", name, end, strings.Join(s.names(visible), ", "))
}

// names are those of the agents for which is holds.
func (s *StepSettings) names(is func(*Agent) bool) (names []string) {
	for i := range s.Agents {
		if is(&s.Agents[i]) {
			names = append(names, s.Agents[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// window holds the model limits that compaction needs; none means that they are unknown.
func (m *Model) window() compact.Window {
	if m == nil {
		return compact.Window{}
	}
	return compact.Window{Context: m.Context, Input: m.Input, Output: m.Output}
}

// Ordered puts the default agent first and the others after it by name, as clients list them.
func (s *StepSettings) Ordered() []lathe.Agent {
	first := ""
	if a, err := s.agent(""); err == nil {
		first = a.Name
	}
	out := make([]lathe.Agent, len(s.Agents))
	for i, a := range s.Agents {
		out[i] = a.Agent
	}
	slices.SortStableFunc(out, func(a, b lathe.Agent) int {
		if (a.Name == first) != (b.Name == first) {
			if a.Name == first {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// client is the way to a model, whose requests are counted and traced.
func (e *Engine) client(m *Model) model.Model {
	return e.telemetry.Client(model.Bounded{Model: m.Client, Output: m.MaxOutput}, m.Ref)
}
