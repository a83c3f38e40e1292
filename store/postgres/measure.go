package postgres

import "github.com/lathe-agent/lathe/internal/metric"

// Measure writes how long this node needs to renew its lease.
func (d *Driver) Measure(p *metric.Page) {
	p.Histogram("lathe_lease_renew_seconds", "How long renewals of the lease of this node took.", &d.node.renewals)
}
