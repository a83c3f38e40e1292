package api

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// Reports are what a program tells about itself: what fills the context of a session, its cost, the settings of a
// directory, its health, and the instruction files that apply there.
type Reports interface {
	// ContextUse says what fills the context window of a session's model.
	ContextUse(ctx context.Context, id lathe.SessionID) (ContextUse, error)
	// SessionCost says what a session and those below it have cost.
	SessionCost(ctx context.Context, id lathe.SessionID) (SessionCost, error)
	// SessionUsage says where the time and the money of a session went.
	SessionUsage(ctx context.Context, id lathe.SessionID) (SessionUsage, error)

	// Settings lists the settings of a directory by key. Secrets are masked.
	Settings(ctx context.Context, dir string) ([]Setting, error)
	// ChangeSetting writes a setting to the user's config file, or removes it with null.
	ChangeSetting(ctx context.Context, dir, key string, value json.RawMessage) error

	// Checks names the health checks of a directory; Check runs one, with a time limit.
	Checks(ctx context.Context, dir string) ([]string, error)
	Check(ctx context.Context, dir, name string) (Check, error)

	// MemoryFiles lists the instruction files that apply in a directory, in the order in which models read them, and
	// those that could be created.
	MemoryFiles(ctx context.Context, dir string) ([]MemoryFile, error)
	// EditMemory adds a line to one of these files, or removes it again.
	EditMemory(ctx context.Context, dir string, e MemoryEdit) (MemoryFile, error)
}

// ContextUse is what fills the context window of a model. Numbers are tokens.
type ContextUse struct {
	Model    lathe.ModelRef `json:"model"`
	Window   int            `json:"window"`   // 0 is not known
	Used     int            `json:"used"`     // the sum of the parts
	Measured bool           `json:"measured"` // Used is what the provider counted, not an estimate
	Reserve  int            `json:"reserve"`  // kept free for the next answer
	// CompactAt is how much may be used before the history is compacted; 0 is never.
	CompactAt int           `json:"compactAt"`
	Parts     []ContextPart `json:"parts"`
	Largest   []ContextPart `json:"largest"` // single consumers, largest first
}

// ContextPart is a kind of content, or one consumer.
type ContextPart struct {
	Name   string `json:"name"`            // a constant below, or that of a file, a call or a server
	Tokens int    `json:"tokens"`          // estimated by length, fitted to the provider's count
	Count  int    `json:"count,omitempty"` // how many things it sums up
}

// The parts of a context, in the order of a request.
const (
	PartSystem       = "System prompt" // without the instructions in it
	PartTools        = "Tools"         // descriptions of the built-in tools
	PartMCP          = "MCP tools"     // and of those of MCP servers
	PartInstructions = "Instructions"  // AGENTS.md and other instruction files
	PartFiles        = "Files"         // attachments and files that were read
	PartMessages     = "Messages"      // the rest of the conversation
)

// SessionCost is the cost of a session, in dollars.
type SessionCost struct {
	Total     CostLine   `json:"total"`     // with all subagents
	Models    []CostLine `json:"models"`    // of the total, most expensive first
	Subagents CostLine   `json:"subagents"` // the part of the total that subagents caused
	Today     CostLine   `json:"today"`     // all sessions on this machine since midnight
	Budgets   []Budget   `json:"budgets"`   // the limits of the config that apply
}

// CostLine is a sum of requests.
type CostLine struct {
	Name       string  `json:"name,omitempty"` // provider/model
	Cost       float64 `json:"cost"`           // at the prices of the catalog
	Requests   int     `json:"requests"`
	Sessions   int     `json:"sessions,omitempty"`
	Input      int64   `json:"input"`  // without the cache
	Output     int64   `json:"output"` // with reasoning
	CacheRead  int64   `json:"cacheRead"`
	CacheWrite int64   `json:"cacheWrite"`
}

// Budget is a limit on the cost and how much of it is spent.
type Budget struct {
	Name  string  `json:"name"` // session, day or project
	Spent float64 `json:"spent"`
	Limit float64 `json:"limit"`
}

// Setting is one setting and its effective value.
type Setting struct {
	Key     string          `json:"key"`               // with dots, as "compaction.auto"
	Type    string          `json:"type"`              // boolean, integer, number, string, choice; others are edited in the file
	Choices []string        `json:"choices,omitempty"` // of a choice
	Help    string          `json:"help"`              // one sentence, as in docs/settings.md
	Default string          `json:"default,omitempty"` // for people
	Value   json.RawMessage `json:"value,omitempty"`   // absent is the default; secrets are masked
	Origin  string          `json:"origin"`            // default, or the file that sets it
	Secret  bool            `json:"secret,omitempty"`
}

// Check is the result of a health check.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, off, warn or fail; "" is still running
	Detail string `json:"detail,omitempty"`
	Fix    string `json:"fix,omitempty"` // a remedy for a problem
}

// The results of checks.
const (
	CheckOK   = "ok"
	CheckOff  = "off"  // not in use, which is no problem
	CheckWarn = "warn" // lathe works, but not as well as it could
	CheckFail = "fail" // something does not work
)

// MemoryFile is an instruction file, such as AGENTS.md.
type MemoryFile struct {
	Path   string `json:"path"`  // absolute
	Owner  string `json:"owner"` // user or project
	Exists bool   `json:"exists"`
	Lines  int    `json:"lines,omitempty"`
	Tokens int    `json:"tokens,omitempty"`
}

// MemoryEdit adds a line to an instruction file. File is one of MemoryFiles; "" is the project's.
type MemoryEdit struct {
	File   string `json:"file,omitempty"`
	Line   string `json:"line"`
	Remove bool   `json:"remove,omitempty"` // the last line that says so, instead
}
