package usage

// Harness is how the work went: whether tools are called as they want to be, what is done twice,
// what the cache of the provider saves. All of it is read from the records; Unknown says what
// they do not hold. A turn is from a prompt to the next one; those of subagents count too,
// except in TokensPerTurn and CostPerTurn, where the work of subagents is in the turns of people.
type Harness struct {
	Turns         int     `json:"turns"`
	Steps         int     `json:"steps"`
	Calls         int     `json:"calls"`
	StepsPerTurn  float64 `json:"stepsPerTurn"`
	CallsPerStep  float64 `json:"callsPerStep"` // of steps that call at all
	Parallel      Rate    `json:"parallel"`     // steps with several calls, of those
	TokensPerTurn Tokens  `json:"tokensPerTurn"`
	TokensPerStep Tokens  `json:"tokensPerStep"`
	CostPerTurn   float64 `json:"costPerTurn"` // in dollars

	// CacheHits is the share of what was sent that came from the cache, in all but the first
	// steps of turns.
	CacheHits float64 `json:"cacheHits"`
	// CacheRestarts are steps soon after one of the same model that found less than half of
	// what that one had left in the cache: as a break of the prefix looks from outside.
	CacheRestarts Rate `json:"cacheRestarts"`

	Errors     Rate           `json:"errors"` // calls that failed
	ErrorKinds map[string]int `json:"errorKinds"`
	ByTool     []ToolErrors   `json:"errorsByTool"`

	Edits         Rate `json:"edits"`         // that were done, of those tried
	FirstEdits    Rate `json:"firstEdits"`    // that failed, of the first to a file in a turn
	Recovered     Rate `json:"recovered"`     // failed calls after which the same aim was reached within three
	RepeatedReads Rate `json:"repeatedReads"` // of the same lines, unchanged, since the last compaction
	RepeatedCalls Rate `json:"repeatedCalls"` // of other tools, with the same result
	Loops         int  `json:"loops"`         // three calls alike in a row, or more

	OutputBytes  int64          `json:"outputBytes"`
	Outputs      []ToolOutput   `json:"outputs"`   // the largest ten
	Truncated    Rate           `json:"truncated"` // results that were cut
	Opened       Rate           `json:"opened"`    // of the files that hold what was cut, those looked into
	Time         Time           `json:"time"`
	Verified     Verified       `json:"verified"`
	ChecksHeeded Rate           `json:"checkLed"` // prompts of checks that led to a change
	Ends         map[string]int `json:"ends"`
	Compactions  Compactions    `json:"compactions"`
	Subagents    Subagents      `json:"subagents"`
	Retries      int            `json:"retries"` // in records of old; today's are not kept

	Unknown []string `json:"unknown"`
}

// ToolErrors are the failures of one tool by kind.
type ToolErrors struct {
	Tool   string         `json:"tool"`
	Errors Rate           `json:"errors"`
	Kinds  map[string]int `json:"kinds"`
}

// ToolOutput is how much the results of one tool told the model.
type ToolOutput struct {
	Tool  string  `json:"tool"`
	Bytes int64   `json:"bytes"`
	Share float64 `json:"share"`
}

// Time is where it went, in milliseconds.
type Time struct {
	Model    int64 `json:"model"` // answers without the calls in them
	Tools    int64 `json:"tools"` // calls at the same time count once; people who are asked count too
	Long     Rate  `json:"long"`  // calls of more than a minute
	TimedOut Rate  `json:"timedOut"`
}

// Verified is what became of turns that changed code: whether tests ran after the last change.
type Verified struct {
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	None   int `json:"none"`
}

// Compactions are summaries in place of histories.
type Compactions struct {
	Count        int   `json:"count"`
	TokensBefore int64 `json:"tokensBefore"` // sent in the step before, on average
	Rereads      int   `json:"rereads"`      // of files read before, within ten calls after
}

// Subagents is the work that was handed on.
type Subagents struct {
	Sessions    int     `json:"sessions"`
	Tokens      int64   `json:"tokens"`
	CostShare   float64 `json:"costShare"`
	ReportBytes int64   `json:"reportBytes"` // of a report, on average
}

// unknown are the metrics that no record holds.
var unknown = []string{
	"prefix breaks by cause: only the log says why a prefix changed",
	"repairs of arguments, and how an edit found its place: a call is kept as it ran",
	"retries and tokens lost to them: attempts that failed leave no record",
	"time spent waiting for people: answers are kept for a week only",
	"kept lines and cost per kept line: they need the repository's later commits",
}
