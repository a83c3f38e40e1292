package acp

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

// compaction translates the progress of an answer that is a summary.
func (v *view) compaction(of lathe.Message) {
	a, ok := of.Data.(*lathe.Assistant)
	m := v.messages[of.ID]
	if !ok || m == nil || m.compacted == "" {
		return
	}
	id := m.compacted
	switch _, aborted := a.Error.(*lathe.AbortedFault); {
	case aborted:
		v.sendCompaction(id, wire.CompactionUpdate{Status: wire.CompactionStatusCancelled})
	case a.Error != nil:
		v.sendCompaction(id, wire.CompactionUpdate{Status: wire.CompactionStatusFailed, Error: lathe.FaultMessage(a.Error)})
	case a.Completed != 0:
		u := wire.CompactionUpdate{Status: wire.CompactionStatusCompleted}
		if m.summaries > 1 { // the client has the texts of all attempts
			u.Summary = []wire.ContentBlock{textBlock(m.summary)}
		}
		v.sendCompaction(id, u)
	}
}

// sendCompaction sends the state of a compaction once. Clients that do not know compactions see a tool call.
func (v *view) sendCompaction(id wire.CompactionID, now wire.CompactionUpdate) {
	status, problem := now.Status, now.Error
	// A replayed compaction begins and ends at once. A repeated state is not sent, so that a client counts none twice.
	if v.isNested || v.root.compactions[id] == status {
		return
	}
	before, begun := v.root.compactions[id]
	if begun && before != wire.CompactionStatusInProgress {
		return // it has ended
	}
	v.root.compactions[id] = status
	if v.root.can.compaction {
		now.CompactionID = id
		v.send(wire.SessionUpdate{CompactionUpdate: &now})
		return
	}
	u := wire.ToolCallUpdate{ToolCallID: wire.ToolCallID("compaction-" + string(id)), Title: "Compact the conversation", Kind: wire.ToolKindThink}
	switch status {
	case wire.CompactionStatusInProgress:
		u.Status = wire.ToolCallStatusInProgress
	case wire.CompactionStatusCompleted:
		u.Status = wire.ToolCallStatusCompleted
	default:
		u.Status = wire.ToolCallStatusFailed
		if problem != "" {
			u.Content = []wire.ToolCallContent{textContent(problem)}
		}
	}
	if begun {
		v.send(wire.SessionUpdate{ToolCallUpdate: &u})
	} else {
		v.send(wire.SessionUpdate{ToolCall: beginCall(u)})
	}
}

// summary sends a piece of a summary to a client that knows compactions.
func (v *view) summary(s *sent, text string) {
	m := v.messages[s.message]
	if m == nil || !v.root.can.compaction {
		return
	}
	v.send(wire.SessionUpdate{CompactionSummaryChunk: &wire.CompactionSummaryChunk{CompactionID: m.compacted, Content: textBlock(text)}})
}
