package debug

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/cli/settings"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// debugLooks returns the commands that print the program's state.
func debugLooks(a *cli.App) []*cobra.Command {
	show := settings.NewConfigShow(a)
	show.Use, show.Example = "config", "  lathe debug config | jq .permission"
	paths := &cobra.Command{
		Use: "paths", Short: "Print the folders and files of lathe", Example: "  lathe debug paths\n  du -sh \"$(lathe debug paths --json | jq -r .data)\"",
		Args: cli.NoArgs, RunE: func(*cobra.Command, []string) error { return debugPaths(a) },
	}
	info := &cobra.Command{
		Use: "info", Short: "Print system information for a bug report", Example: "  lathe debug info",
		Args: cli.NoArgs, RunE: func(*cobra.Command, []string) error { return debugInfo(a) },
	}
	projects := &cobra.Command{
		Use: "projects", Aliases: []string{"scrap"}, Short: "List the projects in the database as JSON", Example: "  lathe debug projects | jq -r '.[].worktree'",
		Args: cli.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			return a.WithEngine(c.Context(), func(e *engine.Engine) error {
				all, err := e.Projects(c.Context())
				if err != nil {
					return err
				}
				return a.PrintJSON(all)
			})
		},
	}
	skill := &cobra.Command{
		Use: "skill", Short: "List the skills of this directory as JSON", Example: "  lathe debug skill | jq -r '.[].name'",
		Args: cli.NoArgs, RunE: func(*cobra.Command, []string) error {
			l, err := a.Config()
			if err != nil {
				return err
			}
			a.WarnUntrusted(l)
			return a.PrintJSON(harness.SkillsOf(l))
		},
	}
	a.JSONFlag(paths)
	a.JSONFlag(info)
	return []*cobra.Command{show, paths, info, newDebugAgent(a), skill, projects, newDebugFind(a)}
}

// placesJSON lists the folders and files of the program.
type placesJSON struct {
	Home        string `json:"home"`
	Config      string `json:"config"`
	Data        string `json:"data"`
	Database    string `json:"database"`
	Credentials string `json:"credentials"`
	Outputs     string `json:"outputs"`
	Snapshots   string `json:"snapshots"`
	State       string `json:"state"`
	Cache       string `json:"cache"`
}

// debugPaths prints the paths after all environment variables are applied.
func debugPaths(a *cli.App) error {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	p := placesJSON{
		a.Home(), filepath.Join(a.UserDir(), "lathe"), at.Data, at.Database(), at.Credentials(), at.Outputs(), at.Snapshots(), at.State, at.Cache,
	}
	if a.JSON {
		return a.PrintJSON(p)
	}
	return layout.Pairs(a.Out, [][2]string{
		{"home", termtext.Plain(p.Home)},
		{"config", termtext.Plain(p.Config)},
		{"data", termtext.Plain(p.Data)},
		{"database", termtext.Plain(p.Database)},
		{"credentials", termtext.Plain(p.Credentials)},
		{"outputs", termtext.Plain(p.Outputs)},
		{"snapshots", termtext.Plain(p.Snapshots)},
		{"state", termtext.Plain(p.State)},
		{"cache", termtext.Plain(p.Cache)},
	})
}

