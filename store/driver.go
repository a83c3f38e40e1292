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
	// TextIndex returns the index for [Search], or nil if the database has none.
	TextIndex() TextIndex
	Close() error
}

// TextIndex finds parts by their words: FTS5 here, tsvector in PostgreSQL. The words are made and
// verified by the store, so that all databases find the same. A word has letters, digits,
// marks and section signs only.
type TextIndex interface {
	// Put replaces the words of a part.
	Put(tx Tx, part int64, words []string) error
	// Remove removes the parts that a subquery with one argument selects.
	Remove(tx Tx, parts string, arg any) error
	// Clear removes all parts.
	Clear(tx Tx) error
	// Find calls f with the parts that fit, highest number first, until f returns false.
	Find(r Reader, q IndexQuery, f func(part int64) (more bool, err error)) error
}

// IndexQuery selects parts.
type IndexQuery struct {
	All    []IndexWord // a part has each of them, at least one
	None   []string    // and none of these
	Before int64       // its number is below this one
}

// IndexWord is a word to find.
type IndexWord struct {
	Text   string
	Prefix bool // it is the beginning of a word
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
