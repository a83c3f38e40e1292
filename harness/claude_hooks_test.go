package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/claudecode"
)

// has fails unless the model was sent a text.
func (r *recorded) has(t *testing.T, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%q is missing: %s", want, text)
	}
}

func eventRows(r *recorded) []claudeRow {
	row := func(name string, test func(t *testing.T)) claudeRow { return claudeRow{"Hook events", name, test} }
	count := func(event string, want int) func(*testing.T) {
		return func(t *testing.T) {
			if got := len(r.inputs[event]); got != want {
				t.Errorf("%s ran %d times, not %d: %v", event, got, want, r.inputs[event])
			}
		}
	}
	return []claudeRow{
		row("PreToolUse", count("PreToolUse", 10)), row("PostToolUse", count("PostToolUse", 10)),
		row("UserPromptSubmit", func(t *testing.T) {
			count("UserPromptSubmit", 1)(t)
			r.has(t, r.received(), "added-to-the-prompt")
		}),
		row("Stop", func(t *testing.T) {
			count("Stop", 2)(t)
			r.has(t, r.received(), "does not let this turn end yet: once-more")
		}),
		row("SubagentStop", count("SubagentStop", 1)),
		row("SessionStart", func(t *testing.T) {
			count("SessionStart", 2)(t)
			r.has(t, r.received(), "started-here")
		}),
		row("SessionEnd", count("SessionEnd", 1)), row("PreCompact", count("PreCompact", 1)),
		row("Notification", func(t *testing.T) {
			w := newHooked(t, waitScript)
			w.answerAsks()
			w.run("go")
			w.close()
			if w.file("ran.txt") == "" || !strings.Contains(w.file("note.log"), "permission_prompt") {
				t.Errorf("%q", w.file("note.log"))
			}
		}),
	}
}

// waitScript asks before a command, with a hook that hears of it.
const waitScript = `-- USER --
"permission": {"bash": "ask"}
-- .claude/settings.json --
{"hooks": {"Notification": [{"matcher": "permission_prompt", "hooks": [{"command": "cat >> note.log"}]}]}}
` + bashOnce

// answerAsks opens the engine for a user who allows each request once its hook has run.
func (w *hooked) answerAsks() {
	w.Helper()
	h := w.host
	opened := w.openAs(h, false)
	ctx, cancel := context.WithCancel(context.Background())
	events := opened.Engine.Events(ctx, lathe.Scope{Directory: w.project}, lathe.Opt[lathe.Cursor]{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e, err := range events {
			if err != nil {
				return
			}
			if ask, ok := e.Fact.(*lathe.PermissionAsked); ok {
				for deadline := time.Now().Add(20 * time.Second); w.file("note.log") == "" && time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
				}
				_ = opened.Engine.Reply(ctx, ask.ID, lathe.Once, "")
			}
		}
	}()
	w.Cleanup(func() { cancel(); <-done })
}

func fieldRows(r *recorded) []claudeRow {
	row := func(name string, test func(t *testing.T)) claudeRow { return claudeRow{"Hook fields", name, test} }
	return []claudeRow{
		row("matcher", func(t *testing.T) {
			if got := r.file("listed.txt"); got != "listed\nlisted\n" {
				t.Errorf("Edit|Write matched %q", got)
			}
			if r.file("expression.txt") != "expression\n" {
				t.Error("an expression matched another number of calls")
			}
			for _, name := range []string{"nothing.txt", "lowercase.txt"} {
				if _, err := os.Stat(filepath.Join(r.project, name)); err == nil {
					t.Errorf("%s: a matcher matched a tool with another name", name)
				}
			}
		}),
		row("type", func(t *testing.T) {
			l := claudeConfig(t, "-- .claude/settings.json --\n{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"prompt\", \"prompt\": \"x\"}]}]}}\n")
			if len(l.Config.Hooks) > 0 || !warned(l, `type "prompt"`) {
				t.Errorf("%v %q", l.Config.Hooks, l.Warnings)
			}
		}),
		row("command", func(t *testing.T) { r.has(t, r.file("shell.txt"), "args\n") }),
		row("args", func(t *testing.T) {
			if got := r.file("args.txt"); got != "two words:$HOME\n" {
				t.Errorf("%q", got)
			}
		}),
		row("timeout", func(t *testing.T) {
			w := newHooked(t, bashOnce+"-- .claude/settings.json --\n{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\": \"sleep 600\", \"timeout\": 0.2}]}]}}\n")
			if w.run("go"); !w.told("did not end within 200ms") {
				t.Error("the user was not told")
			}
		}),
		row("CLAUDE_PROJECT_DIR", func(t *testing.T) {
			w := newHooked(t, "-- web/.claude/settings.json --\n{\"hooks\": {\"UserPromptSubmit\": [{\"hooks\": [{\"command\": \"echo project=$CLAUDE_PROJECT_DIR\"}]}]}}\n")
			top := w.project
			w.project = filepath.Join(top, "web")
			w.host.Dir = w.project
			if w.run("go"); !strings.Contains(w.received(), "project="+filepath.Join(top, "web")) {
				t.Error(w.received())
			}
		}),
	}
}

