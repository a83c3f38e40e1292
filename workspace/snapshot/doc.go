// Package snapshot remembers what files were, so that what an agent did can be shown and taken back
// without touching what people did.
//
// A step of a session says what it is about to do: a tool captures a file right before it writes it
// ([Step.Capture], [Step.RecordWrite]), and a command that may write anything stands between two walks over
// the tree ([Step.BeginCommand], [CommandWindow.End]). What changes outside of these is the user's and belongs to no
// step. So a step with file tools alone never walks, however large the tree is.
//
// For each file a step keeps spans: what it was, what the step left. Undo goes back along the spans of
// the undone steps as long as each begins where the one before ended, and only if the file still is
// what the last of them left. Anything else is a conflict that is told and left alone.
//
// What is known of a tree is an immutable tree of directories (tree.go), first taken from the project's
// own git index. Contents and trees are git objects, in files of ours to which a process appends (packfile.go),
// and behind them those of the project, which are only read. No git process, hook, filter or setting is ever used. Contents are kept as they
// are on disk; a project whose files pass through filters is therefore read once as a whole.
//
// On disk there is a directory for each work tree, so that linked ones never share anything (worktree.go
// names its parts). A step that runs has a journal whose lock says that its process lives; its end makes
// the journal its record, and after a crash [Worktree.Recover] does. What [Worktree.Apply] was doing when it was
// killed is taken back by whoever comes next. Several processes may use one store: each has heaps of its
// own and an index that keeps what it knows from being tidied away; the lock of a work tree is for those
// who replace its files.
//
// The package does not decide when to snapshot and knows no sessions: keys are the caller's. All
// methods may be called from many goroutines. Goroutines belong to the [Store], whose Close waits
// for them.
//
// Start reading at [Worktree.Step] in step.go, then command_window.go, walk.go and undo.go.
package snapshot
