package extension

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// onServers opens the servers of the directory's config and calls f.
func onServers(a *cli.App, do func(h *mcp.Hub, l *config.Loaded) error) error {
	l, err := a.Config()
	if err != nil {
		return err
	}
	a.WarnUntrusted(l)
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return err
	}
	s := harness.New(&a.Host, at)
	place, err := workspace.Locate(context.Background(), dir, nil)
	if err != nil {
		return err
	}
	h := mcp.Open(mcp.Options{
		Dir: dir, Servers: harness.ServersOf(l.Config), Runner: s.Runner, Env: a.ServiceEnv(), Tokens: harness.MCPLogins(at), Log: a.Log, Version: a.Version, Transport: harness.ProxyTransport(),
		AllowPrivate: l.Config.WebFetch.Private, Timeout: time.Duration(l.Config.Experimental.MCPTimeout) * time.Millisecond, Confine: s.ConfineServer(l.Config, place),
	})
	err = do(h, l)
	h.Close()
	return cli.CloseAfter(s, err)
}

// NewMCPList returns `lathe mcp list`.
func NewMCPList(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List MCP servers and their status",
		Long: `Connect to every MCP server in the config and print its status: ✓ connected, ○ disabled, ✗ failed,
? needs a login (lathe mcp auth NAME) or the trust of its project (lathe trust).`,
		Example: "  lathe mcp list\n  lathe mcp list --json",
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return onServers(a, func(h *mcp.Hub, l *config.Loaded) error { return listServers(c.Context(), a, h, l) })
		},
	})
}

// serverJSON is a server in the output of `lathe mcp list --json`.
type serverJSON struct {
	Name    string   `json:"name"`
	Status  string   `json:"status"`
	Error   string   `json:"error,omitempty"`
	Tools   int      `json:"tools"`
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// needsTrust is the status of a server of an untrusted project.
const needsTrust = "needs_trust"

// waiting returns the servers of an untrusted project, by name.
func waiting(l *config.Loaded) map[string]config.MCPServer {
	out := map[string]config.MCPServer{}
	if l.Untrusted == nil {
		return out
	}
	for _, r := range l.Untrusted.Risks {
		if len(r.Key) < 2 || r.Key[0] != "mcp" {
			continue
		}
		var s config.MCPServer
		if len(r.Key) == 2 {
			_ = json.Unmarshal([]byte(r.Value), &s) // only the name is needed
		}
		out[r.Key[1]] = s
	}
	return out
}

// listServers connects to all enabled servers in parallel. Servers that wait for trust are listed but not started.
func listServers(ctx context.Context, a *cli.App, h *mcp.Hub, l *config.Loaded) error {
	settings, distrusted := l.Config.MCP, waiting(l)
	if len(settings)+len(distrusted) == 0 && !a.JSON {
		a.Notify("No MCP servers in the config. Add one with `lathe mcp add NAME -- COMMAND` or `lathe mcp add NAME --url URL`.")
		return nil
	}
	var all sync.WaitGroup
	for name, s := range settings {
		if s.Enabled == nil || *s.Enabled {
			all.Go(func() { _ = h.Connect(ctx, name) }) // the status has the error
		}
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	status := h.Status()
	list := []serverJSON{}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		s := status[name]
		list = append(list, serverJSON{name, string(s.State), s.Error, s.Tools, settings[name].Command, settings[name].URL, s.Notes})
	}
	for _, name := range slices.Sorted(maps.Keys(distrusted)) {
		if _, counts := settings[name]; !counts {
			list = append(list, serverJSON{Name: name, Status: needsTrust, Command: distrusted[name].Command, URL: distrusted[name].URL})
		}
	}
	if a.JSON {
		return a.PrintJSON(list)
	}
	for _, s := range list {
		a.Printf("%s %s\n", mcpMark(s.Status), termtext.Plain(s.Name+"  "+s.words()))
		if how := cmp.Or(s.URL, strings.Join(s.Command, " ")); how != "" {
			a.Printf("    %s\n", termtext.Plain(how))
		}
		for _, note := range s.Notes {
			a.Printf("    note: %s\n", termtext.Plain(note))
		}
	}
	return nil
}

// mcpMark is the status of a server in one character.
func mcpMark(state string) string {
	switch mcp.State(state) {
	case mcp.Connected:
		return "✓"
	case mcp.Disabled:
		return "○"
	case mcp.NeedsAuth, mcp.NeedsClient, needsTrust:
		return "?"
	default:
		return "✗"
	}
}

// words says what the user can do about the status.
func (s serverJSON) words() string {
	switch mcp.State(s.Status) {
	case mcp.Connected:
		if s.Tools == 1 {
			return "connected, 1 tool"
		}
		return fmt.Sprintf("connected, %d tools", s.Tools)
	case mcp.NeedsAuth:
		return "needs a login: lathe mcp auth " + s.Name
	case mcp.NeedsClient:
		return "needs a client ID (oauth.clientId in its config): " + s.Error
	case needsTrust:
		return "waiting for trust: lathe trust --show, then lathe trust"
	case mcp.Disabled:
		return "disabled (enabled: false)"
	default:
		return strings.TrimSuffix("failed: "+s.Error, ": ")
	}
}

// NewMCPDebug returns `lathe mcp debug`.
func NewMCPDebug(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "debug NAME",
		Short: "Connect to an MCP server and print details",
		Long: `Connect to one server, even if disabled, and print its tools, prompts and resources, or the error
with the last lines of its output. No tool is called.`,
		Example: "  lathe mcp debug github",
		Args:    cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return onServers(a, func(h *mcp.Hub, l *config.Loaded) error { return debugServer(c.Context(), a, h, l.Config.MCP, args[0]) })
		},
	}
	return cmd
}

