package lathe_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/arch"
)

// namesPlan is what a cell may promise: "later: 4. The turn".
var namesPlan = []string{
	"2. Settings", "3. The models", "4. The turn", "5. The turn survives", "6. Tools", "7. Shell rules",
	"8. Snapshots and undo", "9. The doors", "10. Context and company", "11. Plugins and MCP",
	"12. The command line", "13. The terminal UI",
}

var namesHead = []string{"Name in the seeds", "Where it lives here", "Since", "Note"}

// namesRow is one name of docs/names.md.
type namesRow struct {
	line                     int
	name, where, since, note string
}

func TestNames_LiveWhereTheTablesSay(t *testing.T) {
	page, err := os.ReadFile("docs/names.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, problems := namesRead(string(page))
	if len(rows) < 500 {
		t.Errorf("docs/names.md has %d rows; the seeds use more names than that", len(rows))
	}
	problems = append(problems, namesCheck(rows, archTree(t).Symbol)...)
	for _, p := range problems {
		t.Errorf("docs/names.md:%s", p)
	}
}

// namesRead returns the rows of all tables on a page.
func namesRead(page string) (rows []namesRow, problems []string) {
	n := 0
	for text := range strings.Lines(page) {
		n++
		cells := arch.Cells(text)
		switch {
		case cells == nil || slices.Equal(cells, namesHead):
		case len(cells) != len(namesHead):
			problems = append(problems, fmt.Sprintf("%d: a row has %d cells, not %d", n, len(namesHead), len(cells)))
		default:
			rows = append(rows, namesRow{n, cells[0], cells[1], cells[2], cells[3]})
		}
	}
	return rows, problems
}

// namesCheck says what is wrong with the rows; exists tells whether a Go symbol does.
func namesCheck(rows []namesRow, exists func(symbol string) error) []string {
	var problems []string
	seen := map[string]int{}
	for _, r := range rows {
		bad := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("%d: %s: %s", r.line, r.name, fmt.Sprintf(format, args...)))
		}
		if first := seen[r.name]; first != 0 {
			bad("stands in line %d already", first)
		}
		seen[r.name] = r.line
		if slices.Contains([]string{r.name, r.where, r.since, r.note}, "") {
			bad("a cell is empty: write –, or what belongs there")
		}
		if why := namesWhere(r, exists); why != "" {
			bad("%s", why)
		}
	}
	return problems
}

// namesSymbols is a list of Go symbols in code spans, separated by commas.
var namesSymbols = regexp.MustCompile("^`[^`]+`(, `[^`]+`)*$")

// namesWhere checks the second and third cell of a row.
func namesWhere(r namesRow, exists func(string) error) string {
	plan, later := strings.CutPrefix(r.where, "later: ")
	switch {
	case r.where == "":
		return ""
	case r.where == "pending":
		return "pending: name the Go symbol where it lives now"
	case later && !slices.Contains(namesPlan, plan):
		return plan + " is no part of the plan (names_test.go lists them)"
	case later && r.since != "–":
		return "is promised for later, so since is –"
	case later:
		return ""
	case r.where == "none" && r.note == "–":
		return "lives nowhere: say in the note what stands in its place"
	case r.where == "none":
		return ""
	case !namesSymbols.MatchString(r.where):
		return "say `package.Symbol`, later: and a part of the plan, or none"
	case r.since == "–":
		return "is here, so since is the number of the part of the plan that brought it"
	}
	for symbol := range strings.SplitSeq(r.where, ", ") {
		if err := exists(strings.Trim(symbol, "`")); err != nil {
			return err.Error()
		}
	}
	return ""
}

// The checker is shown one row of each kind of mistake.
func TestNames_CheckerFindsMistakes(t *testing.T) {
	exists := func(symbol string) error {
		if symbol == "lathe.Session" || symbol == "lathe.Session.Parent" {
			return nil
		}
		return fmt.Errorf("no %s", symbol)
	}
	head := "| Name in the seeds | Where it lives here | Since | Note |\n|---|---|---|---|\n"
	for row, want := range map[string]string{
		"| `a` | `lathe.Session` | 1 | – |":                         "",
		"| `a` | `lathe.Session`, `lathe.Session.Parent` | 1 | x |": "",
		"| `a` | later: 4. The turn | – | – |":                      "",
		"| `a` | none | – | context.Context |":                      "",
		"| `a` | `lathe.Gone` | 1 | – |":                            "no lathe.Gone",
		"| `a` | `lathe.Session`, `lathe.Gone` | 1 | – |":           "no lathe.Gone",
		"| `a` | pending | 1 | – |":                                 "pending",
		"| `a` | | 1 | – |":                                         "empty",
		"| `a` | `lathe.Session` | 1 | |":                           "empty",
		"| `a` | later: 99. Never | – | – |":                        "no part of the plan",
		"| `a` | later: 4. The turn | 4 | – |":                      "since is –",
		"| `a` | `lathe.Session` | – | – |":                         "since is the number",
		"| `a` | none | – | – |":                                    "what stands in its place",
		"| `a` | lathe.Session | 1 | – |":                           "say `package.Symbol`",
		"| `a` | `lathe.Session` | 1 |":                             "has 4 cells, not 3",
		"| `a` | none | – | x |\n| `a` | none | – | x |":            "line 3 already",
	} {
		rows, problems := namesRead(head + row + "\n")
		problems = append(problems, namesCheck(rows, exists)...)
		got := strings.Join(problems, "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s\n got %q\nwant %q", row, got, want)
		}
	}
}
