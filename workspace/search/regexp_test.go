package search

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRegexp_Errors(t *testing.T) {
	tests := []struct {
		expr string
		want PatternError
	}{
		{`foo(bar`, PatternError{Offset: 3, At: "(bar", Reason: `"(" is not closed`, Literal: `foo\(bar`}},
		{`a(b)(c`, PatternError{Offset: 4, At: "(c", Reason: `"(" is not closed`, Literal: `a\(b\)\(c`}},
		{`foo)`, PatternError{Offset: 3, At: ")", Reason: `")" closes nothing`, Literal: `foo\)`}},
		{`[)](a))`, PatternError{Offset: 6, At: ")", Reason: `")" closes nothing`, Literal: `\[\)\]\(a\)\)`}},
		{`x[a`, PatternError{Offset: 1, At: "[a", Reason: `"[" is not closed`, Literal: `x\[a`}},
		{`a**`, PatternError{Offset: 1, At: "**", Reason: "invalid nested repetition operator", Literal: `a\*\*`}},
		{`*foo`, PatternError{Offset: 0, At: "*", Reason: "nothing stands before it that could be repeated", Literal: `\*foo`}},
		{`foo(?!bar)`, PatternError{Offset: 3, At: "(?!", Reason: "look-around is not supported", Literal: `foo\(\?!bar\)`}},
		{`(?<=a)b`, PatternError{Offset: 0, At: "(?<=", Reason: "look-around is not supported", Literal: `\(\?<=a\)b`}},
		{`(a)\1`, PatternError{Offset: 3, At: `\1`, Reason: "back-references are not supported", Literal: `\(a\)\\1`}},
		{`a\Z`, PatternError{Offset: 1, At: `\Z`, Reason: "unknown escape", Literal: `a\\Z`}},
		{`\u{110000}`, PatternError{Offset: 0, At: `\u{110000}`, Reason: "unknown escape", Literal: `\\u\{110000\}`}},
	}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			_, err := ParseRegexp(tt.expr, false)
			var got *PatternError
			if !errors.As(err, &got) {
				t.Fatalf("%v", err)
			}
			tt.want.Expr = tt.expr
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Fatal(diff)
			}
			if _, err := ParseRegexp(got.Literal, false); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestParseRegexp_CodePoints(t *testing.T) {
	for expr, text := range map[string]string{`\u00e4`: "ä", `^\u{1F600}$`: "😀", `\\u00e4`: `\u00e4`, `[\u0041-\u0043]`: "B"} {
		if re := mustRegexp(t, expr, false); !re.re.MatchString(text) {
			t.Errorf("%s does not match %s", expr, text)
		}
	}
}

func TestParseRegexp_TooLong(t *testing.T) {
	if _, err := ParseRegexp(strings.Repeat("a", maxExpr+1), false); err == nil {
		t.Fatal("it was compiled")
	}
}
