// Package settings is the commands around the config of a user and a project: config, agent and permission.
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

// NewConfig is `lathe config`.
func NewConfig(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Look at the settings: what counts, where it comes from, what is wrong",
		Long: `Settings are JSON with comments, in lathe.json (or opencode.json, which means the same):
for you in your configuration folder, for a project in its folders. Later ones win:
yours, the project's from its top down to this directory, .opencode and .lathe folders,
LATHE_CONFIG_CONTENT, the administrator's.`,
		Example: `  lathe config show
  lathe config check
  lathe config schema > lathe.schema.json`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(NewConfigShow(a), newConfigPath(a), newConfigCheck(a), newConfigSchema(a))
	return cmd
}

// NewConfigShow is `lathe config show`.
func NewConfigShow(a *cli.App) *cobra.Command {
	var resolved, sources, secrets bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the settings that count here",
		Long: `Prints the settings of this directory, all sources merged, as JSON, with the values of {env:…}
and {file:…} in place. API keys, tokens, passwords, headers and variables for programs are
masked; --secrets shows them.

--sources lists instead where settings come from and what each place sets.`,
		Example: `  lathe config show
  lathe config show --sources
  lathe config show -C ~/src/app | jq .permission`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if sources && resolved && c.Flags().Changed("resolved") {
				return cli.Usagef("--resolved and --sources do not go together")
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
	cmd.Flags().BoolVar(&resolved, "resolved", true, "all sources merged, the default")
	cmd.Flags().BoolVar(&secrets, "secrets", false, "show API keys and passwords instead of masking them")
	cmd.Flags().BoolVar(&sources, "sources", false, "list the sources instead, the one that counts most last")
	return a.JSONFlag(cmd)
}

type sourceJSON struct {
	Name  string   `json:"name"`
	Layer string   `json:"layer"`
	Keys  []string `json:"keys"`
}

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

func newConfigPath(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:     "path",
		Short:   "Print where your own settings file is",
		Long:    "Prints the path of your own settings file, whether it is there or not.",
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

func newConfigCheck(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:   "check",
		Short: "Look for mistakes in the settings; exit 1 if there are any",
		Long: `Reads all settings of this directory and tells what is wrong with them, with file, line
and column. Errors make it exit 1; keys that have no effect or are deprecated are warnings.`,
		Example: `  lathe config check && echo fine`,
		Args:    cli.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return checkConfig(a) },
	})
}

type problemJSON struct {
	Level   string   `json:"level"`
	Path    string   `json:"path"`
	Line    int      `json:"line,omitempty"`
	Column  int      `json:"column,omitempty"`
	Key     []string `json:"key,omitempty"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
}

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
		rest.Broken = nil // told above
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
		a.Printf("The settings are fine: %s.\n", termtext.Plural(len(l.Sources), "source"))
	default:
		a.Printf("%d wrong, %d without effect or deprecated.\n", len(out)-warnings, warnings)
	}
	if len(broken) > 0 {
		return cli.Reported{Code: cli.ExitFailed}
	}
	return nil
}

func problemOf(level string, p config.Problem) problemJSON {
	return problemJSON{level, p.Path, p.Line, p.Column, p.Key, p.Message, p.Hint}
}

// configErrors returns the errors of all settings files that are wrong.
func configErrors(err error) []*config.Error {
	var first *config.Error
	if !errors.As(err, &first) {
		return nil
	}
	alone := *first
	alone.Also = nil
	return append([]*config.Error{&alone}, first.Also...)
}

// indentLines puts the lines below the first under it.
func indentLines(s string) string { return strings.ReplaceAll(termtext.PlainText(s), "\n", "\n  ") }

func newConfigSchema(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of settings files, for editors",
		Example: `  lathe config schema > ~/.config/lathe/schema.json
  # then, in lathe.json:  "$schema": "./schema.json"`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.Printf("%s", config.Schema())
			return nil
		},
	}
}
