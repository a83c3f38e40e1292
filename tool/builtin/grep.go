package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace/search"
)

//go:embed grep.md
var grepText string

const (
	grepWidth = 500 // characters; of a longer line the part with the match is shown
	grepPart  = 250
	grepSpan  = 10 // lines of one match that are shown
)

type grepInput struct {
	Pattern string `json:"pattern" jsonschema:"the regular expression: func \\w+\\("`
	Path    string `json:"path,omitempty" jsonschema:"the directory or file to search, the project's directory if absent: /repo/src"`
	Include string `json:"include,omitempty" jsonschema:"a glob for the files: *.{ts,tsx}"`
}

// Grep returns the tool that finds lines by their content.
func Grep(files FilesConfig) tool.Tool {
	spec := tool.Spec{Name: "grep", Description: strings.TrimSpace(grepText)}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in grepInput) (tool.Result, error) {
		g := grepRun{files: files, call: c, in: in}
		if err := g.parse(); err != nil {
			return tool.Result{}, err
		}
		var err error
		if g.target, err = searched(ctx, c, "grep", in.Path, in.Pattern, in); err != nil {
			return tool.Result{}, err
		}
		if !g.target.IsDir() { // lines of a file are what read shows
			if err := c.Host.Ask(ctx, tool.Permission{Name: "read", Patterns: g.target.Patterns(), Always: []string{"*"}}); err != nil {
				return tool.Result{}, err
			}
		}
		return g.run(ctx)
	})
}

// grepRun is one search.
type grepRun struct {
	files   FilesConfig
	call    *tool.Call
	in      grepInput
	re      *search.Regexp
	include *search.Pattern // nil is every file
	target  target.Target
}

func (g *grepRun) parse() error {
	if g.in.Pattern == "" {
		return tool.Failf("pattern is empty and would match every line. Give what to look for, or use glob to list files.")
	}
	var err error
	if g.re, err = search.ParseRegexp(g.in.Pattern, false); err != nil {
		return badRegexp(err)
	}
	if g.in.Include == "" {
		return nil
	}
	glob := filepath.ToSlash(g.in.Include)
	if strings.Contains(glob, ",") && !strings.ContainsAny(glob, "{}[") {
		glob = "{" + strings.ReplaceAll(glob, " ", "") + "}" // a list, as some other searches take it
	}
	if g.include, err = search.ParsePattern(glob); err != nil {
		return badGlob("include", err)
	}
	return nil
}

// badRegexp says where an expression is wrong, and what would work.
func badRegexp(err error) error {
	wrong, ok := errors.AsType[*search.PatternError](err)
	if !ok || wrong.Literal == "" {
		return tool.Failf("pattern cannot be used: %w", err)
	}
	at := utf8.RuneCountInString(wrong.Expr[:wrong.Offset]) + 1
	text := fmt.Sprintf("pattern is not a regular expression: at character %d, %q: %s.", at, wrong.At, wrong.Reason)
	if rest, ok := withoutGroup(wrong); ok {
		text += fmt.Sprintf(" Call grep with %s and choose among the lines it finds.", patternMember(rest))
	} else {
		text += fmt.Sprintf(" To find that text as it stands, call grep with %s.", patternMember(wrong.Literal))
	}
	return tool.Failf("%s", text)
}

// withoutGroup takes the group out of an expression that looks around.
func withoutGroup(wrong *search.PatternError) (string, bool) {
	if !strings.HasPrefix(wrong.Reason, "look-around") {
		return "", false
	}
	depth := 0
	for i := wrong.Offset; i < len(wrong.Expr); i++ {
		switch wrong.Expr[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			rest := wrong.Expr[:wrong.Offset] + wrong.Expr[i+1:]
			_, err := search.ParseRegexp(rest, false)
			return rest, err == nil && rest != ""
		}
	}
	return "", false
}

// patternMember is a pattern as it is in the JSON of a call.
func patternMember(pattern string) string {
	return `"pattern": ` + string(args.AppendText(nil, pattern))
}

