package main

import (
	"testing"

	"github.com/lathe-agent/lathe/cli/database"
)

func TestDB_CutStatement(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                           {"", ""},
		"select 1":                   {"", ""},
		"select 1;":                  {"select 1;", ""},
		"a;b;":                       {"a;", "b;"},
		"select ';' from x;y":        {"select ';' from x;", "y"},
		"select ';":                  {"", ""},
		"select 'it''s;';":           {"select 'it''s;';", ""},
		`select ";", [;], ` + "`;`;": {`select ";", [;], ` + "`;`;", ""},
		"a -- no; end\n;b":           {"a -- no; end\n;", "b"},
		"a -- no;":                   {"", ""},
		"a /* ; */;b":                {"a /* ; */;", "b"},
		"a /* ;":                     {"", ""},
		"a /*/ ; */;":                {"a /*/ ; */;", ""},
	} {
		first, rest, whole := database.SplitStatement(text)
		if !whole {
			first, rest = "", ""
		}
		if got := [2]string{first, rest}; got != want || whole != (want[0] != "") {
			t.Errorf("%q: %q, %v", text, got, whole)
		}
	}
	for text, blank := range map[string]bool{"": true, " ;\n": true, "-- x": true, "/* x */ -- y\n;": true, "/* x": true, "a -- x": false, "'--'": false} {
		if database.IsBlank(text) != blank {
			t.Errorf("whether %q is blank is not %v", text, blank)
		}
	}
}
