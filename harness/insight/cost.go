package insight

import (
	"context"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/usage"
	"github.com/lathe-agent/lathe/usage/explain"
)

// maxDescendants limits the sessions whose cost is summed up.
const maxDescendants = 10_000

// SessionCost says what a session and its subagents have cost, the cost of today, and the budgets.
func (r *Reports) SessionCost(ctx context.Context, id lathe.SessionID) (api.SessionCost, error) {
	var out api.SessionCost
	rec, err := r.Engine.Get(ctx, id)
	if err != nil {
		return out, err
	}
	total, own := usage.NewCounter(r.Now().Location(), false), usage.NewCounter(r.Now().Location(), false)
	sessions := 0
	err = r.walk(ctx, rec, func(s lathe.Session, m lathe.Message) {
		if total.Add(s, m); s.ID == id {
			own.Add(s, m)
		}
	}, func(lathe.Session) { sessions++ })
	if err != nil {
		return out, err
	}
	all, mine := total.Stats(), own.Stats()
	out.Total, out.Models = lineOf("", all.Usage), []api.CostLine{}
	for _, m := range all.ByModel {
		out.Models = append(out.Models, lineOf(m.Name(), m.Usage))
	}
	out.Subagents = less(out.Total, lineOf("", mine.Usage))
	out.Subagents.Sessions = sessions - 1
	if out.Today, err = r.today(ctx); err != nil {
		return out, err
	}
	out.Budgets, err = r.budgets(ctx, rec)
	return out, err
}

// SessionUsage says where the time and the money of a session went.
func (r *Reports) SessionUsage(ctx context.Context, id lathe.SessionID) (api.SessionUsage, error) {
	rec, err := r.Engine.Get(ctx, id)
	if err != nil {
		return api.SessionUsage{}, err
	}
	return explain.Load(ctx, r.Engine, rec)
}

// walk visits the messages of a session and of all below it.
func (r *Reports) walk(ctx context.Context, top lathe.Session, visit func(lathe.Session, lathe.Message), enter func(lathe.Session)) error {
	seen := map[lathe.SessionID]bool{} // imported sessions may have a cycle of parents
	for queue := []lathe.Session{top}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if seen[s.ID] || len(seen) >= maxDescendants {
			continue
		}
		seen[s.ID] = true
		enter(s)
		page, err := r.Engine.Messages(ctx, s.ID, lathe.Position{}, 0)
		if err != nil {
			return err
		}
		for _, m := range page.Messages {
			visit(s, m)
		}
		below, err := r.Engine.Children(ctx, s.ID)
		if err != nil {
			return err
		}
		queue = append(queue, below...)
	}
	return nil
}

// today sums up all sessions since midnight.
func (r *Reports) today(ctx context.Context) (api.CostLine, error) {
	now := r.Now()
	y, m, d := now.Date()
	since := lathe.TimeOf(time.Date(y, m, d, 0, 0, 0, 0, now.Location()))
	count := usage.NewCounter(now.Location(), false)
	err := r.Engine.Store().Walk(ctx, lathe.Query{Since: since, Archived: lathe.WithArchived}, since, func(s lathe.Session, m lathe.Message) error {
		count.Add(s, m)
		return nil
	})
	st := count.Stats()
	out := lineOf("", st.Usage)
	out.Sessions = st.Sessions
	return out, err
}

// budgets lists the limits of the cost that apply to a session.
func (r *Reports) budgets(ctx context.Context, rec lathe.Session) ([]api.Budget, error) {
	out := []api.Budget{}
	at, _, err := r.Source.Open(ctx, rec.Directory)
	if err != nil {
		return out, err
	}
	set, err := r.Source.Settings(ctx, at)
	if err != nil {
		return out, err
	}
	accounts, err := r.Engine.Accounts(ctx, rec.ID, set.Budget)
	for _, a := range accounts {
		if a.Limit.Cost > 0 && (a.Kind != lathe.SessionAccount || a.Key == string(rec.ID)) {
			out = append(out, api.Budget{Name: string(a.Kind), Spent: a.Spent.Cost.Dollars(), Limit: a.Limit.Cost.Dollars()})
		}
	}
	return out, err
}

// lineOf converts a sum of package usage. Reasoning is billed as output.
func lineOf(name string, u usage.Usage) api.CostLine {
	t := u.Tokens
	return api.CostLine{Name: name, Cost: u.Cost.Dollars(), Requests: u.Steps, Input: t.Input, Output: t.Output + t.Reasoning, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite}
}

// less is a sum without one of its parts.
func less(a, b api.CostLine) api.CostLine {
	return api.CostLine{
		Cost: max(0, a.Cost-b.Cost), Requests: a.Requests - b.Requests, Input: a.Input - b.Input,
		Output: a.Output - b.Output, CacheRead: a.CacheRead - b.CacheRead, CacheWrite: a.CacheWrite - b.CacheWrite,
	}
}
