package extension

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tool/mcp"
)

func NewMCPAuth(a *cli.App) *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "auth [NAME]",
		Short: "Log in to an MCP server",
		Long: `Opens the page at which a remote server lets you agree, waits up to five minutes until the
browser comes back, and keeps the login in mcp-auth.json in the data folder, readable by you
alone. All processes share it, and it is renewed by itself.`,
		Example: `  lathe mcp auth github
  lathe mcp auth list`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return onServers(a, func(h *mcp.Hub, l *config.Loaded) error {
				name, err := chooseServer(c.Context(), a, l.Config.MCP, args)
				if err != nil {
					return err
				}
				return serverLogin(c.Context(), a, h, name, noBrowser)
			})
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "do not open a browser, only print the address")
	list := a.JSONFlag(&cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "Show to which MCP servers you are logged in", Example: "  lathe mcp auth list --json", Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listServerLogins(a) },
	})
	cmd.AddCommand(list)
	return cmd
}

// remotes are the servers that one could log in to, by name.
func remotes(settings map[string]config.MCPServer) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if s := settings[name]; s.URL != "" && !s.OAuth.Off {
			names = append(names, name)
		}
	}
	return names
}

// chooseServer is the one that is named, or the only one, or the one the user chooses.
func chooseServer(ctx context.Context, a *cli.App, settings map[string]config.MCPServer, args []string) (string, error) {
	if len(args) > 0 {
		if _, ok := settings[args[0]]; !ok {
			return "", noSuchServer(settings, args[0])
		}
		return args[0], nil
	}
	names := remotes(settings)
	switch {
	case len(names) == 0:
		return "", lathe.Errorf(lathe.NotFound, "the settings name no remote MCP server that one could log in to")
	case len(names) == 1:
		return names[0], nil
	case !cli.IsTerminal(a.Stdin):
		return "", cli.Usagef("name the server: `lathe mcp auth %s`", names[0])
	}
	return a.ChooseName(ctx, "Server", names)
}

func serverLogin(ctx context.Context, a *cli.App, h *mcp.Hub, name string, noBrowser bool) error {
	open := func(page string) error {
		a.Notify("Open this page and log in:\n\n  %s\n\nWaiting for you …", termtext.Plain(page))
		if noBrowser || !cli.IsTerminal(a.Stdin) || !cli.IsTerminal(a.Stderr) {
			return nil
		}
		return a.Browse(page)
	}
	_ = h.Connect(ctx, name) // one that lets us in already needs no login
	if err := h.Login(ctx, name, open); err != nil {
		return err
	}
	a.Printf("Logged in to %s.\n", termtext.Plain(name))
	return nil
}

// loginOf tells of the login to a server.
func loginOf(a *cli.App, name, url string) (mcp.Login, error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return mcp.LoggedOut, err
	}
	return harness.MCPLogins(at).Login(name, url)
}

type serverLoginJSON struct {
	Name  string    `json:"name"`
	URL   string    `json:"url"`
	Login mcp.Login `json:"status"`
}

func listServerLogins(a *cli.App) error {
	l, err := a.Config()
	if err != nil {
		return err
	}
	t, list := layout.Table{Head: []string{"Server", "Login", "Address"}, Flexible: []int{2}, Paths: -1}, []serverLoginJSON{}
	for _, name := range remotes(l.Config.MCP) {
		url := l.Config.MCP[name].URL
		login, err := loginOf(a, name, url)
		if err != nil {
			return err
		}
		list = append(list, serverLoginJSON{name, url, login})
		t.Rows = append(t.Rows, []string{termtext.Plain(name), string(login), termtext.Plain(url)})
	}
	return a.PrintList(list, t, "The settings name no remote MCP server that one could log in to.")
}

func NewMCPLogout(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "logout [NAME]",
		Short:   "Remove the login to an MCP server",
		Example: "  lathe mcp logout github",
		Args:    cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := a.Config()
			if err != nil {
				return err
			}
			at, err := datadir.Find(a.Env)
			if err != nil {
				return err
			}
			name := ""
			if len(args) > 0 { // one that the settings no longer name may be forgotten, too
				name = args[0]
			} else if name, err = chooseServer(c.Context(), a, l.Config.MCP, nil); err != nil {
				return err
			}
			logins := harness.MCPLogins(at)
			if kept, err := logins.Has(name); err != nil || !kept {
				if _, named := l.Config.MCP[name]; err == nil && !named {
					err = lathe.Errorf(lathe.NotFound, "there is no MCP server %s, and no login to one of that name; `lathe mcp auth list` shows those there are", termtext.Quote(name))
				}
				if err != nil {
					return err
				}
			}
			if err := logins.Remove(c.Context(), name); err != nil {
				return err
			}
			a.Printf("Forgot the login to %s.\n", termtext.Plain(name))
			return nil
		},
	}
}
