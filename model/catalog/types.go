package catalog

import "encoding/json"

// Options are a provider's own options of a request or a client, as JSON.
type Options = map[string]json.RawMessage

// Provider serves models.
type Provider struct {
	ID, Name string
	Env      []string // variables that may hold its credential, by preference
	API      string   // base address; "" leaves it to the protocol
	NPM      string   // names the protocol
	Models   map[string]*Model
	// From the config.
	Options              Options
	Whitelist, Blacklist []string
	Configured           bool // settings have an entry for it
}

// Model is one model of one provider. Its tags are those of models.dev and of the config.
type Model struct {
	ID         string `json:"-"` // in the catalog
	Provider   string `json:"-"`
	APIID      string `json:"id"` // on the wire
	Name       string `json:"name"`
	Family     string `json:"family"` // such as claude-haiku
	FromConfig bool   `json:"-"`      // by the settings

	ReleaseDate string `json:"release_date"` // 2025-10-01, or less of it
	LastUpdated string `json:"last_updated"`
	Knowledge   string `json:"knowledge"`

	Attachment  bool        `json:"attachment"`
	Reasoning   bool        `json:"reasoning"`
	Temperature bool        `json:"temperature"`
	ToolCall    bool        `json:"tool_call"`
	OpenWeights bool        `json:"open_weights"`
	Interleaved Interleaved `json:"interleaved"`
	// Levels are the catalog's reasoning options; nil if it has none.
	Levels     []Level    `json:"reasoning_options"`
	Cost       Cost       `json:"cost"`
	Limit      Limit      `json:"limit"`
	Modalities Modalities `json:"modalities"`
	Status     Status     `json:"status"`

	NPM      string            `json:"-"` // the provider's, or its own
	API      string            `json:"-"`
	Override Endpoint          `json:"provider"`
	Options  Options           `json:"options"`
	Headers  map[string]string `json:"headers"`
	// ConfigVariants are the variants of the config; [Model.Variants] merges them in.
	ConfigVariants map[string]Options `json:"variants"`
	Experimental   Experimental       `json:"experimental"`
}

// Endpoint is how one model is reached where that is not as its provider is.
type Endpoint struct {
	NPM string `json:"npm"`
	API string `json:"api"`
}

// Experimental has the modes a model can be run in; each becomes its own model.
type Experimental struct {
	Modes map[string]Mode `json:"modes"`
}

// Mode has the differences to its model.
type Mode struct {
	Cost     *Cost `json:"cost"`
	Provider struct {
		Body    Options           `json:"body"`
		Headers map[string]string `json:"headers"`
	} `json:"provider"`
}

// Ref is the name users choose a model by.
func (m *Model) Ref() string { return m.Provider + "/" + m.ID }

// Status is the release status of a model.
type Status string

// The states of a model.
const (
	Active     Status = "active"
	Alpha      Status = "alpha"
	Beta       Status = "beta"
	Deprecated Status = "deprecated"
)

// Interleaved is whether reasoning may be between other parts, and which field of the wire
// holds it when that is not the usual one.
type Interleaved struct {
	On    bool
	Field string
}

// UnmarshalJSON takes a boolean, the name of a field, or an object with it. What is
// neither says nothing.
func (i *Interleaved) UnmarshalJSON(b []byte) error {
	var object struct {
		Field string `json:"field"`
	}
	*i = Interleaved{}
	switch {
	case json.Unmarshal(b, &i.On) == nil:
	case json.Unmarshal(b, &i.Field) == nil:
		i.On = i.Field != ""
	case json.Unmarshal(b, &object) == nil:
		*i = Interleaved{On: true, Field: object.Field}
	}
	return nil
}

// Level is one way in which a model's reasoning can be set: effort with its values, toggle,
// or budget_tokens with its bounds.
type Level struct {
	Type   string    `json:"type"`
	Values []*string `json:"values,omitempty"` // nil turns it off
	Min    float64   `json:"min,omitempty"`
	Max    float64   `json:"max,omitempty"`
}

// Rates are prices in dollars per million tokens.
type Rates struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read,omitempty"`
	CacheWrite float64 `json:"cache_write,omitempty"`
}

// Cost is the price of a model.
type Cost struct {
	Rates
	Over200K *Rates `json:"context_over_200k,omitempty"`
	Tiers    []Tier `json:"tiers,omitempty"`
}

// Tier is the price of requests whose input is larger than the size of its threshold.
type Tier struct {
	Rates
	Threshold Threshold `json:"tier"`
}

// Threshold is where a tier begins. Only those of type context count.
type Threshold struct {
	Type string  `json:"type"`
	Size float64 `json:"size"`
}

// Limit is in tokens; 0 is not known.
type Limit struct {
	Context float64 `json:"context"`
	Input   float64 `json:"input,omitempty"`
	Output  float64 `json:"output"`
}

// Modalities are the kinds of input and output: text, audio, image, video, pdf.
type Modalities struct {
	Input  []string `json:"input,omitempty"`
	Output []string `json:"output,omitempty"`
}
