package store

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// ranTests saves the last test run of a project.
func (t *txn) ranTests(f *lathe.TestsRan) error {
	return t.exec(`INSERT INTO tests (project, command, exit, at) VALUES ($1,$2,$3,$4)
		ON CONFLICT (project) DO UPDATE SET command = excluded.command, exit = excluded.exit, at = excluded.at`,
		f.Project, f.Run.Command, f.Run.Exit, float64(f.Run.At))
}

// LastTestRun returns the last test run of a project, or the zero value.
func (s *Store) LastTestRun(ctx context.Context, project string) (lathe.TestRun, error) {
	return findOne(ctx, s, `SELECT command, exit, at FROM tests WHERE project = $1`, []any{project}, func(row Row) (lathe.TestRun, error) {
		return lathe.TestRun{Command: row.Text(0), Exit: int(row.Int(1)), At: lathe.Time(row.Float(2))}, nil
	})
}
