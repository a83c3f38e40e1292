package acp

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
	"github.com/lathe-agent/lathe/internal/jsonrpc"
)

// pageSize is the number of sessions in an answer to session/list.
const pageSize = 50

// directory is the directory of a session that the client opens.
func (s *server) directory(cwd string) (string, error) {
	switch {
	case s.Dir != "":
		return s.Dir, nil
	case !filepath.IsAbs(cwd):
		return "", invalidf("cwd must be an absolute path, not %q", oneLine(cwd, 100))
	default:
		return filepath.Clean(cwd), nil
	}
}

// begin checks that a client may open a session in a directory, and returns the directory.
func (s *server) begin(cwd string) (l *loop, dir string, err error) {
	if err := s.requireLogin(); err != nil {
		return nil, "", err
	}
	if dir, err = s.directory(cwd); err != nil {
		return nil, "", err
	}
	l, err = s.open()
	return l, dir, err
}

// newSession creates a session.
func (s *server) newSession(ctx context.Context, p wire.NewSessionRequest) (out wire.NewSessionResponse, err error) {
	l, dir, err := s.begin(p.Cwd)
	if err != nil {
		return out, err
	}
	c, err := l.readCatalog(ctx, dir)
	if err != nil {
		return out, err
	}
	rec, err := l.backend.Create(ctx, dir, lathe.NewSession{})
	if err != nil {
		return out, err
	}
	out.SessionID = wire.SessionID(rec.ID)
	err = l.run(ctx, func() {
		o := l.openSession(rec, c)
		out.Modes, out.ConfigOptions = o.modes(), o.configOptions()
	})
	if err == nil {
		s.afterOpening(ctx, l, rec, p.MCPServers)
	}
	return out, err
}

// afterOpening connects MCP servers and sends the slash commands when the client knows the session.
func (s *server) afterOpening(ctx context.Context, l *loop, rec lathe.Session, servers []wire.MCPServer) {
	failed := l.addServers(ctx, rec, servers)
	jsonrpc.AfterReply(ctx, func() {
		_ = l.run(s.ctx, func() { // or the conversation has ended
			o := l.sessions[rec.ID]
			if o == nil {
				return
			}
			o.send(wire.SessionUpdate{AvailableCommandsUpdate: &wire.AvailableCommandsUpdate{AvailableCommands: o.catalog.available()}})
			if failed != "" {
				o.notice(wire.NoticeSeverityWarning, "MCP servers were not connected", failed)
			}
			o.sendUsage()
		})
	})
}

// addServers connects the MCP servers that the client gave for a session. It returns why they cannot be used.
func (l *loop) addServers(ctx context.Context, rec lathe.Session, servers []wire.MCPServer) string {
	if len(servers) == 0 {
		return ""
	}
	if l.backend.AddServers == nil {
		return "The sessions run on a server, which has its own MCP servers. Add them to its config."
	}
	if err := l.backend.AddServers(ctx, rec.ID, rec.Directory, servers); err != nil {
		l.server.Log.Warn("acp: MCP servers not connected", "session", rec.ID, "error", err)
		return err.Error()
	}
	return ""
}

// loadSession opens a session and sends its whole history before it answers.
func (s *server) loadSession(ctx context.Context, p wire.LoadSessionRequest) (out wire.LoadSessionResponse, err error) {
	o, err := s.reopen(ctx, p.SessionID, p.Cwd, p.MCPServers, false)
	return wire.LoadSessionResponse(o), err
}

// resumeSession opens a session whose history the client has.
func (s *server) resumeSession(ctx context.Context, p wire.ResumeSessionRequest) (wire.ResumeSessionResponse, error) {
	return s.reopen(ctx, p.SessionID, p.Cwd, p.MCPServers, true)
}

