package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command is called by a script, and every flag of it given by one or by a test.
func TestCommandsAndFlags_AreTried(t *testing.T) {
	root := newRoot(newApp())
	called, tried := map[string]bool{}, map[string]bool{}
	for _, words := range scriptCalls(t) {
		called[tryCall(root, words, tried)] = true
	}
	for _, words := range testCalls(t) {
		tryCall(root, words, tried)
	}
	flags := 0
	hold := func(of string, set *pflag.FlagSet) {
		set.VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			flags++
			if !tried[of+" --"+f.Name] {
				t.Errorf("%s --%s: nothing in testdata and no test gives it", of, f.Name)
			}
		})
	}
	eachCommand(root, func(c *cobra.Command) {
		if !c.Hidden {
			if !called[c.CommandPath()] {
				t.Errorf("%s: nothing in testdata calls it", c.CommandPath())
			}
			hold(c.CommandPath(), c.NonInheritedFlags())
		}
	})
	if flags < 150 {
		t.Errorf("only %d flags were looked for", flags)
	}
}

// tryCall marks the flags that a call of lathe gives, and returns the command that it calls. A
// flag of all commands counts for the command that defines it.
func tryCall(root *cobra.Command, words []string, tried map[string]bool) string {
	c, rest, err := root.Find(words)
	if err != nil {
		return ""
	}
	for _, word := range rest {
		if word == "--" {
			break
		}
		word, _, _ = strings.Cut(word, "=")
		name, long := strings.CutPrefix(word, "--")
		short, isShort := strings.CutPrefix(word, "-")
		var f *pflag.Flag
		switch {
		case long:
			f = c.Flag(name)
		case isShort && len(short) == 1:
			if f = c.Flags().ShorthandLookup(short); f == nil {
				f = c.InheritedFlags().ShorthandLookup(short)
			}
		}
		if f == nil {
			continue
		}
		owner := c
		for owner.NonInheritedFlags().Lookup(f.Name) != f && owner.HasParent() {
			owner = owner.Parent()
		}
		tried[owner.CommandPath()+" --"+f.Name] = true
	}
	return c.CommandPath()
}

// scriptCalls are the calls of lathe in the scripts of testdata, each without its first word.
func scriptCalls(t *testing.T) [][]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	var calls [][]string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(text), "\n-- ")
		for line := range strings.Lines(script) {
			words := strings.Fields(line)
			if len(words) == 0 || words[0] == "#" {
				continue
			}
			if i := slices.Index(words, "lathe"); i >= 0 {
				calls = append(calls, words[i+1:])
			} else if i := slices.Index(words, "serves"); i >= 0 {
				calls = append(calls, words[i+2:])
			}
		}
	}
	return calls
}

// testCalls are the lists of words in the tests that could be a call: the strings among the
// arguments of a call or the elements of a list, from the first that names a command.
func testCalls(t *testing.T) [][]string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	starters := map[string][]string{
		"startServe": {"serve"}, "mcpStart": {"mcp", "serve"}, "mcpBegin": {"mcp", "serve"}, "mcpCommand": {"mcp", "serve"},
	}
	var calls [][]string
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				calls = append(calls, commandWords(nil, n.Args)...)
				if name, ok := n.Fun.(*ast.Ident); ok && starters[name.Name] != nil {
					calls = append(calls, commandWords(starters[name.Name], n.Args)...)
				}
			case *ast.CompositeLit:
				calls = append(calls, commandWords(nil, n.Elts)...)
			}
			return true
		})
	}
	return calls
}

// commandWords are the tails of a list of strings after what is known to go before them; one of
// them may begin with a command.
func commandWords(before []string, list []ast.Expr) [][]string {
	var words []string
	for _, e := range list {
		word := "x" // a value that only the run knows
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			word, _ = strconv.Unquote(lit.Value)
		}
		words = append(words, word)
	}
	var tails [][]string
	for i := range words {
		tails = append(tails, slices.Concat(before, words[i:]))
	}
	return tails
}