// debugServer prints each fact as soon as it is known, so that a hanging server shows where it hangs.
func debugServer(ctx context.Context, a *cli.App, h *mcp.Hub, settings map[string]config.MCPServer, name string) error {
	s, ok := settings[name]
	if !ok {
		return noSuchServer(settings, name)
	}
	began := a.Now()
	a.Printf("Server   %s\n", termtext.Plain(name))
	if s.URL != "" {
		a.Printf("Address  %s\n", termtext.Plain(s.URL))
		if login, err := loginOf(a, name, s.URL); err == nil {
			a.Printf("Login    %s\n", login)
		}
	} else {
		a.Printf("Command  %s\n", termtext.Plain(strings.Join(s.Command, " ")))
	}
	a.Flush()
	if err := h.Connect(ctx, name); err != nil {
		return err
	}
	a.Printf("State    connected in %s\n", a.Now().Sub(began).Round(time.Millisecond))
	for _, note := range h.Status()[name].Notes {
		a.Printf("Note     %s\n", termtext.Plain(note))
	}
	for _, t := range h.Tools() {
		spec := t.Spec()
		a.Printf("Tool     %s\n", termtext.Plain(spec.Name+"  "+firstLine(spec.Description)))
	}
	for _, p := range h.Prompts() {
		a.Printf("Prompt   /%s\n", termtext.Plain(p.Command()+"  "+firstLine(p.Description)))
	}
	for _, r := range h.Resources(ctx) {
		a.Printf("Resource %s\n", termtext.Plain(r.URI+"  "+firstLine(r.Name)))
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func noSuchServer(settings map[string]config.MCPServer, name string) error {
	if len(settings) == 0 {
		return lathe.Errorf(lathe.NotFound, "MCP server not found: %s; the config has none", termtext.Quote(name))
	}
	return lathe.Errorf(lathe.NotFound, "MCP server not found: %s; available: %s", termtext.Quote(name), termtext.Plain(strings.Join(slices.Sorted(maps.Keys(settings)), ", ")))
}
