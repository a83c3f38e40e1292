package store

import "context"

// Driver is a SQL database: sqlite here, postgres on many nodes. It speaks the dialect
// both share ($1 placeholders that first appear in order, row values, upserts), and owns
// the schema, the locks and what errors mean: its errors are *lathe.Error.
type Driver interface {
	// Begin starts the one write transaction of this process. A durable one is on disk
	// when Commit returns; another one survives the process but not a power cut.
	Begin(ctx context.Context, durable bool) (Tx, error)
	// Read runs f on a consistent snapshot.
	Read(ctx context.Context, f func(Reader) error) error
	// Owner names this process in leases.
	Owner() string
	// Alive reports whether the process of that name still holds its leases.
	Alive(owner string) bool
	// Changed reports whether another process has written since the last call. Cheap.
	Changed(ctx context.Context) (bool, error)
	// Reclaim gives free pages back to the file system, a bounded number a call, and
	// reports whether there are more.
	Reclaim(ctx context.Context) (more bool, err error)
	// Check looks for damage and returns a line for each thing found.
	Check(ctx context.Context) ([]string, error)
	// Size returns the bytes on disk and those of them that are free.
	Size(ctx context.Context) (used, free int64, err error)
	Close() error
}

// Reader queries. It is for one goroutine and only inside the call that gave it.
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
	// Bytes is valid until the row is left.
	Bytes(i int) []byte
	Null(i int) bool
}
