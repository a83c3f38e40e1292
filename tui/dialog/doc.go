// Package dialog owns the boxes drawn over the screen: lists with a filter, inputs, questions, forms and
// texts, and the dialogs of the program made of them. One is open at a time.
//
// Every dialog has the same methods: Key, Paste, Click and Wheel take an input and return a Result; View draws the box, never wider and higher than asked, for the root to center; Cursor
// tells where the cursor stands in it. Places are cells from the upper left corner of what View returned last.
//
// Dialogs have no side effects: they depend on their input and a small state, read
// no clock and are used from one goroutine. A choice is an id; the root acts on it.
// Start with result.go and list.go; the dialogs themselves have files of their own, such as sessions.go.
package dialog
