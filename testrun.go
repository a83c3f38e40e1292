package lathe

import "strconv"

// TestRun is the command that ran a project's tests, and how it ended.
type TestRun struct {
	Command string
	Exit    int // of the tests themselves; less than 0 is not known
	At      Time
}

// String is its text for a model: the command, and whether it passed. It is "" where none is
// known.
func (t TestRun) String() string {
	switch {
	case t.Command == "":
		return ""
	case t.Exit < 0:
		return "`" + t.Command + "`"
	case t.Exit == 0:
		return "`" + t.Command + "` (passed last time)"
	default:
		return "`" + t.Command + "` (failed last time, exit " + strconv.Itoa(t.Exit) + ")"
	}
}
