package acp

import (
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

// subagent begins the view of the session that a task works in, as soon as the call names it.
func (v *view) subagent(id wire.ToolCallID, b *lathe.ToolCall) {
	if b.Tool != "task" {
		return
	}
	var input, metadata json.RawMessage
	switch s := b.State.(type) {
	case *lathe.Running:
		input, metadata = s.Input, s.Metadata
	case *lathe.Completed:
		input, metadata = s.Input, s.Metadata
	case *lathe.Failed:
		input, metadata = s.Input, s.Metadata
	default:
		return
	}
	c := newCall(v.dir, b.Tool, "", input, metadata)
	child := c.meta.Session
	if child == "" || child == v.id || v.loop.views[child] != nil {
		return
	}
	n := newView(v.loop, v.root, child, v.dir)
	n.parent, n.agent, n.parentCall, n.isQuiet = v, c.in.Agent, id, v.isQuiet
	if v.loop.server.capabilities().Subagents != nil {
		v.send(wire.SessionUpdate{SubagentUpdate: &wire.SubagentUpdate{
			SessionID: wire.SessionID(child), Title: oneLine(c.in.Description, maxTitle), Description: c.in.Agent, State: &wire.StateUpdate{State: "running"},
			Capabilities: &wire.SubagentSessionCapabilities{Cancel: &wire.SessionCancelCapabilities{}},
		}})
	} else {
		n.isNested, n.out = true, v.root.id
	}
	v.loop.views[child] = n
	v.root.children = append(v.root.children, child)
	// A child may have begun before its call was translated. Events of what is read here are dropped later.
	if err := n.load(v.loop.ctx, ""); err != nil {
		v.loop.server.Log.Debug("acp: subagent not read", "session", child, "error", err)
	}
	if b.Settled() {
		n.sendState(lathe.Status{Type: lathe.Idle})
	}
}

// sendState tells a client that knows subagents what one of them is doing.
func (v *view) sendState(s lathe.Status) {
	if v.isNested || v.root.view == v {
		return
	}
	state := &wire.StateUpdate{State: "running"}
	if s.Type == lathe.Idle {
		state.State = "idle"
		state.StopReason = json.RawMessage(`"end_turn"`)
	}
	if !v.isQuiet {
		v.loop.server.update(v.parent.out, wire.SessionUpdate{SubagentUpdate: &wire.SubagentUpdate{SessionID: wire.SessionID(v.id), State: state}})
	}
}
