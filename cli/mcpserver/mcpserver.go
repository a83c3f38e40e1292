// Package mcpserver implements `lathe mcp serve`: an MCP server with tools to run prompts and to list and read
// sessions. Start with New.
package mcpserver

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
)

const help = `Run lathe as an MCP server on standard input and output, for editors and agents that start their own
servers. It serves the project of the directory.

Tools: run sends a prompt to a session and returns the answer, with progress if the client asks for
it. Canceling the call stops the turn. sessions lists the sessions of the project, and session prints
one as a transcript.

No user can be asked. Requests that no rule allows are refused and listed in the result. --yes
approves them, except for leaving the sandbox. Standard output is for the protocol; logs go to
standard error with --print-logs.

The server stops at the end of its input. Running turns are interrupted; resume them with
"lathe run --resume".`

// New returns `lathe mcp serve`.
func New(a *cli.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run lathe as an MCP server",
		Long:  help,
		Example: `  lathe mcp serve
  lathe mcp serve -C ~/src/app --yes
  lathe mcp serve --attach http://127.0.0.1:4096

  {"mcpServers": {"lathe": {"command": "lathe", "args": ["mcp", "serve", "-C", "/src/app"]}}}`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return serveMCP(c.Context(), a, yes) },
	}
	a.AttachFlag(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "approve every permission request")
	return cmd
}

// host handles the calls of one client concurrently.
type host struct {
	*cli.App
	yes     bool            // approve every request
	address string          // client of --attach
	life    context.Context // canceled at the end of the program, which cancels calls too

	mu      sync.Mutex // guards the fields below; held while the engine opens, since all calls wait for it
	engine  api.Engine // opened by the first call that needs it
	closers []io.Closer
	running map[lathe.SessionID]bool
}

// serveMCP serves until the client disconnects.
func serveMCP(ctx context.Context, a *cli.App, yes bool) (err error) {
	if l, err := a.Config(); err == nil && a.Attach == "" { // harness.Open reports a broken file
		a.WarnUntrusted(l)
	}
	life, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	h := &host{App: a, yes: yes, address: a.Attach, life: life, running: map[lathe.SessionID]bool{}}
	defer func() { err = errors.Join(err, h.close()) }()
	out := &lockedWriter{w: a.Stdout}
	in := newSieve(a.Stdin, out, a.Log, func() { stop(errClientGone) })
	err = h.server().Run(life, &mcp.IOTransport{Reader: in, Writer: out})
	if errors.Is(context.Cause(life), errClientGone) {
		return nil // a closed input is a normal end
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// errClientGone reports the end of the input.
var errClientGone = errors.New("the client closed the connection")

// server registers the tools.
func (h *host) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "lathe", Title: "lathe", Version: h.Version}, &mcp.ServerOptions{
		Instructions: "lathe is a coding agent. `run` sends a prompt to it and returns the session ID; " +
			"pass it as `session` to continue. `sessions` and `session` show earlier work.",
		Logger: h.Log, Capabilities: &mcp.ServerCapabilities{},
	})
	mcp.AddTool(s, &mcp.Tool{
		Name: "run", Title: "Run a prompt",
		Description: "Send a prompt to the coding agent and wait for the result. The agent reads and edits files of the project and runs commands, " +
			"as its rules allow; the result lists refusals. Canceling the call stops the agent.",
	}, h.run)
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	mcp.AddTool(s, &mcp.Tool{
		Name: "sessions", Title: "List sessions", Annotations: reads,
		Description: "List the sessions of the project, most recently changed first.",
	}, h.sessions)
	mcp.AddTool(s, &mcp.Tool{
		Name: "session", Title: "Read a session", Annotations: reads,
		Description: "Read the latest messages of a session as a transcript.",
	}, h.session)
	return s
}

// open opens the engine, or the connection to the server of --attach, once for the whole process.
func (h *host) open() (api.Engine, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.engine != nil {
		return h.engine, nil
	}
	if h.Attach != "" {
		r, err := h.Dial()
		if err != nil {
			return nil, err
		}
		h.engine, h.closers = r, []io.Closer{r}
		return r, nil
	}
	setup, err := harness.Open(h.life, &h.Host, harness.Options{Headless: true, Tracer: h.Tracer})
	if err != nil {
		return nil, err
	}
	h.engine, h.closers = setup.Engine, []io.Closer{setup}
	return h.engine, nil
}

// look is open for reading. It does not create a database.
func (h *host) look() (api.Engine, error) {
	if h.Attach == "" {
		if _, err := h.ExistingFolders(); err != nil {
			return nil, err
		}
	}
	return h.open()
}

func (h *host) close() (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.closers {
		err = cli.CloseAfter(c, err)
	}
	return err
}

// worker returns the engine for a directory and its close function, since a client of a server is bound to one
// directory.
func (h *host) worker(dir string) (api.Engine, func(), error) {
	if h.Attach == "" {
		e, err := h.open()
		return e, func() {}, err
	}
	other := h.InDir(dir)
	other.Attach = h.address
	r, err := other.Dial()
	if err != nil {
		return nil, nil, err
	}
	return r, func() { _ = r.Close() }, nil // closes idle connections
}

// reserve reserves a session for one call, since two could not tell their answers apart.
func (h *host) reserve(id lathe.SessionID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running[id] {
		return lathe.Errorf(lathe.Conflict, "session %s is busy with another call; wait for it, cancel it, or leave out session to start a new one", id)
	}
	h.running[id] = true
	return nil
}

func (h *host) leave(id lathe.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, id)
}

// ours finds a session of the served project.
func (h *host) ours(ctx context.Context, e api.Engine, which string) (lathe.Session, error) {
	if strings.TrimSpace(which) == "" {
		return lathe.Session{}, lathe.Errorf(lathe.Invalid, "session is empty; `sessions` lists the IDs, and %q is the latest", cli.Last)
	}
	s, err := h.Find(ctx, e, which)
	if err != nil {
		return s, err
	}
	place, err := h.Location(ctx, e)
	if err != nil {
		return s, err
	}
	if s.Project != place.Project || s.Project == lathe.GlobalProject && !within(place.Directory, s.Directory) {
		return lathe.Session{}, lathe.Errorf(lathe.NotFound, "Session not found: %s belongs to another project", termtext.Plain(string(s.ID)))
	}
	return s, nil
}

// inside resolves a directory of the project, absolute or relative to the served one. Links must not lead outside.
func (h *host) inside(ctx context.Context, e api.Engine, dir string) (string, error) {
	place, err := h.Location(ctx, e)
	if err != nil {
		return "", err
	}
	top := place.Worktree
	if place.Project == lathe.GlobalProject {
		top = place.Directory
	}
	if dir == "" {
		return place.Directory, nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(place.Directory, dir)
	}
	dir = filepath.Clean(dir)
	if h.Attach == "" {
		if dir, err = realDir(dir, &top); err != nil {
			return "", err
		}
	}
	if !within(top, dir) {
		return "", lathe.Errorf(lathe.Denied, "directory %s is outside the project %s", termtext.Plain(dir), termtext.Plain(top))
	}
	return dir, nil
}

// realDir resolves the links of a directory and of its required parent.
func realDir(dir string, top *string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", lathe.Errorf(lathe.NotFound, "directory %s does not exist", termtext.Plain(dir))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", lathe.Errorf(lathe.Invalid, "%s is not a directory", termtext.Plain(dir))
	}
	if t, err := filepath.EvalSymlinks(*top); err == nil {
		*top = t
	}
	return real, nil
}

func within(top, dir string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && filepath.IsLocal(rel)
}
