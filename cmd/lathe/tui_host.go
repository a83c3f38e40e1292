package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/tui/host"
)

// tuiHost is a server, in this process or elsewhere, as the terminal program wants it. What the wire
// answers only when it is done runs in goroutines of its own, which end with Close.
type tuiHost struct {
	client *client.Client
	app    *app
	dir    string // "" is that of the client's options
	// trusted tells whether settings of the project count, and of files that were left out; nil is a
	// server elsewhere, which does not say.
	trusted func() (ok bool, broken string)
	// confined tells whether a kernel sandbox holds commands; nil is a server elsewhere. choose says that the
	// user has not used lathe before.
	confined func() bool
	choose   atomic.Bool
	beyond   dirs // directories whose events are wanted besides our own

	life  context.Context // of what runs on
	end   context.CancelFunc
	tasks sync.WaitGroup
}

var _ host.Engine = (*tuiHost)(nil)

func newTUIHost(c *client.Client, a *app) *tuiHost {
	h := &tuiHost{client: c, app: a}
	h.beyond.changed = make(chan struct{}, 1)
	h.life, h.end = context.WithCancel(context.Background())
	return h
}

// Close gives up waiting for what runs on. The sessions of a server do not mind.
func (h *tuiHost) Close() error {
	h.end()
	h.tasks.Wait()
	return nil
}

// Create begins a session in the directory.
func (h *tuiHost) Create(ctx context.Context, in host.NewSession) (lathe.Session, error) {
	return h.client.Create(ctx, h.dir, lathe.NewSession{Title: in.Title, Agent: in.Agent})
}

// Get returns a record. Who looks at a session of another directory wants to hear of it, too.
func (h *tuiHost) Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	s, err := h.client.Get(ctx, id)
	if err == nil {
		h.beyond.add(s.Directory)
	}
	return s, err
}

// List returns sessions that no other one began.
func (h *tuiHost) List(ctx context.Context, q host.SessionQuery) ([]lathe.Session, error) {
	at, err := h.client.Location(ctx, h.dir)
	if err != nil {
		return nil, err
	}
	ask := lathe.Query{Search: q.Search, Limit: q.Limit, Roots: true}
	if q.All {
		ask.Project = at.Project
	} else {
		ask.Directory = at.Directory
	}
	return h.client.List(ctx, ask)
}

// Children lists the sessions that work for one.
func (h *tuiHost) Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error) {
	return h.client.Children(ctx, id)
}

// Rename gives a session a title.
func (h *tuiHost) Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error) {
	return h.client.Rename(ctx, id, title)
}

// Remove deletes a session.
func (h *tuiHost) Remove(ctx context.Context, id lathe.SessionID) error {
	return h.client.Remove(ctx, id)
}

// Fork copies a session.
func (h *tuiHost) Fork(ctx context.Context, id lathe.SessionID, before lathe.MessageID) (lathe.Session, error) {
	return h.client.Fork(ctx, "", id, before)
}

// Share lets others read a session.
func (h *tuiHost) Share(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	if h.trusted != nil { // the engine is in this process, and no address leads to it
		return lathe.Session{}, lathe.Errorf(lathe.Unavailable, "nobody could read it: run lathe serve, open it with lathe attach, and share there")
	}
	return h.client.Share(ctx, id)
}

// Unshare takes that back.
func (h *tuiHost) Unshare(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return h.client.Unshare(ctx, id)
}

// Messages returns a page of a history.
func (h *tuiHost) Messages(ctx context.Context, id lathe.SessionID, before string, limit int) ([]lathe.Message, string, error) {
	var at lathe.Place
	if before != "" {
		var err error
		if at, err = lathe.ParsePlace(before); err != nil {
			return nil, "", err
		}
	}
	p, err := h.client.Messages(ctx, id, at, limit)
	if !p.More {
		return p.Messages, "", err
	}
	return p.Messages, p.Next.Token(), err
}

// Todos is the list of a session.
func (h *tuiHost) Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	return h.client.Todos(ctx, id)
}