// infoJSON describes the system, without secrets.
type infoJSON struct {
	Version  string   `json:"version"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	Terminal string   `json:"terminal"`
	Shell    string   `json:"shell"`
	Sandbox  string   `json:"sandbox"`
	Settings []string `json:"settings"`
	Plugins  int      `json:"plugins"`
	Servers  int      `json:"mcpServers"`
}

// debugInfo prints the details that explain most bugs: version, system, terminal, sandbox and config files.
func debugInfo(a *cli.App) error {
	l, err := a.Config()
	if err != nil {
		return err
	}
	i := infoJSON{
		Version: a.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Terminal: terminalInfo(a),
		Shell: a.Env("SHELL"), Sandbox: "commands can be confined", Settings: []string{}, Plugins: len(l.Config.Plugins), Servers: len(l.Config.MCP),
	}
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
	if why := runner.Kernel().Available(false); why != nil {
		i.Sandbox = why.Error()
	}
	if err := runner.Close(); err != nil {
		return err
	}
	for _, s := range l.Sources {
		i.Settings = append(i.Settings, a.DisplayPath(s.Name))
	}
	if a.JSON {
		return a.PrintJSON(i)
	}
	return layout.Pairs(a.Out, [][2]string{
		{"lathe", i.Version},
		{"Go", i.Go},
		{"System", i.Platform},
		{"Terminal", termtext.Plain(i.Terminal)},
		{"Shell", termtext.Plain(i.Shell)},
		{"Sandbox", termtext.OneLine(i.Sandbox)},
		{"Settings", termtext.Plain(strings.Join(i.Settings, ", "))},
		{"Plugins", fmt.Sprintf("%s, %s", termtext.Count(i.Plugins), termtext.Plural(i.Servers, "MCP server"))},
	})
}

// terminalInfo describes the terminal.
func terminalInfo(a *cli.App) string {
	what := cmp.Or(a.Env("TERM"), "TERM is not set")
	if n := a.Width(); n > 0 {
		what += fmt.Sprintf(", %d columns", n)
	}
	if !cli.IsTerminal(a.Stdout.File) {
		what += ", but output is redirected"
	} else if !a.HasColor(a.Stdout.File) {
		what += ", without color"
	}
	return what
}

// agentJSON is an agent with its available tools.
type agentJSON struct {
	lathe.Agent
	tools map[string]bool
}

// MarshalJSON adds the tools to the agent's own members.
func (x agentJSON) MarshalJSON() ([]byte, error) {
	own, err := json.Marshal(x.Agent)
	if err != nil {
		return nil, err
	}
	tools, err := json.Marshal(x.tools)
	if err != nil {
		return nil, err
	}
	return slices.Concat(own[:len(own)-1], []byte(`,"tools":`), tools, []byte("}")), nil
}

// newDebugAgent explains which rules and tools an agent ends up with.
func newDebugAgent(a *cli.App) *cobra.Command {
	var call trialCall
	cmd := &cobra.Command{
		Use: "agent NAME", Short: "Print an agent, or run one of its tools, as JSON",
		Long: `Print an agent with its config, rules and tools in this directory.

--tool runs one of its tools with --params under its rules and prints the result that a model would
get. If the rules ask, --yes is required. The call has no session, so its changes cannot be undone.`,
		Example: `  lathe debug agent plan | jq -r '.tools | to_entries[] | select(.value).key'
  lathe debug agent build --tool grep --params '{"pattern": "func main"}' | jq -r .output`,
		Args: cli.RangeArgs(1, 1), RunE: func(c *cobra.Command, args []string) error {
			if call.tool == "" && (call.params != "" || call.yes) {
				return cli.Usagef("--params and --yes need --tool NAME")
			}
			return debugAgent(c.Context(), a, args[0], call)
		},
	}
	cmd.Flags().StringVar(&call.tool, "tool", "", "tool `NAME` to run as the agent")
	cmd.Flags().StringVar(&call.params, "params", "", "tool input as `JSON`")
	cmd.Flags().BoolVar(&call.yes, "yes", false, "approve requests that the rules ask about")
	return cmd
}

// withConfig gives a function the resolved config of this directory, and a harness that ends after it.
func withConfig(ctx context.Context, a *cli.App, f func(*harness.Harness, *harness.DirConfig, workspace.Place) error) error {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	s := harness.New(&a.Host, at)
	run := func() error {
		place, err := workspace.Locate(ctx, a.Dir, nil)
		if err != nil {
			return err
		}
		k, err := s.ConfigFor(place)
		if err != nil {
			return err
		}
		return f(s, k, place)
	}
	return cli.CloseAfter(s, run())
}

// debugAgent prints the agent or runs the tool.
func debugAgent(ctx context.Context, a *cli.App, name string, call trialCall) error {
	return withConfig(ctx, a, func(s *harness.Harness, k *harness.DirConfig, place workspace.Place) error {
		s.Languages.Offer(k, place)
		for _, g := range k.Settings.Agents {
			if g.Name != name {
				continue
			}
			if call.tool != "" {
				return tryTool(ctx, a, place, k.Settings.Tools, g, call)
			}
			out := agentJSON{g.Agent, map[string]bool{}}
			hidden := tool.Hidden(g.Rules)
			for _, t := range k.Settings.Tools.All() {
				if spec := t.Spec(); !spec.Hidden {
					out.tools[spec.Name] = !hidden(spec)
				}
			}
			return a.PrintJSON(out)
		}
		return cli.CheckAgent(name, k.Settings.Ordered())
	})
}
