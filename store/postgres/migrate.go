package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"path"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// schemaFiles are numbered and only ever added to. A new one must leave the schema usable for the version before it
// (expand). One that does not (contract) comes a release later and says so in oldest.
//
//go:embed migrations/*.sql
var schemaFiles embed.FS

// schema is the newest version of the tables that this program knows, and the one they had when they were opened.
type schema struct{ known, found int }

// step is one migration.
type step struct{ name, sql string }

// migrating is the number of the advisory lock, together with the schema.
const migrating = 0x6c617468

// loadSteps reads migrations in the order of their numbers.
func loadSteps(files fs.FS) ([]step, error) {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	steps := make([]step, len(names))
	for i, name := range names {
		sql, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		steps[i] = step{path.Base(name), string(sql)}
	}
	return steps, nil
}

// prepare makes sure that the schema exists and fits this program. A newer schema fits if it
// says that it serves this version too. An unchanged one needs no right to change it. It returns the version.
func prepare(ctx context.Context, c *conn, steps []step) (version int, err error) {
	version, oldest, err := versionOf(ctx, c)
	if err != nil {
		return 0, err
	}
	if version < len(steps) {
		if err := migrate(ctx, c, steps); err != nil {
			return 0, err
		}
		return prepare(ctx, c, steps)
	}
	if oldest > len(steps) {
		return 0, tooNew(oldest, len(steps))
	}
	return version, nil
}

// tooNew refuses tables that this program no longer understands. Its node must not write to them.
func tooNew(oldest, known int) error {
	return lathe.Errorf(lathe.Conflict, "the database was updated by a newer version of lathe (it needs schema %d; this version supports %d); update lathe on this node", oldest, known)
}

// versionOf returns the version of the schema, 0 without one, and the oldest version of lathe that it serves.
func versionOf(ctx context.Context, c *conn) (version, oldest int, err error) {
	var known bool
	err = c.query(ctx, `SELECT to_regclass('lathe_schema') IS NOT NULL`, nil, func(r *row) error {
		known = r.Int(0) != 0
		return nil
	})
	if err != nil || !known {
		return 0, 0, explain(err)
	}
	err = c.query(ctx, `SELECT version, oldest FROM lathe_schema`, nil, func(r *row) error {
		version, oldest = int(r.Int(0)), int(r.Int(1))
		return nil
	})
	return version, oldest, explain(err)
}

// migrate runs the missing steps in one transaction, under a lock that other nodes wait for.
func migrate(ctx context.Context, c *conn, steps []step) error {
	run := func(sql string) error {
		_, err := c.pg.Exec(ctx, sql).ReadAll()
		return err
	}
	fail := func(name string, err error) error {
		undo := run(`ROLLBACK`)
		if lathe.CodeOf(explain(err)) != lathe.Internal {
			return errors.Join(explain(err), undo)
		}
		return lathe.Errorf(lathe.Internal, "migration %s failed; the database stays at its old version: %w", name, errors.Join(err, undo))
	}
	if err := run(`BEGIN`); err != nil {
		return explain(err)
	}
	if _, err := c.exec(ctx, `SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))`, migrating); err != nil {
		return fail("lock", err)
	}
	version, _, err := versionOf(ctx, c)
	if err == nil && version == 0 {
		err = checkEncoding(ctx, c)
	}
	if err != nil {
		return fail("lock", err)
	}
	for ; version < len(steps); version++ {
		if err := run(steps[version].sql); err != nil {
			return fail(steps[version].name, err)
		}
	}
	if _, err := c.exec(ctx, `UPDATE lathe_schema SET version = greatest(version, $1)`, len(steps)); err != nil {
		return fail("version", err)
	}
	if err := run(`COMMIT`); err != nil {
		return explain(err)
	}
	clear(c.known) // plans of the old tables
	_, err = c.pg.Exec(ctx, `DEALLOCATE ALL`).ReadAll()
	return explain(err)
}

// checkEncoding refuses a database that cannot store every character. SQL_ASCII stores bytes as they are.
func checkEncoding(ctx context.Context, c *conn) error {
	return c.query(ctx, `SELECT getdatabaseencoding()::text`, nil, func(r *row) error {
		if name := r.Text(0); name != "UTF8" && name != "SQL_ASCII" {
			return lathe.Errorf(lathe.Invalid, "the database has the encoding %s, which cannot store every character; create one with `createdb -T template0 -E UTF8`", name)
		}
		return nil
	})
}

// Renumber lets a table that got rows with numbers continue after them.
func (d *Driver) Renumber(tx store.Tx, table string) error {
	return tx.Do(`SELECT setval(pg_get_serial_sequence($1::text, 'n'), greatest((SELECT max(n) FROM `+table+`), 1))`, table)
}

// Schema is the version that the tables had when they were opened. It can be newer than this program.
func (d *Driver) Schema() int { return d.schema.found }
