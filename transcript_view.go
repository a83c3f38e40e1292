package lathe

// MessageView gives access to one message of a transcript without a copy, for screens that draw a few of many. It is
// valid until the next event.
type MessageView struct{ m *viewMessage }

// Count is how many messages there are.
func (t *Transcript) Count() int { return len(t.messages) }

// View returns message i, in the order of Messages.
func (t *Transcript) View(i int) MessageView { return MessageView{t.messages[i]} }

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

// Peek returns the id, the last published body of part i and its revision. The body may lack
// later deltas; the revision changes whenever the part does.
func (h MessageView) Peek(i int) (id PartID, body Body, rev int) {
	return h.m.parts[i].part.ID, h.m.parts[i].part.Body, h.m.parts[i].rev
}

// Include takes in messages that were read from the store. What is here already is newer and stays. A page that is older
// than everything here costs no more in a long session.
func (t *Transcript) Include(read []Message) {
	n := 0
	for n < len(read) && len(t.messages) > 0 && read[n].Before(t.messages[0].Message) && t.orphans[read[n].ID] == nil {
		n++
	}
	older := NewTranscript(t.session, read[:n])
	t.messages, t.changes = append(older.messages, t.messages...), t.changes+older.changes
	for _, m := range read[n:] {
		if t.Find(m.ID) < 0 {
			t.message(m)
			for _, p := range m.Parts {
				if findPart(t.parts(m.ID), p.ID) == nil {
					t.part(p)
				}
			}
		}
	}
}

// revision is the number of the next change.
func (t *Transcript) revision() int {
	t.changes++
	return t.changes
}
