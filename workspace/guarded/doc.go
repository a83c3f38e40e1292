// Package guarded knows the files that other programs obey: a change to one of them makes git, a
// shell, an editor or lathe itself run something later, outside of any sandbox.
//
// It is the one list of such names. File tools ask before they write one, for every caller, and
// the sandbox of commands protects the same names. It owns the names, the spellings that file
// systems take for them, and the reason shown to the user. The package itself neither asks nor
// writes.
//
// A List does not change and may be shared.
//
// Start reading at [List.Check] in guarded.go; the names are in names.go, checks that need the
// disk in disk.go.
package guarded
