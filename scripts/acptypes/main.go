// Command acptypes writes the Go types of the Agent Client Protocol from its JSON schema.
//
//	go run ./scripts/acptypes
//
// It reads acp/wire/schema and writes acp/wire/types.go. Only the types that package acp uses are written: those in
// [roots], and the types they refer to. Of the unstable schema it takes the members in [unstable].
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const (
	schemaDir = "acp/wire/schema"
	output    = "acp/wire/types.go"
)

// roots are the types that package acp names.
var roots = []string{
	"InitializeRequest", "InitializeResponse", "AuthenticateRequest",
	"NewSessionRequest", "NewSessionResponse", "LoadSessionRequest", "LoadSessionResponse", "ResumeSessionRequest", "ResumeSessionResponse",
	"ListSessionsRequest", "ListSessionsResponse", "CloseSessionRequest", "DeleteSessionRequest",
	"PromptRequest", "PromptResponse", "CancelNotification",
	"SetSessionModeRequest", "SetSessionConfigOptionRequest", "SetSessionConfigOptionResponse",
	"SessionNotification", "RequestPermissionRequest", "RequestPermissionResponse",
	"ReadTextFileRequest", "ReadTextFileResponse", "WriteTextFileRequest",
	"CreateTerminalRequest", "CreateTerminalResponse", "KillTerminalRequest", "ReleaseTerminalRequest", "WaitForTerminalExitRequest",
	"WaitForTerminalExitResponse", "TerminalOutputRequest", "TerminalOutputResponse",
	"CreateElicitationRequest", "CreateElicitationResponse", "CompleteElicitationNotification",
	"SessionConfigSelectOption", "SessionConfigSelectGroup",
	"ForkSessionRequest", "ForkSessionResponse", "ArchiveSessionRequest", "UnarchiveSessionRequest", "SetSessionTitleRequest", "SetSessionTitleResponse",
	"SessionStatusRequest", "SessionStatusResponse", "AuthStatusResponse",
}

// unstable are the members and variants that are taken from the unstable schema, by type.
var unstable = map[string][]string{
	"ClientCapabilities": {"subagents"},
	"SessionUpdate":      {"subagent_update"},
	"PromptResponse":     {"usage"},

	"AgentAuthCapabilities": {"status"},
	"SessionCapabilities":   {"fork", "archive", "status", "title"},
	"ListSessionsRequest":   {"archived"},
	"SessionInfo":           {"archived"},
}

// flat are the unions that are written as one struct with the members of all variants.
var flat = map[string]bool{
	"SetSessionConfigOptionRequest": true, "CreateElicitationRequest": true, "CreateElicitationResponse": true,
	"ElicitationFormMode": true, "ElicitationUrlMode": true, "ElicitationPropertySchema": true, "MultiSelectItems": true, "EmbeddedResourceResource": true,
	"StateUpdate": true, "IdleStateUpdate": true, "AvailableCommandInput": true,
}

// raw are the types that are kept as JSON, because their values have different forms.
var raw = map[string]bool{"ElicitationContentValue": true, "SessionConfigSelectOptions": true, "Error": true}

// nullable are the strings for which null and "" differ.
var nullable = map[string]bool{"Diff.oldText": true}

// withMeta are the types whose extension member _meta is used.
var withMeta = map[string]bool{"ToolCall": true, "ToolCallUpdate": true, "SessionInfo": true, "ClientCapabilities": true, "ContentChunk": true}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	code, err := generate(schemaDir)
	if err != nil {
		return err
	}
	return os.WriteFile(output, code, 0o644)
}

// schema is the part of JSON Schema that the protocol uses.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"`
	Const      any                `json:"const"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	AllOf      []*schema          `json:"allOf"`
	AnyOf      []*schema          `json:"anyOf"`
	OneOf      []*schema          `json:"oneOf"`
	Additional json.RawMessage    `json:"additionalProperties"`
	Format     string             `json:"format"`
	Enum       []any              `json:"enum"`
}

func read(dir, name string) (map[string]*schema, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	var s struct {
		Defs map[string]*schema `json:"$defs"`
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s.Defs, nil
}

func jsonInto(data []byte, to *schema) error { return json.Unmarshal(data, to) }
