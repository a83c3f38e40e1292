package memory

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
)

// mostRecent is how many models are remembered as used.
const mostRecent = 10

// Models are the recent and favorite models.
type Models struct {
	Recent   []lathe.ModelRef  // latest first
	Favorite []lathe.ModelRef  // in the order they were chosen
	Variant  map[string]string // level of reasoning, by provider/model
}

// Models reads them.
func (m *Memory) Models() (Models, error) {
	all, err := m.object(modelsFile)
	return modelsOf(all), err
}

// modelsOf reads the model lists and ignores invalid entries.
func modelsOf(all map[string]json.RawMessage) Models {
	out := Models{Recent: refsOf(all["recent"]), Favorite: refsOf(all["favorite"]), Variant: map[string]string{}}
	var variants map[string]json.RawMessage
	_ = json.Unmarshal(all["variant"], &variants) // ignore other types
	for name, raw := range variants {
		var v string
		if json.Unmarshal(raw, &v) == nil && v != "" {
			out.Variant[name] = v
		}
	}
	return out
}

// refsOf reads a list of models and skips invalid ones.
func refsOf(raw json.RawMessage) (out []lathe.ModelRef) {
	for _, ref := range itemsOf[lathe.ModelRef](raw) {
		if ref.Provider != "" && ref.Model != "" && !slices.ContainsFunc(out, isModel(ref)) {
			out = append(out, lathe.ModelRef{Provider: ref.Provider, Model: ref.Model})
		}
	}
	return out
}

// itemsOf reads a list and skips items of another type.
func itemsOf[T any](raw json.RawMessage) (out []T) {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // ignore other types
	for _, item := range list {
		var v T
		if json.Unmarshal(item, &v) == nil {
			out = append(out, v)
		}
	}
	return out
}

func isModel(ref lathe.ModelRef) func(lathe.ModelRef) bool {
	return func(r lathe.ModelRef) bool { return r.Provider == ref.Provider && r.Model == ref.Model }
}

// SaveRecent moves a model to the top of the recent ones.
func (m *Memory) SaveRecent(ctx context.Context, ref lathe.ModelRef) error {
	return m.changeObject(ctx, modelsFile, func(all map[string]json.RawMessage) bool {
		was := refsOf(all["recent"])
		if len(was) > 0 && isModel(ref)(was[0]) {
			return false
		}
		is := append([]lathe.ModelRef{{Provider: ref.Provider, Model: ref.Model}}, slices.DeleteFunc(was, isModel(ref))...)
		return put(all, "recent", is[:min(len(is), mostRecent)])
	})
}

// SaveFavorite adds a model to the favorites, or removes it.
func (m *Memory) SaveFavorite(ctx context.Context, ref lathe.ModelRef, liked bool) error {
	return m.changeObject(ctx, modelsFile, func(all map[string]json.RawMessage) bool {
		list := refsOf(all["favorite"])
		if has := slices.ContainsFunc(list, isModel(ref)); has == liked {
			return false
		}
		if liked {
			list = append(list, lathe.ModelRef{Provider: ref.Provider, Model: ref.Model})
		} else {
			list = slices.DeleteFunc(list, isModel(ref))
		}
		return put(all, "favorite", list)
	})
}

// SaveVariant saves the reasoning level of a model; "" removes it.
func (m *Memory) SaveVariant(ctx context.Context, ref lathe.ModelRef, variant string) error {
	return m.changeObject(ctx, modelsFile, func(all map[string]json.RawMessage) bool {
		variants, name := modelsOf(all).Variant, ref.Provider+"/"+ref.Model
		if variants[name] == variant {
			return false
		}
		if variant == "" {
			delete(variants, name)
		} else {
			variants[name] = variant
		}
		return put(all, "variant", variants)
	})
}

// put sets a member. If it cannot be encoded, the file stays unchanged.
func put[T any](all map[string]json.RawMessage, name string, v T) bool {
	raw, err := json.Marshal(v)
	if err != nil {
		return false
	}
	all[name] = raw
	return true
}

// Pinned reads which sessions are pinned, in their order.
func (m *Memory) Pinned() ([]lathe.SessionID, error) {
	all, err := m.object(sessionsFile)
	return pinnedOf(all), err
}

func pinnedOf(all map[string]json.RawMessage) (out []lathe.SessionID) {
	for _, id := range itemsOf[lathe.SessionID](all["pinned"]) {
		if id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// SavePinned pins a session after the others, or unpins it.
func (m *Memory) SavePinned(ctx context.Context, id lathe.SessionID, pinned bool) error {
	return m.changeObject(ctx, sessionsFile, func(all map[string]json.RawMessage) bool {
		list := pinnedOf(all)
		if slices.Contains(list, id) == pinned {
			return false
		}
		if pinned {
			list = append(list, id)
		} else {
			list = slices.DeleteFunc(list, func(other lathe.SessionID) bool { return other == id })
		}
		return put(all, "pinned", list)
	})
}
