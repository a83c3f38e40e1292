package tool

import "strings"

// Config is what the built-in tools need.
type Config struct {
	Bash   BashConfig
	Read   ReadConfig
	Write  WriteConfig
	Web    WebConfig
	Search SearchConfig
	Files  FilesConfig
	Todo   TodoConfig
	Task   TaskConfig
}

// Builtin returns the tools every agent may have, in the order clients know. Which of them a
// model sees is decided by rules, and by [Unsuited]. There is no websearch without a key.
func Builtin(c Config) []Tool {
	edit := EditConfig{Seen: c.Write.Seen, Syntax: c.Write.Syntax, Guard: c.Write.Guard}
	all := []Tool{
		Question(), Bash(c.Bash), Read(c.Read), Glob(c.Files), Grep(c.Files), Edit(edit), Write(c.Write), Task(c.Task), WebFetch(c.Web), TodoWrite(c.Todo),
	}
	if search, ok := WebSearch(c.Search); ok {
		all = append(all, search)
	}
	return append(all, ApplyPatch(edit))
}

// Unsuited returns a filter that hides what a model does badly with: some write patches well,
// the others edits. The name is the one on the wire.
func Unsuited(model string) func(Spec) bool {
	patches := strings.Contains(model, "gpt-") && !strings.Contains(model, "oss") && !strings.Contains(model, "gpt-4")
	return func(s Spec) bool {
		switch s.Name {
		case "apply_patch":
			return !patches
		case "edit", "write":
			return patches
		default:
			return false
		}
	}
}
