package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Split takes "provider/model" apart at the first slash; the model may contain more.
func Split(ref string) (provider, model string, err error) {
	provider, model, ok := strings.Cut(ref, "/")
	if !ok || provider == "" || model == "" {
		return "", "", lathe.Errorf(lathe.Invalid, "%q is not a model: write provider/model, as \"lathe models\" lists them", ref)
	}
	return provider, model, nil
}

// Find returns the model of a name like "provider/model".
func (c *Catalog) Find(ref string) (*Model, error) {
	provider, model, err := Split(ref)
	if err != nil {
		return nil, err
	}
	return c.Model(provider, model)
}

// Preference selects the model of a prompt that names none.
type Preference struct {
	Model  string      // from the config
	Recent []string    // as used before, latest first
	Usable []*Provider // with what models of theirs can be used
}

// Default returns the model to use: that of the config, else the latest that can still be
// used, else the best of the first usable provider, those of the config before others.
func (c *Catalog) Default(w Preference) (*Model, error) {
	if w.Model != "" {
		return c.Find(w.Model)
	}
	for _, ref := range w.Recent {
		provider, model, err := Split(ref)
		for _, p := range w.Usable {
			if m := p.Models[model]; err == nil && p.ID == provider && m != nil {
				return m, nil
			}
		}
	}
	var best *Provider
	for _, p := range w.Usable {
		if len(p.Models) > 0 && (best == nil || p.Configured && !best.Configured) {
			best = p
		}
	}
	if best == nil {
		return nil, lathe.Errorf(lathe.NotFound, "no model available: run \"lathe auth login\" to add a provider, or set its API key variable (see \"lathe models\")")
	}
	return best.Sorted()[0], nil
}

// Small returns the model for titles and summaries beside a main one: that of the config,
// else a small one of the same provider, else the main one.
func (c *Catalog) Small(setting string, main *Model) (*Model, error) {
	if setting != "" {
		return c.Find(setting)
	}
	p := c.Provider(main.Provider)
	if p == nil || strings.HasPrefix(p.ID, "azure") { // deployments there have their own names
		return main, nil
	}
	families := []string{"gemini-flash", "gpt-nano", "claude-haiku"}
	switch p.ID {
	case "opencode":
		families = []string{"gpt-nano"}
	case "github-copilot":
		families = append([]string{"gpt-mini"}, families...)
	}
	for _, f := range families {
		if m := p.newest(f, region(main.ID)); m != nil {
			return m, nil
		}
	}
	return main, nil
}

// newest returns the latest model of a family, nil if there is none. Of those bound to a
// region, only the ones that serve the given region or all of them count, if there are any.
func (p *Provider) newest(family, near string) *Model {
	var found []*Model
	for _, m := range p.Models {
		if m.Family == family {
			found = append(found, m)
		}
	}
	closeness := func(m *Model) int {
		switch region(m.ID) {
		case near:
			return 2
		case "global", "":
			return 1
		}
		return 0
	}
	slices.SortFunc(found, func(a, b *Model) int {
		return cmp.Or(closeness(b)-closeness(a), cmp.Compare(b.ReleaseDate, a.ReleaseDate), cmp.Compare(b.ID, a.ID))
	})
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// region returns the region an id is bound to, as some clouds prefix it.
func region(id string) string {
	prefix, rest, ok := strings.Cut(id, ".")
	if ok && strings.Contains(rest, ".") && slices.Contains([]string{"us", "eu", "apac", "jp", "au", "ca", "global", "us-gov"}, prefix) {
		return prefix
	}
	return ""
}

// rank is how much an id is preferred to others of its provider.
func rank(id string) int {
	liked := []string{"gpt-5", "claude-sonnet-4", "big-pickle", "gemini-3-pro"}
	i := slices.IndexFunc(liked, func(part string) bool { return strings.Contains(id, part) })
	if i < 0 {
		return 0
	}
	return len(liked) - i
}

func latest(id string) int {
	if strings.Contains(id, "latest") {
		return 1
	}
	return 0
}

// Defaults returns the best model of each provider, by provider id.
func (c *Catalog) Defaults() map[string]string {
	out := map[string]string{}
	for _, p := range c.Providers() {
		out[p.ID] = p.Sorted()[0].ID
	}
	return out
}
