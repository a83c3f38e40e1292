package history

import "github.com/lathe-agent/lathe"

// ContinueMark is on the prompt that lets the turn continue after a compaction; clients know it by
// this name.
const ContinueMark = "compaction_continue"

// DoomLoop is the permission for a repeated call, and the mark of one that was allowed
// once: the count restarts after it.
const DoomLoop = "doom_loop"

// The marks on a call after which the turn ends: one the user rejected, unless the config
// continues on deny, and one that was stopped for repeating itself.
const (
	RejectedMark = "rejected"
	StoppedMark  = "stopped"
)

// The marks on a call that failed because no user was there to give a permission: the turn continues.
// The second is on a repeated call; see [refusedRepeats].
const (
	UnattendedMark = "unattended"
	RepeatedMark   = "repeated"
)

// InterruptedMark is on a call that was cut off.
const InterruptedMark = "interrupted"

// Synthetic is a text that the engine wrote.
func Synthetic(text string) *lathe.Text { return &lathe.Text{Text: text, Synthetic: lathe.Yes} }
