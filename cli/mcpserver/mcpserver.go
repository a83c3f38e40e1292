// Package mcpserver is `lathe mcp serve`: this program as an MCP server, whose tools run prompts, list and read
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

const help = `Offers this program to others as an MCP server on standard input and output: for editors and
agents that start their servers themselves. It serves the project of the directory.

Tools: run gives a prompt to a session and waits for the answer, telling on the way what is
done if the client asks for progress; a cancelled call ends its turn. sessions lists the
sessions of the project, session shows one as a transcript.

Nobody is there to be asked: what needs a permission that no rule gives is refused, and the
result says so. --yes gives it, once each time, but for leaving the sandbox. Standard output
belongs to the protocol; logs go to standard error (--print-logs).

It ends when its input does. Turns that run then are left as after a crash:
"lathe run --resume" goes on with them.`

// New is `lathe mcp serve`.
func New(a *cli.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Be an MCP server: run prompts, list and read sessions",
		Long:  help,
		Example: `  lathe mcp serve
  lathe mcp serve -C ~/src/app --yes
  lathe mcp serve --attach http://127.0.0.1:4096

  {"mcpServers": {"lathe": {"command": "lathe", "args": ["mcp", "serve", "-C", "/src/app"]}}}`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return serveMCP(c.Context(), a, yes) },
	}
	a.AttachFlag(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "give every permission that is asked for, once each time")
	return cmd
}

// host answers the calls of one client. Calls run side by side.
type host struct {
	*cli.App
	yes     bool            // every permission is given, once each time
	address string          // of --attach, with its password
	life    context.Context // ends with the program; calls end with it too

	mu      sync.Mutex // guards the fields below; held while the engine opens, since all wait for it
	engine  api.Engine // opened by the first call that needs it
	closers []io.Closer
	running map[lathe.SessionID]bool
}

// serveMCP answers until the client goes.
func serveMCP(ctx context.Context, a *cli.App, yes bool) (err error) {
	if l, err := a.Config(); err == nil && a.Attach == "" { // a broken file is told by whoever needs it
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
		return nil // whoever closes the input has heard enough
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// errClientGone says that the input has ended.
var errClientGone = errors.New("the client has closed the input")

// server describes the tools.
func (h *host) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "lathe", Title: "lathe", Version: h.Version}, &mcp.ServerOptions{
		Instructions: "lathe is a coding agent. `run` gives it work in its project and answers with the id of the session; " +
			"pass that as `session` to go on with it. `sessions` and `session` tell what was done before.",
		Logger: h.Log, Capabilities: &mcp.ServerCapabilities{},
	})
	mcp.AddTool(s, &mcp.Tool{
		Name: "run", Title: "Run a prompt",
		Description: "Give a prompt to the coding agent and wait until it has done the work. It reads and changes files of the project and runs commands, " +
			"as far as its rules allow; what was refused is in the result. Cancelling the call ends the work.",
	}, h.run)
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	mcp.AddTool(s, &mcp.Tool{
		Name: "sessions", Title: "List sessions", Annotations: reads,
		Description: "List the sessions of the project, the one that changed last first.",
	}, h.sessions)
	mcp.AddTool(s, &mcp.Tool{
		Name: "session", Title: "Read a session", Annotations: reads,
		Description: "Read the newest messages of a session as a transcript: what was asked, said and done.",
	}, h.session)
	return s
}

// open opens the engine, or the connection to the server of --attach, for as long as the program
// lives.
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

// look is open for those who only read: without a database there is nothing to see, and none is
// made by looking.
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

// worker is who works in a directory of the project, and what to close after it: a connection to a
// server knows one directory.
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
	return r, func() { _ = r.Close() }, nil // it only lets go of idle connections
}

// occupy takes a session for one call; two would not know whose answer is whose.
func (h *host) occupy(id lathe.SessionID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running[id] {
		return lathe.Errorf(lathe.Conflict, "session %s is at work for another call; wait for that, cancel it, or leave session out to begin a new one", id)
	}
	h.running[id] = true
	return nil
}

func (h *host) leave(id lathe.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, id)
}

// ours finds a session of the project that is served.
func (h *host) ours(ctx context.Context, e api.Engine, which string) (lathe.Session, error) {
	if strings.TrimSpace(which) == "" {
		return lathe.Session{}, lathe.Errorf(lathe.Invalid, "session is empty; `sessions` lists their ids, and %q is the newest", cli.Last)
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
		return lathe.Session{}, lathe.Errorf(lathe.NotFound, "Session not found: %s belongs to another project than the one that is served", termtext.Plain(string(s.ID)))
	}
	return s, nil
}

// inside is a directory of the project, as the caller names it: complete, or below the one that
// is served. Links may not lead out of it.
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
		return "", lathe.Errorf(lathe.Denied, "directory %s is not within the project %s", termtext.Plain(dir), termtext.Plain(top))
	}
	return dir, nil
}

// realDir resolves links of a directory, and of the folder it has to be in.
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
