package catalog

import (
	"encoding/json"
	"testing"

	"github.com/lathe-agent/lathe/model"
)

// FuzzParse holds that no catalog breaks the program or costs less than nothing.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"a":{"models":{"b":{"id":"b","cost":{"input":1e300,"tiers":[{"tier":{"type":"context","size":-1}},{"input":2,"tier":{"type":"context","size":1e300}}]}}}}}`))
	f.Add([]byte(`{"a":{"models":{"b":{"id":"b","reasoning":true,"reasoning_options":[{"type":"budget_tokens","max":-4}],"limit":{"output":1}}}}}`))
	f.Add([]byte(`{"a":{"models":{"":null,"b":null}}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := split(src)
		if err != nil && file.raw != nil {
			t.Fatal("both an error and a catalog")
		}
		all := map[string]*Provider{}
		for id := range file.raw {
			if p := file.provider(id); p != nil {
				all[id] = p
			}
		}
		check(t, all)
		settings := Config(json.RawMessage(src))
		for _, id := range settings.ids() {
			if p := settings.one(id, func() answer { return answer{} }).provider; p != nil {
				check(t, map[string]*Provider{id: p})
			}
		}
	})
}

func check(t *testing.T, providers map[string]*Provider) {
	t.Helper()
	for id, p := range providers {
		if p.ID != id || p.NPM == "" || p.Name == "" {
			t.Fatalf("provider %q: %+v", id, p)
		}
		for key, m := range p.Models {
			if m.ID != key || m.Provider != id || m.APIID == "" {
				t.Fatalf("model %q: %+v", key, m)
			}
			price := m.Cost.Price()
			for _, n := range []int64{0, 1, 200_000, 200_001, 1 << 40} {
				if _, cost := model.Count(model.Usage{Input: n, Output: n, CacheRead: n / 2}, price); cost < 0 {
					t.Fatalf("%s costs %d", m.Ref(), cost)
				}
			}
			for i := 1; i < len(price.Tiers); i++ {
				if price.Tiers[i].Over < price.Tiers[i-1].Over || price.Tiers[i].Over < 0 {
					t.Fatalf("tiers %+v", price.Tiers)
				}
			}
			for _, v := range m.Variants() {
				if _, err := json.Marshal(v.Options); err != nil {
					t.Fatalf("%s %s: %v", m.Ref(), v.Name, err)
				}
			}
		}
	}
}

// BenchmarkFirstUse is the whole cost of the first question.
func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		if len(readEmbedded()) == 0 {
			b.Fatal("empty")
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	c := New(Filter{})
	for b.Loop() {
		if _, err := c.Find("anthropic/claude-opus-5"); err != nil {
			b.Fatal(err)
		}
	}
}
