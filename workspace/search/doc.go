// Package search finds files by name and lines by content.
//
// It owns the rules of ignore files, the walk over a tree, the match of globs, and the search
// for regular expressions. It starts no other program: it is the same engine on every
// machine, and ripgrep, whose results it has, is only what the tests compare it with. It does not
// decide what may be searched: whoever calls it has judged the root, and passes its real path.
//
// A tree is hostile. It is reached through its root alone, so that no symlink leads out of it, also
// none that is put there meanwhile; symlinks are never followed, and what is no regular
// file is never opened. Memory is bounded whatever the tree holds: one buffer for each
// worker and the results up to the limit of the query.
//
// All functions are safe for concurrent use, and what they start ends before they return. A
// [Pattern] and a [Regexp] do not change and may be shared.
//
// Start reading at [Grep] in grep.go and [Glob] in glob.go; walk.go goes through the tree, ignore.go
// and rule.go say what is left out, scan.go reads a file, dfa.go and find.go make it fast.
package search