func inputRows(r *recorded) []claudeRow {
	row := func(name string, test func(t *testing.T)) claudeRow { return claudeRow{"Hook input", name, test} }
	equals := func(member string, want map[string][]any) claudeRow {
		return row(member, func(t *testing.T) {
			for event, values := range want {
				if got := r.all(event, member); !reflect.DeepEqual(got, values) {
					t.Errorf("%s: %v, not %v", event, got, values)
				}
			}
		})
	}
	every := func(member string, want any) claudeRow {
		return row(member, func(t *testing.T) {
			for event, all := range r.inputs {
				for _, in := range all {
					if name := any(event); in[member] != want && (want != any("EVENT") || in[member] != name) {
						t.Errorf("%s: %v, not %v", event, in[member], want)
					}
				}
			}
		})
	}
	first := func(event, member string) any { return r.inputs[event][0][member] }
	return []claudeRow{
		every("session_id", string(r.session)), every("cwd", r.project), every("hook_event_name", "EVENT"),
		row("transcript_path", func(t *testing.T) { checkTranscript(t, r) }),
		row("permission_mode", func(t *testing.T) {
			for mode, want := range map[string]string{"sandbox": "acceptEdits", "ask": "default", "read-only": "plan"} {
				w := newHooked(t, "-- USER --\n\"permission_mode\": \""+mode+"\"\n"+hooksJSON("UserPromptSubmit", "", "cat > in.json"))
				if w.run("go"); w.input("in.json")["permission_mode"] != want {
					t.Errorf("%s: %v", mode, w.input("in.json"))
				}
			}
		}),
		equals("tool_name", map[string][]any{"PreToolUse": {"Write", "Edit", "Read", "Glob", "Grep", "Bash", "TodoWrite", "mcp__db__query", "Task", "Glob"}}),
		row("tool_input", func(t *testing.T) {
			made := filepath.Join(r.project, "made.txt")
			for i, want := range []map[string]any{
				{"file_path": made, "content": "one"},
				{"file_path": made, "old_string": "one", "new_string": "two"},
				{"file_path": filepath.Join(r.project, "notes.txt")},
				{"pattern": "*.txt"},
				{"pattern": "first", "glob": "*.txt"},
				{"command": "echo hello from $FROM_SETTINGS"},
			} {
				for _, event := range []string{"PreToolUse", "PostToolUse"} {
					if got := r.inputs[event][i]["tool_input"]; !reflect.DeepEqual(got, any(want)) {
						t.Errorf("%s: %v, not %v", event, got, want)
					}
				}
			}
		}),
		row("tool_response", func(t *testing.T) {
			write, bash := r.inputs["PostToolUse"][0]["tool_response"].(map[string]any), r.inputs["PostToolUse"][5]["tool_response"].(map[string]any)
			if write["success"] != true || !filepath.IsAbs(fmt.Sprint(write["filePath"])) || filepath.Base(fmt.Sprint(write["filePath"])) != "made.txt" || bash["stdout"] != "hello from settings-value\n" || bash["output"] != bash["stdout"] {
				t.Errorf("%v %v", write, bash)
			}
		}),
		row("tool_use_id", func(t *testing.T) {
			if id := first("PreToolUse", "tool_use_id"); id == nil || id != first("PostToolUse", "tool_use_id") {
				t.Error(id)
			}
		}),
		equals("prompt", map[string][]any{"UserPromptSubmit": {"Use every tool"}}),
		equals("stop_hook_active", map[string][]any{"Stop": {false, true}, "SubagentStop": {false}}),
		equals("last_assistant_message", map[string][]any{"Stop": {"First end.", "Second end."}, "SubagentStop": {"Report of the subagent."}}),
		row("agent_id", func(t *testing.T) {
			id := first("SubagentStop", "agent_id")
			if id == nil || id == any(string(r.session)) || r.inputs["PreToolUse"][9]["agent_id"] != id || r.inputs["PreToolUse"][0]["agent_id"] != nil {
				t.Error(id)
			}
		}),
		equals("agent_type", map[string][]any{"SubagentStop": {"explore"}, "PreToolUse": {nil, nil, nil, nil, nil, nil, nil, nil, nil, "explore"}}),
		row("source", func(t *testing.T) {
			if got := r.all("SessionStart", "source"); !reflect.DeepEqual(got, []any{"startup", "compact"}) {
				t.Error(got)
			}
			w := newHooked(t, "-- SCRIPT --\ntext \"One.\"\nfinish stop\n--\ntext \"Two.\"\nfinish stop\n"+hooksJSON("SessionStart", "", "cat >> in.log"))
			w.run("one")
			w.close()
			if w.run("two"); !strings.Contains(w.file("in.log"), `"source":"startup"`) || !strings.Contains(w.file("in.log"), `"source":"resume"`) {
				t.Error(w.file("in.log"))
			}
		}),
		equals("reason", map[string][]any{"SessionEnd": {"other"}}),
		equals("trigger", map[string][]any{"PreCompact": {"manual"}}), equals("custom_instructions", map[string][]any{"PreCompact": {""}}),
		row("message", func(t *testing.T) {
			w := newHooked(t, waitScript)
			w.answerAsks()
			w.run("go")
			r.has(t, w.file("note.log"), `"message":"lathe needs your permission to use Bash"`)
		}),
		row("notification_type", func(t *testing.T) {
			w := newHooked(t, waitScript)
			w.answerAsks()
			w.run("go")
			r.has(t, w.file("note.log"), `"notification_type":"permission_prompt"`)
		}),
	}
}

