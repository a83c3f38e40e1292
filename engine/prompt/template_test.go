package prompt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestReferences(t *testing.T) {
	for text, want := range map[string][]string{
		"see @a.go and @dir/b.go.":       {"a.go", "dir/b.go"},
		"@.env.local, @~/x y":            {".env.local", "~/x"},
		"a@b.c `@x` _@y é@z":             nil,
		"(@x) [@y]":                      {"x)", "y]"},
		"@@x":                            {"@x"},
		"@ @. @.. @,x":                   nil,
		"@a @a @b":                       {"a", "b"},
		"@a..b":                          {"a"},
		"@..a":                           nil,
		"end @a.":                        {"a"},
		"@ä/ö.txt":                       {"ä/ö.txt"},
		"@a\u00a0b":                      {"a"},
		"mail dev@host.example, not @it": {"it"},
	} {
		if diff := cmp.Diff(want, References(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestFill(t *testing.T) {
	for _, tt := range []struct {
		template, typed string
		want            []Piece
	}{
		{"$1-$2", "a b c", []Piece{{Text: "a-b c"}}},
		{"$2-$1-$2", "a b c", []Piece{{Text: "b c-a-b c"}}},
		{"$1", `"a b" c`, []Piece{{Text: "a b c"}}},
		{"$1-$2", "", []Piece{{Text: "-"}}},
		{"$10 $1", "a", []Piece{{Text: " a"}}},
		{"x", " ", []Piece{{Text: "x"}}},
		{"x", "y", []Piece{{Text: "x"}, {Text: "\n\ny"}}},
		{"a !`b $1` c", "d", []Piece{{Text: "a "}, {"b d", true}, {Text: " c"}}},
		{"$ARGUMENTS", "!`x` $1", []Piece{{Text: "!`x` $1"}}},
		{"$1", "[image 2] b", []Piece{{Text: "[image 2] b"}}},
		{"$99999999999999999999", "a", []Piece{{Text: ""}}},
		{"!`` x", "", []Piece{{Text: "!`` x"}}},
	} {
		if diff := cmp.Diff(tt.want, Fill(tt.template, tt.typed), cmp.AllowUnexported(Piece{})); diff != "" {
			t.Errorf("%q %q: %s", tt.template, tt.typed, diff)
		}
	}
}

// What a user types is never run, and comes out as it was typed.
func TestFill_Prop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typed := rapid.StringOf(rapid.SampledFrom([]rune("ab $&!`1'\"@.\n"))).Draw(t, "typed")
		got := Fill("<$ARGUMENTS>", typed)
		if len(got) != 1 || got[0].Snippet || got[0].Text != "<"+typed+">" {
			t.Fatalf("%q became %v", typed, got)
		}
		for _, name := range References(typed) {
			if !strings.Contains(typed, "@"+name) || strings.ContainsAny(name, " \n`,") || strings.HasSuffix(name, ".") {
				t.Fatalf("%q names %q", typed, name)
			}
		}
	})
}

func TestHints(t *testing.T) {
	if diff := cmp.Diff([]string{"$1", "$2", "$10", "$ARGUMENTS"}, Hints("$10 $ARGUMENTS $2 $1 $2")); diff != "" {
		t.Error(diff)
	}
	if got := Hints("none"); got == nil || len(got) != 0 {
		t.Error(got)
	}
}
