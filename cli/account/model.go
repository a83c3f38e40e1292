package account

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
)

// showModel prints the details of one model.
func showModel(ctx context.Context, a *cli.App, p *harness.Providers, id, name string) error {
	if p.Catalog.Provider(id) == nil {
		return unknownProvider(p, id)
	}
	m, err := p.Find(ctx, id+"/"+name)
	if lathe.CodeOf(err) == lathe.NotFound {
		return cli.WithExit(err, cli.ExitUsage) // as for -m
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(wire(m))
	}
	owner := p.Catalog.Provider(id)
	rows := [][2]string{
		{"Model", termtext.Plain(m.Ref())},
		{"Name", termtext.Plain(m.Name)},
		{"Provider", termtext.Plain(owner.Name)},
	}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, [2]string{name, value})
		}
	}
	if m.Status != catalog.Active {
		add("Status", string(m.Status))
	}
	add("Released", termtext.Plain(m.ReleaseDate))
	add("Context", tokenLimit(m.Limit.Context))
	add("Output", tokenLimit(m.Limit.Output))
	add("Price", price(m.Cost.Rates))
	for _, t := range m.Cost.Price().Tiers {
		add("", fmt.Sprintf("above %s tokens: $%s in, $%s out", termtext.Count(t.Over), perMillion(t.Price.Input), perMillion(t.Price.Output)))
	}
	add("Takes", termtext.Plain(strings.Join(m.Modalities.Input, ", ")))
	add("Can", abilities(m))
	add("Levels", termtext.Plain(strings.Join(ReasoningLevels(m), ", ")))
	add("Use", usability(a, p, owner, m))
	return layout.Pairs(a.Out, rows)
}

// usability describes how the model is reached, or what is missing.
func usability(a *cli.App, p *harness.Providers, owner *catalog.Provider, m *catalog.Model) string {
	_, info, err := provider.Open(owner, m, p.Deps)
	if err != nil {
		return "not available: " + termtext.OneLine(err.Error())
	}
	return fmt.Sprintf("%s at %s, %s", info.Protocol, termtext.Plain(harness.RedactURL(info.BaseURL)), sourceWords(owner, info.Source))
}

// sourceWords describes the credential of a provider.
func sourceWords(p *catalog.Provider, s provider.Source) string {
	switch s {
	case provider.FromConfig:
		return "from your config"
	case provider.FromAPI:
		return "with your API key"
	case provider.FromEnv:
		return "with an API key from the environment"
	case provider.FromLogin:
		if catalog.VendorOf(p.ID).Keyless {
			return "without API key"
		}
		return "with your login"
	}
	return "without API key"
}

func tokenLimit(n float64) string {
	if n <= 0 {
		return ""
	}
	return termtext.Count(int64(n)) + " tokens"
}

// price is the price of a model in dollars per million tokens, or "" if the catalog has none.
func price(r catalog.Rates) string {
	if r == (catalog.Rates{}) {
		return ""
	}
	out := fmt.Sprintf("$%s in, $%s out", dollars(r.Input), dollars(r.Output))
	if r.CacheRead > 0 {
		out += fmt.Sprintf(", $%s from cache", dollars(r.CacheRead))
	}
	if r.CacheWrite > 0 {
		out += fmt.Sprintf(", $%s to cache", dollars(r.CacheWrite))
	}
	return out + " per million tokens"
}

func dollars(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// perMillion formats a price per million tokens.
func perMillion(m lathe.Money) string { return dollars(float64(m) / 1e6) }

// abilities lists the capabilities of a model that decide whether an agent can use it.
func abilities(m *catalog.Model) string {
	var out []string
	for _, x := range []struct {
		can  bool
		what string
	}{{m.Reasoning, "reason"}, {m.ToolCall, "call tools"}, {m.Attachment, "read attachments"}} {
		if x.can {
			out = append(out, x.what)
		}
	}
	return strings.Join(out, ", ")
}

func ReasoningLevels(m *catalog.Model) (out []string) {
	for _, v := range m.Variants() {
		out = append(out, v.Name)
	}
	return out
}
