// Package worktree makes isolated copies of a checkout for agents, and plans how their changes come back.
//
// A tree has the files of the checkout as they are on disk: the last commit plus uncommitted work. In a git
// repository it is a linked work tree on a branch of its own that shares all objects. Without git it is a
// plain copy. No git process, hook, filter or setting of the project is used: the files of git are written
// here, inside the repository's folder and never through a symlink (see [os.Root]).
//
// All trees are below one folder (Root.Dir). The facts of a tree are files beside it: its record, the state
// it started from (its base) and a lock that shows that its owner is alive. So a lost database loses no tree.
// Each change writes what it is about to do before it does it, and Recover completes or reverts what a killed
// process left. Recover never deletes a tree that a session could have used.
//
// The package does not write to the checkout: Plan says what a merge would do, and the engine applies it as a
// step that can be undone.
//
// On disk, below Root.Dir, where PROJECT is the name of the checkout and a hash of its repository's path:
//
//	PROJECT/NAME/                    the tree; its session works here
//	PROJECT/.lathe/lock              taken for short changes of facts, never for a copy
//	PROJECT/.lathe/NAME/record.json  its facts, see Record
//	PROJECT/.lathe/NAME/lease        locked while a process works in the tree
//	PROJECT/.lathe/NAME/base         the files that it started with
//	PROJECT/.lathe/NAME/base.next    the same for the next merge, while a merge runs
//	PROJECT/.lathe/NAME/contents     texts of the base that the repository does not store
//
// The order of writes decides what a kill leaves:
//
//   - Create writes the record (creating), the files, the repository's folder for the tree, the branch, the .git file
//     and the base, then the record (ready). Before that no session knows the tree, so recovery removes it.
//   - Drop writes the record (dropping), then deletes the tree, the repository's folder and the branch, and the record
//     last. Recovery continues.
//   - A merge writes base.next and the record (merging), then replaces files through a snapshot that can revert them,
//     then stores the message of the session. The merge counts from there on. Recovery looks for that message, and
//     completes the merge or reverts it.
//
// A merge needs three versions of a file. The base has only names of contents: a text that is committed is in the
// repository, whose branch for the tree keeps it from being collected. A binary file is never merged by lines, so its
// first content is not needed.
//
// A Root is a plain value, safe for concurrent use. No goroutine outlives its call. Start reading at Create
// in create.go; copy.go copies, base.go compares, plan.go merges, recover.go repairs.
package worktree
