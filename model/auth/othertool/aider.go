package othertool

import (
	"path/filepath"
	"slices"
	"strings"
)

// aiderFiles are those in the home folder. aider also reads files of the current project, which belong to
// the repository and not to the user.
func (m Machine) aiderFiles(Machine) []source {
	return []source{
		{filepath.Join(m.Home, ".aider.conf.yml"), m.parseAider},
		{filepath.Join(m.Home, ".aider", "oauth-keys.env"), m.parseEnv},
		{filepath.Join(m.Home, ".env"), m.parseEnv},
	}
}

// parseAider reads aider's config: keys of two vendors by name, and of others as provider=key.
func (m Machine) parseAider(src []byte) (out []Login, err error) {
	for _, e := range readYAML(src) {
		if len(e.path) != 1 {
			continue
		}
		switch e.path[0] {
		case "openai-api-key":
			out = append(out, oneKey("openai", "openai-api-key", e.value)...)
		case "anthropic-api-key":
			out = append(out, oneKey("anthropic", "anthropic-api-key", e.value)...)
		case "api-key":
			name, text, _ := strings.Cut(e.value, "=")
			if provider := m.providerOf(strings.ToUpper(name) + "_API_KEY"); provider != "" {
				out = append(out, oneKey(provider, "api-key."+name, text)...)
			}
		}
	}
	return out, nil
}

// parseEnv reads a file of variables.
func (m Machine) parseEnv(src []byte) (out []Login, err error) {
	values := readEnv(src)
	for name, text := range values {
		bare := strings.TrimPrefix(name, "AIDER_")
		if provider := m.providerOf(bare); provider != "" {
			out = append(out, oneKey(provider, name, text)...)
		}
	}
	slices.SortFunc(out, byEntry)
	return out, nil
}

// providerOf is the provider whose key a variable holds, "" if it is none.
func (m Machine) providerOf(variable string) string {
	if i := slices.IndexFunc(m.Variables, func(v Variable) bool { return v.Name == variable }); i >= 0 {
		return m.Variables[i].Provider
	}
	return ""
}
