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

// grantedTo is the key of approvals of a session and its subagents. No project has such an ID.
func grantedTo(root lathe.SessionID) string { return "session:" + string(root) }

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
// includes those of the directory from before it belonged to a project. With a session,
// those of the session and its ancestors follow.
func (s *Store) Approvals(ctx context.Context, project, directory string, session lathe.SessionID) (lathe.Ruleset, error) {
	keys := []any{project, approvedIn(lathe.GlobalProject, directory), ""}
	var rules lathe.Ruleset
	err := s.read(ctx, func(r Reader) (err error) {
		if session != "" {
			root, err := rootSession(r, session)
			if err != nil {
				return err
			}
			keys[2] = grantedTo(root)
		}
		rules, err = all(r, `SELECT permission, pattern FROM approval WHERE project IN ($1, $2, $3) ORDER BY n`, keys, func(row Row) (lathe.Rule, error) {
			return lathe.Rule{Permission: row.Text(0), Pattern: row.Text(1), Action: lathe.Allow}, nil
		})
		return err
	})
	return rules, err
}
