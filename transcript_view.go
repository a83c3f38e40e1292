package lathe

// MessageView gives access to one message of a transcript without a copy, for screens that draw a few of many. It is
// valid until the next event.
type MessageView struct{ m *viewMessage }

// Count is how many messages there are.
func (t *Transcript) Count() int { return len(t.messages) }

// View returns message i, in the order of Messages.
func (t *Transcript) View(i int) MessageView { return MessageView{t.messages[i]} }

// Find returns the place of a message, -1 if it is not here. The newest are found at once.
func (t *Transcript) Find(id MessageID) int { return t.find(id) }

// Message returns what is known of it, without its parts.
func (h MessageView) Message() Message { return h.m.Message }

// Data returns the meaning of it, which is not to be changed.
func (h MessageView) Data() RoleData { return h.m.Data }

// ID returns its id.
func (h MessageView) ID() MessageID { return h.m.ID }

// Revision is a number that is another whenever the message itself has changed; those of its parts are their own.
func (h MessageView) Revision() int { return h.m.rev }

// Len is how many parts it has.
func (h MessageView) Len() int { return len(h.m.parts) }

// Part returns part i with its text as it is now.
func (h MessageView) Part(i int) Part { return h.m.parts[i].now() }

// Peek returns the id and the body of part i as it was last told, which may lack what has come since, and its
// revision: a number that is another whenever the part has changed.
func (h MessageView) Peek(i int) (id PartID, body Body, rev int) {
	p := h.m.parts[i]
	return p.part.ID, p.part.Body, p.rev
}

// Include takes in messages that were read from the store, older ones as a rule. What is here already is
// newer and stays.
func (t *Transcript) Include(read []Message) {
	for _, m := range read {
		if t.find(m.ID) >= 0 {
			continue
		}
		t.message(m)
		for _, p := range m.Parts {
			if findPart(t.parts(m.ID), p.ID) == nil {
				t.part(p)
			}
		}
	}
}

// revision is the number of the next change.
func (t *Transcript) revision() int {
	t.changes++
	return t.changes
}