// checkTranscript reads the file that a hook copied.
func checkTranscript(t *testing.T, r *recorded) {
	t.Helper()
	var types, tools []string
	for line := range strings.Lines(r.file("Stop.transcript")) {
		var in struct {
			Type    string          `json:"type"`
			Session lathe.SessionID `json:"sessionId"`
			Message struct {
				Role    string `json:"role"`
				Content any    `json:"content"`
			} `json:"message"`
		}
		if err := json.Unmarshal([]byte(line), &in); err != nil || in.Session != r.session || in.Message.Role != in.Type {
			t.Fatal(err, line)
		}
		types = append(types, in.Type)
		blocks, _ := in.Message.Content.([]any)
		for _, b := range blocks {
			if b := b.(map[string]any); b["type"] == "tool_use" {
				tools = append(tools, fmt.Sprint(b["name"]))
			}
		}
	}
	if !slices.Contains(types, "user") || !slices.Contains(types, "assistant") || !slices.Contains(tools, "mcp__db__query") || tools[0] != "Write" {
		t.Errorf("%q %q", types, tools)
	}
	for _, in := range r.inputs["Stop"] {
		if _, err := os.Stat(in["transcript_path"].(string)); err == nil {
			t.Error("the transcript was not removed")
		}
	}
}

// answer is a turn with one hook that prints a text and exits with a code.
func hookAnswer(t *testing.T, event, print string, more ...string) *hooked {
	t.Helper()
	return newHooked(t, strings.Join(more, "")+hooksJSON(event, "", ".claude/hooks/answer.sh")+"-- .claude/hooks/answer.sh --\n#!/bin/sh\n"+print+"\n"+bashOnce)
}

