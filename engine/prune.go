package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

const (
	// What old outputs of tools are left out of: the newest so many tokens stay, and it is
	// done for no less than that many, because it costs the provider's cache.
	pruneProtect, pruneLeast = 40_000, 20_000
	// The newest calls and exchanges stay whatever they weigh.
	pruneCalls, pruneExchanges = 10, 2
	// pruneAt is how full the window must be, in percent; roomLeft what must be free afterwards.
	pruneAt, roomLeft = 80, 10
	// cacheTime is how long a provider remembers a prompt that was not told otherwise.
	cacheTime = 5 * time.Minute
)

// prune leaves old outputs of tools out of the context, in one batch, if the settings want
// that and it is time. The store keeps them.
func (r *runner) prune(ctx context.Context, s state) error {
	if r.settings == nil || !r.settings.Compaction.Prune || r.model == nil || s.session.Revert != nil {
		return nil // what is undone may come back, as it was
	}
	parts, freed := s.prunable(r.settings.Compaction.usable(r.model), r.model.Cache)
	if len(parts) == 0 {
		return nil
	}
	return r.mask(ctx, parts, freed)
}

// prunable are the outputs to leave out now, for a window of that size; none while it is not
// time, was done since the last word, or frees too little.
func (s state) prunable(window int, cache model.CacheTTL) ([]lathe.Part, int) {
	if !s.isTimeToPrune(window, cache) || hasPruned(s.messages) {
		return nil, 0
	}
	parts, freed := maskable(visible(s.messages))
	if freed < pruneLeast {
		return nil, 0
	}
	return parts, freed
}

// makeRoom prunes when the window is full, and reports whether that was enough.
func (r *runner) makeRoom(ctx context.Context, s state) (bool, error) {
	if !r.settings.Compaction.Prune || hasPruned(s.messages) {
		return false, nil
	}
	parts, freed := maskable(visible(s.messages))
	if freed < pruneLeast || used(s.lastStep())-int64(freed) > int64(s.usable*(100-roomLeft)/100) {
		return false, nil
	}
	return true, r.mask(ctx, parts, freed)
}

// mask marks outputs as left out. Of a session that was removed meanwhile nobody hears (broke).
func (r *runner) mask(ctx context.Context, parts []lathe.Part, freed int) error {
	at := r.engine.now()
	facts := make([]lathe.Fact, 0, len(parts))
	for _, p := range parts {
		next, err := p.Body.(*lathe.ToolCall).Compact(at)
		if err != nil {
			continue // it is not what it was
		}
		p.Body = next
		facts = append(facts, &lathe.PartChanged{Part: p, Time: at})
	}
	r.engine.log.Info("old outputs of tools were left out of the context", "session", r.lease.Session, "calls", len(facts), "tokens", freed)
	return r.write(ctx, facts...)
}

// isTimeToPrune reports whether the provider's cache is cold anyway, or the next request would
// be near the end of the window. Where that is not known only the outputs count.
func (s state) isTimeToPrune(window int, cache model.CacheTTL) bool {
	a := s.lastStep()
	if a == nil || a.Summary.On() {
		return false
	}
	if window == 0 || used(a)*100 >= int64(window)*pruneAt {
		return true
	}
	last, keeps := s.messages[len(s.messages)-1], cacheTime
	if cache == model.CacheHour {
		keeps = time.Hour
	}
	return isWord(last) && last.Created-a.Completed > lathe.Time(keeps.Milliseconds())
}

// hasPruned reports whether it was done since the user's last word: once for each is enough, or
// a session would lose its memory with every step.
func hasPruned(messages []*held) bool {
	from := exchange(messages)
	if from >= len(messages) {
		return true
	}
	since := messages[from].Created
	return slices.ContainsFunc(callsOf(messages), func(c *lathe.ToolCall) bool {
		done, ok := c.State.(*lathe.Completed)
		return ok && done.Compacted != 0 && done.Compacted >= since
	})
}

// maskedSince is how many tokens were left out of the context since a moment.
func maskedSince(messages []*held, at lathe.Time) (n int) {
	for _, c := range callsOf(messages) {
		if done, ok := c.State.(*lathe.Completed); ok && done.Compacted != 0 && done.Compacted >= at {
			n += tokensIn(done.Output)
		}
	}
	return n
}

// maskable lists the outputs that can be left out, and how many tokens they are. Of what the
// model sees it leaves the last two exchanges, the newest calls, skills and the list of todos
// alone. What is worth little goes wherever it stands: reads of files that were read or
// written again since, tests that passed, listings, pages. Of the rest the newest stay.
func maskable(messages []*held) (parts []lathe.Part, freed int) {
	exchanges, calls, protected := 0, 0, 0
	touched, todos := map[string]bool{}, false
	for _, h := range slices.Backward(messages) {
		for _, p := range slices.Backward(h.Parts) {
			c, ok := p.Body.(*lathe.ToolCall)
			if !ok {
				continue
			}
			calls++
			done, ok := c.State.(*lathe.Completed)
			if !ok {
				continue
			}
			f := factsOf(done)
			little := f.isWorthLittle(c.Tool, touched)
			f.touch(c.Tool, touched)
			stays := isKept(c.Tool, todos) || exchanges < pruneExchanges || calls <= pruneCalls
			todos = todos || c.Tool == "todowrite"
			if stays || done.Compacted != 0 {
				continue
			}
			size := tokensIn(done.Output)
			if !little {
				if protected += size; protected <= pruneProtect {
					continue
				}
			}
			parts, freed = append(parts, p), freed+size
		}
		if isWord(h) {
			exchanges++
		}
	}
	slices.Reverse(parts)
	return parts, freed
}

// isKept reports whether a tool's output always stays; of the todos the newest list does.
func isKept(tool string, newer bool) bool {
	return tool == "skill" || tool == "todowrite" && !newer
}

// isWorthLittle reports whether an output can be had again, or says nothing any more.
// Touched are the files that later calls have read or written.
func (f callFacts) isWorthLittle(tool string, touched map[string]bool) bool {
	switch tool {
	case "read":
		return touched[f.FilePath] || touched[f.extent()]
	case "glob", "grep", "list", "webfetch", "websearch":
		return true
	case "bash":
		return f.Exit != nil && *f.Exit == 0 && runsTests(f.Command)
	default:
		return false
	}
}

// touch notes the files a call has read or written.
func (f callFacts) touch(tool string, files map[string]bool) {
	switch tool {
	case "read":
		files[f.extent()] = true
	case "edit", "write":
		files[f.FilePath] = true
	}
	for _, one := range f.Files {
		files[one.FilePath] = true
	}
}

// extent names what of a file was read: other lines of it are not the same.
func (f callFacts) extent() string {
	if f.Offset <= 1 && f.Limit == 0 {
		return f.FilePath
	}
	return fmt.Sprintf("%s:%d+%d", f.FilePath, f.Offset, f.Limit)
}
