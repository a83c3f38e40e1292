package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/cli/demo"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/provider"
)

// noModel says that nobody has set up a provider yet, and what to do about it.
type noModel struct {
	free *account.FreeModel // nil is none
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
		out = append(out, "lathe run -m "+e.free.Ref+"    "+e.free.Offer())
	}
	return append(out, "lathe demo              see it work first, without a key and without a network")
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
	p, err := account.QuietProviders(a)
	if err != nil {
		return err
	}
	if p.Settings.Config.Model != "" { // it is set up, and something is wrong with it
		_, err := p.Choose(ctx, "")
		return err
	}
	f.model, err = FirstRun(ctx, a, p, !isHeadless(a, *f))
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

// hasModel reports whether there is a model for a prompt: one to use without being told, or the
// one that its agent brings along.
func hasModel(s *engine.StepSettings, agent string) bool {
	agent = cmp.Or(agent, s.DefaultAgent)
	return s.DefaultModel.Model != "" || slices.ContainsFunc(s.Agents, func(a engine.Agent) bool {
		return a.Model != nil && (agent == "" || a.Name == agent)
	})
}

// FirstRun offers what can be done without a provider, to those who are there to choose. It
// returns the model to use, "" if it is now the one of the settings.
func FirstRun(ctx context.Context, a *cli.App, p *harness.Providers, watched bool) (string, error) {
	if !watched || a.JSON || !cli.IsTerminal(a.Stdin) || !cli.IsTerminal(a.Stderr) {
		return "", noModel{account.BestFreeModel(p)}
	}
	a.Notify("There is no model to ask yet: no provider is set up.")
	found := p.Discover(ctx, "")
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	choices := []cli.Choice{{ID: account.ChooseLogin, Name: "Log in to a provider, or enter an API key"}}
	for _, f := range found {
		choices = append(choices, cli.Choice{ID: f.Vendor.ID, Name: fmt.Sprintf("Use %s, which has %s", f.Vendor.Name, termtext.Plural(len(f.Models), "model"))})
	}
	if len(found) == 0 {
		a.Notify("No model server answers on this machine either (Ollama, LM Studio, llama.cpp, vLLM).")
	}
	free := account.BestFreeModel(p)
	if free != nil {
		choices = append(choices, cli.Choice{ID: account.ChooseFree, Name: "Use " + free.Name + ", " + free.Offer()})
	}
	c, err := a.Choose(ctx, "What do you want to do", append(choices, cli.Choice{ID: account.ChooseDemo, Name: "See the demo, without a key and without a network"}))
	switch {
	case context.Cause(ctx) != nil:
		return "", context.Cause(ctx)
	case err != nil: // nothing was chosen
		a.Notify("")
		return "", noModel{free}
	case c.ID == account.ChooseFree:
		return oneRun(a, free.Ref), nil
	case c.ID == account.ChooseLogin:
		return "", account.LogIn(ctx, a, account.LoginFlags{})
	case c.ID == account.ChooseDemo:
		return "", demoInstead(ctx, a)
	}
	return chooseLocal(ctx, a, found, c.ID)
}

// chooseLocal is a model of a server on this machine.
func chooseLocal(ctx context.Context, a *cli.App, found []provider.Found, id string) (string, error) {
	i := slices.IndexFunc(found, func(f provider.Found) bool { return f.Vendor.ID == id })
	name := found[i].Models[0]
	if len(found[i].Models) > 1 {
		var err error
		if name, err = a.ChooseName(ctx, "Model", found[i].Models); err != nil {
			return "", err
		}
	}
	return oneRun(a, id+"/"+name), nil
}

// oneRun is a model for this run, and says how to keep it.
func oneRun(a *cli.App, ref string) string {
	a.Notify("To use it always, put this into your settings (`lathe config path` shows where): \"model\": %q", ref)
	return ref
}

// demoInstead shows the demo; the prompt is not answered, so the command is not done.
func demoInstead(ctx context.Context, a *cli.App) error {
	if err := demo.Run(ctx, a); err != nil {
		return err
	}
	return cli.Reported{Code: cli.ExitNoModel}
}
