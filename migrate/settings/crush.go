package settings

import (
	"maps"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Crush translates crush.json.
func Crush(src []byte) (Document, error) {
	if len(src) > maxConfig {
		return Document{}, lathe.Errorf(lathe.Invalid, "longer than %d MB", maxConfig>>20)
	}
	in, err := fields(src)
	if err != nil {
		return Document{}, err
	}
	b := newBuilder()
	for key, to := range map[string]string{"large": "model", "small": "small_model"} {
		m := table(table(in, "models"), key)
		if text(m, "provider") != "" && text(m, "model") != "" {
			b.put(text(m, "provider")+"/"+text(m, "model"), to)
		}
	}
	// The servers have lathe's members, except that the command and its arguments are apart.
	b.servers("mcp", table(in, "mcp"))
	options := table(in, "options")
	b.rules("permissions.allowed_tools", "allow", list(table(in, "permissions"), "allowed_tools"))
	b.rules("options.disabled_tools", "deny", list(options, "disabled_tools"))
	if paths := list(options, "context_paths"); len(paths) > 0 {
		b.put(paths, "instructions")
	}
	if paths := list(options, "skills_paths"); len(paths) > 0 {
		b.put(paths, "skills", "paths")
	}
	if in["lsp"] != nil {
		b.note("lsp", `lathe finds the usual language servers by itself; set "lsp" for others`)
	}
	b.crushProviders(table(in, "providers"))
	b.rest(in, []string{"models", "mcp", "permissions", "options", "providers", "lsp"}, []string{"$schema", "recent_models"})
	return b.doc, nil
}

// crushProviders translates providers with an address. Keys stay where they are, unless a variable has them.
func (b *builder) crushProviders(in map[string]any) {
	for _, id := range slices.Sorted(maps.Keys(in)) {
		p, _ := in[id].(map[string]any)
		if text(p, "base_url") == "" {
			if text(p, "api_key") != "" {
				b.note("providers."+id, "has only a key; run lathe auth import crush")
			}
			continue
		}
		options := map[string]any{"baseURL": references(text(p, "base_url"))}
		if key := text(p, "api_key"); strings.HasPrefix(key, "$") && !strings.HasPrefix(key, "$(") {
			options["apiKey"] = references(key)
		} else if key != "" {
			b.note("providers."+id+".api_key", "keys are not imported; run lathe auth import crush")
		}
		out := map[string]any{"npm": "@ai-sdk/openai-compatible", "options": options}
		switch text(p, "type") {
		case "anthropic":
			out["npm"] = "@ai-sdk/anthropic"
		case "openai":
			out["npm"] = "@ai-sdk/openai"
		}
		if name := text(p, "name"); name != "" {
			out["name"] = name
		}
		// Limits and prices of the models come from the catalog where it knows them.
		models := map[string]any{}
		items, _ := p["models"].([]any)
		for _, item := range items {
			m, _ := item.(map[string]any)
			if name := text(m, "id"); name != "" {
				models[name] = map[string]any{}
			}
		}
		if len(models) > 0 {
			out["models"] = models
		}
		b.put(out, "provider", id)
	}
}
