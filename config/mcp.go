package config

import (
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// ReadMCPServer reads an MCP server in the words of the config, as clients send it. Nothing is put in
// for variables.
func ReadMCPServer(data json.RawMessage) (out MCPServer, err error) {
	text, err := json.Marshal(map[string]json.RawMessage{"it": data})
	if err != nil {
		return out, lathe.Errorf(lathe.Invalid, "the config of the MCP server is not JSON")
	}
	s := &source{name: "the server", layer: User, table: settings(), under: "mcp", text: text}
	if wrong := s.read(substitution{inert: true}); wrong != nil {
		return out, wrong
	}
	if err := json.Unmarshal(data, &out); err != nil || len(out.Command) == 0 && out.URL == "" {
		return out, lathe.Errorf(lathe.Invalid, "an MCP server must be {\"type\":\"local\",\"command\":[…]} or {\"type\":\"remote\",\"url\":…}")
	}
	return out, nil
}
