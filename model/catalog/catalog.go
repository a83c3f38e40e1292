// Package catalog lists providers and models: their limits, prices and capabilities, and their
// protocol and URL.
//
// It owns the catalog in the shape of models.dev, made of layers: the catalog embedded in the
// program, a cached file, and the provider section of the config. It owns the choice of a model
// (choice.go), its reasoning levels (variant.go), the table of vendors (vendor.go) and how a
// model looks to clients (wire.go). It reads no environment and knows no credentials; package
// provider makes clients from its entries.
//
// Nothing is read before the first query, and only [Refresh] fetches. A Catalog and its results
// must not be changed and are safe for use by many goroutines.
//
// Start reading at [New].
package catalog

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// Catalog lists providers and models.
type Catalog struct {
	filter Filter
	layers []Layer
	ids    func() []string // of what the filter leaves, sorted
	known  sync.Map        // id → func() answer, so that each provider is put together once
}

// answer is a provider as the layers make it, nil if they make none.
type answer struct {
	provider *Provider
	errs     []error
}

// New returns the embedded catalog, changed by each layer in turn.
func New(f Filter, layers ...Layer) *Catalog {
	c := &Catalog{filter: f, layers: append([]Layer{embeddedLayer()}, layers...)}
	c.ids = sync.OnceValue(c.all)
	return c
}

func (c *Catalog) all() []string {
	seen := map[string]bool{}
	for _, l := range c.layers {
		for _, id := range l.ids() {
			seen[id] = seen[id] || c.Provider(id) != nil
		}
	}
	maps.DeleteFunc(seen, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(seen))
}

// find asks the layers for a provider, once.
func (c *Catalog) find(id string) answer {
	known, ok := c.known.Load(id)
	if !ok {
		known, _ = c.known.LoadOrStore(id, sync.OnceValue(func() answer {
			out := c.below(len(c.layers), id)
			if out.provider != nil {
				out.provider = c.filter.provider(out.provider)
			}
			if out.provider != nil && c.filter.Adapt != nil {
				out.provider = c.filter.Adapt(out.provider)
			}
			return out
		}))
	}
	return known.(func() answer)()
}

// below returns a provider after the first n layers. A layer that replaces providers does not
// need it.
func (c *Catalog) below(n int, id string) answer {
	if n == 0 {
		return answer{}
	}
	return c.layers[n-1].one(id, func() answer { return c.below(n-1, id) })
}

// Errors returns the reasons why layers or parts of them could not be read.
func (c *Catalog) Errors() (out []error) {
	for _, l := range c.layers {
		if err := l.err(); err != nil {
			out = append(out, err)
		}
		for _, id := range l.ids() {
			for _, err := range c.find(id).errs {
				if !slices.Contains(out, err) {
					out = append(out, err)
				}
			}
		}
	}
	return out
}

// Provider returns the provider of that id, nil if there is none.
func (c *Catalog) Provider(id string) *Provider { return c.find(id).provider }

// Providers returns all providers by id.
func (c *Catalog) Providers() []*Provider {
	out := make([]*Provider, 0, len(c.ids()))
	for _, id := range c.ids() {
		out = append(out, c.Provider(id))
	}
	return out
}

// Model finds a model. The error of a missing one names up to three that are like it.
func (c *Catalog) Model(provider, model string) (*Model, error) {
	p := c.Provider(provider)
	if p == nil {
		return nil, lathe.Errorf(lathe.NotFound, "provider %q not found%s \"lathe models --all\" lists all providers",
			provider, phrase.DidYouMean(phrase.Similar(provider, c.ids())))
	}
	if m := p.Models[model]; m != nil {
		return m, nil
	}
	var refs []string
	for _, id := range phrase.Similar(model, slices.Collect(maps.Keys(p.Models))) {
		refs = append(refs, provider+"/"+id)
	}
	return nil, lathe.Errorf(lathe.NotFound, "%s has no model %q%s \"lathe models %s\" lists its models",
		p.Name, model, phrase.DidYouMean(refs), provider)
}

// Filter hides providers and models. The zero value hides deprecated and alpha models.
type Filter struct {
	Enabled      []string // when there are any, only these providers
	Disabled     []string
	Experimental bool // with models of status alpha
	// Policies allow and deny providers; the last that matches counts.
	Policies []Policy
	// Adapt changes a provider to what the user's credentials give; nil changes nothing. It must not
	// change the value it gets.
	Adapt func(*Provider) *Provider
}

// Policy allows or denies the providers whose id matches Resource, in which * stands for any
// letters.
type Policy struct {
	Deny     bool
	Resource string
}

// allows reports whether the policies allow a provider. Unmatched providers are allowed.
func (f Filter) allows(id string) bool {
	for _, p := range slices.Backward(f.Policies) {
		if ok, err := path.Match(p.Resource, id); ok || err != nil && p.Resource == id {
			return !p.Deny
		}
	}
	return true
}

// provider returns what the filter leaves of it, nil if that is nothing.
func (f Filter) provider(p *Provider) *Provider {
	if len(f.Enabled) > 0 && !slices.Contains(f.Enabled, p.ID) || slices.Contains(f.Disabled, p.ID) || !f.allows(p.ID) {
		return nil
	}
	out := *p
	out.Models = maps.Clone(p.Models)
	maps.DeleteFunc(out.Models, func(id string, m *Model) bool { return !f.keeps(p, id, m) })
	if len(out.Models) == 0 {
		return nil
	}
	return &out
}

func (f Filter) keeps(p *Provider, id string, m *Model) bool {
	switch {
	case m.Status == Deprecated, m.Status == Alpha && !f.Experimental:
		return false
	case id == "gpt-5-chat-latest", p.ID == "openrouter" && id == "openai/gpt-5-chat": // they take no tools
		return false
	case len(p.Whitelist) > 0 && !slices.Contains(p.Whitelist, id):
		return false
	}
	return !slices.Contains(p.Blacklist, id)
}

// Sorted returns the models of a provider, best choice first.
func (p *Provider) Sorted() []*Model {
	return slices.SortedFunc(maps.Values(p.Models), func(a, b *Model) int {
		return cmp.Or(cmp.Compare(rank(b.ID), rank(a.ID)), latest(b.ID)-latest(a.ID), cmp.Compare(b.ID, a.ID))
	})
}
