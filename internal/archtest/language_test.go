package archtest

import (
	"strings"
	"testing"
)

func TestLanguage(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go": `// Package m mends nothing.
package m

import "regexp"

// Whoever calls it waits.
// A second line says what.
func run() { _, _ = regexp.MustCompile("kept in a pattern"), "kept" }

type tagged struct {
	a int ` + "`doc:\"kept in a tag\"`" + ` // kept in a comment
}

const (
	text  = "a value is kept here"
	right = "a kept promise"
	query = "SELECT kept FROM rows"
)
`,
		"docs/page.md": "It was kept.\n\n```\nit is kept in code\n```\nand `kept` in a span\n",
		"b/b.go":       "package b\n\nconst text = \"this is kept by wire format\"\n",
		"b/b_test.go":  "package b\n\nconst inTest = \"this is kept\"\n",
	})
	phrases := []Phrase{
		{Pattern: `kept`, Instead: "saved", Fine: `kept promise`},
		{Pattern: `mends?`, Instead: "fix", In: InComments},
		{Pattern: `whoever`, Instead: "the caller", In: InComments, Head: true},
		{Pattern: `what`, Instead: "the noun", In: InComments, Head: true},
	}
	problems, err := tree.Language(phrases, map[string]string{"b/: kept": "the wire says so", "a.go: lost": "not there"})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, problems, `a.go:15: write saved`, `a.go:1: write fix`, `a.go:6: write the caller`, `allowed: allows nothing`, `docs/page.md:1: write saved`)
	var list []string
	for _, text := range tree.Texts() {
		list = append(list, text.Words)
	}
	if got := strings.Join(list, "|"); got != "a value is kept here|a kept promise|this is kept by wire format" {
		t.Errorf("texts: %s", got)
	}
}

func TestNamedComments(t *testing.T) {
	tree := load(t, map[string]string{"a.go": `package m

// Run runs.
func Run() {}

// The Walker walks.
type Walker struct{}

// Makes it walk.
func (Walker) Walk() {}

// says nothing.
func quiet() {}

// Names of fields.
const Fields = ""

// Limits and more.
const (
	Limit = 1 // most
)
`})
	expect(t, tree.NamedComments(), `a.go:15: begin the comment with Fields`, `a.go:9: begin the comment with Walk`)
	if share := tree.CommentShare(); share < 46 || share > 47 {
		t.Errorf("%.1f %% of the lines carry a comment, not 7 of 15", share)
	}
}
