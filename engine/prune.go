package engine

import (
	"context"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
)

// prune leaves old tool outputs out of the context, in one batch, if the config enables it and it is
// time. They stay in the store.
func (r *runner) prune(ctx context.Context, s state) error {
	if r.settings == nil || !r.settings.Compaction.Prune || r.model == nil || s.session.Revert != nil {
		return nil // an undone part may be restored unchanged
	}
	parts, freed := s.prunable(r.settings.Compaction.Usable(r.model.window()), r.model.Cache)
	if len(parts) == 0 {
		return nil
	}
	return r.mask(ctx, parts, freed)
}

// prunable are the outputs to leave out now, for a window of that size; none while it is not
// time, was done since the last word, or frees too little.
func (s state) prunable(window int, cache model.CacheTTL) ([]lathe.Part, int) {
	if !s.isTimeToPrune(window, cache) || compact.HasPruned(s.messages) {
		return nil, 0
	}
	parts, freed := compact.Prunable(history.Visible(s.messages))
	if freed < compact.PruneMin {
		return nil, 0
	}
	return parts, freed
}

// pruneToFit prunes when the window is full, and reports whether that was enough.
func (r *runner) pruneToFit(ctx context.Context, s state) (bool, error) {
	if !r.settings.Compaction.Prune || compact.HasPruned(s.messages) {
		return false, nil
	}
	parts, freed := compact.Prunable(history.Visible(s.messages))
	if freed < compact.PruneMin || compact.Used(s.lastStep())-int64(freed) > int64(s.usable*(100-compact.PruneFree)/100) {
		return false, nil
	}
	return true, r.mask(ctx, parts, freed)
}

// mask marks outputs as left out.
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
	r.engine.log.Info("pruned old tool outputs from the context", "session", r.log.lease.Session, "calls", len(facts), "tokens", freed)
	return r.log.write(ctx, facts...)
}

// isTimeToPrune reports whether the provider's cache is cold anyway, or the next request would
// be near the end of the window. Where that is not known only the outputs count.
func (s state) isTimeToPrune(window int, cache model.CacheTTL) bool {
	a := s.lastStep()
	if a == nil || a.Summary.On() {
		return false
	}
	if window == 0 || compact.Used(a)*100 >= int64(window)*compact.PruneAt {
		return true
	}
	last, keeps := s.messages[len(s.messages)-1], compact.CacheTime
	if cache == model.CacheHour {
		keeps = time.Hour
	}
	return history.IsUserPrompt(last) && last.Created-a.Completed > lathe.Time(keeps.Milliseconds())
}
