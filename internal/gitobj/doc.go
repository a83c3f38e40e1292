// Package gitobj reads git repositories without git: their objects, refs and
// configuration.
//
// It is made for untrusted repositories. It starts no process, follows no include, asks no
// helper and writes nothing. Everything it takes from a file is checked before it is used as a
// size, an offset or a name; objects, delta chains, refs and caches have limits (see the
// constants of each file), and damage is an error, never a panic. Only regular files are
// opened, so that no pipe or device can make it wait. Symlinks to such files are followed: real
// repositories share objects and refs that way, and the target is only ever read as one of
// git's formats.
//
// Alternates are followed for every repository: a clone that shares objects can be read in no
// other way, and a shared object counts only under an id that the repository itself names. They
// are bounded in depth and number and never lead to another network share. It does not read
// reftables, grafts, replacements, commit graphs and multi-pack indexes (their packs are read
// one by one). The content of an object is not compared with its name, as in git's own reading
// of histories.
//
// A [Repo] is safe for use by many goroutines and starts none. It sees the packs that were
// there when it was opened; after git has repacked, open it again.
//
// Start reading at repo.go, then pack.go.
package gitobj
