package compact

import (
	"fmt"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
)

const (
	// Pruning invalidates the provider's cache. It therefore spares the newest PruneProtect tokens of tool
	// output and only runs if it frees at least PruneMin.
	PruneProtect, PruneMin = 40_000, 20_000
	// The newest calls and exchanges stay whatever they weigh.
	PruneCalls, PruneExchanges = 10, 2
	// PruneAt is how full the window must be, in percent; roomLeft what must be free afterwards.
	PruneAt, PruneFree = 80, 10
	// CacheTime is how long a provider caches a prompt by default.
	CacheTime = 5 * time.Minute
)

// HasPruned reports whether it was done since the user's last word: once for each is enough, or
// a session would lose its memory with every step.
func HasPruned(messages []*history.Message) bool {
	from := history.LastExchange(messages)
	if from >= len(messages) {
		return true
	}
	since := messages[from].Created
	return slices.ContainsFunc(history.Calls(messages), func(c *lathe.ToolCall) bool {
		done, ok := c.State.(*lathe.Completed)
		return ok && done.Compacted != 0 && done.Compacted >= since
	})
}

// PrunedSince is how many tokens were left out of the context since a moment.
func PrunedSince(messages []*history.Message, at lathe.Time) (n int) {
	for _, c := range history.Calls(messages) {
		if done, ok := c.State.(*lathe.Completed); ok && done.Compacted != 0 && done.Compacted >= at {
			n += TokensIn(done.Output)
		}
	}
	return n
}

// Prunable lists the outputs that can be left out, and how many tokens they are. Of what the
// model sees it leaves the last two exchanges, the newest calls, skills and the list of todos
// alone. Outputs of little value go first, anywhere: reads of files that were read or written
// again since, passed tests, listings, pages. Of the rest the newest stay.
func Prunable(messages []*history.Message) (parts []lathe.Part, freed int) {
	later := laterCalls{touched: map[string]bool{}}
	for _, h := range slices.Backward(messages) {
		for _, p := range slices.Backward(h.Parts) {
			c, ok := p.Body.(*lathe.ToolCall)
			if !ok {
				continue
			}
			if size := later.maskable(c); size >= 0 {
				parts, freed = append(parts, p), freed+size
			}
		}
		if history.IsUserPrompt(h) {
			later.exchanges++
		}
	}
	slices.Reverse(parts)
	return parts, freed
}

// laterCalls are the calls after a call, read from the end.
type laterCalls struct {
	exchanges, calls int
	protected        int             // tokens of outputs that stay because they are new
	touched          map[string]bool // files that were read or written
	todos            bool            // the list was written
}

// maskable is how many tokens the output of the call before these is, or -1 if it stays.
func (l *laterCalls) maskable(c *lathe.ToolCall) int {
	l.calls++
	done, ok := c.State.(*lathe.Completed)
	if !ok {
		return -1
	}
	f := factsOf(done)
	little := f.isWorthLittle(c.Tool, l.touched)
	f.noteFiles(c.Tool, l.touched)
	stays := isProtected(c.Tool, l.todos) || l.exchanges < PruneExchanges || l.calls <= PruneCalls
	l.todos = l.todos || c.Tool == "todowrite"
	if stays || done.Compacted != 0 {
		return -1
	}
	size := TokensIn(done.Output)
	if !little {
		if l.protected += size; l.protected <= PruneProtect {
			return -1
		}
	}
	return size
}

// isProtected reports whether a tool's output always stays; of the todos the newest list does.
func isProtected(tool string, newer bool) bool {
	return tool == "skill" || tool == "todowrite" && !newer
}

// isWorthLittle reports whether an output is outdated or can be produced again. Touched are the
// files that later calls have read or written.
func (f callFacts) isWorthLittle(tool string, touched map[string]bool) bool {
	switch tool {
	case "read":
		return touched[f.FilePath] || touched[f.readRange()]
	case "glob", "grep", "list", "webfetch", "websearch":
		return true
	case "bash":
		return f.Exit != nil && *f.Exit == 0 && check.RunsTests(f.Command)
	default:
		return false
	}
}

// noteFiles notes the files a call has read or written.
func (f callFacts) noteFiles(tool string, files map[string]bool) {
	switch tool {
	case "read":
		files[f.readRange()] = true
	case "edit", "write":
		files[f.FilePath] = true
	}
	for _, one := range f.Files {
		files[one.FilePath] = true
	}
}

// readRange names what of a file was read: other lines of it are not the same.
func (f callFacts) readRange() string {
	if f.Offset <= 1 && f.Limit == 0 {
		return f.FilePath
	}
	return fmt.Sprintf("%s:%d+%d", f.FilePath, f.Offset, f.Limit)
}
