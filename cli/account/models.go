package account

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/modelname"
	"github.com/lathe-agent/lathe/internal/scrub"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
)

type modelsFlags struct {
	verbose, refresh, local, all bool
}

// NewModels returns `lathe models`.
func NewModels(a *cli.App) *cobra.Command {
	var f modelsFlags
	cmd := &cobra.Command{
		Use:   "models [PROVIDER | PROVIDER/MODEL]",
		Short: "List available models, or show one",
		Long: `List the available models, newest first: those of providers with credentials, without API keys, or in
the config. --all lists the whole catalog. With PROVIDER/MODEL, show that model's limits, prices,
capabilities and reasoning levels. On a terminal the list has the context window, the price per
million tokens in dollars, reasoning levels and the release date; otherwise only names.

For -m a part of a name is enough: lathe run -m sonnet uses the newest Sonnet.

The catalog is built in. --refresh downloads the current one from models.dev, or from
LATHE_MODELS_URL, and saves it; lathe downloads nothing otherwise. LATHE_MODELS_PATH sets a file to
read instead. The provider section of the config changes and extends the catalog.

--local also lists the models of local servers (Ollama, LM Studio, llama.cpp, vLLM).`,
		Example: `  lathe models
  lathe models anthropic --verbose
  lathe models anthropic/claude-opus-5
  lathe models --local
  lathe models --refresh
  lathe models --all --json | jq -r '.[] | select(.cost.input == 0) | .id'`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				if name = args[0]; name == "" {
					return cli.Usagef("the provider is empty; leave it out to list all")
				}
			}
			return listModels(c.Context(), a, name, f)
		},
	}
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "print the details of each model as JSON")
	cmd.Flags().BoolVar(&f.refresh, "refresh", false, "download the current catalog first")
	cmd.Flags().BoolVar(&f.local, "local", false, "also list models of local servers")
	cmd.Flags().BoolVarP(&f.all, "all", "a", false, "also list models without credentials")
	return a.JSONFlag(cmd)
}

