package usage

import (
	"cmp"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
)

// call is the data of one settled tool call.
type call struct {
	tool     string
	failed   bool
	kind     string // kind of failure
	refused  bool   // by the user
	key      uint64 // the tool and its arguments
	result   uint64
	input    json.RawMessage
	output   string
	target   string // its file, "" if none
	command  string // of a shell
	exit     int    // of the command, -1 if it is not known
	cut      bool   // the output was truncated
	cutTo    string // the file with the full output
	timedOut bool
	start    lathe.Time
	end      lathe.Time
}

// meta is the metadata of a call that the counter uses.
type meta struct {
	Truncated  bool   `json:"truncated"`
	OutputPath string `json:"outputPath"`
	Exit       *int   `json:"exit"`
	Rejected   bool   `json:"rejected"`
	Stopped    bool   `json:"stopped"`
	Cut        bool   `json:"interrupted"`
}

// readCall reads a call that has ended.
func readCall(c *lathe.ToolCall, seed maphash.Seed) (call, bool) {
	out := call{tool: c.Tool, exit: -1}
	var said json.RawMessage
	switch s := c.State.(type) {
	case *lathe.Completed:
		out.input, out.output, out.start, out.end, said = s.Input, s.Output, s.Start, s.End, s.Metadata
	case *lathe.Failed:
		out.input, out.output, out.start, out.end, said = s.Input, s.Error, s.Start, s.End, s.Metadata
		out.failed = true
	case *lathe.Pending, *lathe.Running:
		return out, false
	}
	var m meta
	if len(said) > 0 {
		_ = json.Unmarshal(said, &m) // metadata of another program may not match: ignore it
	}
	out.cut, out.cutTo, out.refused = m.Truncated, m.OutputPath, m.Rejected || m.Stopped
	if m.Exit != nil {
		out.exit = *m.Exit
	}
	switch {
	case !out.failed:
	case out.refused:
		out.kind = kindPermission
	case m.Cut:
		out.kind = kindAborted
	default:
		out.kind = kindOf(out.output)
	}
	out.about()
	out.timedOut = out.kind == kindTimeout || out.tool == "bash" && endsLate(out.output)
	out.key = maphash.String(seed, out.tool) ^ maphash.Bytes(seed, out.input)
	out.result = maphash.String(seed, out.output)
	return out, true
}

// about reads the file or command from the arguments.
func (c *call) about() {
	if !c.edits() && c.tool != "read" && c.tool != "bash" {
		return
	}
	var in struct {
		FilePath  string `json:"filePath"`
		Path      string `json:"path"`
		Command   string `json:"command"`
		PatchText string `json:"patchText"`
	}
	_ = json.Unmarshal(c.input, &in) // invalid arguments have no file or command
	c.command, c.target = in.Command, cmp.Or(in.FilePath, in.Path)
	if in.PatchText != "" {
		c.target = check.PatchTarget(in.PatchText)
	}
	if c.tool != "bash" {
		c.command = ""
	}
}

// edits reports whether the call changes a file.
func (c *call) edits() bool {
	return slices.Contains([]string{"edit", "write", "multiedit", "apply_patch", "patch"}, c.tool)
}

// endsLate reports whether the output of a command ends with the note about its time limit.
func endsLate(output string) bool {
	const most = 1000
	end := output[max(0, len(output)-most):]
	return strings.Contains(end, "ran longer than its limit") || strings.Contains(end, "exceeding timeout") || strings.Contains(end, "timed out after")
}
