package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/cli/demo"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/provider"
	"github.com/lathe-agent/lathe/tui/state"
)

// noModel is the error of a first run without a provider. It lists the next steps.
type noModel struct {
	found []account.FoundLogin // of other tools
	free  *account.FreeModel   // nil is none
}

func (noModel) Error() string { return "no model available: no provider is configured" }

// ExitStatus is the exit code of a run without a model.
func (noModel) ExitStatus() int { return cli.ExitNoModel }

func (e noModel) Unwrap() error { return lathe.Errorf(lathe.Unauthorized, "%s", e.Error()) }

// Details lists the ways to get a model.
func (e noModel) Details() []string {
	var out []string
	for _, f := range e.found {
		out = append(out, fmt.Sprintf("%-26s  use the %s", "lathe auth import "+f.Tool, termtext.Plain(f.Label)))
	}
	out = append(out,
		"lathe auth login        save an API key, or log in to a provider",
		"lathe models --local    find local models (Ollama, LM Studio …) for `lathe run -m`",
	)
	if e.free != nil {
		out = append(out, "lathe run -m "+e.free.Ref+"    "+e.free.Offer())
	}
	return append(out, "lathe demo              watch a demo, without API key or network")
}

// haveModel checks, before it creates a session, that the turn has a model. Otherwise it starts the first-run dialog.
func haveModel(ctx context.Context, a *cli.App, s *harness.Harness, f *runFlags) error {
	place, err := s.Engine.Locate(ctx, a.Dir)
	if err != nil {
		return nil // creating the session reports it
	}
	k, err := s.ConfigFor(place) // without plugins, whose notices could not be shown yet
	if err != nil {
		return nil
	}
	if err := checkNames(ctx, k, f); err != nil {
		return err
	}
	if f.model != "" || f.command != "" || f.replay != "" || f.continues() || hasModel(k.Settings, f.agent) {
		return nil // they name a model, or the engine reports the problem
	}
	if settings, err := s.Settings(ctx, place); err != nil || hasModel(settings, f.agent) { // a plugin brought one
		return err
	}
	p, err := account.QuietProviders(a)
	if err != nil {
		return err
	}
	if p.Settings.Config.Model != "" { // configured but unusable
		_, err := p.Choose(ctx, "")
		return err
	}
	f.model, err = FirstRun(ctx, a, p, !isHeadless(a, *f))
	return err
}

// checkNames completes the model of -m and refuses an unknown model or agent before it creates a session, which the
// next `run -c` would continue. A plugin or a fallback may know more names.
func checkNames(ctx context.Context, k *harness.DirConfig, f *runFlags) error {
	l := k.Providers.Settings
	plugins := len(l.Config.Plugins)+len(l.Plugins) > 0
	if f.agent != "" && !plugins && !f.continues() && f.replay == "" {
		if err := cli.CheckAgent(f.agent, k.Settings.Ordered()); err != nil {
			return err
		}
	}
	if f.model == "" || f.replay != "" {
		return nil
	}
	full, err := k.Providers.FullName(ctx, f.model)
	switch {
	case err == nil:
		f.model = full
		return nil
	case lathe.CodeOf(err) != lathe.NotFound: // the turn reports it
		return nil
	case strings.Contains(f.model, "/") && (plugins || len(l.Config.Fallback.Models)+len(l.Config.Agents[f.agent].Fallback) > 0):
		return nil
	}
	return cli.WithExit(err, cli.ExitUsage)
}

// checkRemoteNames does it on a server.
func checkRemoteNames(ctx context.Context, c *client.Client, dir string, f *runFlags) error {
	if f.agent != "" && !f.continues() {
		all, err := c.Agents(ctx, dir)
		if err != nil {
			return err
		}
		if err := cli.CheckAgent(f.agent, all); err != nil {
			return err
		}
	}
	if f.model == "" || strings.Contains(f.model, "/") {
		return nil // the server knows more than it lists
	}
	all, err := c.Providers(ctx, dir)
	if err != nil {
		return err
	}
	known := state.Catalog{Providers: all}
	m, err := known.NamedModel(f.model, nil)
	if err != nil {
		return cli.WithExit(lathe.Errorf(lathe.NotFound, "%w", err), cli.ExitUsage)
	}
	f.model = m.Provider + "/" + m.Model
	return nil
}

