package turn

import (
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// SandboxRequest is a request for the permission sandbox: to run a command outside of it, or to change
// a file that other programs obey.
type SandboxRequest struct {
	File   string  `json:"filepath"` // "" for a command
	Reason string  `json:"reason"`
	Diff   *string `json:"diff"` // nil where the file is to be read
}

// ParseSandboxRequest reads one. Of a request of another kind nothing is in it.
func ParseSandboxRequest(q lathe.PermissionRequest) (a SandboxRequest) {
	if q.Permission == "sandbox" {
		_ = json.Unmarshal(q.Metadata, &a) // without, there is nothing more to say
	}
	return a
}

// Line is the line for a person who is asked, "" if there is nothing to say.
func (a SandboxRequest) Line() string {
	switch {
	case a.Reason == "":
		return ""
	case a.File != "" && a.Diff == nil:
		return "  secret: " + termtext.Plain(a.Reason)
	case a.File != "":
		return "  protected file: " + termtext.Plain(a.Reason)
	}
	return "  outside of the sandbox, because: " + termtext.Plain(a.Reason)
}

// Subject says to the user what was asked for.
func (a SandboxRequest) Subject(q lathe.PermissionRequest) string {
	what := termtext.Plain(strings.Join(q.Patterns, " "))
	if a.File != "" && a.Diff == nil {
		return "secret " + what + " (" + termtext.Plain(a.Reason) + ")"
	}
	if a.File != "" {
		return "protected file " + what + " (" + termtext.Plain(a.Reason) + ")"
	}
	return "outside of the sandbox: " + what
}

// ModelMessage say to the model why a file is protected.
func (a SandboxRequest) ModelMessage() string {
	if a.File == "" {
		return ""
	}
	if a.Diff == nil {
		return "The file holds secrets: " + a.Reason + "."
	}
	return "The file is protected: " + a.Reason + "."
}
