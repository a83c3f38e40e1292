package explain

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// maxDescendants limits the sessions whose cost is summed up.
const maxDescendants = 10_000

// Source reads sessions: an engine, or a client.
type Source interface {
	Messages(ctx context.Context, id lathe.SessionID, before lathe.Position, limit int) (lathe.Page, error)
	Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error)
}

// Load reads a session and the cost of those below it, and computes the report.
func Load(ctx context.Context, from Source, s lathe.Session) (api.SessionUsage, error) {
	page, err := from.Messages(ctx, s.ID, lathe.Position{}, 0)
	if err != nil {
		return api.SessionUsage{}, err
	}
	var below api.CostLine
	seen := map[lathe.SessionID]bool{s.ID: true} // imported sessions may have a cycle of parents
	for queue := []lathe.SessionID{s.ID}; len(queue) > 0 && len(seen) < maxDescendants; queue = queue[1:] {
		children, err := from.Children(ctx, queue[0])
		if err != nil {
			return api.SessionUsage{}, err
		}
		for _, c := range children {
			if !seen[c.ID] {
				seen[c.ID] = true
				queue = append(queue, c.ID)
				addRecord(&below, c)
			}
		}
	}
	return Session(s, page.Messages, below), nil
}

// addRecord adds the sums of a session record.
func addRecord(to *api.CostLine, s lathe.Session) {
	to.Sessions++
	if s.Cost != nil {
		to.Cost += s.Cost.Dollars()
	}
	if s.Tokens != nil {
		to.Input += s.Tokens.Input
		to.Output += s.Tokens.Output + s.Tokens.Reasoning
		to.CacheRead += s.Tokens.Cache.Read
		to.CacheWrite += s.Tokens.Cache.Write
	}
}
