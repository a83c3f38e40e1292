package bus

import "github.com/lathe-agent/lathe"

// What an item counts in a queue. It is a guess at the bytes a reader has to write, made
// without encoding anything: what can be long is measured, the rest is a constant.
const (
	smallCost = 128 // a delta or a text so far, whose bytes are shared with the text
	eventCost = 512 // ids, times and names of an event
	entryCost = 64  // the same for one entry of a list
)

// size is what an event with this fact counts.
func size(f lathe.Fact) int {
	switch f := f.(type) {
	case *lathe.PartChanged:
		return eventCost + partSize(f.Part)
	case *lathe.PartDelta:
		return eventCost + len(f.Delta)
	case *lathe.MessageChanged:
		return eventCost + messageSize(f.Info)
	case *lathe.SessionCreated:
		return eventCost + sessionSize(f.Info)
	case *lathe.SessionChanged:
		return eventCost + sessionSize(f.Info)
	case *lathe.SessionDeleted:
		return eventCost + sessionSize(f.Info)
	case *lathe.DiffChanged:
		return eventCost + diffSize(f.Diff)
	case *lathe.TodosChanged:
		n := eventCost
		for _, t := range f.Todos {
			n += entryCost + len(t.Content)
		}
		return n
	case *lathe.PermissionAsked:
		return eventCost + len(f.Metadata) // the diff of an edit
	case *lathe.TUIPromptAppend:
		return eventCost + len(f.Text)
	case *lathe.UnknownEvent:
		return eventCost + len(f.Extra)
	default: // nothing in it is long
		return eventCost
	}
}

func partSize(p lathe.Part) int {
	switch b := p.Body.(type) {
	case *lathe.Text:
		return len(b.Text) + len(b.Metadata) + len(b.Extra)
	case *lathe.Reasoning:
		return len(b.Text) + len(b.Metadata) + len(b.Extra)
	case *lathe.ToolCall:
		return stateSize(b.State) + len(b.Metadata) + len(b.Extra)
	case *lathe.File:
		return len(b.URL) + len(b.Extra) // a data: URL holds the whole file
	case *lathe.Patch:
		n := 0
		for _, file := range b.Files {
			n += entryCost + len(file)
		}
		return n
	case *lathe.Subtask:
		return len(b.Prompt)
	case *lathe.OtherBody:
		return len(b.Extra)
	default: // names and counts
		return 0
	}
}

func stateSize(s lathe.ToolState) int {
	switch s := s.(type) {
	case *lathe.Pending:
		return len(s.Input) + len(s.Raw)
	case *lathe.Running:
		return len(s.Input) + len(s.Metadata)
	case *lathe.Completed:
		n := len(s.Input) + len(s.Metadata) + len(s.Output)
		for _, a := range s.Attachments {
			n += entryCost + partSize(a)
		}
		return n
	case *lathe.Failed:
		return len(s.Input) + len(s.Metadata) + len(s.Error)
	default:
		return 0
	}
}

func messageSize(m lathe.Message) int {
	switch said := m.Said.(type) {
	case *lathe.User:
		n := len(said.System) + len(said.Tools) + len(said.Format) + len(said.Extra)
		if said.Summary != nil {
			n += len(said.Summary.Body) + diffSize(said.Summary.Diffs)
		}
		return n
	case *lathe.Assistant:
		return len(said.Structured) + len(said.Extra)
	default:
		return 0
	}
}

func sessionSize(s lathe.Session) int {
	n := len(s.Metadata) + len(s.Extra) + entryCost*len(s.Rules)
	if s.Summary != nil {
		n += diffSize(s.Summary.Diffs)
	}
	if s.Revert != nil {
		n += len(s.Revert.Diff)
	}
	return n
}

func diffSize(diffs []lathe.FileDiff) int {
	n := 0
	for _, d := range diffs {
		n += entryCost + len(d.File) + len(d.Patch) + len(d.Extra)
	}
	return n
}
