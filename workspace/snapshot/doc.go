// Package snapshot records the state of files, so that an agent's changes can be shown and undone
// without touching the user's.
//
// A step of a session announces its changes: a tool captures a file right before it writes it
// ([Step.Capture], [Step.RecordWrite]). A command may write anything, so it runs between two walks over
// the tree ([Step.BeginCommand], [CommandWindow.End]). All other changes are the user's and belong to no
// step. A step with file tools alone therefore never walks, however large the tree is.
//
// For each file a step records changes: the state before and the state after. Undo follows the changes
// of the undone steps backward, as long as each begins where the previous one ended. It needs the file
// to be as the last step left it. Anything else is a conflict, which is reported and left alone.
//
// The known state of a worktree is an immutable tree of directories (tree.go), first loaded from the
// project's own git index. Contents and trees are git objects in packfiles to which a process appends
// (packfile.go). The project's own objects are also read, never written. No git process, hook, filter or
// setting is ever used. Contents are stored as they are on disk, so a project with filters is read once
// as a whole.
//
// Each worktree has its own directory in the store, so linked worktrees share nothing (worktree.go names
// its parts). A running step has a journal, whose lock shows that its process is alive. The end of the
// step turns the journal into its record; after a crash [Worktree.Recover] does. The next process
// reverts what [Worktree.Apply] left incomplete when it was killed. Several processes may use one store:
// each has its own packfiles, and an index that protects its objects from Tidy. The lock of a worktree
// is for processes that replace its files.
//
// The package does not decide when to snapshot and knows no sessions: callers choose the keys. All
// methods are safe for concurrent use. Goroutines belong to the [Store], whose Close waits for them.
//
// Start reading at [Worktree.Step] in step.go, then command_window.go, walk.go and undo.go.
package snapshot
