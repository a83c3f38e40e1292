// Package database inspects and maintains the database.
package database

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgres"
)

// New returns `lathe db`.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "db [QUERY]",
		Short: "Inspect and maintain the database",
		Long: `Run a read-only SQL query, also while other processes use the database. The result is tab-separated
lines or JSON. Without QUERY, lathe reads queries from the terminal or standard input, each ending
with a semicolon. The tables are internal and can change with any version; scripts should use
"session list --json" and "export".`,
		Example: `  lathe db stats
  lathe db check && lathe db vacuum
  lathe db "SELECT name FROM sqlite_schema WHERE type = 'table'"
  lathe db --format json "SELECT id, title FROM session LIMIT 3"
  lathe db < queries.sql`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(
		dbCommand(a, "stats", "Show size and contents of the database", "  lathe db stats --json", func(ctx context.Context, e *engine.Engine) error { return databaseStats(ctx, a, e) }),
		dbCommand(a, "check", "Check the database for damage; exit 1 if there is any",
			"  lathe db check || echo \"restore a backup\"", func(ctx context.Context, e *engine.Engine) error { return checkDatabase(ctx, a, e) }),
		dbCommand(a, "vacuum", "Return unused space to the system", "  lathe db vacuum", func(ctx context.Context, e *engine.Engine) error { return vacuumDatabase(ctx, a, e) }),
		newDBPath(a),
		newDBMigrate(a),
		newDBCopy(a),
	)
	queryFlags(a, cmd)
	return cmd
}

// dbCommand is a command on the open database.
func dbCommand(a *cli.App, name, short, example string, do func(context.Context, *engine.Engine) error) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: name, Short: short, Example: example, Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.WithEngine(c.Context(), func(e *engine.Engine) error { return do(c.Context(), e) })
		},
	})
}

// newDBPath is for backup scripts.
func newDBPath(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:     "path",
		Short:   "Print the path of the database",
		Long:    "Print the path of the database file, whether it exists or not, or the address of the server in LATHE_STORE without\nits password.",
		Example: `  cp "$(lathe db path)" backup.db   # with no other lathe running`,
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			at, err := datadir.Find(a.Env)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(pathsJSON{nameOf(at), cmp.Or(a.Env("LATHE_BLOBS"), at.Blobs()), at.Owners})
			}
			a.Printf("%s\n", nameOf(at))
			return nil
		},
	})
}

// nameOf is the path of the database, or the address of its server.
func nameOf(at datadir.Folders) string {
	if at.Store != "" {
		return postgres.Redact(at.Store)
	}
	return at.Database()
}

// refuseServer is for queries, which read the file.
func refuseServer(at datadir.Folders) error {
	if at.Store == "" {
		return nil
	}
	return lathe.Errorf(lathe.Invalid, "the database is on a server: %s; query it with psql, or unset LATHE_STORE to query the file", nameOf(at))
}

// pathsJSON is the output of `lathe db path --json`.
type pathsJSON struct {
	Database string `json:"database"`
	Blobs    string `json:"blobs"`
	Owners   string `json:"owners"`
}

// statsJSON is the output of `lathe db stats --json`.
type statsJSON struct {
	Path       string `json:"path"`
	Feed       string `json:"feed"`
	Counter    int64  `json:"counter"`
	Floor      int64  `json:"floor"`
	Projects   int64  `json:"projects"`
	Sessions   int64  `json:"sessions"`
	Messages   int64  `json:"messages"`
	Parts      int64  `json:"parts"`
	OpenParts  int64  `json:"openParts"`
	Tombstones int64  `json:"tombstones"`
	Bytes      int64  `json:"bytes"`
	FreeBytes  int64  `json:"freeBytes"`
	Blobs      int64  `json:"blobs"`
	BlobBytes  int64  `json:"blobBytes"`

	Snapshots snapshotsJSON `json:"snapshots"`
}

// snapshotsJSON describes the snapshots stored for undo.
type snapshotsJSON struct {
	Path      string `json:"path"`
	Worktrees int    `json:"worktrees"`
	Steps     int    `json:"steps"`
	Objects   int    `json:"objects"`
	Bytes     int64  `json:"bytes"`
}

