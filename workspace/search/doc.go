// Package search finds files by name and lines by content.
//
// It owns the rules of ignore files, the walk over a tree, the match of globs, and the search
// for regular expressions. It starts no other program, so it behaves the same on every machine.
// It has the results of ripgrep, with which the tests compare it. It does not decide what may
// be searched: the caller has checked the root and passes its real path.
//
// A tree may be hostile. It is accessed through its root alone, so that no symlink leads out of
// it, not even one created meanwhile. Symlinks are never followed, and only regular files are
// opened. Memory is bounded whatever the tree holds: one buffer for each worker and the results
// up to the limit of the query.
//
// All functions are safe for concurrent use, and their goroutines end before they return. A
// [Pattern] and a [Regexp] do not change and may be shared.
//
// Start reading at [Grep] in grep.go and [Glob] in glob.go; walk.go goes through the tree, ignore.go
// and rule.go say what is left out, scan.go reads a file, dfa.go and find.go make it fast.
package search
