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

// NewMCPAuth returns `lathe mcp auth`.
func NewMCPAuth(a *cli.App) *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "auth [NAME]",
		Short: "Log in to an MCP server",
		Long: `Open the authorization page of a remote server in the browser, wait up to five minutes, and save the
login to mcp-auth.json in the data folder, readable only by you. All processes share the login, and
it is renewed automatically.`,
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
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the URL instead of opening a browser")
	list := a.JSONFlag(&cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the logins to MCP servers", Example: "  lathe mcp auth list --json", Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listServerLogins(a) },
	})
	cmd.AddCommand(list)
	return cmd
}

// remotes returns the servers that support a login, by name.
func remotes(settings map[string]config.MCPServer) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if s := settings[name]; s.URL != "" && !s.OAuth.Off {
			names = append(names, name)
		}
	}
	return names
}

// chooseServer returns the given server, the only one, or the user's choice.
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
		return "", lathe.Errorf(lathe.NotFound, "no remote MCP server in the config supports a login")
	case len(names) == 1:
		return names[0], nil
	case !cli.IsTerminal(a.Stdin):
		return "", cli.Usagef("give the server: `lathe mcp auth %s`", names[0])
	}
	return a.ChooseName(ctx, "Server", names)
}

// serverLogin connects first, because an accessible server needs no login.
func serverLogin(ctx context.Context, a *cli.App, h *mcp.Hub, name string, noBrowser bool) error {
	open := func(page string) error {
		a.Notify("Open this page and log in:\n\n  %s\n\nWaiting for the login …", termtext.Plain(page))
		if noBrowser || !cli.IsTerminal(a.Stdin) || !cli.IsTerminal(a.Stderr) {
			return nil
		}
		return a.Browse(page)
	}
	_ = h.Connect(ctx, name) // an accessible server needs no login
	if err := h.Login(ctx, name, open); err != nil {
		return err
	}
	a.Printf("Logged in to %s.\n", termtext.Plain(name))
	return nil
}

// loginOf describes the login to a server.
func loginOf(a *cli.App, name, url string) (mcp.Login, error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return mcp.LoggedOut, err
	}
	return harness.MCPLogins(at).Login(name, url)
}

// serverLoginJSON is a login in the output of `lathe mcp auth list --json`.
type serverLoginJSON struct {
	Name  string    `json:"name"`
	URL   string    `json:"url"`
	Login mcp.Login `json:"status"`
}

// listServerLogins reads the saved logins and connects to no server.
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
	return a.PrintList(list, t, "No remote MCP server in the config supports a login.")
}

// NewMCPLogout returns `lathe mcp logout`.
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
			if len(args) > 0 { // also a server that is no longer in the config
				name = args[0]
			} else if name, err = chooseServer(c.Context(), a, l.Config.MCP, nil); err != nil {
				return err
			}
			logins := harness.MCPLogins(at)
			if kept, err := logins.Has(name); err != nil || !kept {
				if _, named := l.Config.MCP[name]; err == nil && !named {
					err = lathe.Errorf(lathe.NotFound, "no MCP server and no login named %s; see `lathe mcp auth list`", termtext.Quote(name))
				}
				if err != nil {
					return err
				}
			}
			if err := logins.Remove(c.Context(), name); err != nil {
				return err
			}
			a.Printf("Removed the login to %s.\n", termtext.Plain(name))
			return nil
		},
	}
}
