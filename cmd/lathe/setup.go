package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// agentSetup tells the engine what settings, catalogue and credentials say. What it has read of a
// directory holds until a file of it changes.
type agentSetup struct {
	app     *app
	loader  *config.Loader
	runner  *sandbox.Runner // of commands
	confine *confinement    // of those of models
	seen    *tool.Seen
	outputs string            // where long outputs of tools are kept
	wire    http.RoundTripper // records or replays; nil is the network
	keyless bool              // a recording asks for no key

	mu   sync.Mutex // guards dirs
	dirs map[string]*known
}

// known is what was read of one directory.
type known struct {
	loaded    *config.Loaded
	keys      time.Time // when the credentials changed
	providers *providers
	settings  *engine.Settings
	models    map[string]*engine.Model
}

func newSetup(a *app, at folders) *agentSetup {
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
	return &agentSetup{
		app: a, loader: config.NewLoader(), runner: runner, confine: a.newConfinement(runner.Kernel), seen: tool.NewSeen(),
		outputs: at.outputs(), dirs: map[string]*known{},
	}
}

// Close ends what commands have left running.
func (s *agentSetup) Close() error { return s.runner.Close() }

// in is the same program in another directory.
func (a *app) in(dir string) *app {
	other := *a
	other.dir = dir
	return &other
}

