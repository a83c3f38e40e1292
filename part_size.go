package lathe

// partEntry is what one entry of a list counts in the size of a part.
const partEntry = 64

// Size is about how long a part is, in bytes: what can be long is measured, the rest is left out.
func (p Part) Size() int {
	switch b := p.Body.(type) {
	case *Text:
		return len(b.Text) + len(b.Metadata) + len(b.Extra)
	case *Reasoning:
		return len(b.Text) + len(b.Metadata) + len(b.Extra)
	case *ToolCall:
		return stateSize(b.State) + len(b.Metadata) + len(b.Extra)
	case *File:
		return len(b.URL) + len(b.Extra) // a data: URL holds the whole file
	case *Patch:
		n := 0
		for _, file := range b.Files {
			n += partEntry + len(file)
		}
		return n
	case *Subtask:
		return len(b.Prompt)
	case *UnknownBody:
		return len(b.Extra)
	default: // names and counts
		return 0
	}
}

func stateSize(s ToolState) int {
	switch s := s.(type) {
	case *Pending:
		return len(s.Input) + len(s.Raw)
	case *Running:
		return len(s.Input) + len(s.Metadata)
	case *Completed:
		n := len(s.Input) + len(s.Metadata) + len(s.Output)
		for _, a := range s.Attachments {
			n += partEntry + a.Size()
		}
		return n
	case *Failed:
		return len(s.Input) + len(s.Metadata) + len(s.Error)
	default:
		return 0
	}
}
