// Package patch changes texts: it replaces a passage that a model quoted more or less well, and
// applies patches in the envelope models are trained on ("*** Begin Patch").
//
// It owns how a quoted passage is found, when a find is too doubtful to act on, the grammar of
// patches, and the words that tell a model why nothing was changed. It touches no file: contents
// go in and come out, byte order marks and line endings stay as they were, and bytes that are not
// UTF-8 pass through. Two rules stand above the others: what is not certain is refused, and work
// is counted, so that a hostile file costs a second and not an hour.
//
// Everything here is a function of its arguments and safe for many goroutines.
//
// Start at [Replace] in replace.go, then [Parse] and [Patch.Apply].
package patch
