// Package config turns files, environment and flags into one typed value.
//
// It owns the locations of config files, their precedence, their format (JSON with comments,
// Markdown with frontmatter), the allowed values of each key, and the keys that need a trusted
// project. It starts no process, opens no connection, and writes a file only in [Edit]. Its
// callers interpret the values.
//
// [Load] reads everything again and returns immutable values. A [Loader] caches the last result
// until one of its inputs changes. Both are safe for use by many goroutines.
//
// Start reading at load.go: find.go locates files, source.go and markdown.go read them,
// check.go validates them against the tables of keys.go and tui.go, trust.go removes keys
// that need trust, resolve.go merges the rest and decodes it.
package config
