package settings

import (
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/lathe-agent/lathe"
)

// Gemini translates settings.json, of versions with groups of settings and of older ones without.
func Gemini(src []byte) (Document, error) {
	if len(src) > maxConfig {
		return Document{}, lathe.Errorf(lathe.Invalid, "longer than %d MB", maxConfig>>20)
	}
	in, err := fields(src)
	if err != nil {
		return Document{}, err
	}
	b := newBuilder()
	model := text(in, "model")
	if model == "" {
		model = text(table(in, "model"), "name")
	}
	if model != "" {
		b.put("google/"+model, "model")
	}
	// "trust" of a server means calls without a request, which is a permission in lathe and not taken over.
	b.servers("mcpServers", table(in, "mcpServers"))
	tools := table(in, "tools")
	b.rules("tools.allowed", "allow", append(list(in, "allowedTools"), list(tools, "allowed")...))
	b.rules("tools.exclude", "deny", append(list(in, "excludeTools"), list(tools, "exclude")...)) // last, so that it counts
	b.contextFiles(in)
	b.rest(in, []string{"model", "mcpServers", "tools", "allowedTools", "excludeTools", "context", "contextFileName"},
		[]string{"$schema", "ui", "security", "general", "telemetry", "privacy", "ide", "experimental", "theme", "selectedAuthType", "usageStatisticsEnabled", "preferredEditor", "hideTips", "hideBanner", "output", "billing"})
	return b.doc, nil
}

// contextFiles are instruction files with other names than GEMINI.md, which lathe reads by itself.
func (b *builder) contextFiles(in map[string]any) {
	context := table(in, "context")
	names := append(list(context, "fileName"), list(in, "contextFileName")...)
	for _, name := range []string{text(context, "fileName"), text(in, "contextFileName")} {
		if name != "" {
			names = append(names, name)
		}
	}
	var more []string
	for _, name := range names {
		if name != "GEMINI.md" && name != "AGENTS.md" && name != "CLAUDE.md" {
			more = append(more, name)
		}
	}
	if len(more) > 0 {
		b.put(more, "instructions")
	}
}

// GeminiCommand translates a file of commands/.
func GeminiCommand(name string, src []byte) (Document, error) {
	if len(src) > maxConfig {
		return Document{}, lathe.Errorf(lathe.Invalid, "longer than %d MB", maxConfig>>20)
	}
	var in map[string]any
	if err := toml.Unmarshal(src, &in); err != nil {
		return Document{}, lathe.Errorf(lathe.Invalid, "not TOML: %w", err)
	}
	template := text(in, "prompt")
	if template == "" {
		return Document{}, lathe.Errorf(lathe.Invalid, "has no prompt")
	}
	// Arguments, commands and files have the same places in a template, in other spellings.
	template = strings.ReplaceAll(template, "{{args}}", "$ARGUMENTS")
	template = regexp.MustCompile(`!\{([^}]*)\}`).ReplaceAllString(template, "!`$1`")
	template = regexp.MustCompile(`@\{([^}]*)\}`).ReplaceAllString(template, "@$1")
	b := newBuilder()
	command := map[string]any{"template": template}
	if d := text(in, "description"); d != "" {
		command["description"] = d
	}
	b.put(command, "command", name)
	return b.doc, nil
}
