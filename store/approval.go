package store

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Answer is the answer to a request.
type Answer struct {
	Fact lathe.Fact // PermissionReplied, QuestionReplied or QuestionRejected
	Note string     // the user's reason for a rejection
	// Unattended means that a program rejected the request because no user was present.
	Unattended bool
}

// unattended marks the note of a rejection by a program. No note of a user begins with it.
const unattended = "\x1e"

// noteOf is the note that is stored with an answer.
func noteOf(a lathe.PermissionAnswer) string {
	if a.Unattended {
		return unattended + a.Message
	}
	return strings.TrimLeft(a.Message, unattended)
}

// Answers returns the answers to the named requests, without unanswered ones.
func (s *Store) Answers(ctx context.Context, ids ...lathe.AskID) (map[lathe.AskID]Answer, error) {
	out := map[lathe.AskID]Answer{}
	err := s.read(ctx, func(r Reader) error {
		for _, id := range ids {
			err := r.Query(`SELECT answer, note FROM ask WHERE id = $1 AND answer IS NOT NULL`, []any{string(id)}, func(row Row) error {
				var e lathe.Event
				err := json.Unmarshal(row.Bytes(0), &e)
				note, mark := strings.CutPrefix(row.Text(1), unattended)
				out[id] = Answer{Fact: e.Fact, Note: note, Unattended: mark}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// approvedIn is the key of approvals: the project, or the directory if it belongs to no
// project. Earlier versions used [lathe.GlobalProject] itself as the key.
func approvedIn(project, directory string) string {
	if project != lathe.GlobalProject {
		return project
	}
	return project + ":" + directory
}

// approve saves the patterns of an "always" answer for the session's project.
func (t *txn) approve(s *sessionRow, ask lathe.AskID) error {
	var req lathe.PermissionRequest
	err := t.tx.Query(`SELECT data FROM ask WHERE id = $1 AND session = $2 AND kind = 'permission'`, []any{string(ask), s.n}, func(row Row) error {
		return json.Unmarshal(row.Bytes(0), &req)
	})
	for _, pattern := range req.Always {
		if err == nil {
			err = t.exec(`INSERT INTO approval (project, permission, pattern, created) VALUES ($1,$2,$3,$4)
				ON CONFLICT (project, permission, pattern) DO NOTHING`, approvedIn(s.project, s.directory), req.Permission, pattern, float64(t.now))
		}
	}
	return err
}

// moveApprovals moves approvals to another key.
func (t *txn) moveApprovals(from, to string) error {
	if err := t.copyApprovals(from, to); err != nil {
		return err
	}
	return t.exec(`DELETE FROM approval WHERE project = $1`, from)
}

func (t *txn) copyApprovals(from, to string) error {
	return t.exec(`INSERT INTO approval (project, permission, pattern, created)
		SELECT $1, permission, pattern, created FROM approval WHERE project = $2 ORDER BY n
		ON CONFLICT (project, permission, pattern) DO NOTHING`, to, from)
}

// Approvals returns the "always" answers of a project as allow rules, oldest first. It
// includes those of the directory from before it belonged to a project.
func (s *Store) Approvals(ctx context.Context, project, directory string) (lathe.Ruleset, error) {
	return findAll(ctx, s, `SELECT permission, pattern FROM approval WHERE project IN ($1, $2) ORDER BY n`, []any{project, approvedIn(lathe.GlobalProject, directory)}, func(row Row) (lathe.Rule, error) {
		return lathe.Rule{Permission: row.Text(0), Pattern: row.Text(1), Action: lathe.Allow}, nil
	})
}

// Revoke deletes an approval, in the project and in the directory, or fails with NotFound.
func (s *Store) Revoke(ctx context.Context, project, directory, permission, pattern string) error {
	_, err := s.writer.write(ctx, true, func(t *txn) error {
		n, err := t.count(`DELETE FROM approval WHERE project IN ($1, $2) AND permission = $3 AND pattern = $4`, project, approvedIn(lathe.GlobalProject, directory), permission, pattern)
		if err == nil && n == 0 {
			err = lathe.Errorf(lathe.NotFound, "%s %q was not approved", permission, pattern)
		}
		return err
	})
	return err
}
