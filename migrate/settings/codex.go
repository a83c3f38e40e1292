package settings

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/lathe-agent/lathe"
)

// maxConfig is the longest config file that is read, in bytes.
const maxConfig = 4 << 20

// Codex translates config.toml.
func Codex(src []byte) (Document, error) {
	if len(src) > maxConfig {
		return Document{}, lathe.Errorf(lathe.Invalid, "longer than %d MB", maxConfig>>20)
	}
	var in map[string]any
	if err := toml.Unmarshal(src, &in); err != nil {
		return Document{}, lathe.Errorf(lathe.Invalid, "not TOML: %w", err)
	}
	b := newBuilder()
	b.codexModel(in)
	b.servers("mcp_servers", table(in, "mcp_servers"))
	switch policy := text(in, "approval_policy"); policy {
	case "untrusted":
		b.put("ask", "permission_mode")
	case "", "on-request", "on-failure": // commands run in the sandbox, which is lathe's default
	default:
		b.note("approval_policy", "%q is not taken over: lathe run --yes approves the requests of one run", policy)
	}
	switch mode := text(in, "sandbox_mode"); mode {
	case "read-only":
		b.put("read-only", "sandbox")
	case "", "workspace-write": // lathe's default
	default:
		b.note("sandbox_mode", `%q is not taken over; set "sandbox": "off" if you want commands without a sandbox`, mode)
	}
	b.rest(in, []string{"model", "model_provider", "model_providers", "mcp_servers", "approval_policy", "sandbox_mode", "model_reasoning_effort"},
		[]string{"tui", "history", "notice", "projects", "features", "analytics", "feedback", "file_opener", "hide_agent_reasoning", "show_raw_agent_reasoning", "disable_paste_burst", "check_for_update_on_startup", "sandbox_workspace_write"})
	if effort := text(in, "model_reasoning_effort"); effort != "" {
		b.note("model_reasoning_effort", "choose a reasoning level with --variant %s, or in the model list", effort)
	}
	return b.doc, nil
}

// codexModel translates the model and the providers that the user defined.
func (b *builder) codexModel(in map[string]any) {
	provider := cmp.Or(text(in, "model_provider"), "openai")
	if model := text(in, "model"); model != "" {
		b.put(provider+"/"+model, "model")
	}
	own := table(in, "model_providers")
	for _, id := range slices.Sorted(maps.Keys(own)) {
		p, _ := own[id].(map[string]any)
		if text(p, "base_url") == "" {
			b.note("model_providers."+id, "has no address and was left out")
			continue
		}
		options := map[string]any{"baseURL": text(p, "base_url")}
		if name := text(p, "env_key"); name != "" {
			options["apiKey"] = "{env:" + name + "}"
		}
		out := map[string]any{"npm": "@ai-sdk/openai-compatible", "name": cmp.Or(text(p, "name"), id), "options": options}
		if text(p, "wire_api") == "responses" {
			out["npm"] = "@ai-sdk/openai"
		}
		if model := text(in, "model"); id == provider && model != "" {
			out["models"] = map[string]any{model: map[string]any{}}
		}
		b.put(out, "provider", id)
	}
}

// CodexPrompt translates a file of prompts/, which is a slash command.
func CodexPrompt(name string, src []byte) (Document, error) {
	return prompt(name, src)
}

// prompt is a Markdown file that is a template, with a description in its head.
func prompt(name string, src []byte) (Document, error) {
	head, body, err := Frontmatter(src)
	if err != nil {
		return Document{}, err
	}
	in, err := fields(head)
	if err != nil {
		return Document{}, err
	}
	b := newBuilder()
	command := map[string]any{"template": strings.TrimSpace(body)}
	if d := text(in, "description"); d != "" {
		command["description"] = d
	}
	b.put(command, "command", name)
	return b.doc, nil
}
