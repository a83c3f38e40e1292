package usage

// Harness measures how the work went: tool errors, repeated work, savings by the provider's cache.
// All metrics come from stored messages. Unknown lists the metrics that these do not contain. A turn
// lasts from a prompt to the next one. Turns of subagents count too, except in TokensPerTurn and
// CostPerTurn, which add the usage of subagents to the turns of users.
type Harness struct {
	Turns         int     `json:"turns"`
	Steps         int     `json:"steps"`
	Calls         int     `json:"calls"`
	StepsPerTurn  float64 `json:"stepsPerTurn"`
	CallsPerStep  float64 `json:"callsPerStep"` // in steps with calls
	Parallel      Rate    `json:"parallel"`     // steps with several calls, of steps with calls
	TokensPerTurn Tokens  `json:"tokensPerTurn"`
	TokensPerStep Tokens  `json:"tokensPerStep"`
	CostPerTurn   float64 `json:"costPerTurn"` // in dollars

	// CacheHits is the share of sent tokens that came from the cache, in all but the first
	// steps of turns.
	CacheHits float64 `json:"cacheHits"`
	// CacheRestarts are steps that read less than half of the tokens that the step before, of the
	// same model and a short time ago, had left in the cache. The usual cause is a changed prefix.
	CacheRestarts Rate `json:"cacheRestarts"`

	Errors     Rate           `json:"errors"` // calls that failed
	ErrorKinds map[string]int `json:"errorKinds"`
	ByTool     []ToolErrors   `json:"errorsByTool"`

	Edits         Rate `json:"edits"`         // edits that succeeded
	FirstEdits    Rate `json:"firstEdits"`    // failures of the first edit to a file in a turn
	Recovered     Rate `json:"recovered"`     // failed calls followed by a success on the same target within three calls
	RepeatedReads Rate `json:"repeatedReads"` // of the same lines, unchanged, since the last compaction
	RepeatedCalls Rate `json:"repeatedCalls"` // of other tools, with the same result
	Loops         int  `json:"loops"`         // three or more identical calls in a row

	OutputBytes  int64          `json:"outputBytes"`
	Outputs      []ToolOutput   `json:"outputs"`   // the largest ten
	Truncated    Rate           `json:"truncated"` // truncated results
	Opened       Rate           `json:"opened"`    // files of truncated output that were opened
	Time         Time           `json:"time"`
	Verified     Verified       `json:"verified"`
	ChecksHeeded Rate           `json:"checkLed"` // prompts of checks that led to a change
	Ends         map[string]int `json:"ends"`
	Compactions  Compactions    `json:"compactions"`
	Subagents    Subagents      `json:"subagents"`
	Retries      int            `json:"retries"` // in sessions of old versions; retries are no longer stored

	Unknown []string `json:"unknown"`
}

// ToolErrors are the failures of one tool by kind.
type ToolErrors struct {
	Tool   string         `json:"tool"`
	Errors Rate           `json:"errors"`
	Kinds  map[string]int `json:"kinds"`
}

// ToolOutput is the size of the results of one tool.
type ToolOutput struct {
	Tool  string  `json:"tool"`
	Bytes int64   `json:"bytes"`
	Share float64 `json:"share"`
}

// Time is the time spent by models and tools, in milliseconds.
type Time struct {
	Model    int64 `json:"model"` // answers without their tool calls
	Tools    int64 `json:"tools"` // concurrent calls count once; includes waiting for users
	Long     Rate  `json:"long"`  // calls of more than a minute
	TimedOut Rate  `json:"timedOut"`
}

// Verified counts turns that changed code by the result of tests after the last change.
type Verified struct {
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	None   int `json:"none"`
}

// Compactions are summaries in place of histories.
type Compactions struct {
	Count        int   `json:"count"`
	TokensBefore int64 `json:"tokensBefore"` // sent in the step before, on average
	Rereads      int   `json:"rereads"`      // of files read before the compaction, within ten calls after it
}

// Subagents is the work delegated to subagents.
type Subagents struct {
	Sessions    int     `json:"sessions"`
	Tokens      int64   `json:"tokens"`
	CostShare   float64 `json:"costShare"`
	ReportBytes int64   `json:"reportBytes"` // mean size of a report
}

// unknown are the metrics that stored messages do not contain.
var unknown = []string{
	"prefix breaks by cause: only the log says why a prefix changed",
	"argument repairs and edit match methods: only the final call is stored",
	"retries and tokens lost to them: failed attempts are not stored",
	"time spent waiting for users: answers are deleted after a week",
	"surviving lines and their cost: they need the repository's later commits",
}
