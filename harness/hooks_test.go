package harness_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// bashOnce is a script that calls a command and ends.
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

// A directory without hooks has none of their points, so that they cost nothing; with hooks for one event, only that one.
func TestHooks_NoCost(t *testing.T) {
	t.Parallel()
	for archive, want := range map[string][]string{
		"": nil,
		"-- .claude/settings.json --\n{\"permissions\": {\"deny\": [\"Bash(x)\"]}}\n": nil,
		hooksJSON("PreToolUse", "", "true"):                                           {"ToolGate"},
		"-- USER --\n\"disable_hooks\": true\n" + hooksJSON("PreToolUse", "", "true"): nil,
	} {
		w := newHooked(t, archive)
		w.open()
		inst, err := w.harness.Engine.Instance(t.Context(), w.project)
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.harness.Settings(t.Context(), inst.Place)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		hooks := reflect.ValueOf(s.Hooks)
		for i := range hooks.NumField() {
			if !hooks.Field(i).IsNil() {
				got = append(got, hooks.Type().Field(i).Name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", archive, got)
		}
	}
}

// The user's own hooks need no trust, and their scripts may lie beside the config, which is hidden otherwise.
func TestHooks_OfTheUser(t *testing.T) {
	t.Parallel()
	w := newHooked(t, "-- USER --\n\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\": \"sh $XDG_CONFIG_HOME/lathe/hooks/check.sh\"}]}]}\n-- ../config/lathe/hooks/check.sh --\necho mine >&2\nexit 2\n"+bashOnce)
	w.host.Trust = false
	if got := w.run("go"); !strings.Contains(got, "mine") || w.file("ran.txt") != "" {
		t.Error(got)
	}
}

// Hooks hear of a session that is deleted.
func TestHooks_DeletedSession(t *testing.T) {
	t.Parallel()
	w := newHooked(t, hooksJSON("SessionEnd", "other", "cat > ended.json"))
	w.run("go")
	if err := w.harness.Engine.Remove(t.Context(), w.session); err != nil {
		t.Fatal(err)
	}
	w.close()
	if in := w.input("ended.json"); in["session_id"] != string(w.session) || in["reason"] != "other" {
		t.Error(in)
	}
}