// reopen opens a session that exists: any session of the store, whichever front end made it. Its directory stays the one it
// was made for. The event stream runs already, so events that come while the history is read are translated after it, and
// those that the history has are dropped by the view.
func (s *server) reopen(ctx context.Context, id wire.SessionID, cwd string, servers []wire.MCPServer, quiet bool) (out wire.ResumeSessionResponse, err error) {
	l, _, err := s.begin(cwd)
	if err != nil {
		return out, err
	}
	rec, err := l.backend.Get(ctx, lathe.SessionID(id))
	if err != nil {
		return out, err
	}
	c, err := l.readCatalog(ctx, rec.Directory)
	if err != nil {
		return out, err
	}
	var failed error
	err = l.run(ctx, func() {
		if old := l.sessions[rec.ID]; old != nil {
			l.drop(old)
		}
		o := l.openSession(rec, c)
		if failed = o.replayAll(ctx, quiet); failed != nil {
			l.drop(o)
			return
		}
		out.Modes, out.ConfigOptions = o.modes(), o.configOptions()
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		s.afterOpening(ctx, l, rec, servers)
	}
	return out, err
}

// replayAll sends the history, or with quiet only notes it.
func (s *session) replayAll(ctx context.Context, quiet bool) error {
	s.isQuiet, s.isLoading = quiet, true
	err := s.reload(ctx)
	s.isQuiet, s.isLoading = false, false
	for _, id := range s.children {
		s.loop.views[id].isQuiet = false
	}
	return err
}

// listSessions lists the sessions of a directory, or all, newest first. Sessions of subagents are left out.
func (s *server) listSessions(ctx context.Context, p wire.ListSessionsRequest) (out wire.ListSessionsResponse, err error) {
	l, err := s.open()
	if err != nil {
		return out, err
	}
	q := lathe.Query{Roots: true, Limit: pageSize + 1}
	if q.Archived, err = archivedFilter(p.Archived); err != nil {
		return out, err
	}
	if p.Cwd != "" || s.Dir != "" {
		if q.Directory, err = s.directory(p.Cwd); err != nil {
			return out, err
		}
		if at, err := l.backend.Location(ctx, q.Directory); err == nil {
			q.Directory = at.Directory
		}
	}
	if p.Cursor != "" {
		if q.Before, err = lathe.ParsePosition(p.Cursor); err != nil {
			return out, err
		}
	}
	all, err := l.backend.List(ctx, q)
	if err != nil {
		return out, err
	}
	if len(all) > pageSize {
		all = all[:pageSize]
		last := all[pageSize-1]
		out.NextCursor = lathe.Position{Time: last.Updated, ID: string(last.ID)}.Token()
	}
	out.Sessions = []wire.SessionInfo{}
	for _, rec := range all {
		out.Sessions = append(out.Sessions, wire.SessionInfo{
			SessionID: wire.SessionID(rec.ID), Cwd: rec.Directory, Title: rec.Title, UpdatedAt: rec.Updated.ISO(), Archived: rec.Archived != nil,
		})
	}
	return out, nil
}

// closeSession cancels the turn of a session and forgets the session. It can be loaded again.
func (s *server) closeSession(ctx context.Context, p wire.CloseSessionRequest) (empty, error) {
	l, err := s.open()
	if err != nil {
		return empty{}, err
	}
	id, busy := lathe.SessionID(p.SessionID), false
	err = l.with(ctx, p.SessionID, func(o *session) error {
		for _, t := range o.turns {
			t.canceled, busy = true, true
		}
		return nil
	})
	if err != nil {
		return empty{}, err
	}
	if busy {
		if err := l.backend.Cancel(ctx, id); err != nil {
			return empty{}, err
		}
	}
	return empty{}, l.run(ctx, func() {
		if o := l.sessions[id]; o != nil {
			l.drop(o)
		}
	})
}

// deleteSession deletes a session with all below it. A session that does not exist is deleted already.
func (s *server) deleteSession(ctx context.Context, p wire.DeleteSessionRequest) (empty, error) {
	l, err := s.open()
	if err != nil {
		return empty{}, err
	}
	id := lathe.SessionID(p.SessionID)
	err = l.run(ctx, func() {
		if o := l.sessions[id]; o != nil {
			for _, t := range o.turns {
				t.canceled = true
			}
			l.drop(o)
		}
	})
	if err != nil {
		return empty{}, err
	}
	if err := l.backend.Remove(ctx, id); err != nil && lathe.CodeOf(err) != lathe.NotFound {
		return empty{}, err
	}
	return empty{}, nil
}

// available are the slash commands of a directory, and our own.
func (c catalog) available() []wire.AvailableCommand {
	out := []wire.AvailableCommand{}
	for _, m := range c.commands {
		a := wire.AvailableCommand{Name: m.Name, Description: m.Description}
		if a.Description == "" {
			a.Description = "Run /" + m.Name
		}
		if hint := commandHint(m); hint != "" {
			a.Input = &wire.AvailableCommandInput{Hint: hint}
		}
		out = append(out, a)
	}
	for _, b := range ownCommands() {
		if !slices.ContainsFunc(out, func(a wire.AvailableCommand) bool { return a.Name == b.name }) {
			a := wire.AvailableCommand{Name: b.name, Description: b.about}
			if b.hint != "" {
				a.Input = &wire.AvailableCommandInput{Hint: b.hint}
			}
			out = append(out, a)
		}
	}
	return out
}
