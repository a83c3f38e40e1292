package engine

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
		if diff := cmp.Diff(want, references(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestFill(t *testing.T) {
	for _, tt := range []struct {
		template, typed string
		want            []piece
	}{
		{"$1-$2", "a b c", []piece{{text: "a-b c"}}},
		{"$2-$1-$2", "a b c", []piece{{text: "b c-a-b c"}}},
		{"$1", `"a b" c`, []piece{{text: "a b c"}}},
		{"$1-$2", "", []piece{{text: "-"}}},
		{"$10 $1", "a", []piece{{text: " a"}}},
		{"x", " ", []piece{{text: "x"}}},
		{"x", "y", []piece{{text: "x"}, {text: "\n\ny"}}},
		{"a !`b $1` c", "d", []piece{{text: "a "}, {"b d", true}, {text: " c"}}},
		{"$ARGUMENTS", "!`x` $1", []piece{{text: "!`x` $1"}}},
		{"$1", "[image 2] b", []piece{{text: "[image 2] b"}}},
		{"$99999999999999999999", "a", []piece{{text: ""}}},
		{"!`` x", "", []piece{{text: "!`` x"}}},
	} {
		if diff := cmp.Diff(tt.want, fill(tt.template, tt.typed), cmp.AllowUnexported(piece{})); diff != "" {
			t.Errorf("%q %q: %s", tt.template, tt.typed, diff)
		}
	}
}

// What a user types is never run, and comes out as it was typed.
func TestFill_Prop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typed := rapid.StringOf(rapid.SampledFrom([]rune("ab $&!`1'\"@.\n"))).Draw(t, "typed")
		got := fill("<$ARGUMENTS>", typed)
		if len(got) != 1 || got[0].snippet || got[0].text != "<"+typed+">" {
			t.Fatalf("%q became %v", typed, got)
		}
		for _, name := range references(typed) {
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
