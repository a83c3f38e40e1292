package insight

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/internal/scrub"
)

// schema is the part of a JSON schema that settings are described with.
type schema struct {
	Description string            `json:"description"`
	Type        string            `json:"type"`
	Enum        []any             `json:"enum"`
	Const       any               `json:"const"`
	Deprecated  bool              `json:"deprecated"`
	Properties  map[string]schema `json:"properties"`
	AnyOf       []schema          `json:"anyOf"`
	Rest        json.RawMessage   `json:"additionalProperties"`
}

// Settings lists the settings of a directory: the keys of the config, down to single values, with the effective
// value and the file it comes from.
func (r *Reports) Settings(ctx context.Context, dir string) ([]api.Setting, error) {
	at, _, err := r.Source.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	loaded, err := r.Source.Config(ctx, at)
	if err != nil {
		return nil, err
	}
	all, err := describe()
	if err != nil {
		return nil, err
	}
	values := tree(scrub.JSON([]byte(loaded.Config.Raw)))
	files := readSources(loaded.Sources)
	for i := range all {
		s := &all[i]
		s.Origin = "default"
		if v, ok := find(values, s.Key); ok {
			s.Value, s.Origin = v, r.origin(s.Key, loaded.Sources, files)
			s.Secret = isSecret(v)
		}
	}
	return all, nil
}

// describe lists all settings of the config's table by key.
func describe() ([]api.Setting, error) {
	var top schema
	if err := json.Unmarshal(config.Schema(), &top); err != nil {
		return nil, err
	}
	var out []api.Setting
	top.list("", &out)
	slices.SortFunc(out, func(a, b api.Setting) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

// list adds the settings below a key. Maps of the user's own names, such as agents, are one setting.
func (s schema) list(prefix string, out *[]api.Setting) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p, key := s.Properties[name], prefix+name
		switch {
		case p.Deprecated || strings.HasPrefix(name, "$") || strings.Contains(p.Description, "has no effect"):
		case len(p.Properties) > 0:
			p.list(key+".", out)
		default:
			*out = append(*out, p.setting(key))
		}
	}
}

// setting describes one value. The help of a table says the default after a semicolon.
func (s schema) setting(key string) api.Setting {
	help, standard, _ := strings.Cut(s.Description, "; default: ")
	out := api.Setting{Key: key, Type: s.Type, Help: help, Default: standard}
	for _, alt := range append([]schema{s}, s.AnyOf...) {
		for _, word := range alt.Enum {
			if text, ok := word.(string); ok {
				out.Type = "choice"
				out.Choices = append(out.Choices, text)
			}
		}
		if alt.Type == "boolean" && len(s.AnyOf) > 0 && alt.Const == nil {
			out.Choices = append(out.Choices, "true", "false")
		}
		out.Type = cmp.Or(out.Type, alt.Type)
	}
	if out.Type == "boolean" {
		out.Choices = nil
	}
	return out
}

// tree reads a JSON object; nil if it is none.
func tree(data []byte) (out map[string]json.RawMessage) {
	_ = json.Unmarshal(data, &out) // anything else has no keys
	return out
}

// find returns the value of a key with dots.
func find(values map[string]json.RawMessage, key string) (json.RawMessage, bool) {
	name, rest, deeper := strings.Cut(key, ".")
	v, ok := values[name]
	if !ok || !deeper {
		return v, ok
	}
	return find(tree(v), rest)
}

// readSources parses the files of the config again, to find which of them sets a key. Variables have only their
// topmost keys.
func readSources(all []config.Source) (out []map[string]json.RawMessage) {
	for _, s := range all {
		var values map[string]json.RawMessage
		if text, err := os.ReadFile(s.Name); err == nil {
			if plain, err := hujson.Standardize(text); err == nil {
				values = tree(plain)
			}
		}
		out = append(out, values)
	}
	return out
}

// origin names the last source that sets a key.
func (r *Reports) origin(key string, all []config.Source, files []map[string]json.RawMessage) string {
	top, _, _ := strings.Cut(key, ".")
	for i, s := range slices.Backward(all) {
		if !slices.Contains(s.Keys, top) {
			continue
		}
		if _, ok := find(files[i], key); ok || files[i] == nil {
			return string(s.Layer) + ": " + r.tilde(s.Name)
		}
	}
	return "default"
}

// tilde shortens the home folder, which every reader knows.
func (r *Reports) tilde(path string) string {
	if rest, ok := strings.CutPrefix(path, r.Home+string(os.PathSeparator)); ok && r.Home != "" {
		return "~/" + rest
	}
	return path
}

// isSecret reports whether a value was masked.
func isSecret(v json.RawMessage) bool { return strings.Contains(string(v), scrub.Mark) }

// maxSetting limits the bytes of a value.
const maxSetting = 64 << 10

// ChangeSetting writes one setting to the user's config file; null removes it. The file keeps its comments, and an
// invalid value changes nothing.
func (r *Reports) ChangeSetting(ctx context.Context, _, key string, value json.RawMessage) error {
	all, err := describe()
	if err != nil {
		return err
	}
	switch known := slices.ContainsFunc(all, func(s api.Setting) bool { return s.Key == key }); {
	case !known:
		return lathe.Errorf(lathe.NotFound, "unknown setting %q; /config lists them all", key[:min(len(key), 100)])
	case len(value) > maxSetting || !json.Valid(value):
		return lathe.Errorf(lathe.Invalid, "the value of %s is not JSON, or longer than 64 KB", key)
	case isSecret(value):
		return lathe.Errorf(lathe.Invalid, "%s is masked and cannot be written back; edit your config file to change it", key)
	}
	change := value
	for _, name := range slices.Backward(strings.Split(key, ".")) {
		if change, err = json.Marshal(map[string]json.RawMessage{name: change}); err != nil {
			return err
		}
	}
	return r.Source.ApplyUserConfig(ctx, change)
}
