// Package settings has the commands config, agent and permission.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/scrub"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// NewConfig returns `lathe config`.
func NewConfig(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and check the config",
		Long: `Show and check the config. Config files are JSON with comments, named lathe.json or opencode.json.
Later sources override earlier ones: your config folder, the project from its root to this
directory, its .opencode and .lathe folders, LATHE_CONFIG_CONTENT, the administrator's config.`,
		Example: `  lathe config show
  lathe config check
  lathe config schema > lathe.schema.json`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(NewConfigShow(a), newConfigPath(a), newConfigCheck(a), newConfigSchema(a))
	return cmd
}

// NewConfigShow returns `lathe config show`.
func NewConfigShow(a *cli.App) *cobra.Command {
	var resolved, sources, secrets bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the effective config",
		Long: `Print the merged config of this directory as JSON, with {env:…} and {file:…} resolved. API keys,
tokens, passwords, headers and environment variables are masked unless --secrets is given.

--sources lists the config sources and their keys instead.`,
		Example: `  lathe config show
  lathe config show --sources
  lathe config show -C ~/src/app | jq .permission`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if sources && resolved && c.Flags().Changed("resolved") {
				return cli.Usagef("--resolved and --sources cannot be combined")
			}
			l, err := a.Config()
			if err != nil {
				return err
			}
			a.WarnUntrusted(l)
			if sources || !resolved {
				return showSources(a, l)
			}
			var b bytes.Buffer
			raw := []byte(l.Config.Raw)
			if !secrets {
				raw = scrub.JSON(raw)
			}
			if err := json.Indent(&b, raw, "", "  "); err != nil {
				return err
			}
			a.Printf("%s\n", layout.EscapeJSON(b.Bytes()))
			return nil
		},
	}
	cmd.Flags().BoolVar(&resolved, "resolved", true, "merge all sources (the default)")
	cmd.Flags().BoolVar(&secrets, "secrets", false, "show API keys and passwords instead of masking them")
	cmd.Flags().BoolVar(&sources, "sources", false, "list the sources instead, lowest precedence first")
	return a.JSONFlag(cmd)
}

// sourceJSON is a config source in the output of --sources --json.
type sourceJSON struct {
	Name  string   `json:"name"`
	Layer string   `json:"layer"`
	Keys  []string `json:"keys"`
}

// showSources lists the files that make up the config, so that users can find where a value comes from.
func showSources(a *cli.App, l *config.Loaded) error {
	if a.JSON {
		out := []sourceJSON{}
		for _, s := range l.Sources {
			out = append(out, sourceJSON{s.Name, string(s.Layer), append([]string{}, s.Keys...)})
		}
		return a.PrintJSON(out)
	}
	for _, s := range l.Sources {
		a.Printf("%-8s %s\n", s.Layer, termtext.Plain(s.Name))
		if len(s.Keys) > 0 {
			a.Printf("         %s\n", termtext.Plain(strings.Join(s.Keys, ", ")))
		}
	}
	return nil
}

// newConfigPath prints the path of a missing file too, so that an editor can create it.
func newConfigPath(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:     "path",
		Short:   "Print the path of your config file",
		Long:    "Print the path of your config file, whether it exists or not.",
		Example: `  $EDITOR "$(lathe config path)"`,
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path := filepath.Join(a.UserDir(), "lathe", "lathe.jsonc")
			if other := filepath.Join(a.UserDir(), "lathe", "lathe.json"); !harness.FileExists(path) && harness.FileExists(other) {
				path = other
			}
			if a.JSON {
				return a.PrintJSON(struct {
					Path   string `json:"path"`
					Exists bool   `json:"exists"`
				}{path, harness.FileExists(path)})
			}
			a.Printf("%s\n", path)
			return nil
		},
	})
}

// newConfigCheck is for CI and editors; starts of lathe report the same errors.
func newConfigCheck(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:   "check",
		Short: "Check the config for errors; exit 1 if there are any",
		Long: `Check all config files of this directory and print errors with file, line and column. Errors exit
with 1. Keys that have no effect or are deprecated are warnings.`,
		Example: `  lathe config check && echo fine`,
		Args:    cli.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return checkConfig(a) },
	})
}

// problemJSON is a problem in the output of `lathe config check --json`.
type problemJSON struct {
	Level   string   `json:"level"`
	Path    string   `json:"path"`
	Line    int      `json:"line,omitempty"`
	Column  int      `json:"column,omitempty"`
	Key     []string `json:"key,omitempty"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
}

// checkConfig reports all problems at once, with errors as exit code 1 for use in CI.
func checkConfig(a *cli.App) error {
	l, err := a.Config()
	broken := configErrors(err)
	if err != nil && len(broken) == 0 {
		return err
	}
	if l != nil {
		broken = append(broken, l.Broken...)
	}
	out := []problemJSON{}
	for _, e := range broken {
		if len(e.Problems) == 0 {
			out = append(out, problemJSON{Level: "error", Path: e.Path, Message: e.Message})
		}
		for _, p := range e.Problems {
			out = append(out, problemOf("error", p))
		}
		if !a.JSON {
			a.Printf("error: %s\n", indentLines(e.Error()))
		}
	}
	warnings := 0
	if l != nil {
		rest := *l
		rest.Broken = nil // printed above
		a.WarnUntrusted(&rest)
		warnings = len(l.Warnings)
		for _, p := range l.Warnings {
			out = append(out, problemOf("warning", p))
			if !a.JSON {
				a.Printf("warning: %s\n", indentLines(p.String()))
			}
		}
	}
	switch {
	case a.JSON:
		if err := a.PrintJSON(out); err != nil {
			return err
		}
	case len(out) == 0:
		a.Printf("The config is valid: %s.\n", termtext.Plural(len(l.Sources), "source"))
	default:
		a.Printf("Errors: %d. Warnings: %d.\n", len(out)-warnings, warnings)
	}
	if len(broken) > 0 {
		return cli.Reported{Code: cli.ExitFailed}
	}
	return nil
}

func problemOf(level string, p config.Problem) problemJSON {
	return problemJSON{level, p.Path, p.Line, p.Column, p.Key, p.Message, p.Hint}
}

// configErrors returns the errors of all config files.
func configErrors(err error) []*config.Error {
	var first *config.Error
	if !errors.As(err, &first) {
		return nil
	}
	alone := *first
	alone.Also = nil
	return append([]*config.Error{&alone}, first.Also...)
}

// indentLines indents all lines after the first.
func indentLines(s string) string { return strings.ReplaceAll(termtext.PlainText(s), "\n", "\n  ") }

// newConfigSchema lets editors complete and validate config files.
func newConfigSchema(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of config files, for editors",
		Example: `  lathe config schema > ~/.config/lathe/schema.json
  # then, in lathe.json:  "$schema": "./schema.json"`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.Printf("%s", config.Schema())
			return nil
		},
	}
}
