package bus

import "github.com/lathe-agent/lathe"

// The cost of an item in a queue estimates the bytes that its reader has to write, without
// encoding anything: long fields are measured, the rest is a constant.
const (
	smallCost = 128 // a delta or a text so far, whose bytes are shared with the text
	eventCost = 512 // ids, times and names of an event
	entryCost = 64  // the same for one entry of a list
)

// size is the cost of an event with this fact.
func size(f lathe.Fact) int {
	switch f := f.(type) {
	case *lathe.PartChanged:
		return eventCost + f.Part.Size()
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
	default: // no long fields
		return eventCost
	}
}

// messageSize measures the fields of a message that users and models can make long.
func messageSize(m lathe.Message) int {
	switch said := m.Data.(type) {
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