func (g *grepRun) run(ctx context.Context) (tool.Result, error) {
	found, err := g.search(ctx, g.re, false)
	if err != nil {
		return tool.Result{}, searchError(ctx, err)
	}
	shown := 0
	var out strings.Builder
	if found.Total == 0 {
		out.WriteString(g.none(found) + "\n" + g.why(ctx, found))
	} else {
		shown = g.print(&out, found)
	}
	out.WriteString(unreadable(found.Unreadable) + leftOut(found.Skipped))
	meta, err := json.Marshal(struct {
		Matches   int  `json:"matches"`
		Truncated bool `json:"truncated"`
	}{found.Total, found.Total > shown})
	return tool.Result{Title: g.in.Pattern, Output: strings.TrimRight(out.String(), "\n"), Metadata: meta}, err
}

// none says that nothing was found, and where it was looked for.
func (g *grepRun) none(found search.Matches) string {
	switch {
	case found.Searched == 0:
		return noFiles
	case !g.target.IsDir():
		return "No match in " + g.target.Shown + "."
	case g.in.Include != "":
		return fmt.Sprintf("No match in %s (include %q).", phrase.Count(found.Searched, "file"), g.in.Include)
	}
	return fmt.Sprintf("No match in %s.", phrase.Count(found.Searched, "file"))
}

// search looks through the tree, or the one file that was named, whatever it is called.
func (g *grepRun) search(ctx context.Context, re *search.Regexp, all bool) (search.Matches, error) {
	q := search.Query{Root: g.target.Path, Limit: searchLimit, Hidden: true, All: all, Skip: g.skips, ExcludesFile: g.files.excludes()}
	if g.target.IsDir() {
		return search.Grep(ctx, q, re, g.include)
	}
	f, err := g.target.Open()
	if err != nil {
		return search.Matches{}, err
	}
	defer f.Close()
	return search.GrepReader(ctx, q, re, "", f)
}

// skips reports whether a file below the directory is not searched: its lines would be shown
// though to read it is asked about or denied. It must be known before: to say that such a file has a
// match would tell what is in it.
func (g *grepRun) skips(below string) bool {
	var patterns []string
	for _, p := range g.target.Patterns() {
		patterns = append(patterns, path.Join(p, below))
	}
	if !g.call.Host.Allowed(tool.Permission{Name: "read", Patterns: patterns}) {
		return true
	}
	at := g.target
	at.Path = filepath.Join(at.Path, filepath.FromSlash(below))
	_, isSecret := target.SecretReason(g.call.External, at)
	return isSecret
}

// leftOut says that files were not searched.
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n(Not searched: %s with secrets, or for which a rule on reading asks or denies. Give one as path if you need it; the user is asked.)\n", phrase.Count(n, "file"))
}

// print writes what was found and returns how many matches that shows.
func (g *grepRun) print(out *strings.Builder, found search.Matches) int {
	fmt.Fprintf(out, "%s in %s", matches(found.Total), phrase.Count(found.TotalFiles, "file"))
	if found.Total > searchLimit {
		fmt.Fprintf(out, ", the first %d are shown", searchLimit)
	}
	out.WriteString("\n")
	shown := 0
	rest := found.Files
	for len(rest) > 0 && len(rest[0].Lines) > 0 {
		f := rest[0]
		rest = rest[1:]
		if shown > 0 {
			out.WriteString("\n")
		}
		out.WriteString(shownPath(g.target, f.Path) + ":\n")
		for _, l := range f.Lines {
			printLine(out, l)
		}
		if more := f.Count - len(f.Lines); more > 0 {
			fmt.Fprintf(out, "  (%d more in this file)\n", more)
		}
		shown += len(f.Lines)
	}
	if len(rest) > 0 {
		out.WriteString("\nMore matches are in:\n")
		for _, f := range rest {
			fmt.Fprintf(out, "  %s: %d\n", shownPath(g.target, f.Path), f.Count)
		}
	}
	if more := found.TotalFiles - len(found.Files); more > 0 {
		fmt.Fprintf(out, "  and in %s more\n", phrase.Count(more, "file"))
	}
	if found.Total > shown {
		out.WriteString("\n(To see the rest, make the pattern narrower, or give path or include.)\n")
	}
	return shown
}