// at reads what a directory says, if that changed.
func (s *agentSetup) at(place workspace.Place) (*known, error) {
	a := s.app.in(place.Directory)
	o, err := a.settingsOptions()
	if err != nil {
		return nil, err
	}
	loaded, _, err := s.loader.Load(o)
	if err != nil {
		return nil, err
	}
	folders, err := findFolders(a.env)
	if err != nil {
		return nil, err
	}
	var keys time.Time
	if info, err := os.Stat(folders.credentials()); err == nil {
		keys = info.ModTime()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.dirs[place.Directory]; k != nil && k.loaded == loaded && k.keys.Equal(keys) {
		return k, nil
	}
	k := &known{loaded: loaded, keys: keys, models: map[string]*engine.Model{}}
	if k.providers, err = a.providersOf(loaded, folders); err != nil {
		return nil, err
	}
	k.settings = s.read(k)
	s.dirs[place.Directory] = k
	return k, nil
}

// Settings is what the engine needs of a directory's settings.
func (s *agentSetup) Settings(_ context.Context, place workspace.Place) (*engine.Settings, error) {
	k, err := s.at(place)
	if err != nil {
		return nil, err
	}
	return k.settings, nil
}

func (s *agentSetup) read(k *known) *engine.Settings {
	c := k.loaded.Config
	out := &engine.Settings{
		Agents: s.agents(k.loaded), DefaultAgent: c.DefaultAgent,
		Limits:         tool.Limits{Lines: c.ToolOutput.MaxLines, Bytes: c.ToolOutput.MaxBytes},
		ContinueOnDeny: c.Experimental.ContinueLoopOnDeny,
		Retry:          retryOf(c.Retry), Budget: budgetOf(c.Budget),
		Deadlines: engine.Deadlines{Tool: bound(c.Deadline.Tool), Subagent: bound(c.Deadline.Subagent), Ask: bound(c.Deadline.Ask)},
		Fallback:  engine.Fallback{Models: modelRefs(c.Fallback.Models), Unauthorized: c.Fallback.Unauthorized},
	}
	s.equip(k, out)
	for _, i := range k.loaded.Instructions {
		if i.Path == "" {
			continue // addresses are fetched by whoever may open connections
		}
		if text, err := os.ReadFile(i.Path); err == nil && len(strings.TrimSpace(string(text))) > 0 {
			out.System = append(out.System, "Instructions from: "+i.Path+"\n"+strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")))
		}
	}
	if m, err := k.providers.choose(context.Background(), s.app, ""); err == nil {
		out.DefaultModel = lathe.ModelRef{Provider: m.Provider, Model: m.ID}
		if small, err := k.providers.catalog.Small(c.SmallModel, m); err == nil {
			out.SmallModel = lathe.ModelRef{Provider: small.Provider, Model: small.ID}
		}
	}
	return out
}

// agents are the built-in one and those of the settings.
func (s *agentSetup) agents(l *config.Loaded) (out []engine.Agent) {
	names := []string{"build"}
	for name := range l.Config.Agents {
		if name != "build" {
			names = append(names, name)
		}
	}
	slices.Sort(names[1:])
	for _, name := range names {
		own := l.Config.Agents[name]
		if own.Disable {
			continue
		}
		out = append(out, s.agent(name, own, l.AgentRules(name)))
	}
	return out
}

func (s *agentSetup) agent(name string, own config.Agent, rules config.Rules) engine.Agent {
	nature := natural(s.outputs)
	a := lathe.Agent{
		Name: name, Description: own.Description, Mode: lathe.AgentMode(own.Mode), TopP: own.TopP, Temperature: own.Temperature,
		Color: own.Color, Variant: own.Variant, Prompt: own.Prompt, Steps: own.Steps, Hidden: lathe.FlagOf(own.Hidden),
	}
	if a.Mode == "" {
		a.Mode = lathe.AnyMode
	}
	if name == "build" {
		a.Mode, a.Native = lathe.Primary, lathe.Yes
		nature = append(nature, lathe.Rule{Permission: "question", Pattern: "*", Action: lathe.Allow}, lathe.Rule{Permission: "plan_enter", Pattern: "*", Action: lathe.Allow})
	}
	if len(own.Options) > 0 {
		a.Options, _ = json.Marshal(own.Options)
	}
	if p, m, err := catalog.Split(own.Model); own.Model != "" && err == nil {
		a.Model = &lathe.ModelRef{Provider: p, Model: m}
	}
	rules.All = append(nature, rules.All...)
	a.Rules = rules.All
	return engine.Agent{Agent: a, Judge: rules, Fallback: modelRefs(own.Fallback)}
}

// natural are the rules every agent begins with.
func natural(outputs string) lathe.Ruleset {
	rule := func(permission, pattern string, action lathe.Action) lathe.Rule {
		return lathe.Rule{Permission: permission, Pattern: pattern, Action: action}
	}
	return lathe.Ruleset{
		rule("*", "*", lathe.Allow), rule("doom_loop", "*", lathe.Ask), rule("sandbox", "*", lathe.Ask),
		rule("external_directory", "*", lathe.Ask), rule("external_directory", outputs+"/*", lathe.Allow),
		rule("question", "*", lathe.Deny), rule("plan_enter", "*", lathe.Deny), rule("plan_exit", "*", lathe.Deny),
		rule("read", "*", lathe.Allow), rule("read", "*.env", lathe.Ask), rule("read", "*.env.*", lathe.Ask), rule("read", "*.env.example", lathe.Allow),
	}
}

// Model is a model that can be used in a directory.
func (s *agentSetup) Model(ctx context.Context, place workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	k, err := s.at(place)
	if err != nil {
		return nil, err
	}
	name := ref.Provider + "/" + ref.Model
	s.mu.Lock()
	m := k.models[name]
	s.mu.Unlock()
	if m != nil {
		return m, nil
	}
	found, err := k.providers.find(ctx, s.app.in(place.Directory), name)
	if err != nil {
		return nil, err
	}
	if m, err = s.open(k.providers, found); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.models[name] == nil { // or its kept bytes would be lost
		k.models[name] = m
	}
	return k.models[name], nil
}

func (s *agentSetup) open(p *providers, m *catalog.Model) (*engine.Model, error) {
	deps, vendor := p.deps, p.catalog.Provider(m.Provider)
	if s.wire != nil {
		deps.Client = &http.Client{Transport: s.wire}
	}
	if s.keyless {
		deps = withoutKeys(vendor, m, deps)
	}
	client, info, err := provider.Open(vendor, m, deps)
	if err != nil {
		return nil, asAuthFault(vendor, err)
	}
	suits := info.Defaults("")
	out := &engine.Model{
		Ref: lathe.ModelRef{Provider: m.Provider, Model: m.ID}, Name: info.Name, Client: client, Price: info.Price,
		Context: int(m.Limit.Context), Input: int(m.Limit.Input), Output: m.MaxOutput(s.app.outputLimit()), Temperature: m.Temperature,
		DefaultTemperature: suits.Temperature, DefaultTopP: suits.TopP, DefaultTopK: suits.TopK,
		Options: suits.Options, Headers: m.Headers, Variants: map[string]map[string]json.RawMessage{}, Cache: suits.Cache,
		For:    func(id lathe.SessionID) map[string]json.RawMessage { return info.Defaults(string(id)).Options },
		Target: info.Target(),
	}
	for _, v := range m.Variants() {
		out.Variants[v.Name] = v.Options
	}
	return out, nil
}

// asAuthFault shows clients a missing key the way they know it.
func asAuthFault(p *catalog.Provider, err error) error {
	if lathe.CodeOf(err) != lathe.Unauthorized {
		return err
	}
	return &lathe.Error{
		Code: lathe.Unauthorized, Message: err.Error(), Err: err,
		Fault: &lathe.ProviderAuthFault{ProviderID: p.ID, Message: err.Error()},
	}
}
