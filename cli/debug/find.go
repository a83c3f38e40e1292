package debug

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/workspace/search"
)

type findFlags struct {
	glob  string
	limit int
}

// newDebugFind searches as an agent's tools do, to explain missing results.
func newDebugFind(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rg", Short: "Search files with the same ignore rules as agents",
		Example: "  lathe debug rg files --glob '**/*.go'\n  lathe debug rg search 'func main' --limit 5",
		Args:    cobra.ArbitraryArgs, RunE: cli.RequireSubcommand,
	}
	var f findFlags
	files := &cobra.Command{
		Use: "files", Short: "List the files that agents see", Example: "  lathe debug rg files --glob '**/*_test.go'", Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return findFiles(c.Context(), a, f) },
	}
	lines := &cobra.Command{
		Use: "search PATTERN", Short: "List matching lines", Example: "  lathe debug rg search TODO --glob '*.go' --limit 5", Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return findLines(c.Context(), a, args[0], f) },
	}
	for _, sub := range []*cobra.Command{files, lines} {
		sub.Flags().StringVar(&f.glob, "glob", "", "only files that match this `PATTERN`")
		sub.Flags().IntVar(&f.limit, "limit", 0, "show at most `N` results; 0 means no limit")
		a.JSONFlag(sub)
	}
	cmd.AddCommand(files, lines)
	return cmd
}

// query returns the search options.
func (f findFlags) query(a *cli.App) (q search.Query, p *search.Pattern, err error) {
	if f.limit < 0 {
		return q, nil, cli.Usagef("--limit %d: want 0 or more", f.limit)
	}
	root, err := filepath.Abs(a.Dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return q, nil, err
	}
	if f.glob != "" {
		if p, err = search.ParsePattern(f.glob); err != nil {
			return q, nil, cli.Usagef("--glob %s: %v", termtext.Quote(f.glob), err)
		}
	}
	return search.Query{Root: root, Limit: f.limit, ExcludesFile: a.UserExcludes()}, p, nil
}

// findFiles lists the files that an agent can see.
func findFiles(ctx context.Context, a *cli.App, f findFlags) error {
	f.glob = cmp.Or(f.glob, "**")
	q, p, err := f.query(a)
	if err != nil {
		return err
	}
	found, err := search.Glob(ctx, q, p)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(append([]string{}, found.Paths...))
	}
	for _, path := range found.Paths {
		a.Printf("%s\n", termtext.Plain(path))
	}
	printRest(a, len(found.Paths), found.Total, "file")
	return nil
}

// lineJSON is a matching line.
type lineJSON struct {
	Path   string `json:"path"`
	Number int    `json:"line"`
	Text   string `json:"text"`
}

// findLines lists the lines that match a pattern, like the grep tool.
func findLines(ctx context.Context, a *cli.App, pattern string, f findFlags) error {
	q, p, err := f.query(a)
	if err != nil {
		return err
	}
	re, err := search.ParseRegexp(pattern, !search.FoldCase)
	if err != nil {
		return cli.Usagef("%v", err)
	}
	found, err := search.Grep(ctx, q, re, p)
	if err != nil {
		return err
	}
	out := []lineJSON{}
	for _, file := range found.Files {
		for _, line := range file.Lines {
			out = append(out, lineJSON{file.Path, line.Number, line.Text})
		}
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	for _, l := range out {
		a.Printf("%s:%d:%s\n", termtext.Plain(l.Path), l.Number, termtext.Plain(l.Text))
	}
	printRest(a, len(out), found.Total, "line")
	return nil
}

// printRest prints how many results the limit hides, or that there are none.
func printRest(a *cli.App, shown, total int, noun string) {
	a.Flush()
	switch {
	case total == 0:
		a.Notify("No matches. Files ignored by .gitignore and similar files are not searched.")
	case shown < total:
		a.Notify("%s of %s.", termtext.Count(shown), termtext.Plural(total, noun))
	}
}