// Diff is what a session changed.
func (h *tuiHost) Diff(ctx context.Context, id lathe.SessionID, prompt lathe.MessageID) ([]lathe.FileDiff, error) {
	return h.client.Diff(ctx, id, prompt)
}

// Statuses are those of the sessions of the directory that do something.
func (h *tuiHost) Statuses(ctx context.Context) (map[lathe.SessionID]lathe.Status, error) {
	return h.client.Statuses(ctx, lathe.Scope{Directory: h.dir})
}

// Submit sends a prompt.
func (h *tuiHost) Submit(ctx context.Context, id lathe.SessionID, p host.Prompt) error {
	how := lathe.Queue
	if p.Steer {
		how = lathe.Steer
	}
	_, err := h.client.Submit(ctx, id, lathe.Prompt{ID: p.ID, Agent: p.Agent, Model: p.Model, Variant: p.Variant, Delivery: how, Parts: p.Parts})
	return err
}

// Command runs a slash command. It returns when its prompt is written down: the wire answers only when
// the session rests.
func (h *tuiHost) Command(ctx context.Context, id lathe.SessionID, c host.Command) error {
	_, err := h.client.SubmitCommand(ctx, id, lathe.CommandCall{
		Command: c.Name, Arguments: c.Arguments, Agent: c.Agent, Model: c.Model, Variant: c.Variant, Parts: c.Parts,
	})
	return err
}

// Compact compresses a history, and returns when that has begun.
func (h *tuiHost) Compact(ctx context.Context, id lathe.SessionID, by lathe.ModelRef) error {
	return h.beside(ctx, func(ctx context.Context) error { return h.client.Compact(ctx, id, lathe.CompactRequest{Model: &by}) }, func(ctx context.Context) bool {
		all, err := h.client.Statuses(ctx, lathe.Scope{Directory: h.dir})
		return err == nil && all[id].Type != "" && all[id].Type != lathe.Idle
	})
}

// lookEvery is how often is looked whether something has begun.
const lookEvery = 25 * time.Millisecond

// beside starts something that takes as long as a turn, and waits until it has begun, or has ended
// already. What goes wrong later is told as an event of the session.
func (h *tuiHost) beside(ctx context.Context, do func(context.Context) error, begun func(context.Context) bool) error {
	if err := h.life.Err(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	h.tasks.Go(func() {
		err := do(h.life)
		if err != nil && h.life.Err() == nil {
			h.app.Log.Info("what was begun did not end well", "error", err)
		}
		ended <- err
	})
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if begun(ctx) {
				return nil
			}
		}
	}
}

// Shell runs a command of the user's.
func (h *tuiHost) Shell(ctx context.Context, id lathe.SessionID, s host.Shell) error {
	_, err := h.client.Shell(ctx, id, lathe.ShellCommand{Agent: s.Agent, Model: s.Model, Command: s.Line})
	return err
}

// Cancel ends a turn.
func (h *tuiHost) Cancel(ctx context.Context, id lathe.SessionID) error {
	return h.client.Cancel(ctx, id)
}

// Interrupted lists the sessions whose turn was cut off.
func (h *tuiHost) Interrupted(ctx context.Context) ([]lathe.SessionID, error) {
	return h.client.Interrupted(ctx)
}

// Resume goes on with a turn that was cut off.
func (h *tuiHost) Resume(ctx context.Context, id lathe.SessionID) error {
	return h.client.Resume(ctx, id)
}

// Undo takes back.
func (h *tuiHost) Undo(ctx context.Context, id lathe.SessionID, m lathe.MessageID) (host.Undone, error) {
	u, err := h.client.Undo(ctx, id, lathe.Undo{Message: m})
	return hostUndone(u), err
}

// Redo brings back the first exchange that is undone.
func (h *tuiHost) Redo(ctx context.Context, id lathe.SessionID) (host.Undone, error) {
	u, err := h.client.Redo(ctx, id, lathe.Undo{})
	return hostUndone(u), err
}

