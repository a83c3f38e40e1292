package claudecode

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// toolPair names one tool in both programs, and its arguments where their names differ.
type toolPair struct {
	claude, lathe string
	arguments     [][2]string // Claude Code's name, then lathe's
}

// toolPairs in the order in which they count: of several names of Claude Code for one of lathe's the
// first is the one that hooks see.
var toolPairs = []toolPair{
	{claude: "Bash", lathe: "bash"},
	{claude: "Edit", lathe: "edit", arguments: [][2]string{{"file_path", "filePath"}, {"old_string", "oldString"}, {"new_string", "newString"}, {"replace_all", "replaceAll"}}},
	{claude: "MultiEdit", lathe: "edit"},
	{claude: "Write", lathe: "write", arguments: [][2]string{{"file_path", "filePath"}}},
	{claude: "NotebookEdit", lathe: "edit"},
	{claude: "Read", lathe: "read", arguments: [][2]string{{"file_path", "filePath"}}},
	{claude: "NotebookRead", lathe: "read"},
	{claude: "Glob", lathe: "glob"},
	{claude: "Grep", lathe: "grep", arguments: [][2]string{{"glob", "include"}}},
	{claude: "LS", lathe: "list"},
	{claude: "WebFetch", lathe: "webfetch"},
	{claude: "WebSearch", lathe: "websearch"},
	{claude: "Task", lathe: "task", arguments: [][2]string{{"run_in_background", "background"}, {"resume", "task_id"}}},
	{claude: "Agent", lathe: "task"},
	{claude: "TodoWrite", lathe: "todowrite"},
	{claude: "Skill", lathe: "skill", arguments: [][2]string{{"skill", "name"}}},
	{claude: "AskUserQuestion", lathe: "question"},
	{claude: "ExitPlanMode", lathe: "plan_exit"},
	{claude: "EnterPlanMode", lathe: "plan_enter"},
	{claude: "ApplyPatch", lathe: "apply_patch", arguments: [][2]string{{"patch", "patchText"}}},
}

// permissionOf is the permission under which rules judge a tool of lathe.
func permissionOf(tool string) string {
	switch tool {
	case "write", "apply_patch":
		return "edit"
	default:
		return tool
	}
}

// LatheTools returns the tools of lathe that a tool of Claude Code stands for: a built-in tool, or
// server_tool for mcp__server__tool. A server without a tool stands for all of its tools. It
// returns nil for a name without a counterpart.
func LatheTools(claude string) []string {
	if rest, ok := strings.CutPrefix(claude, "mcp__"); ok {
		server, name, _ := strings.Cut(rest, "__")
		if server == "" || strings.ContainsAny(server, "*?") {
			return nil
		}
		if name == "" {
			name = "*"
		}
		return []string{mcpPart(server) + "_" + mcpPart(name)}
	}
	if claude == "Edit" {
		return []string{"edit", "write", "apply_patch"} // rules and lists for Edit mean every change of a file
	}
	for _, p := range toolPairs {
		if p.claude == claude {
			return []string{p.lathe}
		}
	}
	return nil
}

// LatheTool returns the tool of lathe that a call of Claude Code's tool can be shown as, "" for one with other
// arguments than any of lathe's.
func LatheTool(claude string) string {
	switch claude {
	case "Edit":
		return "edit"
	case "MultiEdit", "NotebookEdit", "NotebookRead":
		return ""
	}
	names := LatheTools(claude)
	if len(names) != 1 || strings.Contains(names[0], "*") {
		return ""
	}
	return names[0]
}

// mcpPart writes a name as lathe does in names of tools: package tool/mcp has the same rule. A * stays,
// for rules.
func mcpPart(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '*':
			return r
		default:
			return '_'
		}
	}, s)
}

// ClaudeTool returns the name by which hooks of Claude Code know a tool of lathe. servers are the
// names of MCP servers: server_tool is mcp__server__tool for one of them, the longest that fits.
func ClaudeTool(name string, servers []string) string {
	for _, p := range toolPairs {
		if p.lathe == name {
			return p.claude
		}
	}
	best := ""
	for _, s := range servers {
		if part := mcpPart(s); len(part) > len(best) && len(name) > len(part)+1 && strings.HasPrefix(name, part) && (name[len(part)] == '_' || name[len(part)] == '-') {
			best = part
		}
	}
	if best != "" {
		return "mcp__" + best + "__" + name[len(best)+1:]
	}
	return name
}

// ClaudeInput returns the arguments of a call of lathe's tool with the names that Claude Code has for
// them. A file_path is absolute there, so one that is relative begins at dir. Other arguments stay as
// they are.
func ClaudeInput(tool, dir string, input json.RawMessage) json.RawMessage {
	return renameArguments(tool, input, 1, 0, func(key string, value json.RawMessage) json.RawMessage {
		var name string
		if key != "file_path" || json.Unmarshal(value, &name) != nil || name == "" || filepath.IsAbs(name) {
			return value
		}
		full, err := json.Marshal(filepath.Join(dir, name))
		if err != nil {
			return value
		}
		return full
	})
}

// LatheInput is the reverse of [ClaudeInput]. Arguments that are already in lathe's words stay.
func LatheInput(tool string, input json.RawMessage) json.RawMessage {
	return renameArguments(tool, input, 0, 1, func(_ string, value json.RawMessage) json.RawMessage { return value })
}

// renameArguments renames the members of an object between the two columns of a pair. Input that is no object stays: the
// tool reports what is wrong with it.
func renameArguments(tool string, input json.RawMessage, from, to int, change func(key string, value json.RawMessage) json.RawMessage) json.RawMessage {
	var pairs [][2]string
	for _, p := range toolPairs {
		if p.lathe == tool {
			pairs = p.arguments
			break
		}
	}
	if len(pairs) == 0 || len(input) == 0 {
		return input
	}
	all, err := members(input)
	if err != nil {
		return input
	}
	out := &object{}
	for _, m := range all {
		key := m.key
		for _, p := range pairs {
			if p[from] == key {
				key = p[to]
			}
		}
		out.put(key, change(key, m.value))
	}
	text, err := json.Marshal(out)
	if err != nil {
		return input
	}
	return text
}
