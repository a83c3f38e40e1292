package debug

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/lsp"
	"github.com/spf13/cobra"
)

// lspWait is how long a command waits for a language server, which may have to load a large project.
const lspWait = time.Minute

// newLSP shows language servers to users who wonder why they see no errors, or wrong ones.
func newLSP(a *cli.App) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "lsp", Short: "List language servers, or ask one",
		Long: `List the language servers that are installed, and whether each can start in this directory. Servers
start with the first edit of a fitting file. The subcommands start one to ask it.`,
		Example: `  lathe debug lsp
  lathe debug lsp diagnostics main.go
  lathe debug lsp symbols Server.Start --file main.go`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return listLSP(c.Context(), a, all) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "include servers that are not installed")
	file := ""
	symbols := &cobra.Command{
		Use: "symbols QUERY", Short: "Find symbols of the project by name", Example: "  lathe debug lsp symbols Start --file main.go", Args: cli.RangeArgs(1, 1),
		Long: "Find symbols of the project by name. --file names a file of the language, so that its server starts.",
		RunE: func(c *cobra.Command, args []string) error { return findSymbols(c.Context(), a, args[0], file) },
	}
	symbols.Flags().StringVar(&file, "file", "", "`FILE` whose language server is asked")
	cmd.AddCommand(a.JSONFlag(&cobra.Command{
		Use: "diagnostics FILE", Short: "Print the errors and warnings of a file", Example: "  lathe debug lsp diagnostics main.go", Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return printDiagnostics(c.Context(), a, args[0]) },
	}), a.JSONFlag(symbols), a.JSONFlag(&cobra.Command{
		Use: "document-symbols FILE", Short: "Print the symbols of a file", Example: "  lathe debug lsp document-symbols main.go", Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return fileSymbols(c.Context(), a, args[0]) },
	}))
	return a.JSONFlag(cmd)
}

// withServers gives a function the language servers of this directory, and ends them after it.
func withServers(ctx context.Context, a *cli.App, f func(context.Context, *lsp.Servers, lsp.Project) error) error {
	return withConfig(ctx, a, func(s *harness.Harness, k *harness.DirConfig, place workspace.Place) error {
		ctx, cancel := context.WithTimeout(ctx, lspWait)
		defer cancel()
		return f(ctx, s.Languages.State().Servers, s.Languages.Project(k, place))
	})
}

// serverRow is a language server in JSON.
type serverRow struct {
	ID         string   `json:"id"`
	Extensions []string `json:"extensions"`
	Program    string   `json:"program,omitempty"`
	Starts     bool     `json:"starts"`
	Reason     string   `json:"reason,omitempty"`
	Executes   string   `json:"executes,omitempty"`
}

// listLSP prints the servers that are installed, and why some of them do not start.
func listLSP(ctx context.Context, a *cli.App, all bool) error {
	return withServers(ctx, a, func(_ context.Context, v *lsp.Servers, p lsp.Project) error {
		rows := []serverRow{}
		for _, s := range v.Available(p) {
			if s.Program != "" || all {
				rows = append(rows, serverRow{s.ID, s.Extensions, s.Program, s.Reason == "", s.Reason, s.Executes})
			}
		}
		if a.JSON {
			return a.PrintJSON(rows)
		}
		if len(rows) == 0 {
			a.Notify("No language server is installed, or lsp is false. `lathe debug lsp --all` lists the known ones.")
			return nil
		}
		table := layout.Table{Head: []string{"SERVER", "FILES", "PROGRAM", "STATE"}, Flexible: []int{1, 3}, Paths: 2}
		for _, r := range rows {
			state := "ready for the first edit"
			if !r.Starts {
				state = "does not start: " + r.Reason
			}
			table.Rows = append(table.Rows, []string{r.ID, strings.Join(r.Extensions, " "), termtext.Tilde(r.Program, a.Home()), termtext.Plain(state)})
		}
		return table.Write(a.Out, a.Width())
	})
}

// fileOf returns the real path of a file of the project.
func fileOf(p lsp.Project, name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.Directory, name)
	}
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", lathe.Errorf(lathe.NotFound, "file not found: %s", termtext.Plain(name))
	}
	return path, nil
}

// printDiagnostics starts the servers of a file and prints their findings.
func printDiagnostics(ctx context.Context, a *cli.App, name string) error {
	return withServers(ctx, a, func(ctx context.Context, v *lsp.Servers, p lsp.Project) error {
		path, err := fileOf(p, name)
		if err != nil {
			return err
		}
		list, err := v.Diagnostics(ctx, p, path)
		if err != nil {
			return lathe.Errorf(lathe.Unavailable, "%w", err)
		}
		if a.JSON {
			return a.PrintJSON(append([]lsp.Diagnostic{}, list...))
		}
		for _, d := range list {
			kind := map[int]string{1: "error", 2: "warning", 3: "info", 4: "hint"}[d.Severity]
			a.Printf("%s:%d:%d: %s: %s\n", termtext.Plain(name), d.Range.Start.Line+1, d.Range.Start.Character+1, kind, d.Message)
		}
		if len(list) == 0 {
			a.Notify("No errors or warnings in %s.", termtext.Plain(name))
		}
		return nil
	})
}

// findSymbols starts the server of a file, since those that run belong to other processes.
func findSymbols(ctx context.Context, a *cli.App, query, file string) error {
	if file == "" {
		return cli.Usagef("name a file of the language with --file, so that its server starts")
	}
	return withServers(ctx, a, func(ctx context.Context, v *lsp.Servers, p lsp.Project) error {
		path, err := fileOf(p, file)
		if err != nil {
			return err
		}
		if _, err := v.FileSymbols(ctx, p, path); err != nil { // starts it
			return lathe.Errorf(lathe.Unavailable, "%w", err)
		}
		list, err := v.Symbols(ctx, p, query)
		if err != nil {
			return lathe.Errorf(lathe.Unavailable, "%w", err)
		}
		return printSymbols(a, p, list)
	})
}

// fileSymbols prints the symbols that a file declares.
func fileSymbols(ctx context.Context, a *cli.App, name string) error {
	return withServers(ctx, a, func(ctx context.Context, v *lsp.Servers, p lsp.Project) error {
		path, err := fileOf(p, name)
		if err != nil {
			return err
		}
		list, err := v.FileSymbols(ctx, p, path)
		if err != nil {
			return lathe.Errorf(lathe.Unavailable, "%w", err)
		}
		return printSymbols(a, p, list)
	})
}

// symbolRow is a symbol in JSON.
type symbolRow struct {
	Name      string `json:"name"`
	Container string `json:"container,omitempty"`
	Kind      string `json:"kind"`
	Path      string `json:"path"`
	Line      int    `json:"line"`
}

// printSymbols prints one symbol per line, in the form that editors can open.
func printSymbols(a *cli.App, p lsp.Project, list []lsp.Symbol) error {
	rows := []symbolRow{}
	for _, s := range list {
		path := s.Path
		if rel, err := filepath.Rel(p.Directory, path); err == nil {
			path = filepath.ToSlash(rel)
		}
		rows = append(rows, symbolRow{s.Name, s.Container, lsp.KindName(s.Kind), path, s.Range.Start.Line + 1})
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	for _, r := range rows {
		a.Printf("%s\n", termtext.Plain(fmt.Sprintf("%s:%d: %s %s", r.Path, r.Line, r.Kind, r.Name)))
	}
	if len(rows) == 0 {
		a.Notify("No symbols found.")
	}
	return nil
}
