// Package builtin has the built-in tools, each with its description for models in an .md file.
//
// All lists them, with the tools of packages bash and web. The metadata of calls records which
// files a model has seen, and in which version (readtracker.go).
package builtin

import (
	"strings"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/web"
)

// Config configures the built-in tools.
type Config struct {
	Bash   bash.Config
	Read   ReadConfig
	Write  WriteConfig
	Web    web.Config
	Search web.SearchConfig
	Files  FilesConfig
	Todo   TodoConfig
	Task   TaskConfig
}

// All returns the tools every agent may have, in the order clients know. Which of them a
// model sees is decided by rules, and by [Unsuited]. There is no websearch without a key.
func All(c Config) []tool.Tool {
	edit := EditConfig{Tracker: c.Write.Tracker, Syntax: c.Write.Syntax, Guard: c.Write.Guard, Buffers: c.Write.Buffers}
	all := []tool.Tool{
		Question(), bash.New(c.Bash), Read(c.Read), Glob(c.Files), Grep(c.Files), Edit(edit), Write(c.Write), Task(c.Task), AskParent(), web.Fetch(c.Web), TodoWrite(c.Todo),
	}
	if search, ok := web.Search(c.Search); ok {
		all = append(all, search)
	}
	return append(all, ApplyPatch(edit))
}

// Unsuited returns a filter that hides what a model does badly with: some write patches well,
// the others edits. The name is the one on the wire.
func Unsuited(model string) func(tool.Spec) bool {
	patches := strings.Contains(model, "gpt-") && !strings.Contains(model, "oss") && !strings.Contains(model, "gpt-4")
	return func(s tool.Spec) bool {
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
