package account

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/scrub"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
)

type modelsFlags struct {
	verbose, refresh, local, all bool
}

func NewModels(a *cli.App) *cobra.Command {
	var f modelsFlags
	cmd := &cobra.Command{
		Use:   "models [PROVIDER | PROVIDER/MODEL]",
		Short: "List the models you can use, or show one",
		Long: `Lists the models you can use here, as provider/model: those of providers that you have a
key or a login for, that need none, or that your settings describe. --all lists whatever the
catalog has. A name like provider/model shows that model: its limits, prices, abilities
and levels of reasoning.

The catalog comes with the program. --refresh fetches today's from models.dev, or from
LATHE_MODELS_URL, and keeps it; nothing is fetched otherwise. LATHE_MODELS_PATH names a file
to read instead. The provider section of your settings changes and adds to it.

--local asks the servers of this machine (Ollama, LM Studio, llama.cpp, vLLM) what they have.`,
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
					return cli.Usagef("the provider is empty; leave it out for all of them")
				}
			}
			return listModels(c.Context(), a, name, f)
		},
	}
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "print after each what is known of it")
	cmd.Flags().BoolVar(&f.refresh, "refresh", false, "fetch today's catalog first")
	cmd.Flags().BoolVar(&f.local, "local", false, "ask the servers of this machine too")
	cmd.Flags().BoolVarP(&f.all, "all", "a", false, "list also what you have no key for")
	return a.JSONFlag(cmd)
}

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
	case harness.IsLocal(id): // it is named, and has no models unless it is asked
		p.Discover(ctx, id)
	case f.local:
		if len(p.Discover(ctx, "")) == 0 {
			a.Notify("No model server answers on this machine. Start one, or set provider.ID.options.baseURL (ID: ollama, lmstudio, llama.cpp or vllm) to where it is.")
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
			a.WarnUntrusted(p.Settings) // the address that is shown would be another
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

// listed returns the providers to list, with the models of each that count.
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

// whyNone says why a provider has no models to list.
func whyNone(p *harness.Providers, id string) error {
	known := p.Catalog.Provider(id)
	if known == nil {
		return unknownProvider(p, id)
	}
	for _, m := range known.Sorted() { // opening one says what is missing
		if _, _, err := provider.Open(known, m, p.Deps); err != nil {
			return lathe.Errorf(lathe.CodeOf(err), "%w (\"lathe models %s --all\" lists its models)", err, id)
		}
	}
	return lathe.Errorf(lathe.NotFound, "%s has no models you can use", known.Name)
}

// unknownProvider says what an id that the catalog does not show may be.
func unknownProvider(p *harness.Providers, id string) error {
	v := catalog.VendorOf(id)
	switch hidden := p.With(catalog.Filter{Experimental: true}).Provider(id); {
	case hidden != nil:
		return lathe.Errorf(lathe.Denied, "your settings leave nothing of %s (enabled_providers, disabled_providers, policies, whitelist and blacklist say what is left)", termtext.Plain(hidden.Name))
	case harness.IsLocal(id):
		return harness.NoServer(id)
	case v.ID != "":
		return lathe.Errorf(lathe.NotFound, "the catalog has no models of %s; \"lathe models --refresh\" fetches today's", v.Name)
	}
	_, err := p.Catalog.Model(id, "")
	return err
}

// Models are those of a provider by id.
func Models(p *catalog.Provider) []*catalog.Model {
	return slices.SortedFunc(maps.Values(p.Models), func(a, b *catalog.Model) int { return cmp.Compare(a.ID, b.ID) })
}

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

// wire is a model as clients see it, without the secrets that settings may give it.
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

// pretty is JSON that people can read on their screen, whatever it holds.
func pretty(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return termtext.PlainText(b.String()), err
}

// remarkModels tells those who can use little how to use more.
func remarkModels(a *cli.App, list []provider.Active, f modelsFlags) {
	if f.all || a.JSON || slices.ContainsFunc(list, func(a provider.Active) bool { return !a.Implicit }) {
		return
	}
	a.Flush()
	what := "There is no model you can use yet."
	if len(list) > 0 {
		what = "These are open to everyone; what you say goes to " + termtext.Plain(list[0].Provider.Name) + "."
	}
	a.Notify("%s `lathe auth login` adds a provider, `lathe models --local` finds servers of this machine.", what)
	if path := a.ForeignAuth(); !a.IsEnvTrue("BORROW_AUTH") && harness.FileExists(path) {
		a.Notify("OpenCode keeps credentials in %s; LATHE_BORROW_AUTH=1 lets lathe use them.", a.DisplayPath(path))
	}
}

// refreshModels fetches the catalog.
func refreshModels(ctx context.Context, a *cli.App) error {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	if path := a.Variable("MODELS_PATH"); path != "" {
		return cli.Usagef("--refresh has nothing to do: the catalog is %s (LATHE_MODELS_PATH or OPENCODE_MODELS_PATH)", termtext.Quote(path))
	}
	if a.IsEnvTrue("DISABLE_MODELS_FETCH") {
		return cli.Usagef("--refresh: fetching is switched off by LATHE_DISABLE_MODELS_FETCH or OPENCODE_DISABLE_MODELS_FETCH")
	}
	from, err := catalog.CatalogURL(a.Variable("MODELS_URL"))
	if err != nil {
		return err
	}
	got, err := catalog.Refresh(ctx, http.DefaultClient, from, at.Models())
	if err != nil {
		return err
	}
	a.Log.Info("catalog fetched", "from", got.From, "bytes", got.Bytes)
	a.Notify("Fetched %s: %s of %s, %s.", termtext.Plain(got.From), termtext.Plural(got.Models, "model"), termtext.Plural(got.Providers, "provider"), termtext.ByteSize(got.Bytes))
	return nil
}
