package main

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/lathe-agent/lathe/tool/builtin"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// agentSetup tells the engine what settings, catalogue and credentials say. What it has read of a
// directory holds until a file of it changes.
type agentSetup struct {
	app     *hostEnv
	loader  *config.Loader
	runner  *sandbox.Runner // of commands
	environ []string        // of commands; nil is that of the program
	confine *confine.Policy // of those of models
	seen    *builtin.Seen
	outputs string        // where long outputs of tools are kept
	plans   string        // and plans that belong to no repository
	pages   *pages        // instructions from addresses
	skills  *skillIndexes // and skills
	// headless says that nobody answers questions.
	headless bool
	// serves says that it is a server's: clients may answer permission requests, or nobody.
	serves  bool
	wire    http.RoundTripper // records or replays; nil is the network
	keyless bool              // a recording asks for no key

	mu            sync.Mutex // guards the fields below
	dirs          map[string]*known
	fetchedSkills map[string][]string // folders, by directory
	added         map[string]string   // by plugins to the settings of a directory

	visits visits
}

// known is what was read of one directory.
type known struct {
	loaded    *config.Loaded
	keys      time.Time // when the credentials changed
	fetched   int       // how many instructions had come from their addresses
	providers *providers
	settings  *engine.Settings
	models    map[string]*engine.Model
}

func newSetup(a *hostEnv, at datadir.Folders) *agentSetup {
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Never: sandbox.ServedByLathe})
	return &agentSetup{
		app: a, loader: config.NewLoader(), runner: runner, confine: confine.New(a.confineHost(), runner.Kernel), seen: builtin.NewSeen(),
		outputs: at.Outputs(), plans: at.Plans(), pages: newPages(at.Instructions(), a.log), dirs: map[string]*known{},
		skills: newSkillIndexes(at.Skills(), a.log), fetchedSkills: map[string][]string{}, added: map[string]string{},
		visits: visits{at: at, dirs: map[string]*visit{}},
	}
}

// Close ends guests, what commands have left running, and what is still being fetched.
func (s *agentSetup) Close() error {
	s.pages.close()
	s.skills.close()
	s.confine.Close()
	return errors.Join(s.visits.close(), s.runner.Close())
}

// at reads what a directory says, if that changed.
func (s *agentSetup) at(place workspace.Place) (*known, error) {
	a := s.app.in(place.Directory)
	o, err := a.settingsOptions()
	if err != nil {
		return nil, err
	}
	loaded, err := s.load(o)
	if err != nil {
		return nil, err
	}
	folders, err := datadir.Find(a.env)
	if err != nil {
		return nil, err
	}
	var keys time.Time
	if info, err := os.Stat(folders.Credentials()); err == nil {
		keys = info.ModTime()
	}
	fetched := s.pages.count()
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.dirs[place.Directory]; k != nil && k.loaded == loaded && k.keys.Equal(keys) && k.fetched == fetched {
		return k, nil
	}
	k := &known{loaded: loaded, keys: keys, fetched: fetched, models: map[string]*engine.Model{}}
	if k.providers, err = a.providersOf(loaded, folders); err != nil {
		return nil, err
	}
	k.settings = s.read(k, place)
	s.dirs[place.Directory] = k
	return k, nil
}

// Edited reports whether the files of a directory say something else than settings that were made of
// them.
func (s *agentSetup) Edited(place workspace.Place, was *engine.Settings) (bool, error) {
	o, err := s.app.in(place.Directory).settingsOptions()
	if err != nil {
		return false, err
	}
	now, err := s.load(o)
	return now != was.Source, err
}

// Agents are those of a directory, without what guests bring.
func (s *agentSetup) Agents(place workspace.Place) ([]engine.Agent, error) {
	k, err := s.at(place)
	if err != nil {
		return nil, err
	}
	return k.settings.Agents, nil
}

// withMode is the config of a turn with the permission mode of this moment, which counts from the next call
// on as rules do.
func (s *agentSetup) withMode(place workspace.Place, c config.Config) config.Config {
	if k, err := s.at(place); err == nil {
		c.PermissionMode = k.loaded.Config.PermissionMode
	}
	return c
}

// load reads settings, with the skills that were fetched for them.
func (s *agentSetup) load(o config.Options) (*config.Loaded, error) {
	s.mu.Lock()
	o.Skills, o.Added = s.fetchedSkills[o.Directory], s.added[o.Directory]
	s.mu.Unlock()
	loaded, _, err := s.loader.Load(o)
	if err != nil || s.keyless { // a recording needs no network
		return loaded, err
	}
	folders := s.skills.folders(loaded.Config.Skills.URLs)
	if slices.Equal(folders, o.Skills) {
		return loaded, nil
	}
	s.mu.Lock()
	s.fetchedSkills[o.Directory] = folders
	s.mu.Unlock()
	o.Skills = folders
	loaded, _, err = s.loader.Load(o)
	return loaded, err
}

func (s *agentSetup) read(k *known, place workspace.Place) *engine.Settings {
	c := k.loaded.Config
	out := &engine.Settings{
		Source: k.loaded,
		Agents: s.agents(k.loaded, place), DefaultAgent: c.DefaultAgent,
		Limits:         tool.Limits{Lines: c.ToolOutput.MaxLines, Bytes: c.ToolOutput.MaxBytes},
		ContinueOnDeny: c.Experimental.ContinueLoopOnDeny,
		NoSnapshots:    c.Snapshot.Enabled != nil && !*c.Snapshot.Enabled,
		Kept:           engine.Kept{Age: time.Duration(c.Snapshot.MaxDays) * 24 * time.Hour, Bytes: int64(c.Snapshot.MaxMegabytes) << 20},
		Retry:          retryOf(c.Retry), Budget: budgetOf(c.Budget),
		Deadlines: engine.Deadlines{Tool: bound(c.Deadline.Tool), Subagent: bound(c.Deadline.Subagent), Ask: bound(c.Deadline.Ask)},
		Subagents: subagentsOf(c), Images: imagesOf(c.Attachment.Image),
		Fallback: engine.Fallback{Models: modelRefs(c.Fallback.Models), Unauthorized: c.Fallback.Unauthorized}, Compaction: compactionOf(c.Compaction),
		PromptCache: engine.PromptCache(c.PromptCache),
		Headless:    s.headless, Unattended: s.serves && c.Unattended == "refuse", Checks: engine.DefaultChecks(s.headless).With(c.Checks.Switches()),
	}
	s.equip(k, place, out)
	s.brief(k, out)
	if m, err := k.providers.choose(context.Background(), ""); err == nil {
		out.DefaultModel = lathe.ModelRef{Provider: m.Provider, Model: m.ID}
		if small, err := k.providers.catalog.Small(c.SmallModel, m); err == nil {
			out.SmallModel = lathe.ModelRef{Provider: small.Provider, Model: small.ID}
		}
	}
	return out
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
	found, err := k.providers.find(ctx, name)
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
		Ref: lathe.ModelRef{Provider: m.Provider, Model: m.ID}, Name: info.Name, Client: p.nameFailures(client, vendor), Price: info.Price,
		Context: int(m.Limit.Context), Input: int(m.Limit.Input), Output: m.MaxOutput(s.app.outputLimit()), Longest: int(m.Limit.Output), Temperature: m.Temperature,
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
