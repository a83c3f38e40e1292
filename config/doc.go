// Package config turns files, environment and flags into one typed value.
//
// It owns where settings are found, in which order they count, how they are written
// (JSON with comments, markdown with a head), what each may be, and which of them must
// not count before a project is trusted. It starts no process and opens no connection, and
// it writes a file only in [Edit]. What the settings mean to the program is for those who
// use them.
//
// [Load] reads everything anew and returns values that nobody changes afterwards; a
// [Loader] keeps the last result for as long as nothing it was made of has changed. Both
// are safe for use by many goroutines.
//
// Start reading at load.go: find.go says where to look, source.go and markdown.go read,
// check.go holds what was read against the tables of keys.go and tui.go, trust.go takes out
// what needs trust, resolve.go merges the rest and gives it types.
package config
