package acp

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

const (
	maxTitle     = 200     // characters
	maxRawOutput = 8 << 10 // bytes of an output that is sent as it is, beside its content
)

// toolInput has the arguments of built-in tools that matter to an editor.
type toolInput struct {
	FilePath    string `json:"filePath"`
	Path        string `json:"path"`
	Pattern     string `json:"pattern"`
	Command     string `json:"command"`
	Content     string `json:"content"`
	OldString   string `json:"oldString"`
	NewString   string `json:"newString"`
	URL         string `json:"url"`
	Query       string `json:"query"`
	Description string `json:"description"`
	Name        string `json:"name"`
	Agent       string `json:"subagent_type"`
	Offset      int64  `json:"offset"`
}

// toolMeta has the metadata of built-in tools that matters to an editor.
type toolMeta struct {
	Output   string                 `json:"output"`
	Diff     string                 `json:"diff"`
	FileDiff struct{ Patch string } `json:"filediff"`
	Files    []struct {
		Path  string `json:"filePath"`
		Type  string `json:"type"`
		Patch string `json:"patch"`
		Move  string `json:"movePath"`
	} `json:"files"`
	Filepath string          `json:"filepath"`
	Exists   bool            `json:"exists"`
	Session  lathe.SessionID `json:"sessionId"`
	Exit     *int64          `json:"exit"`
	Command  string          `json:"command"`
	Reason   string          `json:"reason"`
}

// call is a tool call on its way to a client.
type call struct {
	tool  string
	dir   string // relative paths start here
	title string // of the result
	in    toolInput
	meta  toolMeta
	input json.RawMessage
}

// newCall reads the arguments and metadata of a call. Members of other tools, and those of a model that made a mistake, stay
// empty: the call is shown all the same.
func newCall(dir, tool, title string, input, metadata json.RawMessage) call {
	c := call{tool: tool, dir: dir, title: title, input: input}
	_ = json.Unmarshal(input, &c.in) // arguments of other tools have other forms
	_ = json.Unmarshal(metadata, &c.meta)
	return c
}

// kind groups tools, so that clients can choose an icon.
func (c call) kind() wire.ToolKind {
	switch c.tool {
	case "read":
		return wire.ToolKindRead
	case "edit", "write", "apply_patch":
		return wire.ToolKindEdit
	case "glob", "grep", "websearch":
		return wire.ToolKindSearch
	case "bash":
		return wire.ToolKindExecute
	case "webfetch":
		return wire.ToolKindFetch
	case "task", "todowrite", "question", "skill":
		return wire.ToolKindThink
	case "plan_exit", "plan_enter":
		return wire.ToolKindSwitchMode
	default:
		return wire.ToolKindOther
	}
}

// heading is the line that clients show.
func (c call) heading() string {
	text := ""
	switch c.tool {
	case "read":
		text = "Read " + c.shown(c.in.FilePath)
	case "edit":
		text = "Edit " + c.shown(c.in.FilePath)
	case "write":
		text = "Write " + c.shown(c.in.FilePath)
	case "apply_patch":
		text = "Apply a patch"
		if len(c.meta.Files) == 1 {
			text = "Edit " + c.shown(c.meta.Files[0].Path)
		}
	case "bash":
		text = cmp.Or(c.in.Command, "Run a command")
	case "glob":
		text = "Find " + c.in.Pattern
	case "grep":
		text = "Search for " + c.in.Pattern
	case "webfetch":
		text = "Fetch " + c.in.URL
	case "websearch":
		text = "Search the web for " + c.in.Query
	case "task":
		text = "Task: " + cmp.Or(c.in.Description, c.in.Agent)
	case "todowrite":
		text = "Update the plan"
	case "question":
		text = "Ask the user"
	case "skill":
		text = "Load the skill " + c.in.Name
	case "plan_exit":
		text = "Leave plan mode"
	case "plan_enter":
		text = "Enter plan mode"
	default:
		text = cmp.Or(c.title, c.tool)
	}
	return oneLine(text, maxTitle)
}

