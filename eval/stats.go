package eval

import "math"

// z95 is the quantile of the normal distribution for an interval of 95 %.
const z95 = 1.959963984540054

// Share is a part of runs, with its interval of 95 %.
type Share struct {
	Passed int     `json:"passed"`
	Runs   int     `json:"runs"` // with a verdict
	Rate   float64 `json:"rate"` // from 0 to 1
	Low    float64 `json:"low"`  // of the interval
	High   float64 `json:"high"`
}

// ShareOf is the pass rate with its Wilson interval, which also fits few runs and rates near 0 and 1. Without runs nothing is
// known: the interval is 0 to 1.
func ShareOf(passed, runs int) Share {
	s := Share{Passed: passed, Runs: runs, High: 1}
	if runs <= 0 {
		return s
	}
	n, p := float64(runs), float64(passed)/float64(runs)
	z2 := z95 * z95
	middle := (p + z2/(2*n)) / (1 + z2/n)
	half := z95 / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	s.Rate, s.Low, s.High = p, math.Max(0, middle-half), math.Min(1, middle+half)
	if passed == 0 { // rounding must not exclude the rate itself
		s.Low = 0
	}
	if passed == runs {
		s.High = 1
	}
	return s
}

// Difference is a pass rate less another, with its interval of 95 %.
type Difference struct {
	Rate float64 `json:"rate"` // from -1 to 1
	Low  float64 `json:"low"`  // of the interval
	High float64 `json:"high"`
}

// Less is the difference of two independent pass rates, by Newcombe's method: it combines the Wilson intervals of both.
func (s Share) Less(base Share) Difference {
	if s.Runs == 0 || base.Runs == 0 {
		return Difference{Low: -1, High: 1}
	}
	square := func(x float64) float64 { return x * x }
	d := s.Rate - base.Rate
	return Difference{
		Rate: d,
		Low:  math.Max(-1, d-math.Sqrt(square(s.Rate-s.Low)+square(base.High-base.Rate))),
		High: math.Min(1, d+math.Sqrt(square(s.High-s.Rate)+square(base.Rate-base.Low))),
	}
}

// IsClear reports whether chance alone would show such a difference in fewer than 5 of 100 comparisons.
func (d Difference) IsClear() bool { return d.Low > 0 || d.High < 0 }
