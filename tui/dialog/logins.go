package dialog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/key"
)

// NewProviders picks a provider to log in to: Chosen has its id.
func NewProviders(m *key.Map, p lathe.Providers) *List {
	return NewList(m, Options{
		Title: "Connect a provider", Placeholder: "Search providers", Items: ProviderItems(p),
		Empty: "No providers found.",
	})
}

// ProviderItems are the entries of NewProviders, for SetItems.
func ProviderItems(p lathe.Providers) []Item {
	var out []Item
	connected := map[string]bool{}
	for _, c := range p.Connected {
		connected[c.ID] = true
	}
	all := slices.Clone(p.All)
	for _, c := range p.Connected { // one of the settings' own need not be known elsewhere
		if !slices.ContainsFunc(all, func(x lathe.Provider) bool { return x.ID == c.ID }) {
			all = append(all, c)
		}
	}
	first := []string{ // those that most people look for, in the order they are offered
		"anthropic", "openai", "google", "github-copilot", "openrouter", "amazon-bedrock", "azure", "mistral", "deepseek", "xai", "groq", "ollama",
	}
	rank := func(x lathe.Provider) int {
		if i := slices.Index(first, x.ID); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(all, func(a, b lathe.Provider) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(strings.ToLower(providerName(a)), strings.ToLower(providerName(b))))
	})
	for _, x := range all {
		it := Item{ID: x.ID, Title: providerName(x), Group: "Others", Search: x.ID}
		if rank(x) < len(first) {
			it.Group = "Popular"
		}
		if len(x.Env) > 0 {
			it.Detail = x.Env[0]
		}
		if connected[x.ID] {
			it.Mark, it.Right = Done, "connected"
		}
		out = append(out, it)
	}
	return out
}

func providerName(p lathe.Provider) string { return cmp.Or(p.Name, p.ID) }

// NewMethods picks a way to log in: Chosen has its number.
func NewMethods(m *key.Map, p lathe.Provider, methods []lathe.LoginMethod) *List {
	var items []Item
	for i, x := range methods {
		it := Item{ID: strconv.Itoa(i), Title: cmp.Or(x.Label, "Log in"), Right: "API key"}
		if x.UsesBrowser() {
			it.Right = "browser"
		}
		items = append(items, it)
	}
	return NewList(m, Options{Title: "Log in to " + providerName(p), Items: items})
}

// NewKeyInput asks for a provider's API key: Entered has it. It is never shown. storedAt names the machine that stores it.
func NewKeyInput(m *key.Map, p lathe.Provider, storedAt string) *Input {
	about := "Paste your " + providerName(p) + " API key. It is stored " + storedAt + " and sent only to the provider."
	if len(p.Env) > 0 {
		about += "\nSetting " + p.Env[0] + " works too."
	}
	return NewInput(m, InputOptions{
		Title: providerName(p) + " API key", Description: about, Placeholder: "API key", Secret: true, Required: true, SubmitLabel: "log in",
	})
}

// NewCodeInput asks for the code that a page shows after a login: Entered has it, Copy the address.
func NewCodeInput(m *key.Map, p lathe.Provider, a lathe.Authorization) *Input {
	about := cmp.Or(a.Instructions, "Open this page, log in, and paste the code it shows.")
	return NewInput(m, InputOptions{
		Title: "Log in to " + providerName(p), Description: about, Link: a.URL, Placeholder: "Code", Required: true, SubmitLabel: "log in",
	})
}

// NewLoginWait shows the page to log in at, while the end of it is waited for: Chosen with Open wants the page
// opened, Copy its address copied.
func NewLoginWait(m *key.Map, p lathe.Provider, a lathe.Authorization) *Wait {
	about := "Open this page and log in there."
	if a.Instructions != "" {
		about += "\n" + a.Instructions
	}
	return NewWait(m, "Log in to "+providerName(p), about, a.URL)
}