func outputRows() []claudeRow {
	row := func(name string, test func(t *testing.T)) claudeRow { return claudeRow{"Hook output", name, test} }
	say := func(json string) string { return "cat <<'END'\n" + json + "\nEND" }
	specific := func(members string) string {
		return say(`{"hookSpecificOutput": {"hookEventName": "PreToolUse", ` + members + `}}`)
	}
	const bashAsks = "-- USER --\n\"permission\": {\"bash\": \"ask\"}\n"
	ran := func(t *testing.T, w *hooked, want bool, result string) {
		t.Helper()
		got := w.run("go")
		if (w.file("ran.txt") != "") != want || !strings.Contains(got, result) {
			t.Errorf("whether it ran is not %v, or %q is missing: %s", want, result, got)
		}
	}
	return []claudeRow{
		row("exit code 0", func(t *testing.T) {
			w := hookAnswer(t, "UserPromptSubmit", "echo more-context")
			if w.run("go"); !strings.Contains(w.received(), "more-context") {
				t.Error(w.received())
			}
			ran(t, hookAnswer(t, "PreToolUse", "echo not-for-the-model"), true, "output")
		}),
		row("exit code 2", func(t *testing.T) {
			ran(t, hookAnswer(t, "PreToolUse", "echo because >&2; exit 2"), false, "because")
			ran(t, hookAnswer(t, "PostToolUse", "echo because >&2; exit 2"), true, "because")
			if _, err := hookAnswer(t, "UserPromptSubmit", "echo because >&2; exit 2").send("go"); err == nil || !strings.Contains(err.Error(), "because") {
				t.Error(err)
			}
		}),
		row("other exit codes", func(t *testing.T) {
			w := hookAnswer(t, "PreToolUse", "echo broken >&2; exit 3")
			if ran(t, w, true, "output"); !w.told("exit code 3: broken") {
				t.Error("the user was not told")
			}
		}),
		row("continue", func(t *testing.T) {
			for event, runs := range map[string]bool{"PreToolUse": false, "PostToolUse": true} {
				w := hookAnswer(t, event, say(`{"continue": false}`))
				ran(t, w, runs, "")
				if n := len(w.model.Requests()); n != 1 {
					t.Errorf("%s: the model was asked %d times", event, n)
				}
			}
		}),
		row("stopReason", func(t *testing.T) {
			if _, err := hookAnswer(t, "UserPromptSubmit", say(`{"continue": false, "stopReason": "closed today"}`)).send("go"); err == nil || !strings.Contains(err.Error(), "closed today") {
				t.Error(err)
			}
		}),
		row("suppressOutput", func(t *testing.T) {
			ran(t, hookAnswer(t, "PreToolUse", say(`{"suppressOutput": true}`)), true, "output")
		}),
		row("systemMessage", func(t *testing.T) {
			w := hookAnswer(t, "PostToolUse", say(`{"systemMessage": "only-you-see-this"}`))
			ran(t, w, true, "output")
			if !w.told("only-you-see-this") || strings.Contains(w.received(), "only-you-see-this") {
				t.Error("the wrong one was told")
			}
		}),
		row("decision", func(t *testing.T) {
			ran(t, hookAnswer(t, "PreToolUse", say(`{"decision": "block", "reason": "no"}`)), false, "no")
			ran(t, hookAnswer(t, "PreToolUse", say(`{"decision": "approve"}`), bashAsks), true, "output")
			ran(t, hookAnswer(t, "PreToolUse", "exit 0", bashAsks), false, "no user is attached") // the control
		}),
		row("reason", func(t *testing.T) {
			ran(t, hookAnswer(t, "PostToolUse", say(`{"decision": "block", "reason": "format it"}`)), true, "format it")
		}),
		row("hookSpecificOutput.permissionDecision", func(t *testing.T) {
			ran(t, hookAnswer(t, "PreToolUse", specific(`"permissionDecision": "allow"`), bashAsks), true, "output")
			ran(t, hookAnswer(t, "PreToolUse", specific(`"permissionDecision": "ask"`)), false, "no user is attached")
			ran(t, hookAnswer(t, "PreToolUse", specific(`"permissionDecision": "deny"`)), false, "gave no reason")
		}),
		row("hookSpecificOutput.permissionDecisionReason", func(t *testing.T) {
			ran(t, hookAnswer(t, "PreToolUse", specific(`"permissionDecision": "deny", "permissionDecisionReason": "too risky"`)), false, "too risky")
		}),
		row("hookSpecificOutput.updatedInput", func(t *testing.T) {
			w := newHooked(t, "-- notes.txt --\nfirst\n-- other.txt --\nsecond-file\n-- SCRIPT --\ncall read {\"filePath\":\"notes.txt\"}\nfinish tool-calls\n--\ntext \"Done.\"\nfinish stop\n"+
				hooksJSON("PreToolUse", "Read", ".claude/hooks/answer.sh")+"-- .claude/hooks/answer.sh --\n#!/bin/sh\n"+specific(`"updatedInput": {"file_path": "other.txt"}`)+"\n")
			if got := w.run("go"); !strings.Contains(got, "second-file") {
				t.Error(got)
			}
		}),
		row("hookSpecificOutput.additionalContext", func(t *testing.T) {
			ran(t, hookAnswer(t, "PreToolUse", specific(`"additionalContext": "know this"`)), true, "know this")
			ran(t, hookAnswer(t, "PostToolUse", say(`{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "and that"}}`)), true, "and that")
			w := hookAnswer(t, "SessionStart", say(`{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "from the start"}}`))
			if w.run("go"); !strings.Contains(w.received(), "from the start") {
				t.Error(w.received())
			}
		}),
	}
}

