package extension

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/plugin"
	"github.com/lathe-agent/lathe/tool"
)

// permissions are names of permissions that are not tools. A server's tool with such a name
// (tool directory of server external) would match rules that mean something else, and "always"
// would allow that.
var permissions = []string{"external_directory", "doom_loop"}

// tools are those of the settings, of plugins and of servers. A plugin's takes the place of another of
// its name, as its author means it to; a server's name is made up here, so that it takes no place.
func (g *Set) tools(base, brought []tool.Tool) []tool.Tool {
	out := slices.Clone(base)
	if g.plugins != nil {
		for _, t := range g.plugins.Tools() {
			out = append(out, pluginTool{g.plugins, t})
		}
	}
	taken := map[string]bool{}
	for _, name := range permissions {
		taken[name] = true
	}
	for _, t := range out {
		taken[t.Spec().Name] = true
	}
	for _, t := range brought {
		if name := t.Spec().Name; taken[name] {
			g.Log.Warn("MCP tool skipped: its name is already in use", "tool", name)
			continue
		}
		out = append(out, t)
	}
	return out
}

// pluginTool is a tool that a plugin runs.
type pluginTool struct {
	plugins *plugin.Hub
	plugin.Tool
}

// Spec describes the tool. Its writes are unknown, so it may write anywhere.
func (t pluginTool) Spec() tool.Spec {
	return tool.Spec{Name: t.ID, Description: t.Description, Schema: t.Schema, Anywhere: true}
}

// Run asks as for any other tool, and has the plugin do it.
func (t pluginTool) Run(ctx context.Context, c *tool.Call) (tool.Result, error) {
	if err := c.Host.Ask(ctx, tool.Permission{Name: t.ID, Patterns: []string{"*"}, Always: []string{"*"}}); err != nil {
		return tool.Result{}, err
	}
	res, err := t.plugins.Execute(ctx, t.ID, c.Input, plugin.ToolContext{
		Session: c.Session, Message: c.Message, Call: c.ID, Agent: c.Agent, Directory: c.Dir, Worktree: c.Root,
	}, plugin.ToolCallbacks{
		Ask: func(ctx context.Context, a plugin.PermissionRequest) error {
			return c.Host.Ask(ctx, tool.Permission{Name: a.Permission, Patterns: a.Patterns, Always: a.Always, Metadata: a.Metadata})
		},
		Progress: func(p plugin.Progress) { c.Host.Progress(p.Title, p.Metadata) },
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case lathe.CodeOf(err) == lathe.Rejected, lathe.CodeOf(err) == lathe.Denied: // its permission request was refused
		return tool.Result{}, err
	default:
		return tool.Result{}, tool.Failf("%w", err)
	}
	out := tool.Result{Title: res.Title, Output: res.Output, Metadata: res.Metadata}
	for _, a := range res.Attachments {
		out.Attachments = append(out.Attachments, &lathe.File{Mime: a.Mime, URL: a.URL, Filename: a.Filename})
	}
	return out, nil
}

// defineTools lets plugins change the tool descriptions that models see.
func (g *Set) defineTools(ctx context.Context, tools []tool.Tool) ([]tool.Tool, error) {
	if g.plugins == nil || !g.plugins.Has("tool.definition") {
		return tools, nil
	}
	for i, t := range tools {
		spec := t.Spec()
		if spec.Hidden {
			continue
		}
		in := struct {
			ID string `json:"toolID"`
		}{spec.Name}
		out := struct {
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		}{spec.Description, spec.Schema}
		if err := call(ctx, g, "tool.definition", in, &out); err != nil {
			return nil, err
		}
		spec.Description, spec.Schema = out.Description, out.Parameters
		tools[i] = redefined{t, spec}
	}
	return tools, nil
}

// redefined is a tool that is described in other words.
type redefined struct {
	tool.Tool
	spec tool.Spec
}

func (r redefined) Spec() tool.Spec { return r.spec }

// Env are the variables that plugins add to a command; the call is nil for one of the user's.
func (g *Set) Env(ctx context.Context, dir string, c *tool.Call) (map[string]string, error) {
	if g.plugins == nil || !g.plugins.Has("shell.env") {
		return nil, nil
	}
	in := struct {
		Dir     string          `json:"cwd"`
		Session lathe.SessionID `json:"sessionID,omitempty"`
		Call    string          `json:"callID,omitempty"`
	}{Dir: dir}
	if c != nil {
		in.Session, in.Call = c.Session, c.ID
	}
	out := struct {
		Env map[string]string `json:"env"`
	}{map[string]string{}}
	err := call(ctx, g, "shell.env", in, &out)
	return out.Env, err
}

// commands are those of the settings, and the prompts of servers behind them.
func (g *Set) commands(base []engine.SlashCommand) []engine.SlashCommand {
	out := slices.Clone(base)
	for _, p := range g.servers.Prompts() {
		if slices.ContainsFunc(out, func(c engine.SlashCommand) bool { return c.Name == p.Command() }) {
			continue
		}
		c := engine.SlashCommand{Command: lathe.Command{Name: p.Command(), Description: p.Description, Source: lathe.CommandMCP, Hints: []string{}}}
		for i := range p.Arguments {
			c.Hints = append(c.Hints, "$"+strconv.Itoa(i+1))
		}
		c.Fetch = func(ctx context.Context, arguments []string) (string, error) {
			return g.servers.Prompt(ctx, p.Server, p.Name, p.Positional(arguments))
		}
		out = append(out, c)
	}
	return out
}

// instructions are those of the settings, then what servers say of themselves.
func (g *Set) instructions(base []prompt.Instruction) []prompt.Instruction {
	out := slices.Clone(base)
	for _, i := range g.servers.Instructions() {
		out = append(out, prompt.Instruction{Name: "the MCP server " + i.Server, Text: i.Text})
	}
	return out
}

// resourceOr reads resources of the servers here, and of others as the settings do.
func (g *Set) resourceOr(base func(context.Context, string, string) ([]prompt.Resource, error)) func(context.Context, string, string) ([]prompt.Resource, error) {
	if base == nil {
		return g.resource
	}
	return func(ctx context.Context, server, uri string) ([]prompt.Resource, error) {
		if _, ours := g.servers.Status()[server]; ours {
			return g.resource(ctx, server, uri)
		}
		return base(ctx, server, uri)
	}
}

func (g *Set) resource(ctx context.Context, server, uri string) ([]prompt.Resource, error) {
	contents, err := g.servers.ReadResource(ctx, server, uri)
	out := make([]prompt.Resource, len(contents))
	for i, c := range contents {
		out[i] = prompt.Resource(c)
	}
	return out, err
}
