package acp

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

// compaction translates the progress of an answer that is a summary.
func (v *view) compaction(id wire.CompactionID, a *lathe.Assistant) {
	switch _, aborted := a.Error.(*lathe.AbortedFault); {
	case aborted:
		v.sendCompaction(id, wire.CompactionStatusCancelled, "")
	case a.Error != nil:
		v.sendCompaction(id, wire.CompactionStatusFailed, lathe.FaultMessage(a.Error))
	case a.Completed != 0:
		v.sendCompaction(id, wire.CompactionStatusCompleted, "")
	}
}

// sendCompaction sends the state of a compaction once. Clients that do not know compactions see a tool call.
func (v *view) sendCompaction(id wire.CompactionID, status wire.CompactionStatus, problem string) {
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
		v.send(wire.SessionUpdate{CompactionUpdate: &wire.CompactionUpdate{CompactionID: id, Status: status, Error: problem}})
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