func toolRows(r *recorded) []claudeRow {
	row := func(name string, test func(t *testing.T)) claudeRow { return claudeRow{"Tools", name, test} }
	both := func(claude, lathe string) claudeRow {
		return row(claude, func(t *testing.T) {
			if got := claudecode.ClaudeTool(lathe, nil); got != claude {
				t.Errorf("hooks see %s as %s", lathe, got)
			}
			if got := claudecode.LatheTools(claude); !slices.Contains(got, lathe) {
				t.Errorf("rules for %s mean %q", claude, got)
			}
		})
	}
	alias := func(claude string) claudeRow {
		return row(claude, func(t *testing.T) {
			if got := claudecode.LatheTools(claude); !slices.Equal(got, []string{"edit"}) {
				t.Error(got)
			}
			w := newHooked(t, "-- a.txt --\none\n-- SCRIPT --\ncall read {\"filePath\":\"a.txt\"}\nand edit {\"filePath\":\"a.txt\",\"oldString\":\"one\",\"newString\":\"two\"}\nfinish tool-calls\n--\ntext \"Done.\"\nfinish stop\n"+
				hooksJSON("PreToolUse", claude, "echo x >> seen.txt"))
			if w.run("go"); w.file("seen.txt") != "x\n" {
				t.Errorf("%q", w.file("seen.txt"))
			}
		})
	}
	return []claudeRow{
		both("Bash", "bash"), both("Edit", "edit"), alias("MultiEdit"), both("Write", "write"), both("Read", "read"), both("Glob", "glob"), both("Grep", "grep"),
		both("WebFetch", "webfetch"), both("WebSearch", "websearch"), both("Task", "task"), both("TodoWrite", "todowrite"), alias("NotebookEdit"),
		row("mcp__server__tool", func(t *testing.T) {
			r.has(t, r.results, "db_query: rows of x")
			if names := r.all("PreToolUse", "tool_name"); !slices.Contains(names, any("mcp__db__query")) {
				t.Error(names)
			}
		}),
	}
}
