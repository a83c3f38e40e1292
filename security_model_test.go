//go:build !race

package lathe_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/archtest"
)

var (
	claimHead = []string{"Claim", "Enforced by", "Tests"}
	claimTest = regexp.MustCompile("^`([a-z0-9/]+): (Test[A-Za-z0-9_]+(?:/[A-Za-z0-9_./-]+)?)`$")
)

// TestDocs_SecurityModel keeps the table of claims true: every row names at least one test, and
// every test it names exists in the package it names.
func TestDocs_SecurityModel(t *testing.T) {
	page, err := os.ReadFile("docs/security-model.md")
	if err != nil {
		t.Fatal(err)
	}
	problems, claims := checkClaims(string(page), testsIn)
	for _, p := range problems {
		t.Errorf("docs/security-model.md: %s", p)
	}
	if claims < 50 {
		t.Errorf("docs/security-model.md makes %d claims; its tables were not read", claims)
	}
}

// checkClaims returns the faults of the tables on a page, and how many claims they make.
func checkClaims(page string, tests func(dir string) []string) (problems []string, claims int) {
	inTable := false
	for line := range strings.Lines(page) {
		cells := archtest.Cells(line)
		switch {
		case slices.Equal(cells, claimHead):
			inTable = true
			continue
		case strings.TrimSpace(line) == "":
			inTable = false
		}
		if cells == nil || !inTable {
			continue
		}
		if claims++; len(cells) != len(claimHead) || slices.Contains(cells, "") {
			problems = append(problems, "a claim has three cells: "+line)
			continue
		}
		for name := range strings.SplitSeq(cells[2], ", ") {
			m := claimTest.FindStringSubmatch(name)
			if m == nil {
				problems = append(problems, "a test is written as `package/path: TestName`, not "+name)
				continue
			}
			function, _, _ := strings.Cut(m[2], "/")
			if !slices.Contains(tests(m[1]), function) {
				problems = append(problems, "there is no "+function+" in "+m[1])
			}
		}
	}
	return problems, claims
}

// testsIn lists the test functions of a package, on every system.
func testsIn(dir string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go")) // the pattern is well formed
	function := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			continue // the row that needs it fails
		}
		for _, m := range function.FindAllStringSubmatch(string(src), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

func TestDocs_SecurityModelFindsMistakes(t *testing.T) {
	tests := func(string) []string { return []string{"TestA"} }
	head := "| Claim | Enforced by | Tests |\n|---|---|---|\n"
	for row, faults := range map[string]int{
		"| a | b | `x: TestA` |\n":               0,
		"| a | b | `x: TestA`, `x: TestA/b` |\n": 0,
		"| a | b | `x: TestB` |\n":               1,
		"| a | b | TestA |\n":                    1,
		"| a | b | |\n":                          1,
		"| a | | `x: TestA` |\n":                 1,
	} {
		problems, claims := checkClaims(head+row, tests)
		if len(problems) != faults || claims != 1 {
			t.Errorf("%q: %d faults, %d claims; want %d, 1: %v", row, len(problems), claims, faults, problems)
		}
	}
}
