package database

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/copier"
	"github.com/lathe-agent/lathe/store/postgres"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// fromEnvironment stands for the address in LATHE_STORE, which may have a password that other users must not see.
const fromEnvironment = "LATHE_STORE"

// newDBMigrate is for the step of a deployment before its nodes start.
func newDBMigrate(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Create the database, or migrate it to this version",
		Long: `Create the database, or migrate it to the schema of this version: the database file, or the PostgreSQL
database in LATHE_STORE. "lathe serve" and the other commands do this too when they open it. Run this
first if their database user must not change tables. The tables also serve the previous version, so
nodes can be updated one after the other. Several processes may run it at the same time. A database of
a newer version stays unchanged, and the command fails.`,
		Example: `  lathe db migrate && lathe serve
  LATHE_STORE=postgres://owner@db/lathe lathe db migrate`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return migrateDatabase(c.Context(), a) },
	}
}

func migrateDatabase(ctx context.Context, a *cli.App) error {
	dsn := a.Env(fromEnvironment)
	if dsn == "" {
		e, err := a.Open(ctx)
		if err != nil {
			return err
		}
		if err := e.Close(); err != nil {
			return err
		}
		a.Notify("The database has the schema of lathe %s", a.Version)
		return nil
	}
	d, err := postgres.Open(ctx, postgres.Options{DSN: dsn, Log: a.Log})
	if err != nil {
		return err
	}
	a.Notify("The database at %s has schema %d, which lathe %s can use", termtext.Plain(postgres.Redact(dsn)), d.Schema(), a.Version)
	return d.Close()
}

// newDBCopy moves to many nodes, and back.
func newDBCopy(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy all sessions into another, empty database",
		Long: `Copy all sessions from one database into another one, which must be empty. Each is the path of a
database file, a postgres:// URL, or LATHE_STORE for the URL in that variable. The copy is one
transaction, and each row is compared before its end. The source does not change. Large values stay in
their files or in their bucket: copy the blobs folder (lathe db path --json) if the new database is used
elsewhere, and set LATHE_BLOBS if it is a bucket.`,
		Example: `  lathe db copy "$(lathe db path)" LATHE_STORE
  lathe db copy postgres://db/lathe backup.db`,
		Args: cli.RangeArgs(2, 2),
		RunE: func(c *cobra.Command, args []string) error { return copyDatabase(c.Context(), a, args[0], args[1]) },
	}
}

func copyDatabase(ctx context.Context, a *cli.App, from, to string) error {
	source, err := openAny(ctx, a, from, true)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := openAny(ctx, a, to, false)
	if err != nil {
		return err
	}
	rows := 0
	err = copier.Copy(ctx, source, target, func(c copier.Copied) {
		if rows += c.Rows; c.Rows > 0 && cli.IsTerminal(a.Stderr) {
			a.Notify("… %s: %s", c.Table, termtext.Plural(c.Rows, "row"))
		}
	})
	if err := cli.CloseAfter(target, err); err != nil {
		return err
	}
	a.Printf("Copied and compared %s.\n", termtext.Plural(rows, "row"))
	return nil
}

// openAny opens a file or a server. A file to read from must exist.
func openAny(ctx context.Context, a *cli.App, place string, exists bool) (store.Driver, error) {
	if place == fromEnvironment {
		if place = a.Env(fromEnvironment); place == "" {
			return nil, cli.Usagef("LATHE_STORE is not set")
		}
	}
	if postgres.IsURL(place) {
		d, err := postgres.Open(ctx, postgres.Options{DSN: place, Log: a.Log})
		if err != nil {
			return nil, err
		}
		return d, nil
	}
	if exists && !isFile(place) {
		return nil, cli.NoDatabase{Path: place}
	}
	d, err := sqlite.Open(ctx, sqlite.Options{Path: place, State: ownersOf(a, place)})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// isFile reports whether something is there.
func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ownersOf is the folder with the locks of the processes that use a database file.
func ownersOf(a *cli.App, path string) string {
	if at, err := datadir.Find(a.Env); err == nil && at.Database() == path {
		return at.Owners
	}
	return path + ".owners"
}
