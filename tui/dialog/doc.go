// Package dialog owns the boxes that lie over the screen: lists with a filter, inputs, questions, forms and
// texts, and the dialogs of the program made of them. One is open at a time.
//
// Every dialog has the same methods: Key, Paste, Click and Wheel take what a person did and return an Out that
// says what it came to; View draws the box, never wider and higher than asked, for the root to center; Cursor
// tells where the cursor stands in it. Places are cells from the upper left corner of what View returned last.
//
// Dialogs do nothing themselves: they are pure functions of what they are given and of a small state, they read
// no clock and are used from one goroutine. What was picked is told by an id; the root knows what to do.
// Start with result.go and list.go; the dialogs themselves have files of their own, such as sessions.go.
package dialog
