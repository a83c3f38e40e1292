// Package acpserver implements `lathe acp`: lathe as the agent of an editor, over the Agent Client Protocol. Package acp
// speaks the protocol; this package opens the engine, or the connection to a server. Start with New.
package acpserver

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp"
	"github.com/lathe-agent/lathe/acp/wire"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/tool/mcp"
)

const help = `Run lathe as the agent of an editor, over the Agent Client Protocol on standard input and output. Editors
start this command themselves. docs/editors.md shows how to set up Zed, JetBrains IDEs, Neovim, Emacs
and others.

Sessions are those of every other front end: continue in the editor what you began in the terminal
UI, and the reverse. Files with unsaved changes are read from the editor, and written by it.

With --attach the sessions run on a server (lathe serve) and continue there after the editor closes.
Unsaved changes and the MCP servers of the editor are then not used. For a server on another machine,
-C sets the directory there.

Standard output is for the protocol. Logs go to the log file, or to standard error with --print-logs.
The command ends with its input. A running turn is interrupted and can be continued with /continue.`

// New returns `lathe acp`. login is the command that saves credentials.
func New(a *cli.App, login *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "acp",
		Short: "Run lathe as the agent of an editor",
		Long:  help,
		Example: `  lathe acp
  lathe acp --attach http://127.0.0.1:4096

  {"agent_servers": {"lathe": {"type": "custom", "command": "lathe", "args": ["acp"]}}}`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return serveACP(c.Context(), a, stdin(a.Stdin), stdout{a.Stdout})
		},
	}
	a.AttachFlag(cmd)
	login.Hidden = true // editors run it in a terminal
	cmd.AddCommand(login, newShow(a))
	return cmd
}

// serveACP answers the editor until it closes the connection.
func serveACP(ctx context.Context, a *cli.App, in io.ReadCloser, out io.WriteCloser) error {
	o := acp.Options{
		Version: a.Version, Log: a.Log, Now: a.Now,
		Open: func(ctx context.Context, unsaved acp.Buffers) (acp.Backend, error) { return openLocal(ctx, a, unsaved) },
	}
	var err error
	if o.Start, err = filepath.Abs(a.Dir); err != nil {
		return err
	}
	if self, err := os.Executable(); err == nil {
		o.Terminal = []string{self, "acp", "show"}
	}
	if a.Attach != "" {
		r, err := a.Dial(func(o *client.Options) { o.Persistent = true })
		if err != nil {
			return err
		}
		if o.Remote = true; !r.IsLocal() {
			if o.Dir = a.Dir; o.Dir == "." {
				at, err := r.Location(ctx, "")
				if err != nil {
					return cli.CloseAfter(r, err)
				}
				o.Dir = at.Directory
			}
		}
		o.Open = func(context.Context, acp.Buffers) (acp.Backend, error) {
			return acp.Backend{Engine: r, Close: func() error { return nil }}, nil
		}
		return cli.CloseAfter(r, acp.Serve(ctx, in, out, o))
	}
	return acp.Serve(ctx, in, out, o)
}

// openLocal opens an engine in this process.
func openLocal(ctx context.Context, a *cli.App, unsaved acp.Buffers) (b acp.Backend, err error) {
	h, err := harness.Open(ctx, &a.Host, harness.Options{Tracer: a.Tracer, Buffers: unsaved})
	if err != nil {
		return b, err
	}
	if err := a.RecoverTurns(ctx, h.Engine); err != nil {
		return b, cli.CloseAfter(h, err)
	}
	around, err := h.Local(ctx, "", a.Version)
	if err != nil {
		return b, cli.CloseAfter(h, err)
	}
	return acp.Backend{
		Engine: struct {
			*engine.Engine
			api.Host
		}{h.Engine, around},
		AddServers: func(ctx context.Context, id lathe.SessionID, dir string, servers []wire.MCPServer) error {
			return h.AddSessionServers(ctx, id, dir, serversOf(servers))
		},
		RemoveServers: h.RemoveSessionServers,
		Close:         func() error { return errors.Join(around.Close(), h.Close()) },
	}, nil
}

// serversOf translates the MCP servers of an editor. Those of an unknown kind are left out.
func serversOf(list []wire.MCPServer) (out []mcp.Server) {
	for _, s := range list {
		switch {
		case s.Stdio != nil:
			one := mcp.Server{Name: s.Stdio.Name, Command: append([]string{s.Stdio.Command}, s.Stdio.Args...), Environment: map[string]string{}}
			for _, v := range s.Stdio.Env {
				one.Environment[v.Name] = v.Value
			}
			out = append(out, one)
		case s.HTTP != nil:
			out = append(out, mcp.Server{Name: s.HTTP.Name, URL: s.HTTP.URL, Headers: headersOf(s.HTTP.Headers)})
		case s.SSE != nil:
			out = append(out, mcp.Server{Name: s.SSE.Name, URL: s.SSE.URL, Headers: headersOf(s.SSE.Headers)})
		}
	}
	return out
}

// headersOf turns a list of headers into a map. Of two with one name the last counts.
func headersOf(list []wire.HTTPHeader) map[string]string {
	out := map[string]string{}
	for _, h := range list {
		out[h.Name] = h.Value
	}
	return out
}

// stdin makes standard input closable while a read waits.
func stdin(f *os.File) io.ReadCloser {
	r, w := io.Pipe()
	go func() { // it ends with the input or the program
		_, err := io.Copy(w, f)
		_ = w.CloseWithError(err)
	}()
	return r
}

// stdout is standard output, which the program closes at its end.
type stdout struct{ io.Writer }

func (stdout) Close() error { return nil }