// databaseStats also counts the snapshots, which often need more space than the database.
func databaseStats(ctx context.Context, a *cli.App, e *engine.Engine) error {
	st, err := e.Store().Stats(ctx)
	if err != nil {
		return err
	}
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	kept, err := e.Snapshots().Stats(ctx)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(statsJSON{
			nameOf(at), st.Feed, st.Counter, st.Floor, st.Projects, st.Sessions, st.Messages, st.Parts, st.Open,
			st.Tombstones, st.Bytes, st.FreeBytes, st.Blobs, st.BlobBytes,
			snapshotsJSON{at.Snapshots(), kept.Worktrees, kept.Steps, kept.Objects, kept.Bytes},
		})
	}
	rows := append([][2]string{{"Database", termtext.Plain(termtext.Tilde(nameOf(at), a.Env("HOME")))}}, statsRows(st)...)
	return layout.Pairs(a.Out, append(rows, [2]string{"Snapshots", fmt.Sprintf("%s for undo, of %s in %s", termtext.ByteSize(kept.Bytes), termtext.Plural(kept.Steps, "step"), termtext.Plural(kept.Worktrees, "work tree"))}))
}

// statsRows formats the numbers of the store for people.
func statsRows(st store.Stats) [][2]string {
	parts := termtext.Count(st.Parts)
	if st.Open > 0 {
		parts += fmt.Sprintf(" (%s still growing)", termtext.Count(st.Open))
	}
	return [][2]string{
		{"Size", fmt.Sprintf("%s, %s free", termtext.ByteSize(st.Bytes), termtext.ByteSize(st.FreeBytes))},
		{"Large values", fmt.Sprintf("%s in files, %s", termtext.Count(st.Blobs), termtext.ByteSize(st.BlobBytes))},
		{"Projects", termtext.Count(st.Projects)},
		{"Sessions", termtext.Count(st.Sessions)},
		{"Messages", termtext.Count(st.Messages)},
		{"Parts", parts},
		{"Feed", fmt.Sprintf("%s, at number %s; clients can resume from %s", st.Feed, termtext.Count(st.Counter), termtext.Count(st.Floor))},
		{"Removals", fmt.Sprintf("%s stored for disconnected clients", termtext.Count(st.Tombstones))},
	}
}

// checkJSON is the output of `lathe db check --json`.
type checkJSON struct {
	OK       bool     `json:"ok"`
	Problems []string `json:"problems"`
}

// checkDatabase reports damage and repairs nothing: a repair could lose data that an export still reads.
func checkDatabase(ctx context.Context, a *cli.App, e *engine.Engine) error {
	found, err := e.Store().Check(ctx)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(checkJSON{len(found) == 0, append([]string{}, found...)})
	} else if len(found) == 0 {
		a.Printf("The database is intact.\n")
	}
	if err != nil || len(found) == 0 {
		return err
	}
	for _, line := range found {
		if !a.JSON {
			a.Printf("%s\n", termtext.Plain(line))
		}
	}
	if a.Env("LATHE_STORE") != "" && a.Env("LATHE_BLOBS") == "" && slices.ContainsFunc(found, func(line string) bool { return strings.Contains(line, "large value") }) {
		a.Notify("Large values were looked for in files. If the nodes have them in a bucket (--blobs), set LATHE_BLOBS and check again.")
	}
	a.Notify("%s found. Nothing was changed. Restore a backup, or export readable sessions with `lathe export ID -o FILE`.", termtext.Plural(len(found), "problem"))
	return cli.Reported{Code: cli.ExitFailed}
}

// vacuumJSON is the output of `lathe db vacuum --json`.
type vacuumJSON struct {
	Before sizeJSON `json:"before"`
	After  sizeJSON `json:"after"`
}

// sizeJSON is the size of the database before or after a vacuum.
type sizeJSON struct {
	Bytes     int64 `json:"bytes"`
	FreeBytes int64 `json:"freeBytes"`
	BlobBytes int64 `json:"blobBytes"`
}

// vacuumDatabase prints the size before and after, so that users see whether it was worth it.
func vacuumDatabase(ctx context.Context, a *cli.App, e *engine.Engine) error {
	before, err := e.Store().Stats(ctx)
	if err != nil {
		return err
	}
	progress := func(string) {}
	if cli.IsTerminal(a.Stderr) {
		progress = func(step string) { a.Notify("… %s", step) }
	}
	if err := e.Store().Vacuum(ctx, progress); err != nil {
		return err
	}
	after, err := e.Store().Stats(ctx)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(vacuumJSON{sizeOf(before), sizeOf(after)})
	}
	return layout.Pairs(a.Out, [][2]string{
		{"Before", fmt.Sprintf("%s, %s free; %s in files", termtext.ByteSize(before.Bytes), termtext.ByteSize(before.FreeBytes), termtext.ByteSize(before.BlobBytes))},
		{"After", fmt.Sprintf("%s, %s free; %s in files", termtext.ByteSize(after.Bytes), termtext.ByteSize(after.FreeBytes), termtext.ByteSize(after.BlobBytes))},
	})
}

func sizeOf(st store.Stats) sizeJSON { return sizeJSON{st.Bytes, st.FreeBytes, st.BlobBytes} }
