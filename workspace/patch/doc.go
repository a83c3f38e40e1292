// Package patch edits texts: it replaces a passage that a model quoted more or less exactly,
// and applies patches in the format models are trained on ("*** Begin Patch").
//
// It owns the search for a quoted passage, the decision whether a match is certain enough, the
// grammar of patches, and the messages that tell a model why nothing was changed. It touches no
// file: contents go in and come out, byte order marks and line endings stay as they were, and
// bytes that are not UTF-8 pass through. Two rules come first: uncertain edits are refused, and
// work is bounded, so that a hostile file costs a second and not an hour.
//
// Everything here is a function of its arguments and safe for many goroutines.
//
// Start at [Replace] in replace.go, then [Parse] and [Patch.Apply].
package patch
