package eval

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The values are those of published tables: Wilson (1927) and Newcombe (1998).
func TestShareOf(t *testing.T) {
	for _, c := range []struct {
		passed, runs int
		low, high    float64
	}{{81, 263, .2553, .3662}, {15, 148, .0624, .1605}, {0, 20, 0, .1611}, {1, 29, .0061, .1718}, {0, 0, 0, 1}, {5, 5, .5655, 1}} {
		if s := ShareOf(c.passed, c.runs); math.Abs(s.Low-c.low) > 5e-5 || math.Abs(s.High-c.high) > 5e-5 {
			t.Errorf("%d of %d: got %.4f to %.4f", c.passed, c.runs, s.Low, s.High)
		}
	}
	for _, c := range []struct {
		a, m, b, n      int
		rate, low, high float64
	}{{56, 70, 48, 80, .2, .0524, .3339}, {9, 10, 3, 10, .6, .1705, .8090}, {0, 10, 0, 20, 0, -.1611, .2775}, {10, 10, 0, 20, 1, .6791, 1}} {
		d := ShareOf(c.a, c.m).Less(ShareOf(c.b, c.n))
		if math.Abs(d.Rate-c.rate) > 5e-5 || math.Abs(d.Low-c.low) > 5e-5 || math.Abs(d.High-c.high) > 5e-5 {
			t.Errorf("%d/%d less %d/%d: got %+v", c.a, c.m, c.b, c.n, d)
		}
	}
}

func TestShareOf_Prop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Share {
			n := rapid.IntRange(0, 500).Draw(t, name)
			return ShareOf(rapid.IntRange(0, n).Draw(t, name+" passed"), n)
		}
		a, b := draw("a"), draw("b")
		for _, s := range []Share{a, b} {
			if !(0 <= s.Low && s.Low <= s.Rate && s.Rate <= s.High && s.High <= 1) {
				t.Fatalf("%+v", s)
			}
			if more := ShareOf(4*s.Passed, 4*s.Runs); s.Runs > 0 && more.High-more.Low >= s.High-s.Low {
				t.Fatalf("more runs do not narrow %+v", s)
			}
		}
		d, back := a.Less(b), b.Less(a)
		if !(-1 <= d.Low && d.Low <= d.Rate && d.Rate <= d.High && d.High <= 1) {
			t.Fatalf("%+v", d)
		}
		if math.Abs(d.Low+back.High) > 1e-12 || math.Abs(d.Rate+back.Rate) > 1e-12 {
			t.Fatalf("%+v is not the opposite of %+v", d, back)
		}
	})
}
