package model

import (
	"math"
	"slices"

	"github.com/lathe-agent/lathe"
)

// Usage is the token usage of an answer. In all protocols input includes cache reads and writes, and
// output includes reasoning.
type Usage struct {
	Input, CacheRead, CacheWrite int64
	Output, Reasoning            int64
	Total                        int64 // as the provider says; 0 if it does not
	// Billed is an amount the provider itself put on the answer; it wins over prices.
	Billed *lathe.Money
}

// Price is the cost of tokens, in picodollars each. Tiers are for long inputs.
type Price struct {
	Input, Output, CacheRead, CacheWrite lathe.Money
	Tiers                                []Tier // by size, rising
}

// Tier is the price of requests whose input is larger than Over tokens.
type Tier struct {
	Over  int64
	Price Price
}

// PerMillion converts dollars per million tokens to the price of one. An invalid price is 0.
func PerMillion(dollars float64) lathe.Money {
	if math.IsNaN(dollars) || math.IsInf(dollars, 0) || dollars < 0 {
		return 0
	}
	return lathe.Money(min(math.Round(dollars*1e6), math.MaxInt64/2))
}

// at returns the price for an input of that size.
func (p Price) at(input int64) Price {
	best := p
	for _, t := range p.Tiers {
		if input > t.Over {
			best = t.Price
		}
	}
	return best
}

// WithHourCache is the price with a cache lifetime of an hour: cache writes cost twice the
// input then.
func (p Price) WithHourCache() Price {
	if p.CacheWrite > 0 {
		p.CacheWrite = max(p.CacheWrite, 2*p.Input)
	}
	for i, t := range p.Tiers {
		if i == 0 {
			p.Tiers = slices.Clone(p.Tiers)
		}
		p.Tiers[i].Price = t.Price.WithHourCache()
	}
	return p
}

// HourCacheSaves reports whether caching a prompt for an hour costs less than writing it once more: its
// surcharge is below the difference between a write and a read.
func (p Price) HourCacheSaves() bool {
	return p.CacheWrite > 0 && p.WithHourCache().CacheWrite-p.CacheWrite < p.CacheWrite-p.CacheRead
}

// Count splits the usage as messages show it, and computes its cost. Invalid counts (negative, larger
// than their sum) become 0.
func Count(u Usage, p Price) (lathe.Tokens, lathe.Money) {
	read, write := safe(u.CacheRead), safe(u.CacheWrite)
	reasoning := safe(u.Reasoning)
	t := lathe.Tokens{ // step by step, for a difference of two absurd counts wraps
		Total: safe(u.Total), Input: safe(safe(safe(u.Input)-read) - write), Output: safe(safe(u.Output) - reasoning), Reasoning: reasoning,
		Cache: lathe.CacheTokens{Read: read, Write: write},
	}
	if u.Billed != nil {
		return t, max(*u.Billed, 0)
	}
	p = p.at(safe(u.Input))
	cost := times(p.Input, t.Input).
		Add(times(p.Output, t.Output)).
		Add(times(p.CacheRead, read)).
		Add(times(p.CacheWrite, write)).
		Add(times(p.Output, reasoning))
	return t, max(cost, 0)
}

func safe(n int64) int64 { return max(n, 0) }

// times multiplies and saturates.
func times(price lathe.Money, n int64) lathe.Money {
	if price <= 0 || n <= 0 {
		return 0
	}
	if int64(price) > math.MaxInt64/n {
		return math.MaxInt64
	}
	return price * lathe.Money(n)
}
