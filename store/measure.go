package store

import (
	"sync/atomic"

	"github.com/lathe-agent/lathe/internal/metric"
)

// meters count what the writer does.
type meters struct {
	commits metric.Histogram
	refused atomic.Int64 // commits without the lease
}

// Measure writes what was counted since the store was opened, and the figures of its driver, if it has some.
func (s *Store) Measure(p *metric.Page) {
	p.Histogram("lathe_commit_seconds", "How long transactions took, with the wait for other writers.", &s.writer.commits)
	p.Counter("lathe_fence_rejections_total", "Commits that were refused because another process has the session.", float64(s.writer.refused.Load()))
	if d, ok := s.driver.(interface{ Measure(*metric.Page) }); ok {
		d.Measure(p)
	}
}