// shown is a path below the directory of the session, or the path itself.
func (c call) shown(path string) string {
	if rel, err := filepath.Rel(c.dir, c.abs(path)); path != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// abs is a path as the protocol wants it. Models may name files relative to the directory of the session.
func (c call) abs(path string) string {
	if path == "" || filepath.IsAbs(path) || c.dir == "" {
		return path
	}
	return filepath.Join(c.dir, path)
}

// changes are the file changes that a call made or asks for.
func (c call) changes() (out []fileChange) {
	switch {
	case len(c.meta.Files) > 0:
		for _, f := range c.meta.Files {
			out = append(out, fileChange{path: c.abs(cmp.Or(f.Move, f.Path)), patch: f.Patch, isNew: f.Type == "add"})
		}
	case c.meta.FileDiff.Patch != "" || c.meta.Diff != "":
		path := c.abs(cmp.Or(c.in.FilePath, c.meta.Filepath))
		patch := cmp.Or(c.meta.FileDiff.Patch, c.meta.Diff)
		out = append(out, fileChange{path: path, patch: patch, isNew: strings.Contains(patch, "\n@@ -0,0 ")})
	}
	return out
}

// diffs are the passages that a call changes, and where.
func (c call) diffs() (content []wire.ToolCallContent, at []wire.ToolCallLocation) {
	for _, change := range c.changes() {
		more, places := change.diffs()
		content, at = append(content, more...), append(at, places...)
	}
	if len(content) > 0 {
		return content, at
	}
	path := c.abs(c.in.FilePath)
	switch { // results of other programs, and new files, have no diff
	case c.tool == "write" && !c.meta.Exists:
		content = append(content, wire.ToolCallContent{Diff: &wire.Diff{Path: path, NewText: c.in.Content}})
	case c.tool == "write":
		content = append(content, wire.ToolCallContent{Diff: &wire.Diff{Path: path, OldText: new(string), NewText: c.in.Content}})
	case c.tool == "edit":
		old := c.in.OldString
		content = append(content, wire.ToolCallContent{Diff: &wire.Diff{Path: path, OldText: &old, NewText: c.in.NewString}})
	}
	return content, at
}

// locations are the files that a call is about.
func (c call) locations() []wire.ToolCallLocation {
	switch c.tool {
	case "read", "edit", "write":
		if c.in.FilePath != "" {
			return []wire.ToolCallLocation{location(c.abs(c.in.FilePath), c.in.Offset)}
		}
	case "glob", "grep":
		if c.in.Path != "" {
			return []wire.ToolCallLocation{location(c.abs(c.in.Path), 0)}
		}
	}
	return nil
}

// toolUpdate translates a tool call in any state. The content of a running command is its output so far.
func toolUpdate(dir string, id lathe.PartID, b *lathe.ToolCall) wire.ToolCallUpdate {
	u := wire.ToolCallUpdate{ToolCallID: wire.ToolCallID(id), Name: b.Tool}
	var c call
	switch s := b.State.(type) {
	case *lathe.Pending:
		c = newCall(dir, b.Tool, "", s.Input, nil)
		u.Status = wire.ToolCallStatusPending
	case *lathe.Running:
		c = newCall(dir, b.Tool, s.Title, s.Input, s.Metadata)
		u.Status = wire.ToolCallStatusInProgress
		if b.Tool == "bash" && c.meta.Output != "" {
			u.Content = []wire.ToolCallContent{fenced(c.meta.Output)}
		}
	case *lathe.Completed:
		c = newCall(dir, b.Tool, s.Title, s.Input, s.Metadata)
		u.Status = wire.ToolCallStatusCompleted
		u.Content, u.Locations = c.result(s)
		if len(s.Output) <= maxRawOutput {
			u.RawOutput, _ = json.Marshal(map[string]string{"output": s.Output})
		}
	case *lathe.Failed:
		c = newCall(dir, b.Tool, "", s.Input, s.Metadata)
		u.Status = wire.ToolCallStatusFailed
		u.Content = []wire.ToolCallContent{textContent(s.Error)}
		u.RawOutput, _ = json.Marshal(map[string]string{"error": s.Error})
	}
	u.Kind, u.Title = c.kind(), c.heading()
	if len(u.Locations) == 0 {
		u.Locations = c.locations()
	}
	if isObject(c.input) {
		u.RawInput = c.input
	}
	return u
}

// isObject reports whether there are arguments. Those of a call that has just begun are empty.
func isObject(raw json.RawMessage) bool { return len(raw) > 2 && raw[0] == '{' }

// result is the content of a call that ended well.
func (c call) result(s *lathe.Completed) (content []wire.ToolCallContent, at []wire.ToolCallLocation) {
	switch c.tool {
	case "edit", "write", "apply_patch":
		content, at = c.diffs()
	case "bash":
		content = []wire.ToolCallContent{fenced(cmp.Or(c.meta.Output, s.Output))}
	case "todowrite": // the plan shows it
	default:
		if s.Output != "" {
			content = []wire.ToolCallContent{textContent(s.Output)}
		}
	}
	for _, p := range s.Attachments {
		if f, ok := p.Body.(*lathe.File); ok {
			if block, ok := fileBlock(f); ok {
				content = append(content, wire.ToolCallContent{Content: &wire.Content{Content: block}})
			}
		}
	}
	return content, at
}

// textContent is a text as the content of a call.
func textContent(text string) wire.ToolCallContent {
	return wire.ToolCallContent{Content: &wire.Content{Content: textBlock(text)}}
}

// fenced shows the output of a command. The fence is longer than any in the text.
func fenced(text string) wire.ToolCallContent {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return textContent(fence + "console\n" + strings.TrimRight(text, "\n") + "\n" + fence)
}

// textBlock is a text as a block of content.
func textBlock(text string) wire.ContentBlock {
	return wire.ContentBlock{Text: &wire.TextContent{Text: text}}
}

// oneLine is the beginning of a text in one line, without control characters.
func oneLine(text string, most int) string {
	var out strings.Builder
	n, space := 0, false
	for _, r := range strings.TrimSpace(text) {
		if r < ' ' || r == 0x7f {
			r = ' '
		}
		if r == ' ' && space {
			continue
		}
		if space = r == ' '; n == most {
			return out.String() + "…"
		}
		out.WriteRune(r)
		n++
	}
	return out.String()
}
