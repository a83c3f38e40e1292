// Package extension has the commands for MCP servers, plugins and trusted projects.
package extension

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
)

type mcpAddFlags struct {
	url          string
	env, headers []string
	project      bool
	replace      bool
}

// NewMCPAdd returns `lathe mcp add`.
func NewMCPAdd(a *cli.App) *cobra.Command {
	var f mcpAddFlags
	cmd := &cobra.Command{
		Use:   "add [NAME] [--url URL | -- COMMAND…]",
		Short: "Add an MCP server to your config",
		Long: `Add a server to your config, for all projects, or with --project to the config of this repository.
A local server is a command that speaks MCP over standard input and output; a remote server has a
URL. On a terminal, lathe asks for missing values.

Servers of a project start only if the project is trusted. --project trusts the new server and
nothing else. If the project's config has other untrusted parts, the new server waits for your
trust too (lathe trust --show).`,
		Example: `  lathe mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  lathe mcp add github --url https://api.githubcopilot.com/mcp/
  lathe mcp add --project db --env PGHOST=localhost -- ./tools/db-mcp --read-only
  lathe mcp add docs --url https://docs.example/mcp --header "Authorization=Bearer {env:DOCS_TOKEN}"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			name, command, err := mcpWords(args, c.ArgsLenAtDash())
			if err != nil {
				return err
			}
			return addServer(c.Context(), a, f, name, command)
		},
	}
	s := cmd.Flags()
	s.StringVar(&f.url, "url", "", "`URL` of a remote server")
	s.StringArrayVar(&f.env, "env", nil, "environment variable `NAME=VALUE` for a local server; repeatable")
	s.StringArrayVar(&f.headers, "header", nil, "HTTP header `NAME=VALUE` for a remote server; repeatable")
	s.BoolVar(&f.project, "project", false, "add to the config of this repository")
	s.BoolP("global", "g", true, "add to your config (the default)")
	_ = s.MarkHidden("global") // the default, for explicit scripts
	s.BoolVarP(&f.replace, "force", "f", false, "replace a server of the same name")
	return a.JSONFlag(cmd)
}

// mcpWords splits the arguments at the -- before a command.
func mcpWords(args []string, dash int) (name string, command []string, err error) {
	before := args
	if dash >= 0 {
		before, command = args[:dash], args[dash:]
	}
	switch {
	case len(before) > 1:
		return "", nil, cli.Usagef("put the command after --: `lathe mcp add %s -- %s`", before[0], strings.Join(before[1:], " "))
	case len(before) == 1:
		name = before[0]
	}
	return name, command, nil
}

// addServer edits the config file in place, and trusts the new server if it goes to the project's config.
func addServer(ctx context.Context, a *cli.App, f mcpAddFlags, name string, command []string) error {
	var err error
	if name == "" || f.url == "" && len(command) == 0 {
		if name, command, err = askForServer(ctx, a, &f, name); err != nil {
			return err
		}
	}
	one, err := f.server(command)
	if err != nil {
		return err
	}
	path, err := settingsFile(a, !f.project)
	if err != nil {
		return err
	}
	before, err := projectRisks(a)
	if err != nil {
		return err
	}
	there, err := namesServer(path, name)
	if err != nil {
		return err
	}
	if there && !f.replace {
		return lathe.Errorf(lathe.Conflict, "%s already has an MCP server %s; use --force to replace it", a.DisplayPath(path), termtext.Quote(name))
	}
	if there { // else the merge would keep the old members
		if err := config.Edit(path, json.RawMessage(`{"mcp":{`+jsonText(name)+`:null}}`)); err != nil {
			return err
		}
	}
	change, err := json.Marshal(map[string]any{"mcp": map[string]any{name: one}})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := config.Edit(path, change); err != nil {
		return err
	}
	waits := false
	if f.project {
		if waits, err = trustAdded(a, before, name); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(map[string]string{"name": name, "path": path})
	}
	a.Printf("Added %s to %s\n", termtext.Plain(name), a.DisplayPath(path))
	if waits {
		a.Notify("It starts after you trust this project, whose config has other untrusted parts: run `lathe trust --show`, then `lathe trust`.")
	} else {
		a.Notify("Run `lathe mcp list` to test the connection.")
	}
	return nil
}

// projectRisks returns the parts of the project's config that need trust.
func projectRisks(a *cli.App) (*config.Untrusted, error) {
	o, err := a.ConfigOptions()
	if err != nil {
		return nil, err
	}
	o.Trusted = nil
	l, err := config.Load(o)
	if err != nil {
		return nil, err
	}
	if l.Untrusted == nil {
		return &config.Untrusted{}, nil
	}
	return l.Untrusted, nil
}

// trustAdded trusts the server that the user has just added, unless the project has other untrusted config.
func trustAdded(a *cli.App, before *config.Untrusted, name string) (waits bool, err error) {
	trust, err := a.TrustStore()
	if err != nil {
		return false, err
	}
	now, err := projectRisks(a)
	if err != nil || len(now.Risks) == 0 {
		return false, err
	}
	typed := func(r config.Risk) bool { return len(r.Key) > 1 && r.Key[0] == "mcp" && r.Key[1] == name }
	known := func(r config.Risk) bool {
		return slices.ContainsFunc(before.Risks, func(b config.Risk) bool {
			return b.Path == r.Path && b.Value == r.Value && slices.Equal(b.Key, r.Key)
		})
	}
	others := slices.DeleteFunc(slices.Clone(now.Risks), typed)
	trusted := len(others) == 0 || trust.Trusts(before.Root, before.Digest)
	if !trusted || slices.ContainsFunc(others, func(r config.Risk) bool { return !known(r) }) {
		return true, nil
	}
	return false, grantTrust(a, trust, now)
}

// namesServer reports whether a config file has an MCP server of that name, trusted or not.
func namesServer(path, name string) (bool, error) {
	text, err := harness.ReadConfigFile(path)
	if err != nil || text == nil {
		return false, err
	}
	var c struct {
		MCP map[string]json.RawMessage `json:"mcp"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return false, lathe.Errorf(lathe.Invalid, "%s: %w", path, err)
	}
	_, there := c.MCP[name]
	return there, nil
}

