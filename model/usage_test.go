package model_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

func TestPerMillion(t *testing.T) {
	for dollars, want := range map[float64]lathe.Money{
		0: 0, 1: 1e6, 3: 3e6, 0.25: 250_000, 0.1: 100_000, 15.000001: 15_000_001, 0.0000004: 0, 0.0000005: 1,
		-1: 0, math.Inf(1): 0, math.Inf(-1): 0, 1e300: 1 << 62,
	} {
		if got := model.PerMillion(dollars); got != want {
			t.Errorf("PerMillion(%g) = %d, want %d", dollars, got, want)
		}
	}
	if got := model.PerMillion(math.NaN()); got != 0 {
		t.Errorf("PerMillion(NaN) = %d", got)
	}
}

func tokens(total, input, output, reasoning, read, write int64) lathe.Tokens {
	return lathe.Tokens{
		Total: total, Input: input, Output: output, Reasoning: reasoning, Cache: lathe.CacheTokens{Read: read, Write: write},
	}
}

func price(in, out, read, write float64) model.Price {
	return model.Price{
		Input: model.PerMillion(in), Output: model.PerMillion(out), CacheRead: model.PerMillion(read), CacheWrite: model.PerMillion(write),
	}
}

func TestCount(t *testing.T) {
	billed, refund := lathe.Dollars(0.5), lathe.Dollars(-1)
	for _, c := range []struct {
		name  string
		usage model.Usage
		price model.Price
		want  lathe.Tokens
		cost  float64
	}{
		{
			"the example of the description",
			model.Usage{Input: 100, CacheRead: 30, Output: 20, Reasoning: 5, Total: 120},
			price(1, 2, 0.5, 0), tokens(120, 70, 15, 5, 30, 0), 0.000125,
		},
		{"nothing", model.Usage{}, price(1, 2, 3, 4), tokens(0, 0, 0, 0, 0, 0), 0},
		{"no prices", model.Usage{Input: 100, Output: 20}, model.Price{}, tokens(0, 100, 20, 0, 0, 0), 0},
		{
			"everything",
			model.Usage{Input: 1000, CacheRead: 300, CacheWrite: 200, Output: 100, Reasoning: 40},
			price(3, 15, 0.3, 3.75), tokens(0, 500, 60, 40, 300, 200), (500*3 + 100*15 + 300*0.3 + 200*3.75) / 1e6,
		},
		{"a million", model.Usage{Input: 1e6}, price(1, 0, 0, 0), tokens(0, 1e6, 0, 0, 0, 0), 1},
		{"more cache than input", model.Usage{Input: 10, CacheRead: 30, Output: 1}, price(1, 1, 1, 0), tokens(0, 0, 1, 0, 30, 0), 31e-6},
		{"more reasoning than output", model.Usage{Output: 5, Reasoning: 8}, price(0, 1, 0, 0), tokens(0, 0, 0, 8, 0, 0), 8e-6},
		{"negative counts", model.Usage{Input: -5, CacheRead: -1, CacheWrite: -2, Output: -3, Reasoning: -4, Total: -9}, price(1, 1, 1, 1), tokens(0, 0, 0, 0, 0, 0), 0},
		{"negative prices", model.Usage{Input: 5, Output: 5}, model.Price{Input: -1e6, Output: -1e6}, tokens(0, 5, 5, 0, 0, 0), 0},
		{"billed by the provider", model.Usage{Input: 100, Billed: &billed}, price(1, 1, 1, 1), tokens(0, 100, 0, 0, 0, 0), 0.5},
		{"billed less than nothing", model.Usage{Input: 100, Billed: &refund}, price(1, 1, 1, 1), tokens(0, 100, 0, 0, 0, 0), 0},
		{
			"counts that wrap",
			model.Usage{Input: math.MinInt64, CacheRead: math.MaxInt64, CacheWrite: math.MaxInt64, Output: math.MinInt64, Reasoning: math.MaxInt64},
			model.Price{},
			tokens(0, 0, 0, math.MaxInt64, math.MaxInt64, math.MaxInt64), 0,
		},
	} {
		got, cost := model.Count(c.usage, c.price)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if cost.Dollars() != c.cost {
			t.Errorf("%s costs %v, want %v", c.name, cost.Dollars(), c.cost)
		}
	}
}

// The largest tier that the input is above counts, and all of the request has its price.
func TestCount_Tiers(t *testing.T) {
	p := price(1, 1, 1, 1)
	p.Tiers = []model.Tier{{Over: 100_000, Price: price(2, 2, 2, 2)}, {Over: 200_000, Price: price(3, 3, 3, 3)}}
	for _, c := range []struct {
		usage model.Usage
		per   float64
	}{
		{model.Usage{Input: 1000}, 1},
		{model.Usage{Input: 100_000}, 1},
		{model.Usage{Input: 100_001}, 2},
		{model.Usage{Input: 200_000, CacheRead: 150_000}, 2},
		{model.Usage{Input: 200_001, CacheRead: 200_000}, 3}, // what the cache served is input
		{model.Usage{Input: 10, Output: 900_000}, 1},
	} {
		_, cost := model.Count(c.usage, p)
		if want := lathe.Dollars(float64(c.usage.Input+c.usage.Output) * c.per / 1e6); cost != want {
			t.Errorf("%+v costs %s, want %s", c.usage, cost, want)
		}
	}
}

// A cost is never negative, never wraps, and is exact where it fits.
func TestCount_Saturates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int64 {
			return rapid.OneOf(rapid.Int64Range(0, 1<<40), rapid.Int64()).Draw(t, name)
		}
		u := model.Usage{Input: n("in"), CacheRead: n("read"), CacheWrite: n("write"), Output: n("out"), Reasoning: n("thoughts")}
		p := model.Price{
			Input: lathe.Money(n("pin")), Output: lathe.Money(n("pout")), CacheRead: lathe.Money(n("pread")), CacheWrite: lathe.Money(n("pwrite")),
		}
		tokens, cost := model.Count(u, p)
		want := new(big.Int)
		for _, term := range []struct {
			price lathe.Money
			n     int64
		}{
			{p.Input, tokens.Input},
			{p.Output, tokens.Output},
			{p.Output, tokens.Reasoning},
			{p.CacheRead, tokens.Cache.Read},
			{p.CacheWrite, tokens.Cache.Write},
		} {
			if term.n < 0 {
				t.Fatalf("%+v", tokens)
			}
			if term.price > 0 {
				want.Add(want, new(big.Int).Mul(big.NewInt(int64(term.price)), big.NewInt(term.n)))
			}
		}
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		if int64(cost) != want.Int64() {
			t.Fatalf("cost %d, want %d", cost, want)
		}
	})
}
