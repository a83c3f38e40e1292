package catalog

import (
	"cmp"
	"math"
	"slices"

	"github.com/lathe-agent/lathe/model"
)

// over200K is where the price of long requests begins in the older form of the catalog.
const over200K = 200_000

// Price is the cost in exact money for each token.
func (c Cost) Price() model.Price {
	p := c.Rates.price()
	for _, t := range c.Tiers {
		if t.Threshold.Type == "context" && t.Threshold.Size >= 0 && t.Threshold.Size < 1<<53 {
			p.Tiers = append(p.Tiers, model.Tier{Over: int64(t.Threshold.Size), Price: t.Rates.price()})
		}
	}
	slices.SortStableFunc(p.Tiers, func(a, b model.Tier) int { return cmp.Compare(a.Over, b.Over) })
	// Any tier that holds wins over the price for more than 200 000.
	if c.Over200K != nil && (len(p.Tiers) == 0 || p.Tiers[0].Over > over200K) {
		p.Tiers = append([]model.Tier{{Over: over200K, Price: c.Over200K.price()}}, p.Tiers...)
	}
	return p
}

func (r Rates) price() model.Price {
	return model.Price{
		Input: model.PerMillion(r.Input), Output: model.PerMillion(r.Output),
		CacheRead: model.PerMillion(r.CacheRead), CacheWrite: model.PerMillion(r.CacheWrite),
	}
}

// clean replaces invalid prices by 0.
func (r *Rates) clean() {
	for _, v := range []*float64{&r.Input, &r.Output, &r.CacheRead, &r.CacheWrite} {
		*v = atLeast0(*v)
	}
}

func (c *Cost) clean() {
	c.Rates.clean()
	if c.Over200K != nil {
		c.Over200K.clean()
	}
	for i := range c.Tiers {
		c.Tiers[i].Rates.clean()
	}
}

func (l *Limit) clean() {
	for _, v := range []*float64{&l.Context, &l.Input, &l.Output} {
		*v = atLeast0(*v)
	}
}

func atLeast0(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// cachePrices separates the prices of reading and of writing a cache. The embedded list has a
// field for each, but many of its entries hold them the other way round. Reading is never
// dearer than plain input and writing never cheaper, so the numbers decide; one that can be
// neither is dropped.
func cachePrices(r Rates) (read, write float64) {
	switch {
	case r.Input <= 0 || r.CacheWrite > r.Input:
		read, write = r.CacheRead, r.CacheWrite
	case r.CacheWrite <= 0 || r.CacheRead > 0 && r.CacheRead < r.Input:
		read = r.CacheRead
	case r.CacheRead > r.Input && r.CacheRead != r.Output:
		read, write = r.CacheWrite, r.CacheRead
	default:
		read = r.CacheWrite
	}
	if r.Input > 0 {
		read = min(read, r.Input)
	}
	return read, write
}
