package main

import (
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// unknownOf is what the text of a command does not tell, and why, one line each.
func unknownOf(q lathe.PermissionRequest) []string {
	var meta struct {
		Unknown []struct{ Text, Why string }
	}
	if json.Unmarshal(q.Metadata, &meta) != nil {
		return nil
	}
	var out []string
	for _, u := range meta.Unknown {
		out = append(out, u.Text+": "+u.Why)
	}
	return out
}
