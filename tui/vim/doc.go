// Package vim edits a text with the keys of vi: motions, operators with counts, text objects, visual selection, registers,
// undo and repeat.
//
// It owns the state between keys, not the text. A Machine reads and changes a Text that its caller implements, so that
// tokens in a prompt move as one character. Keys come as names: the typed character, or "esc", "enter", "ctrl+r". In
// insert mode the caller edits as usual and the machine only watches. A Machine is for one goroutine.
//
// Start with Machine.Key in machine.go, then motion.go and operator.go.
package vim
