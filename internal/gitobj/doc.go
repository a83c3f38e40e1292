// Package gitobj reads git repositories without git: their objects, refs and
// configuration.
//
// It is for repositories that nobody has vouched for. It starts no process, follows no
// include, asks no helper and writes nothing. Everything it takes from a file is checked
// before it is used as a size, an offset or a name; objects, delta chains, refs and caches
// have limits (see the constants of each file), and damage is an error, never a panic.
// Only regular files are opened, so that no pipe or device can make it wait; symlinks to
// such files are followed, because real repositories share their objects and refs that
// way and what lies behind one is only ever read as git's own formats.
//
// Alternates are followed for every repository: a clone that borrows objects can be read
// in no other way, and a borrowed object counts only under an id that the repository
// itself names. They are bounded in depth and number and never lead to another network
// share. What is not read: reftables, grafts, replacements, commit graphs and multi-pack
// indexes (their packs are read one by one). The content of an object is not compared with
// its name, as in git's own reading of histories.
//
// A [Repo] is safe for use by many goroutines and starts none. It sees the packs that were
// there when it was opened; after git has repacked, open it anew.
//
// Start reading at repo.go, then pack.go.
package gitobj
