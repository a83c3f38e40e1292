package store

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
)

// Grants are the saved answers to permission requests: of a project, and of single sessions with their subagents.
type Grants struct{ Store *Store }

// GrantScope says whose grants: those of a project, or with a session those of its root.
type GrantScope struct {
	Project, Directory string
	Session            lathe.SessionID
}

// Granted is a saved answer.
type Granted struct {
	Permission, Pattern string
	Session             lathe.SessionID // the root of the session that has it; "" is the project
}

// List returns the grants of the project, then those of its sessions: of one, or without one of all. Oldest first.
func (g Grants) List(ctx context.Context, at GrantScope) (out []Granted, err error) {
	err = g.Store.read(ctx, func(r Reader) error {
		out, err = all(r, `SELECT permission, pattern, '' FROM approval WHERE project IN ($1, $2) ORDER BY n`,
			[]any{at.Project, approvedIn(lathe.GlobalProject, at.Directory)}, readGranted)
		if err != nil {
			return err
		}
		sql, args := `SELECT permission, pattern, session.id FROM approval JOIN session ON approval.project = 'session:' || session.id
			WHERE session.project = $1 AND ($1 <> $2 OR session.directory = $3) ORDER BY session.id, approval.n`,
			[]any{at.Project, lathe.GlobalProject, at.Directory} // in the global project each directory stands alone
		if at.Session != "" {
			root, err := rootSession(r, at.Session)
			if err != nil {
				return err
			}
			sql, args = `SELECT permission, pattern, $1 FROM approval WHERE project = $2 ORDER BY n`, []any{string(root), grantedTo(root)}
		}
		more, err := all(r, sql, args, readGranted)
		out = append(out, more...)
		return err
	})
	return out, err
}

func readGranted(row Row) (Granted, error) {
	return Granted{row.Text(0), row.Text(1), lathe.SessionID(row.Text(2))}, nil
}

// Add saves a rule. One that is there already stays.
func (g Grants) Add(ctx context.Context, at GrantScope, permission, pattern string) error {
	_, err := g.Store.writer.write(ctx, true, func(t *txn) error {
		key, err := at.key(t.tx)
		if err != nil {
			return err
		}
		return saveGrant(t, key, permission, pattern)
	})
	return err
}

// Revoke deletes a grant: of the root of a session, or in the project and in the directory. It fails with NotFound
// if there is none.
func (g Grants) Revoke(ctx context.Context, at GrantScope, permission, pattern string) error {
	_, err := g.Store.writer.write(ctx, true, func(t *txn) error {
		key, err := at.key(t.tx)
		if err != nil {
			return err
		}
		also := key
		if at.Session == "" {
			key, also = at.Project, approvedIn(lathe.GlobalProject, at.Directory)
		}
		n, err := t.count(`DELETE FROM approval WHERE project IN ($1, $2) AND permission = $3 AND pattern = $4`, key, also, permission, pattern)
		if err == nil && n == 0 {
			err = lathe.Errorf(lathe.NotFound, "%s %q was not approved", permission, pattern)
		}
		return err
	})
	return err
}

// key is the key of new grants in the scope.
func (at GrantScope) key(r Reader) (string, error) {
	if at.Session == "" {
		return approvedIn(at.Project, at.Directory), nil
	}
	root, err := rootSession(r, at.Session)
	return grantedTo(root), err
}

// saveAnswer saves the patterns of an answer: for the session's project, or for its root session.
func saveAnswer(t *txn, s *sessionRow, in lathe.PermissionAnswer) error {
	var req lathe.PermissionRequest
	err := t.tx.Query(`SELECT data FROM ask WHERE id = $1 AND session = $2 AND kind = 'permission'`, []any{string(in.Ask), s.n}, func(row Row) error {
		return json.Unmarshal(row.Bytes(0), &req)
	})
	if err != nil {
		return err
	}
	key, err := GrantScope{Project: s.project, Directory: s.directory}.key(t.tx)
	if in.ForSession {
		key, err = GrantScope{Session: s.id}.key(t.tx)
	}
	patterns := req.Always
	if in.Patterns != nil {
		patterns = in.Patterns
	}
	for _, pattern := range patterns {
		if err == nil {
			err = saveGrant(t, key, req.Permission, pattern)
		}
	}
	return err
}

func saveGrant(t *txn, key, permission, pattern string) error {
	return t.exec(`INSERT INTO approval (project, permission, pattern, created) VALUES ($1,$2,$3,$4)
		ON CONFLICT (project, permission, pattern) DO NOTHING`, key, permission, pattern, float64(t.now))
}

// rootSession is the topmost ancestor of a session. In a circle of parents each session is its own root.
func rootSession(r Reader, id lathe.SessionID) (lathe.SessionID, error) {
	seen := []lathe.SessionID{}
	for at := id; ; {
		found := false
		var parent lathe.SessionID
		err := r.Query(`SELECT coalesce(parent, '') FROM session WHERE id = $1`, []any{string(at)}, func(row Row) error {
			found, parent = true, lathe.SessionID(row.Text(0))
			return nil
		})
		switch {
		case err != nil:
			return "", err
		case !found && at == id:
			return "", lathe.Errorf(lathe.NotFound, "session %s not found", id)
		case !found: // the parent is deleted
			return seen[len(seen)-1], nil
		case parent == "":
			return at, nil
		case slices.Contains(seen, parent) || parent == at:
			return id, nil
		}
		seen, at = append(seen, at), parent
	}
}
