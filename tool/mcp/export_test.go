package mcp

import "time"

// Hasten shortens the pauses before a server that ended is tried again.
func (h *Hub) Hasten(first time.Duration) { h.first = first }
