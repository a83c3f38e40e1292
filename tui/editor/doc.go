// Package editor is the prompt: a text of many lines with a cursor, a selection, undo, a history, tokens that
// stand for files, agents and pasted things, suggestions behind / and @, and a mode for shell commands.
//
// It has no side effects. A key changes the text and returns a Result with the follow-up: send this,
// find files, read an attachment. Its inputs come from the Set methods.
//
// The text is a list of lines that do not change once they are made; each remembers how it was broken into rows.
// So a key costs what its line costs, in a prompt of any length. A token is a stretch of a line that moves and
// goes as one: no position lies inside of it. An Editor is for one goroutine.
//
// Start with editor.go, then buffer.go.
package editor
