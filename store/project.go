package store

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"github.com/lathe-agent/lathe"
)

// OpenProject records that a directory of the project was opened: it creates or updates
// the record, adds a further checkout, and publishes the change. A new project takes over the
// sessions of the global project in its worktree, and those of a record whose
// id has changed (for example a repository that got a remote). Approvals move with them.
func (s *Store) OpenProject(ctx context.Context, p lathe.Project, sandbox string) (lathe.Project, error) {
	events, err := s.writer.write(ctx, false, func(t *txn) error {
		rec, known, err := t.project(p.ID)
		if err != nil {
			return err
		}
		if !known {
			rec = p
			rec.Time.Created = t.now
		}
		rec.Worktree, rec.VCS, rec.Time.Updated = p.Worktree, p.VCS, t.now
		if sandbox != p.Worktree && !slices.Contains(rec.Sandboxes, sandbox) {
			rec.Sandboxes = append(rec.Sandboxes, sandbox)
		}
		rec.Sandboxes = slices.DeleteFunc(rec.Sandboxes, func(dir string) bool {
			_, err := os.Stat(dir)
			return os.IsNotExist(err)
		})
		if p.ID != lathe.GlobalProject {
			if err := t.adopt(&rec, known); err != nil {
				return err
			}
		}
		return t.putProject(rec)
	})
	if err != nil {
		return lathe.Project{}, err
	}
	return events[len(events)-1].Fact.(*lathe.ProjectChanged).Project, nil
}

func (t *txn) project(id string) (p lathe.Project, known bool, err error) {
	err = t.tx.Query(`SELECT data FROM project WHERE id = $1`, []any{id}, func(row Row) error {
		known = true
		return json.Unmarshal(row.Bytes(0), &p)
	})
	return p, known, err
}

func readProject(row Row) (p lathe.Project, err error) {
	return p, json.Unmarshal(row.Bytes(0), &p)
}

func (t *txn) putProject(p lathe.Project) error {
	seq := t.next()
	err := t.exec(`INSERT INTO project (id, worktree, data, born, seq) VALUES ($1,$2,$3,$4,$5)
		ON CONFLICT (id) DO UPDATE SET worktree = excluded.worktree, data = excluded.data, seq = excluded.seq`,
		p.ID, p.Worktree, string(p.AppendJSON(nil)), seq, seq)
	if err != nil {
		return err
	}
	t.publish(seq, nil, &lathe.ProjectChanged{Project: p})
	return nil
}

// adopt moves sessions of other projects to the project that owns their directory.
func (t *txn) adopt(p *lathe.Project, known bool) error {
	former, err := all(t.tx, `SELECT data FROM project WHERE worktree = $1 AND id <> $2 AND id <> 'global'`, []any{p.Worktree, p.ID}, readProject)
	if err != nil {
		return err
	}
	for _, f := range former {
		if !known { // the same project under another id: the user's changes stay
			p.Name, p.Icon, p.Commands, p.Time.Created, p.Time.Initialized = f.Name, f.Icon, f.Commands, f.Time.Created, f.Time.Initialized
		}
		if _, err := t.refile(`project = $1`, f.ID, p.ID); err != nil {
			return err
		}
		if err := t.moveApprovals(f.ID, p.ID); err != nil {
			return err
		}
		if err := t.exec(`DELETE FROM project WHERE id = $1`, f.ID); err != nil {
			return err
		}
	}
	if err := t.moveApprovals(approvedIn(lathe.GlobalProject, p.Worktree), p.ID); err != nil || known {
		return err
	}
	adopted, err := t.refile(`project = 'global' AND directory = $1`, p.Worktree, p.ID)
	if err == nil && adopted > 0 { // approvals for these sessions stay valid
		err = t.copyApprovals(lathe.GlobalProject, p.ID)
	}
	return err
}

// refile moves sessions to another project, publishes each and counts them.
func (t *txn) refile(where, arg, project string) (int, error) {
	rows, err := all(t.tx, `SELECT n, id, directory FROM session WHERE `+where, []any{arg}, func(row Row) (*sessionRow, error) {
		return &sessionRow{n: row.Int(0), id: lathe.SessionID(row.Text(1)), directory: row.Text(2), project: project}, nil
	})
	for _, s := range rows {
		if err == nil {
			err = t.edit(s, lathe.Edit{Project: lathe.Some(project)})
		}
	}
	return len(rows), err
}

// EditProject changes a project and publishes it.
func (s *Store) EditProject(ctx context.Context, id string, edit lathe.ProjectEdit) (lathe.Project, error) {
	var rec lathe.Project
	_, err := s.writer.write(ctx, false, func(t *txn) error {
		var known bool
		var err error
		if rec, known, err = t.project(id); err != nil {
			return err
		}
		if !known {
			return lathe.Errorf(lathe.NotFound, "Project not found: %s", id)
		}
		if edit.Name.Set {
			rec.Name = edit.Name.Value
		}
		if edit.Icon != nil {
			rec.Icon = edit.Icon
		}
		if edit.Commands != nil {
			rec.Commands = edit.Commands
		}
		rec.Time.Updated = t.now
		return t.putProject(rec)
	})
	return rec, err
}

// Projects lists all projects, most recently opened first.
func (s *Store) Projects(ctx context.Context) ([]lathe.Project, error) {
	return findAll(ctx, s, `SELECT data FROM project ORDER BY seq DESC`, nil, readProject)
}

// Cached returns the cached value of a key, "" if there is none.
func (s *Store) Cached(ctx context.Context, key string) (string, error) {
	return findOne(ctx, s, `SELECT value FROM known WHERE key = $1`, []any{key}, firstText)
}

// SaveCached caches a value that is expensive to compute.
func (s *Store) SaveCached(ctx context.Context, key, value string) error {
	_, err := s.writer.write(ctx, false, func(t *txn) error {
		return t.exec(`INSERT INTO known (key, value) VALUES ($1,$2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
	})
	return err
}
