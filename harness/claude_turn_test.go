package harness_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

// recorded is one long turn of a project of Claude Code, with all that its hooks were told.
type recorded struct {
	*hooked
	results string
	inputs  map[string][]map[string]any // by event
}

const recordAll = `-- .claude/settings.json --
{
  "env": {"FROM_SETTINGS": "settings-value"},
  "permissions": {"deny": ["Bash(curl:*)", "Read(./.env)"]},
  "hooks": {
    "PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "$CLAUDE_PROJECT_DIR/.claude/hooks/save.sh PreToolUse"}]},
      {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "echo listed >> listed.txt"}]},
      {"matcher": "mcp__.*__que.*", "hooks": [{"type": "command", "command": "echo expression >> expression.txt"}]},
      {"matcher": "Nothing", "hooks": [{"type": "command", "command": "touch nothing.txt"}]},
      {"matcher": "bash", "hooks": [{"type": "command", "command": "touch lowercase.txt"}]},
      {"matcher": "^Re", "hooks": [{"type": "command", "command": "cp \"$0\" /dev/null; echo args >> shell.txt"}, {"type": "command", "command": "sh", "args": ["${CLAUDE_PROJECT_DIR}/.claude/hooks/args.sh", "two words", "$HOME"]}]}],
    "PostToolUse": [{"hooks": [{"type": "command", "command": ".claude/hooks/save.sh PostToolUse"}]}],
    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": ".claude/hooks/save.sh UserPromptSubmit; echo added-to-the-prompt"}]}],
    "Stop": [{"hooks": [{"type": "command", "command": ".claude/hooks/save.sh Stop; if grep -q '\"stop_hook_active\":false' Stop.last; then echo once-more >&2; exit 2; fi"}]}],
    "SubagentStop": [{"matcher": "explore", "hooks": [{"type": "command", "command": ".claude/hooks/save.sh SubagentStop"}]}],
    "SessionStart": [{"matcher": "startup|compact", "hooks": [{"type": "command", "command": ".claude/hooks/save.sh SessionStart; echo started-here"}]}],
    "SessionEnd": [{"hooks": [{"type": "command", "command": ".claude/hooks/save.sh SessionEnd"}]}],
    "PreCompact": [{"matcher": "manual", "hooks": [{"type": "command", "command": ".claude/hooks/save.sh PreCompact"}]}],
    "Notification": [{"hooks": [{"type": "command", "command": ".claude/hooks/save.sh Notification"}]}]
  }
}
-- .claude/hooks/save.sh --
#!/bin/sh
cat > $1.last
{ cat $1.last; echo; } >> $1.log
grep -o '"transcript_path":"[^"]*"' $1.last | cut -d'"' -f4 | while read -r path; do cp "$path" $1.transcript; done
-- .claude/hooks/args.sh --
echo "$1:$2" >> args.txt
-- .mcp.json --
{"mcpServers": {"db": {"command": "PROGRAM", "args": ["a-server", "${WHO:-nobody}"], "env": {"TOKEN": "${DB_TOKEN}"}}, "off": {"command": "${NOT_SET}"}}}
-- notes.txt --
first line
-- .env --
SECRET=1
-- SCRIPT --
call write {"filePath":"made.txt","content":"one"}
finish tool-calls
--
call edit {"filePath":"made.txt","oldString":"one","newString":"two"}
finish tool-calls
--
call read {"filePath":"notes.txt"}
finish tool-calls
--
call glob {"pattern":"*.txt"}
finish tool-calls
--
call grep {"pattern":"first","include":"*.txt"}
finish tool-calls
--
call bash {"command":"echo hello from $FROM_SETTINGS"}
finish tool-calls
--
call todowrite {"todos":[{"content":"x","status":"completed","priority":"low"}]}
finish tool-calls
--
call db_query {"word":"x"}
finish tool-calls
--
call task {"description":"look","prompt":"Look around.","subagent_type":"explore"}
finish tool-calls
--
call glob {"pattern":"*.md"}
finish tool-calls
--
text "Report of the subagent."
finish stop
--
text "First end."
finish stop
--
text "Second end."
finish stop
--
text "## Goal\nsummary of it, with made.txt changed and the tools used one after the other as asked"
finish stop
--
text "## Goal\nsummary of it, with made.txt changed and the tools used one after the other as asked"
finish stop
`

// recordTurn runs a turn that uses every tool, with a compaction behind it, and ends lathe.
func recordTurn(t *testing.T) *recorded {
	t.Helper()
	w := newHooked(t, strings.Replace(recordAll, "PROGRAM", os.Args[0], 1))
	r := &recorded{hooked: w, results: w.run("Use every tool"), inputs: map[string][]map[string]any{}}
	ctx := t.Context()
	if err := w.harness.Engine.Compact(ctx, w.session, lathe.CompactRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.harness.Engine.Wait(ctx, w.session); err != nil {
		t.Fatal(err)
	}
	r.results = w.results()
	w.close()
	for _, event := range []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "SessionStart", "SessionEnd", "PreCompact", "Notification"} {
		for line := range strings.Lines(w.file(event + ".log")) {
			var in map[string]any
			if err := json.Unmarshal([]byte(line), &in); err != nil {
				t.Fatalf("%s: %v: %s", event, err, line)
			}
			r.inputs[event] = append(r.inputs[event], in)
		}
	}
	return r
}

// all are the values of a member in the inputs of an event.
func (r *recorded) all(event, member string) (out []any) {
	for _, in := range r.inputs[event] {
		out = append(out, in[member])
	}
	return out
}
