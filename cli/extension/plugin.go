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

func NewPlugin(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugin [MODULE]",
		Aliases: []string{"plug"},
		Short:   "Add plugins, and see how they are doing",
		Long: `A plugin takes part in turns: it sees and changes prompts, requests, calls and results, answers
permission questions, and brings tools. It is a package of npm, a JavaScript or TypeScript file
(both need Node 20 or bun), or any program that speaks lathe's protocol (docs/plugins.md).
"lathe plugin MODULE" is short for "lathe plugin add MODULE".`,
		Example: `  lathe plugin opencode-notify
  lathe plugin add -g ./tools/guard.py
  lathe plugin list`,
		Args: cobra.ArbitraryArgs,
	}
	add, list := newPluginAdd(a), newPluginList(a)
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 && strings.ContainsAny(args[0], "/@.-") { // else it is a command that was mistyped
			return add.RunE(c, args)
		}
		return cli.RequireSubcommand(c, args)
	}
	cmd.Flags().AddFlagSet(add.Flags())
	cmd.AddCommand(add, list)
	return cmd
}

func newPluginAdd(a *cli.App) *cobra.Command {
	var global, replace bool
	cmd := &cobra.Command{
		Use:   "add MODULE",
		Short: "Load a plugin, and name it in the settings",
		Long: `Installs and loads the plugin to see whether it works, then adds it to the project's settings
(--global: to yours, for all projects). Packages are installed in the cache folder without
their install scripts. What a plugin does it does with your rights.`,
		Example: `  lathe plugin add opencode-notify@1
  lathe plugin add --global ~/src/guard/guard.py`,
		Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return addPlugin(c.Context(), a, args[0], global, replace)
		},
	}
	cmd.Flags().BoolVarP(&global, "global", "g", false, "in your settings, for all projects")
	cmd.Flags().BoolVarP(&replace, "force", "f", false, "also if another version is named there, or it cannot be loaded")
	return a.JSONFlag(cmd)
}

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
			return lathe.Errorf(lathe.NotFound, "there is no file %s", termtext.Plain(abs))
		}
		spec = abs
	}
	all, err := loadPlugins(ctx, a, []plugin.Plugin{{Spec: spec}}, nil)
	if err != nil {
		return err
	}
	status := all[0]
	if status.State == plugin.Failed && !force {
		return lathe.Errorf(lathe.Unavailable, "%s cannot be loaded: %s; it was not added (--force adds it all the same)", termtext.Plain(spec), termtext.Plain(status.Reason))
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

// loadPlugins loads plugins, without an engine, to see how they do.
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
		Short:   "Show the plugins of the directory, what they do, and what went wrong",
		Example: "  lathe plugin list\n  lathe plugin list --json",
		Args:    cli.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return listPlugins(c.Context(), a) },
	})
}

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
		a.Notify("There are no plugins here. Add one: lathe plugin add MODULE")
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

// pluginWords say in a line what a plugin does.
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
		return "loaded; it has no hooks and no tools"
	}
	return strings.Join(words, "; ")
}
