// Package guarded knows the files that other programs obey: a change to one of them makes git, a
// shell, an editor or lathe itself run something later, outside of any sandbox.
//
// It is the one list of such names. File tools ask before they write one, whoever the call comes
// from, and the sandbox of commands keeps the same names from being written. It owns the names, the
// spellings that file systems take for them, and the reason that a person is shown. It does not ask
// anybody and writes nothing.
//
// A List does not change and may be shared.
//
// Start reading at [List.Check] in guarded.go; the names are in names.go, what only the disk tells is
// in disk.go.
package guarded
