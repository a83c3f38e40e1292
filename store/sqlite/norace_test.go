//go:build !race

package sqlite

// raced says that the race detector runs, under which SQLite is many times slower.
const raced = false
