package harness_test

import (
	"strings"
	"testing"
)

// bashTwice is a script that calls a command and ends.
const bashOnce = `-- SCRIPT --
call bash {"command":"echo ran > ran.txt; echo output"}
finish tool-calls
--
text "Done."
finish stop
`

func TestHooks_Deny(t *testing.T) {
	t.Parallel()
	w := newHooked(t, bashOnce+`
-- .claude/settings.json --
{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "cat > seen.json; echo no shell today >&2; exit 2"}]}]}}
`)
	got := w.run("go")
	if !strings.Contains(got, "bash FAILED") || !strings.Contains(got, "no shell today") || w.file("ran.txt") != "" {
		t.Errorf("%s %q", got, w.file("ran.txt"))
	}
	in := w.input("seen.json")
	t.Log(in)
}
