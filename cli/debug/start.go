package debug

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// debugStarts returns the commands about startup and the v2 API.
func debugStarts(a *cli.App) []*cobra.Command {
	startup := a.JSONFlag(&cobra.Command{
		Use: "startup", Short: "Measure each part of the startup", Example: "  lathe debug startup --json", Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return debugStartup(c.Context(), a) },
	})
	wait := &cobra.Command{
		Use: "wait", Short: "Open the engine in this directory and wait for Ctrl-C",
		Long: `Open the database, config, plugins and MCP servers of this directory as a turn does, and wait for
Ctrl-C. Use it to inspect the process, and the output of extensions with --print-logs.`,
		Example: "  lathe debug wait --print-logs", Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return debugWait(c.Context(), a) },
	}
	next := &cobra.Command{
		Use: "v2 [LIST]", Short: "Print the lists of the v2 API for this directory as JSON",
		Long:    "Print the lists of the v2 API, or one of them: agent, command, skill, provider, model, integration, reference.",
		Example: "  lathe debug v2 agent | jq -r '.data[].id'", Args: cli.RangeArgs(0, 1), ValidArgs: modernLists(),
		RunE: func(c *cobra.Command, args []string) error { return debugModern(c.Context(), a, args) },
	}
	return []*cobra.Command{startup, wait, next, newLSP(a)}
}

// tookJSON is the duration of one part of the startup, in milliseconds.
type tookJSON struct {
	Part  string  `json:"part"`
	Took  float64 `json:"ms"`
	About string  `json:"about,omitempty"`
}

// debugStartup runs the startup of a turn without extensions. It creates no files.
func debugStartup(ctx context.Context, a *cli.App) error {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	var out []tookJSON
	timed := func(part string, f func() (string, error)) {
		began := a.Now()
		about, e := f()
		if e != nil {
			about = e.Error()
		}
		out = append(out, tookJSON{part, float64(a.Now().Sub(began).Microseconds()) / 1000, about})
	}
	var o config.Options
	timed("project", func() (string, error) {
		o, err = a.ConfigOptions()
		return o.Worktree, err
	})
	timed("settings", func() (string, error) {
		l, err := config.Load(o)
		if err != nil {
			return "", err
		}
		return termtext.Plural(len(l.Sources), "source"), nil
	})
	s := harness.New(&a.Host, at)
	timed("catalog", func() (string, error) {
		place, err := workspace.Locate(ctx, a.Dir, nil)
		if err != nil {
			return "", err
		}
		k, err := s.ConfigFor(place)
		if err != nil {
			return "", err
		}
		return termtext.Plural(len(k.Providers.Catalog.Providers()), "provider"), nil
	})
	if err := s.Close(); err != nil {
		return err
	}
	if at.Exists() {
		timed("database", func() (string, error) {
			e, err := harness.OpenSessions(ctx, &a.Host)
			if err != nil {
				return "", err
			}
			return a.DisplayPath(at.Database()), e.Close()
		})
	}
	return showStartup(a, out)
}

// showStartup prints the phases and their total.
func showStartup(a *cli.App, parts []tookJSON) error {
	if a.JSON {
		return a.PrintJSON(parts)
	}
	var rows [][2]string
	sum := 0.0
	for _, p := range parts {
		sum += p.Took
		rows = append(rows, [2]string{p.Part, fmt.Sprintf("%7.1f ms  %s", p.Took, termtext.OneLine(p.About))})
	}
	return layout.Pairs(a.Out, append(rows, [2]string{"together", fmt.Sprintf("%7.1f ms", sum)}))
}

// debugWait keeps the engine open until the context ends.
func debugWait(ctx context.Context, a *cli.App) error {
	return withServer(ctx, a, func(_ *server.Server, setup *harness.Harness) error {
		place, err := workspace.Locate(ctx, a.Dir, nil)
		if err != nil {
			return err
		}
		began := a.Now()
		if _, err := setup.Settings(ctx, place); err != nil {
			return err
		}
		a.Printf("Open after %v. Press Ctrl-C to stop.\n", a.Now().Sub(began).Round(time.Millisecond))
		if err := a.Out.Flush(); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	})
}

// withServer runs f on an in-process server of this directory.
func withServer(ctx context.Context, a *cli.App, f func(*server.Server, *harness.Harness) error) (err error) {
	if _, err := a.ExistingFolders(); err != nil {
		return err
	}
	setup, err := harness.Open(ctx, &a.Host, harness.Options{})
	if err != nil {
		return err
	}
	defer func() { err = cli.CloseAfter(setup, err) }()
	place, err := workspace.Locate(ctx, a.Dir, nil)
	if err != nil {
		return err
	}
	b, done := setup.Backend()
	defer func() { err = cli.CloseAfter(done, err) }()
	s := server.New(b, server.Options{Directory: place.Directory, Version: a.Version, Log: a.Log})
	defer s.Close()
	return f(s, setup)
}

func modernLists() []string {
	return []string{"agent", "command", "skill", "provider", "model", "integration", "reference"}
}

// debugModern prints one list of the v2 API, or all.
func debugModern(ctx context.Context, a *cli.App, args []string) error {
	lists := modernLists()
	if len(args) == 1 {
		if lists = args; !slices.Contains(modernLists(), args[0]) {
			return cli.Usagef("unknown list %s; available: %s", termtext.Quote(args[0]), strings.Join(modernLists(), ", "))
		}
	}
	return withServer(ctx, a, func(s *server.Server, _ *harness.Harness) error {
		all := map[string]json.RawMessage{}
		for _, name := range lists {
			reply, err := askServer(ctx, s, "/api/"+name, url.Values{})
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return a.PrintJSON(reply)
			}
			all[name] = reply
		}
		return a.PrintJSON(all)
	})
}
