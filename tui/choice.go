package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// choice is the selected agent, model and variant.
type choice struct {
	*services
	look     *look
	overlays *overlays
	connect  func() tea.Cmd // logs in to a provider

	agent    string
	models   map[string]lathe.ModelRef // chosen in this run, by agent
	variants map[string]string         // the variant of a model, by its key; "" is the model's own
	used     memory.Models             // in earlier runs and this one
}

// ensureValid replaces an agent that does not exist.
func (ch *choice) ensureValid() {
	if ch.models == nil {
		ch.models, ch.variants = map[string]lathe.ModelRef{}, map[string]string{}
		ch.agent = ch.o.Start.Agent
	}
	if a := ch.state.Agent(ch.agent); a == nil || !state.IsSelectable(*a) {
		if i := slices.IndexFunc(ch.state.Agents, state.IsSelectable); i >= 0 {
			ch.agent = ch.state.Agents[i].Name
		}
	}
}

// follow takes over the agent and model of the last prompt of a session.
func (ch *choice) follow(t *lathe.Transcript) {
	ch.ensureValid()
	for i := t.Count() - 1; i >= 0; i-- {
		u, ok := t.View(i).Data().(*lathe.User)
		if !ok {
			continue
		}
		if a := ch.state.Agent(u.Agent); a != nil && state.IsSelectable(*a) {
			ch.agent = u.Agent
		}
		if _, known := ch.state.FindModel(u.Model); known && u.Model.Model != "" {
			ref := u.Model
			ref.Variant = ""
			ch.models[ch.agent] = ref
			ch.variants[state.ModelKey(ref)] = u.Model.Variant
		}
		return
	}
}

// model is the model for the next prompt: the one chosen for the agent in this run, the agent's own, the one of
// the command line or the config, the last used, or the provider's default.
func (ch *choice) model() (lathe.Model, bool) {
	var try []lathe.ModelRef
	if ref, ok := ch.models[ch.agent]; ok {
		try = append(try, ref)
	}
	if a := ch.state.Agent(ch.agent); a != nil && a.Model != nil {
		try = append(try, *a.Model)
	}
	try = append(try, dialog.ParseModelID(ch.o.Start.Model))
	if ref := ch.state.Providers.Model; ref != nil {
		try = append(try, *ref)
	}
	try = append(try, ch.used.Recent...)
	for _, ref := range try {
		if m, ok := ch.state.FindModel(ref); ok {
			return m, true
		}
	}
	for _, pr := range ch.state.Providers.Connected {
		if m, ok := ch.state.FindModel(lathe.ModelRef{Provider: pr.ID, Model: ch.state.Providers.Default[pr.ID]}); ok {
			return m, true
		}
	}
	for _, pr := range ch.state.Providers.Connected {
		if len(pr.Models) > 0 {
			return pr.Models[0], true
		}
	}
	return lathe.Model{}, false
}

// ref is the reference of the model, nil without one.
func (ch *choice) ref() *lathe.ModelRef {
	m, ok := ch.model()
	if !ok {
		return nil
	}
	return &m.Ref
}

// variant is the reasoning level, "" for the default of the model.
func (ch *choice) variant() string {
	m, ok := ch.model()
	if !ok {
		return ""
	}
	v, chosen := ch.variants[state.ModelKey(m.Ref)]
	if !chosen {
		v = ch.used.Variant[state.ModelKey(m.Ref)]
	}
	if !slices.Contains(m.Variants, v) {
		return ""
	}
	return v
}

// cycleAgent selects the next primary agent.
func (ch *choice) cycleAgent(step int) tea.Cmd {
	all := slices.DeleteFunc(slices.Clone(ch.state.Agents), func(a lathe.Agent) bool { return !state.IsSelectable(a) })
	if len(all) > 0 {
		i := slices.IndexFunc(all, func(a lathe.Agent) bool { return a.Name == ch.agent })
		ch.agent = all[(i+step+len(all))%len(all)].Name
	}
	return nil
}

