// Package harness builds an engine from config: tools, sandbox, providers, agents, trust, and the extensions of a
// directory (plugins and MCP servers). Open returns one value with all of it; run, serve, the terminal UI and
// mcp serve use it, and so can a program that embeds lathe.
//
// Start reading at open.go, then harness.go; extensions.go has plugins and MCP servers,
// backend.go the parts for an HTTP server.
package harness

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/engine/check"

	"github.com/lathe-agent/lathe/tool/builtin"

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

// Harness gives the engine its config, models and credentials. It caches the config of a directory until a file
// changes.
type Harness struct {
	app     *Host
	Folders datadir.Folders
	Engine  *engine.Engine // nil where no turns run
	loader  *config.Loader
	Runner  *sandbox.Runner // of commands
	environ []string        // of commands; nil is the one of the program
	Confine *confine.Policy // of those of models
	seen    *builtin.ReadTracker
	pages   *pages        // instructions from addresses
	skills  *skillIndexes // and skills
	// headless means that no person can answer questions.
	headless bool
	// serves means that clients of a server may answer permission requests.
	serves  bool
	wire    http.RoundTripper // records or replays; nil is the network
	nodes   *peers            // of the cluster; nil if this program shares its sessions with no other
	Keyless bool              // a recording asks for no key

	Languages *Languages

	mu            sync.Mutex // guards the fields below
	dirs          map[string]*DirConfig
	fetchedSkills map[string][]string // folders, by directory
	added         map[string]string   // by plugins to the settings of a directory

	extensionSets extensionSets
	*Editor
}

// DirConfig is the cached config of one directory.
type DirConfig struct {
	loaded    *config.Loaded
	keys      time.Time // when the credentials changed
	fetched   int       // how many instructions had come from their addresses
	Providers *Providers
	Settings  *engine.StepSettings
	models    map[string]*engine.Model
	offer     sync.Once // decides whether the tool lsp is offered
}

func New(a *Host, at datadir.Folders) *Harness {
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Forbidden: sandbox.ServedByLathe})
	s := &Harness{
		app: a, Folders: at, loader: config.NewLoader(), Runner: runner, Confine: confine.New(a.ConfineHost(), runner.Kernel), seen: builtin.NewReadTracker(),
		pages: newPages(at.Instructions(), a.agent(), a.Log), dirs: map[string]*DirConfig{},
		skills: newSkillIndexes(at.Skills(), a.agent(), a.Log), fetchedSkills: map[string][]string{}, added: map[string]string{},
		extensionSets: extensionSets{tokens: MCPLogins(at), dirs: map[string]*extensionSet{}},
	}
	s.Editor = &Editor{setup: s}
	s.extensionSets.hooks = newHookSets(s)
	s.Languages = newLanguages(s)
	return s
}

// Close ends the engine, in which turns are settled, then extensions, what commands have left running, and what is
// still being fetched.
func (s *Harness) Close() (err error) {
	s.extensionSets.hooks.close()
	if s.Engine != nil {
		err = s.Engine.Close()
	}
	s.pages.close()
	s.skills.close()
	s.Confine.Close()
	return errors.Join(err, s.closeServers(), s.extensionSets.close(), s.Languages.State().Servers.Close(), s.Runner.Close())
}

// ConfigFor returns the config of a directory and reads it again if a file changed.
func (s *Harness) ConfigFor(place workspace.Place) (*DirConfig, error) {
	a := s.app.WithDir(place.Directory)
	o, err := a.ConfigOptions()
	if err != nil {
		return nil, err
	}
	loaded, err := s.load(o)
	if err != nil {
		return nil, err
	}
	folders, err := datadir.Find(a.Env)
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
	k := &DirConfig{loaded: loaded, keys: keys, fetched: fetched, models: map[string]*engine.Model{}}
	if k.Providers, err = a.ProvidersOf(loaded, folders); err != nil {
		return nil, err
	}
	k.Settings = s.read(k, place)
	s.dirs[place.Directory] = k
	return k, nil
}

// HasConfigChanged reports whether the config files of a directory changed since the given settings were made.
func (s *Harness) HasConfigChanged(place workspace.Place, was *engine.StepSettings) (bool, error) {
	o, err := s.app.WithDir(place.Directory).ConfigOptions()
	if err != nil {
		return false, err
	}
	now, err := s.load(o)
	return now != was.Source, err
}

// Agents returns the agents of a directory, without those of extensions.
func (s *Harness) Agents(place workspace.Place) ([]engine.Agent, error) {
	k, err := s.ConfigFor(place)
	if err != nil {
		return nil, err
	}
	return k.Settings.Agents, nil
}

// withMode returns the config of a turn with the current permission mode. Like rules, a new mode takes effect with the
// next call.
func (s *Harness) withMode(place workspace.Place, c config.Config) config.Config {
	if k, err := s.ConfigFor(place); err == nil {
		c.PermissionMode = k.loaded.Config.PermissionMode
	}
	return c
}