// continues reports whether the prompt goes to an existing session, which has its own directory.
func (f *runFlags) continues() bool { return f.session != "" || f.next || f.resume }

// hasModel reports whether a prompt has a model: the default one, or that of its agent.
func hasModel(s *engine.StepSettings, agent string) bool {
	agent = cmp.Or(agent, s.DefaultAgent)
	return s.DefaultModel.Model != "" || slices.ContainsFunc(s.Agents, func(a engine.Agent) bool {
		return a.Model != nil && (agent == "" || a.Name == agent)
	})
}

// FirstRun offers the user the ways to get a model. It returns the model to use, or "" for the configured one.
func FirstRun(ctx context.Context, a *cli.App, p *harness.Providers, watched bool) (string, error) {
	if !watched || a.JSON || !cli.IsTerminal(a.Stdin) || !cli.IsTerminal(a.Stderr) {
		return "", noModel{account.FindLogins(a, p), account.BestFreeModel(p)}
	}
	a.Notify("No model available: no provider is configured.")
	logins, found := account.FindLogins(a, p), p.Discover(ctx, "")
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	var choices []cli.Choice
	for _, l := range logins {
		choices = append(choices, cli.Choice{ID: l.Tool + "-" + l.Provider, Name: fmt.Sprintf("Use the %s (%s)", termtext.Plain(l.Label), l.File)})
	}
	choices = append(choices, cli.Choice{ID: account.ChooseLogin, Name: "Log in to a provider, or enter an API key"})
	for _, f := range found {
		choices = append(choices, cli.Choice{ID: f.Vendor.ID, Name: fmt.Sprintf("Use %s (%s)", f.Vendor.Name, termtext.Plural(len(f.Models), "model"))})
	}
	if len(found) == 0 {
		a.Notify("No local model server is running either (Ollama, LM Studio, llama.cpp, vLLM).")
	}
	free := account.BestFreeModel(p)
	if free != nil {
		choices = append(choices, cli.Choice{ID: account.ChooseFree, Name: "Use " + free.Name + ", " + free.Offer()})
	}
	c, err := a.Choose(ctx, "Choose how to start", append(choices, cli.Choice{ID: account.ChooseDemo, Name: "Watch the demo, without API key or network"}))
	switch {
	case context.Cause(ctx) != nil:
		return "", context.Cause(ctx)
	case err != nil: // nothing was chosen
		a.Notify("")
		return "", noModel{logins, free}
	case c.ID == account.ChooseFree:
		return oneRun(a, free.Ref), nil
	case c.ID == account.ChooseLogin:
		return "", account.LogIn(ctx, a, account.LoginFlags{})
	case c.ID == account.ChooseDemo:
		return "", demoInstead(ctx, a)
	}
	for _, l := range logins {
		if c.ID == l.Tool+"-"+l.Provider {
			a.Notify("Using the %s. `lathe auth logout %s` undoes it.", termtext.Plain(l.Label), termtext.Plain(l.Provider))
			return "", l.Use(ctx, p)
		}
	}
	return chooseLocal(ctx, a, found, c.ID)
}

// chooseLocal lets the user choose a model of a local server.
func chooseLocal(ctx context.Context, a *cli.App, found []provider.Found, id string) (string, error) {
	i := slices.IndexFunc(found, func(f provider.Found) bool { return f.Vendor.ID == id })
	name := found[i].Models[0]
	if len(found[i].Models) > 1 {
		var err error
		if name, err = a.ChooseName(ctx, "Model", found[i].Models); err != nil {
			return "", err
		}
	}
	ref := id + "/" + name
	if err := account.UseModel(a, ref); err != nil {
		a.Log.Warn("the model was not saved", "error", err)
		return oneRun(a, ref), nil
	}
	a.Notify("Saved \"model\": %q to %s", ref, a.DisplayPath(a.UserConfigFile()))
	return ref, nil
}

// oneRun returns a model for this run and prints how to make it the default.
func oneRun(a *cli.App, ref string) string {
	a.Notify("To make it the default, add this to your config (`lathe config path` prints its location): \"model\": %q", ref)
	return ref
}

// demoInstead runs the demo. The prompt stays unanswered, so the exit code is a failure.
func demoInstead(ctx context.Context, a *cli.App) error {
	if err := demo.Run(ctx, a); err != nil {
		return err
	}
	return cli.Reported{Code: cli.ExitNoModel}
}
