package migrate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// counterpart is a tool of lathe and the names of its arguments by those of the other program.
type counterpart struct {
	name string
	args map[string]string
}

// The tools of other programs that do the same as one of lathe's. Sessions show and repeat such calls as lathe's
// own; all others keep their names. Those of Claude Code are in config/claudecode.

func codexTools() map[string]counterpart {
	return map[string]counterpart{
		// Commands have had five names so far.
		"shell":            {"bash", map[string]string{"workdir": "workdir"}},
		"shell_command":    {"bash", nil},
		"container.exec":   {"bash", nil},
		"local_shell_call": {"bash", nil},
		"exec_command":     {"bash", map[string]string{"cmd": "command"}},
		"apply_patch":      {"apply_patch", map[string]string{"input": "patchText"}},
	}
}

func geminiTools() map[string]counterpart {
	return map[string]counterpart{
		// Paths have had two names for each tool.
		"run_shell_command":   {"bash", map[string]string{"dir_path": "workdir", "directory": "workdir"}},
		"read_file":           {"read", map[string]string{"file_path": "filePath", "absolute_path": "filePath"}},
		"write_file":          {"write", map[string]string{"file_path": "filePath"}},
		"replace":             {"edit", map[string]string{"file_path": "filePath", "old_string": "oldString", "new_string": "newString"}},
		"glob":                {"glob", map[string]string{"dir_path": "path"}},
		"search_file_content": {"grep", map[string]string{"dir_path": "path"}},
		"grep_search":         {"grep", map[string]string{"dir_path": "path"}},
		"web_fetch":           {"webfetch", nil},
		"google_web_search":   {"websearch", nil},
		"write_todos":         {"todowrite", nil},
	}
}

func crushTools() map[string]counterpart {
	return map[string]counterpart{
		"bash":  {"bash", nil},
		"view":  {"read", map[string]string{"file_path": "filePath"}},
		"write": {"write", map[string]string{"file_path": "filePath"}},
		"edit":  {"edit", map[string]string{"file_path": "filePath", "old_string": "oldString", "new_string": "newString", "replace_all": "replaceAll"}},
		"fetch": {"webfetch", nil},
		"agent": {"task", nil},
		"todos": {"todowrite", nil},
		"glob":  {"glob", nil},
		"grep":  {"grep", nil},
	}
}

// renamed returns the name and the arguments of a call in lathe's words, or as they are.
func renamed(tools map[string]counterpart, name string, input json.RawMessage) (string, json.RawMessage) {
	to, ok := tools[name]
	if !ok {
		return name, input
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil || args == nil {
		return to.name, input
	}
	for _, from := range slices.Backward(slices.Sorted(maps.Keys(to.args))) { // the same in every run
		v, ok := args[from]
		if !ok || to.args[from] == from {
			continue
		}
		delete(args, from)
		if _, taken := args[to.args[from]]; !taken {
			args[to.args[from]] = v
		}
	}
	if v, ok := args["command"]; ok && to.name == "bash" {
		args["command"] = oneCommand(v)
	}
	out, err := json.Marshal(args)
	if err != nil {
		return to.name, input
	}
	return to.name, out
}

// oneCommand makes a command line of a list of words; ["bash","-lc","make"] runs a command line already.
func oneCommand(v json.RawMessage) json.RawMessage {
	var words []string
	if json.Unmarshal(v, &words) != nil {
		return v
	}
	line := strings.Join(words, " ")
	if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		line = words[2]
	}
	out, err := json.Marshal(line)
	if err != nil {
		return v
	}
	return out
}
