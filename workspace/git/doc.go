// Package git runs git where users ask for what git says: branches, changes, patches.
//
// It owns how that is done in a repository that nobody has vouched for. Git is never shown the
// repository itself, whose configuration can name commands: for each question a folder is made
// that looks like a repository and has the same index, history and ignore rules, but settings and
// attributes of ours (see view). So no hook, filter, monitor, external diff, helper or transport
// of a project can run, whatever its files say. It does not own identity, which package workspace
// reads without git, nor snapshots.
//
// A Git is safe for use by many goroutines. Each question is one or a few processes with a
// deadline and a limit on what they may say; nothing is kept between two questions.
//
// Start reading at Git in git.go; view.go is what git sees, diff.go reads what it says.
package git
