package engine

// What checks know of commands and files, for those who read records afterwards.

// RunsTests reports whether a command line of a shell seems to run tests.
func RunsTests(line string) bool { return runsTests(line) }

// IsCode reports whether a file is one that can be run, built or tested, by its name.
func IsCode(file string) bool { return isCode(file) }

// PatchTarget is the first file that the text of a patch names, "" if none.
func PatchTarget(text string) string { return patchTarget(text) }