func matches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}

// printLine writes a match, or the lines of one that spans several.
func printLine(out *strings.Builder, l search.Line) {
	if text, ok := partOfLine(l); ok {
		fmt.Fprintf(out, "  Line %d: %s\n", l.Number, text)
		return
	}
	for i, line := range strings.Split(l.Text, "\n") {
		if i == grepSpan {
			out.WriteString("  ...\n")
			return
		}
		part, _ := partOfLine(search.Line{Text: line})
		fmt.Fprintf(out, "  Line %d: %s\n", l.Number+i, part)
	}
}

// partOfLine is a line as it is shown: whole, or where it is long the part round its match. It
// reports false for several lines.
func partOfLine(l search.Line) (string, bool) {
	if strings.Contains(l.Text, "\n") {
		return "", false
	}
	before, after := l.Before, l.After
	text := l.Text
	if before || after || utf8.RuneCountInString(text) > grepWidth {
		hit := min(l.End-l.Start, grepPart)
		from := max(0, min(l.Start-(grepPart-hit)/2, len(text)-grepPart))
		to := min(len(text), from+grepPart)
		before, after = before || from > 0, after || to < len(text)
		text = text[from:to]
		for before && text != "" && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
		if after {
			text = text[:tool.FitLine(text+"x", len(text), false)]
		}
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if before {
		text = "..." + text
	}
	if after {
		text += "..."
	}
	return text, true
}

// why says what may be the reason that nothing was found.
func (g *grepRun) why(ctx context.Context, found search.Matches) string {
	if found.Binary > 0 && !g.target.IsDir() {
		return fmt.Sprintf("\n%s is a binary file and was not searched. Use bash for it: strings, or grep -a.\n", g.target.Shown)
	}
	var hints []string
	if strings.Contains(g.in.Pattern, `\|`) {
		hints = append(hints, fmt.Sprintf("\\| is the character | itself. For alternatives call grep with %s.", patternMember(strings.ReplaceAll(g.in.Pattern, `\|`, "|"))))
	}
	if hint := g.noFile(ctx); hint != "" {
		return "\n" + strings.Join(append(hints, hint), "\n") + "\n"
	}
	if fold, err := search.ParseRegexp(g.in.Pattern, search.FoldCase); err == nil {
		if n, files := g.again(ctx, fold, false); n > 0 {
			hints = append(hints, fmt.Sprintf("Without regard to case: %s in %s. Call grep with %s.", matches(n), phrase.Count(files, "file"), patternMember("(?i)"+g.in.Pattern)))
		}
	}
	if g.target.IsDir() {
		if n, files := g.again(ctx, g.re, true); n > 0 {
			hints = append(hints, fmt.Sprintf("Files that are ignored have %s in %s. To search them, give the ignored directory or file as path.", matches(n), phrase.Count(files, "file")))
		}
	}
	if len(hints) == 0 {
		return ""
	}
	return "\n" + strings.Join(hints, "\n") + "\n"
}

// noFile says that include leaves nothing to search.
func (g *grepRun) noFile(ctx context.Context) string {
	if g.include == nil || !g.target.IsDir() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, searchAgain)
	defer cancel()
	files, err := search.Glob(ctx, search.Query{Root: g.target.Path, Limit: 1, Hidden: true, ExcludesFile: g.files.excludes()}, g.include)
	if err != nil || files.Total > 0 {
		return ""
	}
	return fmt.Sprintf("No file below %s fits include %q.", g.target.Shown, g.in.Include)
}

func (g *grepRun) again(ctx context.Context, re *search.Regexp, all bool) (n, files int) {
	ctx, cancel := context.WithTimeout(ctx, searchAgain)
	defer cancel()
	found, err := g.search(ctx, re, all)
	if err != nil {
		return 0, 0
	}
	return found.Total, found.TotalFiles
}
