package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
)

// noModel says that nobody has set up a provider yet, and what to do about it.
type noModel struct {
	free *freeModel // nil is none
}

func (noModel) Error() string { return "there is no model to ask: no provider is set up yet" }

// ExitStatus is that of a run without a model.
func (noModel) ExitStatus() int { return cli.ExitNoModel }

func (e noModel) Unwrap() error { return lathe.Errorf(lathe.Unauthorized, "%s", e.Error()) }

func (e noModel) Details() []string {
	out := []string{
		"lathe auth login        keep the key of a provider, or log in to one",
		"lathe models --local    find models of this machine (Ollama, LM Studio …), for `lathe run -m`",
	}
	if e.free != nil {
		out = append(out, "lathe run -m "+e.free.ref+"    "+e.free.words())
	}
	return append(out, "lathe demo              see it work first, without a key and without a network")
}

// freeModel is one that a provider serves to anyone.
type freeModel struct{ ref, name, provider string }

// words offer it, and say who reads along.
func (f freeModel) words() string {
	return fmt.Sprintf("a free model of %s, which sees what you send and may keep it", f.provider)
}

// freeOf is the best model that nobody needs a key for; nil is none. It is offered and never taken by itself.
func freeOf(p *harness.Providers) *freeModel {
	var open []*catalog.Provider
	for _, a := range p.Actives() {
		if a.Offered {
			open = append(open, a.Provider)
		}
	}
	m, err := p.Catalog.Default(catalog.Wish{Usable: open})
	if len(open) == 0 || err != nil {
		return nil
	}
	return &freeModel{ref: m.Provider + "/" + m.ID, name: m.Name, provider: p.Catalog.Provider(m.Provider).Name}
}

// haveModel looks before a session is made whether a turn would have a model, and helps if not.
func haveModel(ctx context.Context, a *cli.App, s *harness.Harness, f *runFlags) error {
	if f.command != "" && f.model == "" || f.replay != "" || f.session != "" || f.next || f.resume {
		return nil // what they name has a model, or the engine says what is wrong
	}
	place, err := s.Engine.Locate(ctx, a.Dir)
	if err != nil {
		return nil // as the session will say
	}
	k, err := s.ConfigFor(place) // without plugins: nobody hears yet what they have to say
	switch {
	case err != nil:
		return nil
	case f.model != "":
		return knownModel(ctx, a, k.Providers, *f)
	case hasModel(k.Settings, f.agent):
		return nil
	}
	if settings, err := s.Settings(ctx, place); err != nil || hasModel(settings, f.agent) { // a plugin brought one
		return err
	}
	p, err := quietProviders(a)
	if err != nil {
		return err
	}
	if p.Settings.Config.Model != "" { // it is set up, and something is wrong with it
		_, err := p.Choose(ctx, "")
		return err
	}
	f.model, err = firstRun(ctx, a, p, !isHeadless(a, *f))
	return err
}

// knownModel refuses a model that nobody has, before a session is made for it: the next `run -c`
// would go on there, with that model. Programs are told in the session, by an object; a fallback or
// a plugin may know better.
func knownModel(ctx context.Context, a *cli.App, p *harness.Providers, f runFlags) error {
	c := p.Settings.Config
	if f.format != "default" || len(c.Fallback.Models)+len(c.Agents[f.agent].Fallback)+len(c.Plugins)+len(p.Settings.Plugins) > 0 {
		return nil
	}
	if _, err := p.Choose(ctx, f.model); lathe.CodeOf(err) == lathe.NotFound {
		return err
	}
	return nil
}

// quietProviders is providers for who has been warned already.
func quietProviders(a *cli.App) (*harness.Providers, error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil, err
	}
	l, err := a.Config()
	if err != nil {
		return nil, err
	}
	return a.ProvidersOf(l, at)
}

// hasModel reports whether there is a model for a prompt: one to use without being told, or the
// one that its agent brings along.
func hasModel(s *engine.Settings, agent string) bool {
	if agent == "" {
		agent = s.DefaultAgent
	}
	return s.DefaultModel.Model != "" || slices.ContainsFunc(s.Agents, func(a engine.Agent) bool {
		return a.Model != nil && (agent == "" || a.Name == agent)
	})
}

// The choices of the first run that are no servers.
const (
	chooseLogin = "login"
	chooseFree  = "free"
	chooseDemo  = "demo"
)

// firstRun offers what can be done without a provider, to those who are there to choose. It
// returns the model to use, "" if it is now the one of the settings.
func firstRun(ctx context.Context, a *cli.App, p *harness.Providers, watched bool) (string, error) {
	if !watched || a.JSON || !cli.IsTerminal(a.Stdin) || !cli.IsTerminal(a.Stderr) {
		return "", noModel{freeOf(p)}
	}
	a.Remark("There is no model to ask yet: no provider is set up.")
	found := p.Discover(ctx, "")
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	choices := []cli.Choice{{ID: chooseLogin, Name: "Log in to a provider, or give its key"}}
	for _, f := range found {
		choices = append(choices, cli.Choice{ID: f.Vendor.ID, Name: fmt.Sprintf("Use %s, which has %s", f.Vendor.Name, termtext.Several(len(f.Models), "model"))})
	}
	if len(found) == 0 {
		a.Remark("No model server answers on this machine either (Ollama, LM Studio, llama.cpp, vLLM).")
	}
	free := freeOf(p)
	if free != nil {
		choices = append(choices, cli.Choice{ID: chooseFree, Name: "Use " + free.name + ", " + free.words()})
	}
	c, err := a.Choose(ctx, "What do you want to do", append(choices, cli.Choice{ID: chooseDemo, Name: "See the demo, without a key and without a network"}))
	switch {
	case context.Cause(ctx) != nil:
		return "", context.Cause(ctx)
	case err != nil: // nothing was chosen
		a.Remark("")
		return "", noModel{free}
	case c.ID == chooseFree:
		return oneRun(a, free.ref), nil
	case c.ID == chooseLogin:
		return "", account.LogIn(ctx, a, account.LoginFlags{})
	case c.ID == chooseDemo:
		return "", demoInstead(ctx, a)
	}
	return chooseLocal(ctx, a, found, c.ID)
}

// chooseLocal is a model of a server on this machine.
func chooseLocal(ctx context.Context, a *cli.App, found []provider.Found, id string) (string, error) {
	i := slices.IndexFunc(found, func(f provider.Found) bool { return f.Vendor.ID == id })
	name := found[i].Models[0]
	if len(found[i].Models) > 1 {
		var choices []cli.Choice
		for _, m := range found[i].Models {
			choices = append(choices, cli.Choice{ID: m, Name: m})
		}
		c, err := a.Choose(ctx, "Model", choices)
		if err != nil {
			return "", err
		}
		name = c.ID
	}
	return oneRun(a, id+"/"+name), nil
}

// oneRun is a model for this run, and says how to keep it.
func oneRun(a *cli.App, ref string) string {
	a.Remark("To use it always, put this into your settings (`lathe config path` shows where): \"model\": %q", ref)
	return ref
}

// demoInstead shows the demo; the prompt is not answered, so the command is not done.
func demoInstead(ctx context.Context, a *cli.App) error {
	demo := newDemo(a)
	demo.SilenceErrors, demo.SilenceUsage = true, true
	demo.SetArgs([]string{})
	if err := demo.ExecuteContext(ctx); err != nil {
		return err
	}
	return cli.Failed{Code: cli.ExitNoModel}
}
