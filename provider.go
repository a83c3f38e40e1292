package lathe

import (
	"cmp"
	"slices"
	"strings"
)

// Providers are those that serve models.
type Providers struct {
	Connected []Provider        // those that can be used, with their models
	All       []Provider        // those that are known, without their models
	Default   map[string]string // the best model of each
	Model     *ModelRef         // the one that the config names
}

// Provider serves models.
type Provider struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Env    []string `json:"env"` // variables that hold its key
	Models []Model  `json:"-"`   // newest first
}

// Model is one that can be chosen.
type Model struct {
	Ref                     ModelRef
	Name                    string
	Released                string  // a date
	Status                  string  // "deprecated", "beta" …, or ""
	Reasoning               bool    // thinks before it answers
	Images                  bool    // reads pictures
	Context, Output         int     // in tokens; 0 is not known
	InputPrice, OutputPrice float64 // dollars for a million tokens; both 0 may be free or not known
	CacheReadPrice          float64
	Variants                []string // levels of reasoning
}

// IsPriced reports whether it is known what the model costs by tokens: the wire has no word for what it does not know,
// for a plan that is paid otherwise, and for a machine of one's own.
func (m Model) IsPriced() bool { return m.InputPrice != 0 || m.OutputPrice != 0 }

// IsFree reports whether the model costs nothing. Only of this provider a price of nothing says so.
func (m Model) IsFree() bool { return !m.IsPriced() && m.Ref.Provider == "opencode" }

// SortModels puts the newest first.
func SortModels(all []Model) {
	slices.SortFunc(all, func(a, b Model) int {
		return cmp.Or(cmp.Compare(b.Released, a.Released), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Ref.Model, b.Ref.Model))
	})
}

// SortVariants orders levels of reasoning from little to much, and those with other names behind them.
func SortVariants(names []string) {
	known := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	at := func(name string) int {
		if i := slices.Index(known, name); i >= 0 {
			return i
		}
		return len(known)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(at(a)-at(b), cmp.Compare(a, b)) })
}

// SortToolServers orders by name, whatever the case.
func SortToolServers(all []ToolServer) {
	slices.SortFunc(all, func(a, b ToolServer) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Name, b.Name))
	})
}

// LoginMethod is a way to log in to a provider.
type LoginMethod struct {
	Type  string `json:"type" enum:"oauth,api"`
	Label string `json:"label"`
}

// UsesBrowser reports whether the login is a page to open; otherwise it is a key to enter.
func (m LoginMethod) UsesBrowser() bool { return m.Type == "oauth" }

// Authorization is what a person must do to log in.
type Authorization struct {
	URL          string `json:"url"`
	Method       string `json:"method" enum:"auto,code"`
	Instructions string `json:"instructions"`
}

// NeedsCode reports whether the page shows a code to enter; otherwise the end of the login is noticed.
func (a Authorization) NeedsCode() bool { return a.Method == "code" }

// ToolServer is an MCP server and how it is.
type ToolServer struct {
	Name   string
	Status string // connected, disabled, failed, needs_auth or needs_client_registration
	Error  string
	Tools  int // 0 is not known
}

// Mode is a permission mode: what is allowed where no rule of the user says otherwise.
type Mode string

// The permission modes, as the setting permission_mode spells them.
const (
	AskMode      Mode = "ask"       // edits, commands and tools of others are asked about
	SandboxMode  Mode = "sandbox"   // everything inside of the project is allowed; commands are confined
	ReadOnlyMode Mode = "read-only" // nothing is edited, and commands are confined to reading
)
