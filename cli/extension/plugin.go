package extension

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/plugin"
	"github.com/lathe-agent/lathe/workspace"
)

// NewPlugin returns `lathe plugin`, also as `lathe plug` for users of OpenCode.
func NewPlugin(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugin [MODULE]",
		Aliases: []string{"plug"},
		Short:   "Add and list plugins",
		Long: `Add and list plugins. A plugin can change prompts, requests, tool calls and results, answer
permission requests, and add tools. It is an npm package, a JavaScript or TypeScript file (both need
Node 20 or bun), or any program that implements lathe's protocol (docs/plugins.md).
"lathe plugin MODULE" is short for "lathe plugin add MODULE".`,
		Example: `  lathe plugin opencode-notify
  lathe plugin add -g ./tools/guard.py
  lathe plugin list`,
		Args: cobra.ArbitraryArgs,
	}
	add, list := newPluginAdd(a), newPluginList(a)
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 && strings.ContainsAny(args[0], "/@.-") { // otherwise a mistyped command
			return add.RunE(c, args)
		}
		return cli.RequireSubcommand(c, args)
	}
	cmd.Flags().AddFlagSet(add.Flags())
	cmd.AddCommand(add, list)
	return cmd
}

// newPluginAdd is the long form of `lathe plugin MODULE`.
func newPluginAdd(a *cli.App) *cobra.Command {
	var global, replace bool
	cmd := &cobra.Command{
		Use:   "add MODULE",
		Short: "Add a plugin to the config",
		Long: `Install and load the plugin, then add it to the project's config (--global: to yours, for all
projects). Packages are installed in the cache folder without running their install scripts. A
plugin runs with your rights.`,
		Example: `  lathe plugin add opencode-notify@1
  lathe plugin add --global ~/src/guard/guard.py`,
		Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return addPlugin(c.Context(), a, args[0], global, replace)
		},
	}
	cmd.Flags().BoolVarP(&global, "global", "g", false, "add to your config, for all projects")
	cmd.Flags().BoolVarP(&replace, "force", "f", false, "replace another version, and add a plugin that cannot be loaded")
	return a.JSONFlag(cmd)
}

// addPlugin loads the plugin before it edits the config, so that a broken plugin does not break later starts.
func addPlugin(ctx context.Context, a *cli.App, spec string, global, force bool) error {
	if strings.HasPrefix(spec, ".") || filepath.IsAbs(spec) || strings.HasPrefix(spec, "~") {
		path := spec
		if rest, ok := strings.CutPrefix(spec, "~/"); ok {
			path = filepath.Join(a.Home(), rest)
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		if !harness.FileExists(abs) {
			return lathe.Errorf(lathe.NotFound, "file not found: %s", termtext.Plain(abs))
		}
		spec = abs
	}
	all, err := loadPlugins(ctx, a, []plugin.Plugin{{Spec: spec}}, nil)
	if err != nil {
		return err
	}
	status := all[0]
	if status.State == plugin.Failed && !force {
		return lathe.Errorf(lathe.Unavailable, "cannot load %s: %s; not added (use --force to add it anyway)", termtext.Plain(spec), termtext.Plain(status.Reason))
	}
	path, err := settingsFile(a, global)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := config.AddPlugin(path, spec, force); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(struct {
			plugin.Status
			Path string `json:"path"`
		}{status, path})
	}
	a.Printf("Added %s to %s\n", termtext.Plain(spec), a.DisplayPath(path))
	a.Printf("  %s\n", termtext.Plain(pluginWords(status)))
	return nil
}

// loadPlugins loads plugins without an engine, to test them.
func loadPlugins(ctx context.Context, a *cli.App, plugins []plugin.Plugin, tools []string) ([]plugin.Status, error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil, err
	}
	place, err := workspace.Locate(ctx, a.Dir, nil)
	if err != nil {
		return nil, err
	}
	l, err := a.Config()
	if err != nil {
		return nil, err
	}
	s := harness.New(&a.Host, at)
	c := plugin.Open(plugin.Options{
		Dir: place.Directory, Worktree: place.Worktree, Plugins: plugins, Tools: tools, Runner: s.Runner,
		Cache: filepath.Join(at.Cache, "plugins"), Env: a.ServiceEnv(), Log: a.Log, Confine: s.ConfinePlugins(l.Config, place),
		Publish: func(f lathe.Fact) {
			if t, ok := f.(*lathe.TUIToast); ok {
				a.Notify("%s", termtext.Plain(t.Message))
			}
		},
	})
	err = c.Start(ctx)
	all := c.Status()
	return all, cli.CloseAfter(s, cli.CloseAfter(c, err))
}

func newPluginList(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the plugins of this directory, with hooks, tools and errors",
		Example: "  lathe plugin list\n  lathe plugin list --json",
		Args:    cli.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return listPlugins(c.Context(), a) },
	})
}

// listPlugins loads the plugins, because only a loaded plugin knows its hooks and tools.
func listPlugins(ctx context.Context, a *cli.App) error {
	l, err := a.Config()
	if err != nil {
		return err
	}
	a.WarnUntrusted(l)
	plugins := a.PluginsOf(l)
	all := []plugin.Status{}
	if len(plugins)+len(l.Tools) > 0 {
		if all, err = loadPlugins(ctx, a, plugins, l.Tools); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(all)
	}
	if len(all) == 0 {
		a.Notify("No plugins in this directory. Add one with `lathe plugin add MODULE`.")
		return nil
	}
	for _, s := range all {
		mark := "✓"
		if s.State != plugin.Ready {
			mark = "✗"
		}
		a.Printf("%s %s\n    %s\n", mark, termtext.Plain(s.Name), termtext.Plain(pluginWords(s)))
	}
	return nil
}

// pluginWords describes a plugin in one line.
func pluginWords(s plugin.Status) string {
	if s.State != plugin.Ready {
		return strings.TrimSuffix(string(s.State)+": "+s.Reason, ": ")
	}
	var words []string
	if len(s.Hooks) > 0 {
		words = append(words, "hooks: "+strings.Join(s.Hooks, ", "))
	}
	if len(s.Tools) > 0 {
		words = append(words, "tools: "+strings.Join(s.Tools, ", "))
	}
	if s.Auth != "" {
		words = append(words, "logins for "+s.Auth+" (not supported)")
	}
	if s.Provider != "" {
		words = append(words, "models of "+s.Provider+" (not supported)")
	}
	if len(words) == 0 {
		return "loaded, without hooks or tools"
	}
	return strings.Join(words, "; ")
}
