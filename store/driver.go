package store

import "context"

// Driver is a SQL database: SQLite here, PostgreSQL on many nodes. It uses their common dialect
// ($1 placeholders numbered by first appearance, row values, upserts), and owns the schema, the
// locks and the error messages. Its errors are *lathe.Error.
type Driver interface {
	// Begin starts the only write transaction of this process. A durable one is on disk
	// when Commit returns. Others survive the end of the process but not a power cut.
	Begin(ctx context.Context, durable bool) (Tx, error)
	// Read runs f on a consistent snapshot.
	Read(ctx context.Context, f func(Reader) error) error
	// Owner is the name of this process in leases.
	Owner() string
	// Alive reports whether the process with that name still runs.
	Alive(owner string) bool
	// Changed reports whether another process has written since the last call. It is cheap.
	Changed(ctx context.Context) (bool, error)
	// Reclaim returns free pages to the file system, a limited number per call, and
	// reports whether there are more.
	Reclaim(ctx context.Context) (more bool, err error)
	// Check looks for damage and returns a line for each problem.
	Check(ctx context.Context) ([]string, error)
	// Size returns the bytes on disk and those of them that are free.
	Size(ctx context.Context) (used, free int64, err error)
	Close() error
}

// Reader runs queries. It is for one goroutine, and only valid inside the call that provides it.
type Reader interface {
	// Query calls f with each row; a row is valid during the call.
	Query(sql string, args []any, f func(Row) error) error
}

// Tx is a write transaction.
type Tx interface {
	Reader
	// Exec runs a statement and returns how many rows it changed.
	Exec(sql string, args ...any) (int64, error)
	Commit() error
	Rollback() error
}

// Row is one row of a result, columns from 0.
type Row interface {
	Int(i int) int64
	Float(i int) float64
	Text(i int) string
	// Bytes is valid until the next row.
	Bytes(i int) []byte
	Null(i int) bool
}
