package insight

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/usage"
)

// Totals returns the usage of all sessions in the last days as the JSON of [usage.Stats], with days in a time zone.
func (r *Reports) Totals(ctx context.Context, days int, zone *time.Location) (json.RawMessage, error) {
	y, m, d := r.Now().In(zone).Date()
	count := usage.NewCounter(zone, false)
	err := r.Engine.Store().Walk(ctx, lathe.Query{}, lathe.TimeOf(time.Date(y, m, d-days+1, 0, 0, 0, 0, zone)), func(s lathe.Session, m lathe.Message) error {
		count.Add(s, m)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	stats := count.Stats()
	projects, err := r.Engine.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		for i := range stats.ByProject {
			if stats.ByProject[i].ID == p.ID && p.ID != lathe.GlobalProject {
				stats.ByProject[i].Worktree = p.Worktree
			}
		}
	}
	return json.Marshal(stats)
}
