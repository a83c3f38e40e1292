package extension

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// Configure lets plugins change the settings and returns what they add to them, "" if nothing.
// Values they remove stay, and they cannot change the list of plugins.
func (g *Set) Configure(ctx context.Context, settings json.RawMessage) (string, error) {
	if g.plugins == nil {
		return "", nil
	}
	if err := g.plugins.Start(ctx); err != nil || !g.plugins.Has("config") {
		return "", err
	}
	changed, err := g.plugins.Call(ctx, "config", nil, settings)
	if err != nil {
		return "", err
	}
	added, err := difference(settings, changed)
	if err != nil {
		return "", lathe.Errorf(lathe.Unavailable, "a plugin returned an invalid config: %w", err)
	}
	delete(added, "plugin")
	if len(added) == 0 {
		return "", nil
	}
	text, err := json.Marshal(added)
	return string(text), err
}

// smallModel lets plugins choose the model for small things, where the main one is big.
func (g *Set) smallModel(ctx context.Context, big, small lathe.ModelRef) (lathe.ModelRef, error) {
	const name = "experimental.provider.small_model"
	if g.plugins == nil || !g.plugins.Has(name) || g.Models == nil {
		return small, nil
	}
	_, provider := g.Models(big)
	in := struct {
		Provider json.RawMessage `json:"provider,omitempty"`
	}{provider}
	out := struct {
		Model *struct {
			ID       string `json:"id"`
			Provider string `json:"providerID"`
		} `json:"model,omitempty"`
	}{}
	if err := call(ctx, g, name, in, &out); err != nil || out.Model == nil {
		return small, err
	}
	return lathe.ModelRef{Provider: out.Model.Provider, Model: out.Model.ID}, nil
}

// difference returns the new or changed members of an object, deeply.
func difference(was, is json.RawMessage) (map[string]json.RawMessage, error) {
	var a, b map[string]json.RawMessage
	if err := json.Unmarshal(was, &a); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(is, &b); err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for name, value := range b {
		old, ok := a[name]
		if !ok {
			out[name] = value
			continue
		}
		if isObject(old) && isObject(value) {
			inner, err := difference(old, value)
			if err != nil {
				return nil, err
			}
			if len(inner) > 0 {
				out[name], _ = json.Marshal(inner) // of JSON
			}
			continue
		}
		if !sameJSON(old, value) {
			out[name] = value
		}
	}
	return out, nil
}

func isObject(v json.RawMessage) bool {
	v = bytes.TrimSpace(v)
	return len(v) > 0 && v[0] == '{'
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}
