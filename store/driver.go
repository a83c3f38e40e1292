package store

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrLost is in errors of a transaction that changed nothing because the connection was lost. It may be repeated.
	ErrLost = errors.New("connection lost")
	// ErrDeferred is in errors of an earlier Do. It is unknown which job of the transaction caused it.
	ErrDeferred = errors.New("earlier statement failed")
)

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
	// Alive reports whether the process with that name still runs. r is a transaction of this driver.
	Alive(r Reader, owner string) (bool, error)
	// Successors reports whether other processes continue the sessions of one that died. r is a transaction of this driver.
	Successors(r Reader) (bool, error)
	// FeedName is the name of this database in cursors. word is the one that it stores.
	FeedName(word string) string
	// Ahead reports whether all processes wait for a transaction, and each statement of it for the network. Then the
	// changes of other processes are published before it begins, and what its jobs need is read with its first statement.
	Ahead() bool
	// Skew is how far the clock on this machine is ahead of that of the database, 0 if they are the same.
	Skew() time.Duration
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

// Place is a directory of a node, under a name that its cluster uses.
type Place struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Missing says that the directory does not exist now: the volume is not mounted.
	Missing bool `json:"missing,omitempty"`
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
	// Later is a Query that may wait for the next Query, Exec, Sync or Commit, to share their round trip. Until then
	// its rows are not known. f must not use the transaction. The error may be one of the other statements.
	Later(sql string, args []any, f func(Row)) error
	// Expect announces a Query that comes before any change of its rows, so that several can share a round trip.
	Expect(sql string, args ...any) error
	// Sync runs all that waits.
	Sync() error
}

// Tx is a write transaction.
type Tx interface {
	Reader
	// Exec runs a statement and returns how many rows it changed.
	Exec(sql string, args ...any) (int64, error)
	// Do runs a statement, perhaps only with the next Query, Exec or Commit, whose error is then an ErrDeferred.
	Do(sql string, args ...any) error
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
