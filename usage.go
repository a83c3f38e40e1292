package lathe

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Money is an amount in picodollars (10⁻¹² dollars), so that sums are exact. On the
// wire it is a number of dollars, the nearest double.
type Money int64

const picodollars = 1e12

// Dollars converts from the wire's number, to the nearest picodollar; what does not
// fit saturates.
func Dollars(d float64) Money {
	switch p := math.Round(d * picodollars); {
	case d != d:
		return 0
	case p >= math.MaxInt64:
		return math.MaxInt64
	case p <= math.MinInt64:
		return math.MinInt64
	default:
		return Money(p)
	}
}

// Dollars returns the nearest double, as the wire shows it.
func (m Money) Dollars() float64 { return float64(m) / picodollars }

// MarshalJSON writes the number of dollars.
func (m Money) MarshalJSON() ([]byte, error) { return json.Marshal(m.Dollars()) }

// UnmarshalJSON reads a number of dollars.
func (m *Money) UnmarshalJSON(data []byte) error {
	var d float64
	if err := json.Unmarshal(data, &d); err != nil {
		return err
	}
	*m = Dollars(d)
	return nil
}

// Add returns the sum and saturates instead of wrapping.
func (m Money) Add(n Money) Money { return add(m, n) }

// add saturates instead of wrapping: old data holds absurd counts.
func add[T ~int64](a, b T) T {
	switch s := a + b; {
	case b > 0 && s < a:
		return math.MaxInt64
	case b < 0 && s > a:
		return math.MinInt64
	default:
		return s
	}
}

// String shows dollars with as many digits as the amount needs, at least cents.
func (m Money) String() string {
	sign, abs := "$", uint64(m)
	if m < 0 {
		sign, abs = "-$", -abs
	}
	frac := fmt.Sprintf("%012d", abs%picodollars)
	return sign + strconv.FormatUint(abs/picodollars, 10) + "." + frac[:2] + strings.TrimRight(frac[2:], "0")
}

// Short formats an amount for a line that people read: cents, and two digits of what is smaller.
func (m Money) Short() string {
	d := math.Abs(m.Dollars())
	digits := 2
	for limit := 0.0995; d > 0 && d < limit && digits < 12; limit /= 10 {
		digits++
	}
	frac := strconv.FormatFloat(d, 'f', digits, 64)
	cents := strings.IndexByte(frac, '.') + 3
	sign := "$"
	if m < 0 {
		sign = "-$"
	}
	return sign + frac[:cents] + strings.TrimRight(frac[cents:], "0")
}

// Tokens counts what a step used. Input excludes what the cache served or took.
// Total is what the provider said, 0 when it said nothing; sessions have none.
type Tokens struct {
	Total, Input, Output, Reasoning int64
	Cache                           CacheTokens
	Extra                           Extra
}

// CacheTokens counts the provider's prompt cache.
type CacheTokens struct {
	Read, Write int64
	Extra       Extra
}

// Add returns the sum of both counts without totals, as a session keeps it.
func (t Tokens) Add(u Tokens) Tokens {
	return Tokens{
		Input: add(t.Input, u.Input), Output: add(t.Output, u.Output), Reasoning: add(t.Reasoning, u.Reasoning),
		Cache: CacheTokens{Read: add(t.Cache.Read, u.Cache.Read), Write: add(t.Cache.Write, u.Cache.Write)},
	}
}

func (t *Tokens) fields(c *codec) {
	optInt(c, "total", &t.Total)
	integer(c, "input", &t.Input)
	integer(c, "output", &t.Output)
	integer(c, "reasoning", &t.Reasoning)
	object(c, "cache", &t.Cache)
	c.rest(&t.Extra)
}

func (t *CacheTokens) fields(c *codec) {
	integer(c, "read", &t.Read)
	integer(c, "write", &t.Write)
	c.rest(&t.Extra)
}