// cycleModel selects the next of the given models.
func (ch *choice) cycleModel(among []lathe.ModelRef, step int) tea.Cmd {
	among = slices.DeleteFunc(slices.Clone(among), func(r lathe.ModelRef) bool { _, ok := ch.state.FindModel(r); return !ok })
	if len(among) == 0 {
		return ch.notify(toast.Info, "No models to cycle through yet: choose one with "+ch.keys.Label("model_list"))
	}
	now, _ := ch.model()
	i := slices.IndexFunc(among, func(r lathe.ModelRef) bool { return state.ModelKey(r) == state.ModelKey(now.Ref) })
	ch.models[ch.agent] = among[(i+step+len(among))%len(among)]
	return nil
}

// cycleVariant selects the next reasoning level of the model, its default included.
func (ch *choice) cycleVariant() tea.Cmd {
	m, ok := ch.model()
	if !ok || len(m.Variants) == 0 {
		return ch.notify(toast.Info, "This model has no variants")
	}
	all := append([]string{""}, m.Variants...)
	i := slices.Index(all, ch.variant())
	return ch.chooseVariant(m.Ref, all[(i+1)%len(all)])
}

func (ch *choice) chooseVariant(ref lathe.ModelRef, v string) tea.Cmd {
	ch.variants[state.ModelKey(ref)] = v
	return ch.save("save the variant", func(ctx context.Context) error { return ch.memory.SaveVariant(ctx, ref, v) })
}

func (ch *choice) agentsDialog() tea.Cmd {
	box := dialog.NewAgents(ch.keys, ch.state.Agents, ch.agent, func(a lathe.Agent) style.Color { return ch.look.agentColor(a.Name) })
	return ch.overlays.show(&overlay{box: box, onResult: onChosen(func(c dialog.Chosen) tea.Cmd { ch.agent = c.ID; return nil })})
}

// modelsDialog lists the models to choose from.
func (ch *choice) modelsDialog() tea.Cmd {
	now, _ := ch.model()
	shown := func() dialog.Models {
		return dialog.Models{Providers: ch.state.Providers.Connected, Favorite: ch.used.Favorite, Recent: ch.used.Recent, Current: now.Ref}
	}
	list := dialog.NewModels(ch.keys, shown())
	o := &overlay{box: list, keepOpen: true, refill: func() { list.SetItems(shown().Items()) }}
	o.onResult = onChosen(func(c dialog.Chosen) tea.Cmd {
		ref := dialog.ParseModelID(c.ID)
		switch c.Key {
		case key.ModelFavoriteToggle:
			return tea.Batch(ch.toggleFavorite(ref), ch.overlays.refresh())
		case key.ModelProviderList:
			return ch.connect()
		}
		ch.overlays.current = nil
		ch.ensureValid()
		ch.models[ch.agent] = ref
		return ch.recordUse(ref)
	})
	return ch.overlays.show(o)
}

func (ch *choice) variantsDialog() tea.Cmd {
	m, ok := ch.model()
	if !ok || len(m.Variants) == 0 {
		return ch.notify(toast.Info, "This model has no variants")
	}
	box := dialog.NewVariants(ch.keys, m.Variants, ch.variant())
	return ch.overlays.show(&overlay{box: box, onResult: onChosen(func(c dialog.Chosen) tea.Cmd { return ch.chooseVariant(m.Ref, c.ID) })})
}

// recordUse records the use of a model.
func (ch *choice) recordUse(ref lathe.ModelRef) tea.Cmd {
	same := func(r lathe.ModelRef) bool { return state.ModelKey(r) == state.ModelKey(ref) }
	recent := slices.DeleteFunc(slices.Clone(ch.used.Recent), same)
	recent = append([]lathe.ModelRef{{Provider: ref.Provider, Model: ref.Model}}, recent...)
	ch.used.Recent = recent[:min(len(recent), 10)]
	return ch.save("save the recent model", func(ctx context.Context) error { return ch.memory.SaveRecent(ctx, ref) })
}

// toggleFavorite adds a model to the favorites, or removes it.
func (ch *choice) toggleFavorite(ref lathe.ModelRef) tea.Cmd {
	same := func(r lathe.ModelRef) bool { return state.ModelKey(r) == state.ModelKey(ref) }
	liked := !slices.ContainsFunc(ch.used.Favorite, same)
	if liked {
		ch.used.Favorite = append(ch.used.Favorite, ref)
	} else {
		ch.used.Favorite = slices.DeleteFunc(ch.used.Favorite, same)
	}
	return ch.save("save the favorite", func(ctx context.Context) error { return ch.memory.SaveFavorite(ctx, ref, liked) })
}