// listModels prints the models of the catalog. It contacts local servers only if the name or --local asks for them.
func listModels(ctx context.Context, a *cli.App, name string, f modelsFlags) error {
	if f.refresh {
		if err := refreshModels(ctx, a); err != nil {
			return err
		}
	}
	p, err := a.Providers()
	if err != nil {
		return err
	}
	id, model, single := strings.Cut(name, "/")
	switch {
	case harness.IsLocal(id): // a local server has no models unless queried
		p.Discover(ctx, id)
	case f.local:
		if len(p.Discover(ctx, "")) == 0 {
			a.Notify("No local model server is running. Start one, or set provider.ID.options.baseURL (ID: ollama, lmstudio, llama.cpp or vllm) to its address.")
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	a.WarnCatalog(p.Catalog)
	if single {
		if d := p.Settings.Untrusted; d != nil && slices.ContainsFunc(d.Risks, func(r config.Risk) bool {
			return len(r.Key) > 1 && r.Key[0] == "provider" && r.Key[1] == id
		}) {
			a.WarnUntrusted(p.Settings) // the printed address would differ
		}
		return showModel(ctx, a, p, id, model)
	}
	list, err := listed(p, id, f.all)
	if err != nil {
		return err
	}
	if err := printModels(a, list, f.verbose); err != nil {
		return err
	}
	remarkModels(a, list, f)
	return nil
}

// listed returns the providers to list, with their available models.
func listed(p *harness.Providers, id string, all bool) ([]provider.Active, error) {
	list := p.Active()
	if all {
		list = nil
		for _, one := range p.Catalog.Providers() {
			list = append(list, provider.Active{Provider: one})
		}
		list = harness.SortActive(list)
	}
	if id == "" {
		return list, nil
	}
	list = slices.DeleteFunc(list, func(a provider.Active) bool { return a.Provider.ID != id })
	if len(list) > 0 {
		return list, nil
	}
	return nil, whyNone(p, id)
}

// whyNone explains why a provider has no models to list.
func whyNone(p *harness.Providers, id string) error {
	known := p.Catalog.Provider(id)
	if known == nil {
		return unknownProvider(p, id)
	}
	for _, m := range known.Sorted() { // opening one reports what is missing
		if _, _, err := provider.Open(known, m, p.Deps); err != nil {
			return lathe.Errorf(lathe.CodeOf(err), "%w (\"lathe models %s --all\" lists its models)", err, id)
		}
	}
	return lathe.Errorf(lathe.NotFound, "%s has no available models", known.Name)
}

// unknownProvider explains why a provider ID is not in the catalog.
func unknownProvider(p *harness.Providers, id string) error {
	v := catalog.VendorOf(id)
	switch hidden := p.With(catalog.Filter{Experimental: true}).Provider(id); {
	case hidden != nil:
		return lathe.Errorf(lathe.Denied, "your config disables all models of %s (see enabled_providers, disabled_providers, policies, whitelist and blacklist)", termtext.Plain(hidden.Name))
	case harness.IsLocal(id):
		return harness.NoServer(id)
	case v.ID != "":
		return lathe.Errorf(lathe.NotFound, "the catalog has no models of %s; run `lathe models --refresh` to update it", v.Name)
	}
	_, err := p.Catalog.Model(id, "")
	return cli.WithExit(err, cli.ExitUsage) // as for -m
}

// Models returns the models of a provider, newest first.
func Models(p *catalog.Provider) []*catalog.Model {
	all := slices.Collect(maps.Values(p.Models))
	modelname.Sort(all, func(m *catalog.Model) modelname.Model {
		return modelname.Model{Provider: m.Provider, ID: m.ID, Released: m.ReleaseDate}
	})
	return all
}

// modelTable lists models with the facts that decide a choice.
func modelTable(list []provider.Active) layout.Table {
	t := layout.Table{Head: []string{"Model", "Context", "Price in/out", "Reasoning", "Released"}, Flexible: []int{3}, Paths: -1}
	for _, one := range list {
		for _, m := range Models(one.Provider) {
			cost := ""
			switch r := m.Cost.Rates; {
			case r.Input != 0 || r.Output != 0:
				cost = "$" + shortDollars(r.Input) + "/$" + shortDollars(r.Output)
			case one.Implicit:
				cost = "free"
			}
			context := ""
			if m.Limit.Context > 0 {
				context = termtext.Count(int64(m.Limit.Context))
			}
			levels := strings.Join(ReasoningLevels(m), ", ")
			if levels == "" && m.Reasoning {
				levels = "yes"
			}
			t.Rows = append(t.Rows, []string{termtext.Plain(m.Ref()), context, cost, termtext.Plain(levels), termtext.Plain(m.ReleaseDate)})
		}
	}
	return t
}

// shortDollars rounds a price to cents.
func shortDollars(f float64) string { return dollars(math.Round(f*100) / 100) }

// printModels prints a table for people. For programs it prints one reference per line, ready for `lathe run -m`.
func printModels(a *cli.App, list []provider.Active, verbose bool) error {
	if a.JSON {
		out := []catalog.WireModel{}
		for _, one := range list {
			for _, m := range Models(one.Provider) {
				out = append(out, wire(m))
			}
		}
		return a.PrintJSON(out)
	}
	if width := a.Width(); width > 0 && !verbose && len(list) > 0 {
		return modelTable(list).Write(a.Out, width)
	}
	for _, one := range list {
		for _, m := range Models(one.Provider) {
			a.Printf("%s\n", termtext.Plain(m.Ref()))
			if !verbose {
				continue
			}
			text, err := pretty(wire(m))
			if err != nil {
				return err
			}
			a.Printf("%s", text)
		}
	}
	return nil
}

// wire returns a model as clients see it, without secrets from the config.
func wire(m *catalog.Model) catalog.WireModel {
	out := m.Wire()
	for name := range out.Headers {
		if scrub.IsSecret(name) {
			out.Headers[name] = scrub.Mark
		}
	}
	for name, value := range out.Options {
		if scrub.IsSecret(name) && strings.HasPrefix(string(value), `"`) {
			out.Options[name] = json.RawMessage(`"` + scrub.Mark + `"`)
		}
	}
	return out
}

// pretty indents JSON and escapes control characters for the terminal.
func pretty(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return termtext.PlainText(b.String()), err
}

// remarkModels prints how to get more models.
func remarkModels(a *cli.App, list []provider.Active, f modelsFlags) {
	if f.all || a.JSON || slices.ContainsFunc(list, func(a provider.Active) bool { return !a.Implicit }) {
		return
	}
	a.Flush()
	what := "No models available yet."
	if len(list) > 0 {
		what = "These models are free for everyone; your prompts go to " + termtext.Plain(list[0].Provider.Name) + "."
	}
	a.Notify("%s Add a provider with `lathe auth login`, or find local servers with `lathe models --local`.", what)
	if path := a.ForeignAuth(); !a.IsEnvTrue("BORROW_AUTH") && harness.FileExists(path) {
		a.Notify("OpenCode has credentials in %s. Set LATHE_BORROW_AUTH=1 to use them.", a.DisplayPath(path))
	}
}

// refreshModels downloads the catalog.
func refreshModels(ctx context.Context, a *cli.App) error {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	if path := a.Variable("MODELS_PATH"); path != "" {
		return cli.Usagef("--refresh has no effect: the catalog is %s (LATHE_MODELS_PATH or OPENCODE_MODELS_PATH)", termtext.Quote(path))
	}
	if a.IsEnvTrue("DISABLE_MODELS_FETCH") {
		return cli.Usagef("--refresh: LATHE_DISABLE_MODELS_FETCH or OPENCODE_DISABLE_MODELS_FETCH disables downloads")
	}
	from, err := catalog.CatalogURL(a.Variable("MODELS_URL"))
	if err != nil {
		return err
	}
	got, err := catalog.Refresh(ctx, http.DefaultClient, from, at.Models())
	if err != nil {
		return err
	}
	a.Log.Info("catalog downloaded", "from", got.From, "bytes", got.Bytes)
	a.Notify("Downloaded %s: %s of %s, %s.", termtext.Plain(got.From), termtext.Plural(got.Models, "model"), termtext.Plural(got.Providers, "provider"), termtext.ByteSize(got.Bytes))
	return nil
}
