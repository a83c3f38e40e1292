package server

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/lathe-agent/lathe"
)

// UsageReports counts what all sessions used.
type UsageReports interface {
	// Totals returns the statistics of the last days, in a time zone, as `lathe stats --json` has them.
	Totals(ctx context.Context, days int, zone *time.Location) (json.RawMessage, error)
}

// usageAPI serves statistics of all sessions.
type usageAPI struct{ reports UsageReports }

func (a usageAPI) routes() []row {
	return []row{answer(route("GET /lathe/usage", "lathe.usage", "lathe", mayRead,
		"Get tokens, cost and tool calls of all sessions by day, model, project and tool", []failure{failsBad}, withoutDirectory), a.totals)}
}

type usageQuery struct {
	Days   int    `query:"days"`   // 0 means 30
	Offset string `query:"offset"` // of the time zone, in minutes east of UTC
}

func (a usageAPI) totals(c *call, q usageQuery, _ none) (json.RawMessage, error) {
	const mostDays, mostOffset = 366, 16 * 60
	if a.reports == nil {
		return nil, lathe.Errorf(lathe.Unavailable, "this server makes no reports")
	}
	if q.Days == 0 {
		q.Days = 30
	}
	if q.Days > mostDays {
		return nil, badRequest("Query", "days: at most %d, not %d", mostDays, q.Days)
	}
	minutes := 0
	if q.Offset != "" {
		var err error
		if minutes, err = strconv.Atoi(q.Offset); err != nil || minutes > mostOffset || minutes < -mostOffset {
			return nil, badRequest("Query", "offset: expected minutes east of UTC, at most %d", mostOffset)
		}
	}
	return a.reports.Totals(c.Context(), q.Days, time.FixedZone("", minutes*60))
}
