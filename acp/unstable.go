package acp

import (
	"cmp"
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

// maxSetTitle is the number of characters of a title that the user gives.
const maxSetTitle = 200

// forkSession copies a session, with all its messages, and opens the copy. The client has the history already.
func (s *server) forkSession(ctx context.Context, p wire.ForkSessionRequest) (out wire.ForkSessionResponse, err error) {
	l, dir, err := s.begin(p.Cwd)
	if err != nil {
		return out, err
	}
	rec, err := l.backend.Fork(ctx, dir, lathe.SessionID(p.SessionID), "")
	if err != nil {
		return out, err
	}
	o, err := s.reopen(ctx, wire.SessionID(rec.ID), p.Cwd, p.MCPServers, true)
	return wire.ForkSessionResponse{SessionID: wire.SessionID(rec.ID), Modes: o.Modes, ConfigOptions: o.ConfigOptions}, err
}

// archiveSession ends the turn of a session and takes it off the list.
func (s *server) archiveSession(ctx context.Context, p wire.ArchiveSessionRequest) (empty, error) {
	l, err := s.open()
	if err != nil {
		return empty{}, err
	}
	if _, err := s.closeSession(ctx, wire.CloseSessionRequest(p)); err != nil && lathe.CodeOf(err) != lathe.NotFound {
		return empty{}, err
	}
	now := lathe.TimeOf(s.Now())
	_, err = l.backend.Archive(ctx, lathe.SessionID(p.SessionID), &now)
	return empty{}, err
}

// unarchiveSession brings a session back to the list.
func (s *server) unarchiveSession(ctx context.Context, p wire.UnarchiveSessionRequest) (empty, error) {
	l, err := s.open()
	if err != nil {
		return empty{}, err
	}
	_, err = l.backend.Archive(ctx, lathe.SessionID(p.SessionID), nil)
	return empty{}, err
}

// setTitle names a session.
func (s *server) setTitle(ctx context.Context, p wire.SetSessionTitleRequest) (out wire.SetSessionTitleResponse, err error) {
	title := oneLine(strings.TrimSpace(p.Title), maxSetTitle)
	if title == "" {
		return out, invalidf("title must not be empty")
	}
	l, err := s.open()
	if err != nil {
		return out, err
	}
	rec, err := l.backend.Rename(ctx, lathe.SessionID(p.SessionID), title)
	return wire.SetSessionTitleResponse{Title: rec.Title}, err
}

// sessionStatus says whether the client has a session open.
func (s *server) sessionStatus(ctx context.Context, p wire.SessionStatusRequest) (out wire.SessionStatusResponse, err error) {
	l, err := s.open()
	if err != nil {
		return out, err
	}
	if _, err := l.backend.Get(ctx, lathe.SessionID(p.SessionID)); err != nil {
		return out, err
	}
	out.Status = wire.SessionStatusSaved
	err = l.run(ctx, func() {
		if l.sessions[lathe.SessionID(p.SessionID)] != nil {
			out.Status = wire.SessionStatusOpen
		}
	})
	return out, err
}

// authStatus names the providers that can be used, without asking any of them.
func (s *server) authStatus(ctx context.Context, _ empty) (out wire.AuthStatusResponse, err error) {
	out.State = wire.AuthStateUnauthenticated
	if s.requireLogin() != nil {
		return out, nil
	}
	l, err := s.open()
	if err != nil {
		return out, err
	}
	all, err := l.backend.Providers(ctx, cmp.Or(s.Dir, s.Start))
	if err != nil {
		return out, err
	}
	for _, c := range all.Connected {
		out.State = wire.AuthStateAuthenticated
		out.Accounts = append(out.Accounts, wire.AuthAccount{Label: cmp.Or(c.Name, string(c.ID))})
	}
	return out, nil
}

// archivedFilter is the query for the filter of session/list.
func archivedFilter(f *wire.SessionArchiveFilter) (lathe.Archived, error) {
	switch {
	case f == nil || *f == wire.SessionArchiveFilterExclude:
		return lathe.HideArchived, nil
	case *f == wire.SessionArchiveFilterInclude:
		return lathe.WithArchived, nil
	case *f == wire.SessionArchiveFilterOnly:
		return lathe.OnlyArchived, nil
	default:
		return 0, invalidf("archived must be exclude, include or only, not %q", oneLine(string(*f), 60))
	}
}