// load reads the config, with the skills that were fetched for it.
func (s *Harness) load(o config.Options) (*config.Loaded, error) {
	s.mu.Lock()
	o.Skills, o.FromPlugins = s.fetchedSkills[o.Directory], s.added[o.Directory]
	s.mu.Unlock()
	loaded, _, err := s.loader.Load(o)
	if err != nil || s.Keyless { // a recording needs no network
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

func (s *Harness) read(k *DirConfig, place workspace.Place) *engine.StepSettings {
	c := k.loaded.Config
	out := &engine.StepSettings{
		Source: k.loaded,
		Agents: s.agents(k.loaded, place), DefaultAgent: c.DefaultAgent,
		Limits:         tool.Limits{Lines: c.ToolOutput.MaxLines, Bytes: c.ToolOutput.MaxBytes},
		ContinueOnDeny: c.Experimental.ContinueLoopOnDeny,
		NoSnapshots:    c.Snapshot.Enabled != nil && !*c.Snapshot.Enabled,
		Worktree:       engine.WorktreeSettings{Links: c.Worktree.Link, Setup: c.Worktree.Setup},
		Retention:      engine.Retention{Age: time.Duration(c.Snapshot.MaxDays) * 24 * time.Hour, Bytes: int64(c.Snapshot.MaxMegabytes) << 20},
		Retry:          retryOf(c.Retry), Budget: BudgetOf(c.Budget),
		Deadlines: engine.Deadlines{Tool: bound(c.Deadline.Tool), Subagent: bound(c.Deadline.Subagent), Ask: bound(c.Deadline.Ask)},
		Subagents: subagentsOf(c), Images: imagesOf(c.Attachment.Image),
		Fallback: engine.Fallback{Models: modelRefs(c.Fallback.Models), Unauthorized: c.Fallback.Unauthorized}, Compaction: CompactionOf(c.Compaction),
		PromptCache: engine.PromptCache(c.PromptCache),
		Headless:    s.headless, Unattended: s.serves && c.Unattended == "refuse", Checks: check.Defaults(s.headless).With(c.Checks),
	}
	s.equip(k, place, out)
	s.Languages.observe(k, place, out)
	s.brief(k, out)
	s.extensionSets.hooks.add(k, place, out)
	if m, err := k.Providers.Choose(context.Background(), ""); err == nil {
		out.DefaultModel = lathe.ModelRef{Provider: m.Provider, Model: m.ID}
		if small, err := k.Providers.Catalog.Small(c.SmallModel, m); err == nil {
			out.SmallModel = lathe.ModelRef{Provider: small.Provider, Model: small.ID}
		}
	}
	return out
}

// Model returns a usable model of a directory.
func (s *Harness) Model(ctx context.Context, place workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	k, err := s.ConfigFor(place)
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
	found, err := k.Providers.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	if m, err = s.open(k.Providers, found); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.models[name] == nil { // or its cached bytes would be lost
		k.models[name] = m
	}
	return k.models[name], nil
}

func (s *Harness) open(p *Providers, m *catalog.Model) (*engine.Model, error) {
	deps, vendor := p.Deps, p.Catalog.Provider(m.Provider)
	if s.wire != nil {
		deps.Client = &http.Client{Transport: s.wire}
	}
	if s.Keyless {
		deps = WithoutKeys(vendor, m, deps)
	}
	client, info, err := provider.Open(vendor, m, deps)
	if err != nil {
		return nil, asAuthFault(vendor, err)
	}
	suits := info.Defaults("")
	out := &engine.Model{
		Ref: lathe.ModelRef{Provider: m.Provider, Model: m.ID}, Name: info.Name, Client: p.nameFailures(client, vendor), Price: info.Price,
		Context: int(m.Limit.Context), Input: int(m.Limit.Input), Output: m.MaxOutput(s.app.OutputLimit()), MaxOutput: int(m.Limit.Output), Temperature: m.Temperature,
		DefaultTemperature: suits.Temperature, DefaultTopP: suits.TopP, DefaultTopK: suits.TopK,
		Options: suits.Options, Headers: m.Headers, Variants: map[string]map[string]json.RawMessage{}, Cache: suits.Cache,
		SessionOptions: func(id lathe.SessionID) map[string]json.RawMessage { return info.Defaults(string(id)).Options },
		Target:         info.Target(),
	}
	for _, v := range m.Variants() {
		out.Variants[v.Name] = v.Options
	}
	return out, nil
}

// asAuthFault turns a missing key into the fault that clients know.
func asAuthFault(p *catalog.Provider, err error) error {
	if lathe.CodeOf(err) != lathe.Unauthorized {
		return err
	}
	return &lathe.Error{
		Code: lathe.Unauthorized, Message: err.Error(), Err: err,
		Fault: &lathe.ProviderAuthFault{ProviderID: p.ID, Message: err.Error()},
	}
}
