package dialog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/modelname"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Models is the input of the model list.
type Models struct {
	Providers        []lathe.Provider // those that can be used
	Favorite, Recent []lathe.ModelRef
	Current          lathe.ModelRef
}

// ModelID is the id under which a model is chosen. Its variant is not part of it.
func ModelID(ref lathe.ModelRef) string { return ref.Provider + "/" + ref.Model }

// ParseModelID is the reverse of ModelID.
func ParseModelID(id string) lathe.ModelRef {
	provider, model, _ := strings.Cut(id, "/")
	return lathe.ModelRef{Provider: provider, Model: model}
}

// NewModels picks a model: Chosen has its ModelID, and model_favorite_toggle or model_provider_list as its key.
func NewModels(m *key.Map, s Models) *List {
	return NewList(m, Options{
		Title: "Models", Placeholder: "Search models", Wide: true,
		Empty: "No provider connected. Press " + m.Label(key.ModelProviderList) + " to log in.",
		Items: s.Items(), Selected: ModelID(s.Current),
		Extras: []Extra{
			{Name: key.ModelFavoriteToggle, Label: "favorite"},
			{Name: key.ModelProviderList, Label: "connect a provider", Any: true},
		},
	})
}

// Items are the entries, for SetItems when a favorite was added.
func (s Models) Items() []Item {
	var out []Item
	add := func(group string, refs, not []lathe.ModelRef) {
		for _, ref := range refs {
			if has(not, ref) {
				continue
			}
			if p, model, ok := s.find(ref); ok {
				it := s.item(model)
				it.Group, it.Detail = group, strings.TrimSuffix(p.Name+" · "+it.Detail, " · ")
				out = append(out, it)
			}
		}
	}
	const recents = 5 // of the ten that are kept: more would push the rest away
	add("Favorites", s.Favorite, nil)
	add("Recent", s.Recent[:min(len(s.Recent), recents)], s.Favorite)
	for _, p := range s.Providers {
		for _, model := range newest(p.Models) {
			it := s.item(model)
			it.Group = providerName(p)
			out = append(out, it)
		}
	}
	return out
}

// newest returns the models with the latest first and deprecated ones last.
func newest(all []lathe.Model) []lathe.Model {
	all = slices.Clone(all)
	modelname.Sort(all, func(m lathe.Model) modelname.Model {
		return modelname.Model{ID: m.Ref.Model, Name: m.Name, Released: m.Released}
	})
	old := func(m lathe.Model) bool { return m.Status == "deprecated" }
	out := slices.DeleteFunc(slices.Clone(all), old)
	return append(out, slices.DeleteFunc(all, func(m lathe.Model) bool { return !old(m) })...)
}

func sameModel(a, b lathe.ModelRef) bool { return a.Provider == b.Provider && a.Model == b.Model }

func has(list []lathe.ModelRef, ref lathe.ModelRef) bool {
	return slices.ContainsFunc(list, func(x lathe.ModelRef) bool { return sameModel(x, ref) })
}

// find returns the model of a reference with its provider.
func (s Models) find(ref lathe.ModelRef) (lathe.Provider, lathe.Model, bool) {
	for _, p := range s.Providers {
		if p.ID != ref.Provider {
			continue
		}
		for _, m := range p.Models {
			if sameModel(m.Ref, ref) {
				return p, m, true
			}
		}
	}
	return lathe.Provider{}, lathe.Model{}, false
}

// item is the entry of a model: its name, tags, context window and price.
func (s Models) item(m lathe.Model) Item {
	it := Item{ID: ModelID(m.Ref), Title: cmp.Or(m.Name, m.Ref.Model), Search: ModelID(m.Ref)}
	var tags []string
	if m.Status != "" && m.Status != "active" {
		tags = append(tags, m.Status)
	}
	if m.Reasoning {
		tags = append(tags, "reasoning")
	}
	it.Detail = strings.Join(tags, " · ")
	it.Right = strings.TrimSpace(tokens(m.Context) + "  " + price(m))
	switch {
	case sameModel(m.Ref, s.Current):
		it.Mark = Current
	case has(s.Favorite, m.Ref):
		it.Mark = Starred
	}
	return it
}

// NewVariants picks a level of reasoning: Chosen has its name, "" for the model's own.
func NewVariants(m *key.Map, variants []string, current string) *List {
	items := []Item{{Title: "Default", Detail: "the model's default"}}
	for _, v := range variants {
		items = append(items, Item{ID: v, Title: v})
	}
	return NewList(m, Options{Title: "Variants", Items: markCurrent(items, current), Selected: current})
}

// NewAgents picks an agent of those people may talk to: Chosen has its name.
func NewAgents(m *key.Map, agents []lathe.Agent, current string, color func(lathe.Agent) style.Color) *List {
	var items []Item
	for _, a := range agents {
		if a.Mode == lathe.Subagent || a.Hidden.On() {
			continue
		}
		it := Item{ID: a.Name, Title: a.Name, Detail: a.Description}
		if color != nil {
			it.Tint = color(a)
		}
		if a.Native.On() {
			it.Right = "built-in"
		}
		items = append(items, it)
	}
	return NewList(m, Options{Title: "Agents", Items: markCurrent(items, current), Selected: current, Wide: true, Empty: "No agents."})
}
