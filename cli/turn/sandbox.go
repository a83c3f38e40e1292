package turn

import (
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// SandboxRequest is a request for the permission sandbox: to run a command outside the sandbox, or to change a
// protected file.
type SandboxRequest struct {
	File   string  `json:"filepath"` // "" for a command
	Reason string  `json:"reason"`
	Diff   *string `json:"diff"` // nil for a read
}

// ParseSandboxRequest parses the metadata of a request. It returns an empty value for any other permission.
func ParseSandboxRequest(q lathe.PermissionRequest) (a SandboxRequest) {
	if q.Permission == "sandbox" {
		_ = json.Unmarshal(q.Metadata, &a) // without metadata there are no details
	}
	return a
}

// Line returns the reason to show with the question, or "".
func (a SandboxRequest) Line() string {
	switch {
	case a.Reason == "":
		return ""
	case a.File != "" && a.Diff == nil:
		return "  secret: " + termtext.Plain(a.Reason)
	case a.File != "":
		return "  protected file: " + termtext.Plain(a.Reason)
	}
	return "  outside the sandbox, because: " + termtext.Plain(a.Reason)
}

// Subject describes the request to the user.
func (a SandboxRequest) Subject(q lathe.PermissionRequest) string {
	what := termtext.Plain(strings.Join(q.Patterns, " "))
	if a.File != "" && a.Diff == nil {
		return "secret " + what + " (" + termtext.Plain(a.Reason) + ")"
	}
	if a.File != "" {
		return "protected file " + what + " (" + termtext.Plain(a.Reason) + ")"
	}
	return "outside the sandbox: " + what
}

// ModelMessage tells the model why a file is protected.
func (a SandboxRequest) ModelMessage() string {
	if a.File == "" {
		return ""
	}
	if a.Diff == nil {
		return "The file holds secrets: " + a.Reason + "."
	}
	return "The file is protected: " + a.Reason + "."
}