func jsonText(s string) string { return string(lathe.AppendJSONString(nil, s)) }

// settingsFile returns the config file that commands write to.
func settingsFile(a *cli.App, global bool) (string, error) {
	if global {
		return a.UserConfigFile(), nil
	}
	dir, err := filepath.Abs(a.Dir)
	return harness.DirConfigFile(dir), err
}

// server converts the flags to config.
func (f mcpAddFlags) server(command []string) (map[string]any, error) {
	pairs := func(flag string, list []string) (map[string]string, error) {
		out := map[string]string{}
		for _, p := range list {
			name, value, ok := strings.Cut(p, "=")
			if !ok || name == "" {
				return nil, cli.Usagef("--%s %s: want NAME=VALUE", flag, termtext.Plain(p))
			}
			out[name] = value
		}
		return out, nil
	}
	env, err := pairs("env", f.env)
	if err != nil {
		return nil, err
	}
	headers, err := pairs("header", f.headers)
	if err != nil {
		return nil, err
	}
	switch {
	case f.url != "" && len(command) > 0:
		return nil, cli.Usagef("--url and a command cannot be combined: a server is remote or local")
	case f.url != "" && len(env) > 0:
		return nil, cli.Usagef("--env is for local servers; use --header for remote ones")
	case len(command) > 0 && len(headers) > 0:
		return nil, cli.Usagef("--header is for remote servers; use --env for local ones")
	case f.url != "" && !strings.HasPrefix(f.url, "https://") && !strings.HasPrefix(f.url, "http://"):
		return nil, cli.Usagef("--url %s: want a URL that starts with https:// or http://", termtext.Plain(f.url))
	}
	out := map[string]any{"type": "local", "command": command}
	if f.url != "" {
		out = map[string]any{"type": "remote", "url": f.url}
	}
	if len(env) > 0 {
		out["environment"] = env
	}
	if len(headers) > 0 {
		out["headers"] = headers
	}
	return out, nil
}

// askForServer asks for the missing values on a terminal.
func askForServer(ctx context.Context, a *cli.App, f *mcpAddFlags, name string) (string, []string, error) {
	if !cli.IsTerminal(a.Stdin) || a.JSON {
		return "", nil, cli.Usagef("give a name and a command or URL: `lathe mcp add files -- npx -y @modelcontextprotocol/server-filesystem .`, or --url")
	}
	var err error
	if name == "" {
		a.Ask("Name: ")
		if name, err = a.ReadLine(ctx); err != nil {
			return "", nil, err
		}
	}
	if name == "" {
		return "", nil, cli.Usagef("a server needs a name")
	}
	a.Ask("Command, or a URL that starts with https://: ")
	line, err := a.ReadLine(ctx)
	if err != nil {
		return "", nil, err
	}
	if strings.HasPrefix(line, "https://") || strings.HasPrefix(line, "http://") {
		f.url = line
		return name, nil, nil
	}
	if line == "" {
		return "", nil, cli.Usagef("a server needs a command or a URL")
	}
	return name, strings.Fields(line), nil
}
