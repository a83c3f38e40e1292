// Package extension manages MCP servers, plugins, and which projects are trusted to run theirs.
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

func NewMCPAdd(a *cli.App) *cobra.Command {
	var f mcpAddFlags
	cmd := &cobra.Command{
		Use:   "add [NAME] [--url ADDRESS | -- COMMAND…]",
		Short: "Add an MCP server to your config",
		Long: `Adds a server to your config, for all projects, or with --project to the config of this
repository. A local server is a command that speaks MCP over its input and output; a remote
one has an address. On a terminal it asks for what you do not say.

The servers of a project start only when the project is trusted. --project trusts the server
that you add, and nothing else: if other settings of the project wait for trust, the new
server waits with them (lathe trust --show).`,
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
	s.StringVar(&f.url, "url", "", "the `ADDRESS` of a remote server")
	s.StringArrayVar(&f.env, "env", nil, "a variable for a local server (`NAME=VALUE`); may be repeated")
	s.StringArrayVar(&f.headers, "header", nil, "a header for a remote server (`NAME=VALUE`); may be repeated")
	s.BoolVar(&f.project, "project", false, "add it to the config of this repository")
	s.BoolP("global", "g", true, "add it to your config")
	_ = s.MarkHidden("global") // which is the default; scripts say it
	s.BoolVarP(&f.replace, "force", "f", false, "replace a server of the same name")
	return a.JSONFlag(cmd)
}

// mcpWords sorts the arguments by the dash that stands before a command.
func mcpWords(args []string, dash int) (name string, command []string, err error) {
	before := args
	if dash >= 0 {
		before, command = args[:dash], args[dash:]
	}
	switch {
	case len(before) > 1:
		return "", nil, cli.Usagef("a command stands behind --: `lathe mcp add %s -- %s`", before[0], strings.Join(before[1:], " "))
	case len(before) == 1:
		name = before[0]
	}
	return name, command, nil
}

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
		return lathe.Errorf(lathe.Conflict, "%s has an MCP server %s already; --force replaces it", a.DisplayPath(path), termtext.Quote(name))
	}
	if there { // else the old one would be under it
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
		a.Notify("It starts when you trust this project, which has other settings that wait for it: `lathe trust --show`, then `lathe trust`.")
	} else {
		a.Notify("`lathe mcp list` tells whether it can be reached.")
	}
	return nil
}

// projectRisks are the settings of the project that need trust, with it or without.
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

// trustAdded trusts the project with the server that the user has just typed, unless more than that would be trusted for
// the first time: then it waits.
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

// namesServer reports whether a settings file has an MCP server of that name, trusted or not.
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

// settingsFile is the file that commands write settings to.
func settingsFile(a *cli.App, global bool) (string, error) {
	if global {
		return a.UserConfigFile(), nil
	}
	dir, err := filepath.Abs(a.Dir)
	return harness.DirConfigFile(dir), err
}

// server is what the flags say in the words of the settings.
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
		return nil, cli.Usagef("--url and a command do not go together: a server is remote or local")
	case f.url != "" && len(env) > 0:
		return nil, cli.Usagef("--env is for local servers; a remote one takes --header")
	case len(command) > 0 && len(headers) > 0:
		return nil, cli.Usagef("--header is for remote servers; a local one takes --env")
	case f.url != "" && !strings.HasPrefix(f.url, "https://") && !strings.HasPrefix(f.url, "http://"):
		return nil, cli.Usagef("--url %s: an address begins with https:// or http://", termtext.Plain(f.url))
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

// askForServer asks on a terminal for what was not said.
func askForServer(ctx context.Context, a *cli.App, f *mcpAddFlags, name string) (string, []string, error) {
	if !cli.IsTerminal(a.Stdin) || a.JSON {
		return "", nil, cli.Usagef("say a name and how to reach it: `lathe mcp add files -- npx -y @modelcontextprotocol/server-filesystem .`, or --url")
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
	a.Ask("Command, or an address that begins with https://: ")
	line, err := a.ReadLine(ctx)
	if err != nil {
		return "", nil, err
	}
	if strings.HasPrefix(line, "https://") || strings.HasPrefix(line, "http://") {
		f.url = line
		return name, nil, nil
	}
	if line == "" {
		return "", nil, cli.Usagef("a server needs a command or an address")
	}
	return name, strings.Fields(line), nil
}