func hostUndone(u lathe.Undone) host.Undone {
	out := host.Undone{Session: u.Session}
	for _, f := range u.Files {
		if f.Action == "conflict" || f.Conflict != "" {
			out.Conflicts = append(out.Conflicts, f.File)
		} else {
			out.Changed = append(out.Changed, f.File)
		}
	}
	return out
}

// Asks are what waits for a person.
func (h *tuiHost) Asks(ctx context.Context) ([]lathe.Fact, error) {
	return h.client.Asks(ctx, lathe.Scope{Directory: h.dir})
}

// Reply answers a permission.
func (h *tuiHost) Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error {
	return h.client.Reply(ctx, id, reply, message)
}

// Answer answers questions.
func (h *tuiHost) Answer(ctx context.Context, id lathe.AskID, answers [][]string) error {
	return h.client.Answer(ctx, id, answers)
}

// Dismiss refuses to.
func (h *tuiHost) Dismiss(ctx context.Context, id lathe.AskID) error {
	return h.client.Dismiss(ctx, id)
}

// Info is where we are.
func (h *tuiHost) Info(ctx context.Context) (host.Info, error) {
	at, err := h.client.Paths(ctx, h.dir)
	if err != nil {
		return host.Info{}, err
	}
	out := host.Info{Directory: at.Directory, Home: at.Home, Trusted: true, Remote: !h.client.IsLocal()}
	if out.Branch, _, err = h.client.Branch(ctx, h.dir); err != nil {
		h.app.Log.Debug("no branch", "error", err) // it is shown, not needed
	}
	if out.Version, err = h.client.Health(ctx); err != nil {
		return out, err
	}
	if h.trusted != nil {
		out.Trusted, out.Broken = h.trusted()
	}
	mode, err := h.client.PermissionMode(ctx, h.dir)
	if err != nil {
		return out, err
	}
	if out.Mode = host.Mode(mode); h.confined == nil { // which may not be a lathe, and have another default
		out.Confined = true
		return out, nil
	}
	out.Mode, out.ChooseMode = cmp.Or(out.Mode, host.SandboxMode), h.choose.Load() && mode == ""
	out.Confined = h.confined()
	return out, nil
}

// SetMode changes the permission mode. A project or the environment may keep a stricter one.
func (h *tuiHost) SetMode(ctx context.Context, m host.Mode) (host.Mode, error) {
	if err := h.client.SetPermissionMode(ctx, string(m)); err != nil {
		return "", err
	}
	h.choose.Store(false)
	mode, err := h.client.PermissionMode(ctx, h.dir)
	return host.Mode(cmp.Or(mode, string(host.SandboxMode))), err
}

// Find returns files and folders.
func (h *tuiHost) Find(ctx context.Context, query string, limit int) ([]string, error) {
	return h.client.FindFiles(ctx, h.dir, query, limit)
}

// Changes is what version control has to say.
func (h *tuiHost) Changes(ctx context.Context, from host.Source) ([]lathe.FileDiff, error) {
	source := client.Uncommitted
	if from == host.Branch {
		source = client.SinceBranch
	}
	return h.client.Changes(ctx, h.dir, source)
}

// ToolServers are those of the directory, by name.
func (h *tuiHost) ToolServers(ctx context.Context) ([]host.ToolServer, error) {
	all, err := h.client.ToolServers(ctx, h.dir)
	out := make([]host.ToolServer, 0, len(all))
	for name, s := range all {
		out = append(out, host.ToolServer{Name: name, Status: s.Status, Error: s.Error})
	}
	slices.SortFunc(out, func(a, b host.ToolServer) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return out, err
}

// ConnectTools switches a server of tools.
func (h *tuiHost) ConnectTools(ctx context.Context, name string, on bool) error {
	if on {
		return h.client.ConnectTools(ctx, h.dir, name)
	}
	return h.client.DisconnectTools(ctx, h.dir, name)
}
