package catalog

import (
	"encoding/json"
	"maps"
	"slices"
)

// OutputMax is how many tokens an answer may have, however many more its model could write: a
// larger reserve would shorten what can be said before it.
const OutputMax = 32000

// MaxOutput is how long an answer of the model may become, in tokens. A limit of 0 is
// [OutputMax].
func (m *Model) MaxOutput(limit int) int {
	if limit <= 0 {
		limit = OutputMax
	}
	if own := m.Limit.Output; own > 0 && own < float64(limit) {
		return max(int(own), 1)
	}
	return limit
}

// WireModel is a model as clients see it.
type WireModel struct {
	ID           string                     `json:"id"`
	Provider     string                     `json:"providerID"`
	API          WireAPI                    `json:"api"`
	Name         string                     `json:"name"`
	Family       *string                    `json:"family,omitempty"` // of models that the settings name also ""
	Capabilities WireCapabilities           `json:"capabilities"`
	Cost         WireCost                   `json:"cost"`
	Limit        Limit                      `json:"limit"`
	Status       Status                     `json:"status"`
	Options      Options                    `json:"options"`
	Headers      map[string]string          `json:"headers"`
	ReleaseDate  string                     `json:"release_date"`
	Variants     map[string]json.RawMessage `json:"variants,omitempty"`
}

// WireAPI is the address of a model.
type WireAPI struct {
	ID  string `json:"id"`
	URL string `json:"url"`
	NPM string `json:"npm"`
}

// WireCapabilities are the capabilities of a model. Interleaved is a boolean or names a field.
type WireCapabilities struct {
	Temperature bool            `json:"temperature"`
	Reasoning   bool            `json:"reasoning"`
	Attachment  bool            `json:"attachment"`
	ToolCall    bool            `json:"toolcall"`
	Input       WireMedia       `json:"input"`
	Output      WireMedia       `json:"output"`
	Interleaved json.RawMessage `json:"interleaved"`
}

// WireMedia are input or output media types.
type WireMedia struct {
	Text  bool `json:"text"`
	Audio bool `json:"audio"`
	Image bool `json:"image"`
	Video bool `json:"video"`
	PDF   bool `json:"pdf"`
}

// WireRates are prices in dollars per million tokens.
type WireRates struct {
	Input  float64   `json:"input"`
	Output float64   `json:"output"`
	Cache  WireCache `json:"cache"`
}

// WireCache is the price of the prompt cache.
type WireCache struct {
	Read  float64 `json:"read"`
	Write float64 `json:"write"`
}

// WireCost is the price of a model.
type WireCost struct {
	WireRates
	Tiers    []WireTier `json:"tiers,omitempty"`
	Over200K *WireRates `json:"experimentalOver200K,omitempty"`
}

// WireTier is the price of long requests.
type WireTier struct {
	WireRates
	Tier Threshold `json:"tier"`
}

// Wire returns the model as clients see it.
func (m *Model) Wire() WireModel {
	out := WireModel{
		ID: m.ID, Provider: m.Provider, API: WireAPI{ID: m.APIID, URL: m.API, NPM: m.NPM}, Name: m.Name,
		Capabilities: WireCapabilities{
			Temperature: m.Temperature, Reasoning: m.Reasoning, Attachment: m.Attachment, ToolCall: m.ToolCall,
			Input: media(m.Modalities.Input), Output: media(m.Modalities.Output), Interleaved: m.Interleaved.wire(),
		},
		Cost: m.Cost.wire(), Limit: m.Limit, Status: m.Status,
		Options: Options{}, Headers: map[string]string{}, ReleaseDate: m.ReleaseDate,
	}
	if m.Family != "" || m.FromConfig {
		out.Family = &m.Family
	}
	maps.Copy(out.Options, m.Options)
	maps.Copy(out.Headers, m.Headers)
	for _, v := range m.Variants() {
		if out.Variants == nil {
			out.Variants = map[string]json.RawMessage{}
		}
		out.Variants[v.Name], _ = json.Marshal(v.Options) // JSON in, JSON out
	}
	return out
}

func (i Interleaved) wire() json.RawMessage {
	switch {
	case i.Field != "":
		b, _ := json.Marshal(map[string]string{"field": i.Field})
		return b
	case i.On:
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}

// media are the modalities of the catalog; text by default.
func media(kinds []string) WireMedia {
	if len(kinds) == 0 {
		return WireMedia{Text: true}
	}
	has := func(kind string) bool { return slices.Contains(kinds, kind) }
	return WireMedia{Text: has("text"), Audio: has("audio"), Image: has("image"), Video: has("video"), PDF: has("pdf")}
}

func (r Rates) wire() WireRates {
	return WireRates{Input: r.Input, Output: r.Output, Cache: WireCache{Read: r.CacheRead, Write: r.CacheWrite}}
}

func (c Cost) wire() WireCost {
	out := WireCost{WireRates: c.Rates.wire()}
	for _, t := range c.Tiers {
		if t.Threshold.Type == "context" {
			out.Tiers = append(out.Tiers, WireTier{t.Rates.wire(), t.Threshold})
		}
	}
	if c.Over200K != nil {
		over := c.Over200K.wire()
		out.Over200K = &over
	}
	return out
}
