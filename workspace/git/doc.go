// Package git runs git for information that users ask for: branches, changes, patches.
//
// It does so safely in an untrusted repository. Git never sees the repository itself, whose
// configuration can name commands. For each query the package makes a folder that looks like a
// repository and has the same index, history and ignore rules, but its own config and
// attributes (see view). So no hook, filter, monitor, external diff, helper or transport of a
// project can run, whatever its files say. It does not own identity, which package workspace
// reads without git, nor snapshots.
//
// A Git is safe for use by many goroutines. Each query is one or a few processes with a
// deadline and an output limit; nothing is cached between queries.
//
// Start reading at Git in git.go; view.go makes the folder that git sees, diff.go parses its
// output.
package git
