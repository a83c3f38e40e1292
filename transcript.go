package lathe

import (
	"slices"
	"strings"
)

// Transcript folds events back into a session: live ones, resumed ones and repeated
// ones alike. Every client uses it. A delta costs what it is long, whatever the length
// of its part. It is for one goroutine.
type Transcript struct {
	session  Session
	deleted  bool
	status   Status
	todos    []Todo
	diff     []FileDiff
	messages []*viewMessage // by creation, then id
	orphans  map[MessageID][]*viewPart
	asks     []Fact // PermissionAsked and QuestionAsked that wait
	stale    bool
	changes  int // how many there were: the next revision
}

type viewMessage struct {
	Message
	parts []*viewPart // by birth
	rev   int
}

// viewPart is a part as it was last received, and its text with the deltas since.
type viewPart struct {
	part  Part
	grown strings.Builder // empty before the first delta
	units int             // length of grown in UTF-16 units
	rev   int
}

// NewTranscript begins with what was read of a session; events continue from there.
func NewTranscript(s Session, history []Message) *Transcript {
	t := &Transcript{session: s, status: Status{Type: Idle}, orphans: map[MessageID][]*viewPart{}}
	for _, m := range history {
		t.message(m)
		for _, p := range m.Parts {
			t.part(p)
		}
	}
	return t
}

// Apply takes one event in. Events of other sessions are ignored.
func (t *Transcript) Apply(e Event) {
	if id := SessionOf(e.Fact); id != t.session.ID || id == "" {
		return
	}
	if _, again := e.Fact.(*SessionCreated); t.deleted && !again {
		return // a late word about what is gone
	}
	switch f := e.Fact.(type) {
	case *PartDelta:
		t.delta(f)
	case *PartChanged:
		t.part(f.Part)
	case *PartRemoved:
		t.removePart(f.Message, f.Part)
	case *MessageChanged:
		t.message(f.Info)
	case *MessageRemoved:
		t.messages = slices.DeleteFunc(t.messages, func(m *viewMessage) bool { return m.ID == f.Message })
		delete(t.orphans, f.Message)
	case *SessionCreated:
		t.session, t.deleted = f.Info, false
	case *SessionChanged:
		t.session = f.Info
	case *SessionDeleted:
		*t = *NewTranscript(f.Info, nil)
		t.deleted = true
	case *StatusChanged:
		t.status = f.Status
	case *TodosChanged:
		t.todos = f.Todos
	case *DiffChanged:
		t.diff = f.Diff
	default:
		t.ask(e.Fact)
	}
}

func (t *Transcript) ask(f Fact) {
	id := AskOf(f)
	if id == "" {
		return
	}
	i := slices.IndexFunc(t.asks, func(a Fact) bool { return AskOf(a) == id })
	switch f.(type) {
	case *PermissionAsked, *QuestionAsked:
		if i < 0 {
			t.asks = append(t.asks, f)
		} else { // sent again: it keeps its place
			t.asks[i] = f
		}
	default: // answered: no longer among those that wait
		if i >= 0 {
			t.asks = slices.Delete(t.asks, i, i+1)
		}
	}
}

// AskOf returns the request that a fact asks or answers, "" for others.
func AskOf(f Fact) AskID {
	switch f := f.(type) {
	case *PermissionAsked:
		return f.ID
	case *QuestionAsked:
		return f.ID
	case *PermissionReplied:
		return f.Request
	case *QuestionReplied:
		return f.Request
	case *QuestionRejected:
		return f.Request
	default:
		return ""
	}
}

func (t *Transcript) message(m Message) {
	m.Parts = nil
	held := &viewMessage{Message: m, rev: t.revision()}
	if i := t.Find(m.ID); i >= 0 {
		held.parts = t.messages[i].parts
		t.messages = slices.Delete(t.messages, i, i+1)
	} else if waiting, ok := t.orphans[m.ID]; ok {
		held.parts = waiting
		delete(t.orphans, m.ID)
	}
	i := len(t.messages)
	for i > 0 && m.Before(t.messages[i-1].Message) { // nearly always the last place
		i--
	}
	t.messages = slices.Insert(t.messages, i, held)
}

// Find returns the place of a message, -1 if it is not here. It searches from the end, where changes happen.
func (t *Transcript) Find(id MessageID) int {
	for i := len(t.messages) - 1; i >= 0; i-- {
		if t.messages[i].ID == id {
			return i
		}
	}
	return -1
}

// parts returns the slot of a message's parts.
func (t *Transcript) parts(id MessageID) []*viewPart {
	if i := t.Find(id); i >= 0 {
		return t.messages[i].parts
	}
	return t.orphans[id]
}

func (t *Transcript) setParts(id MessageID, parts []*viewPart) {
	if i := t.Find(id); i >= 0 {
		t.messages[i].parts = parts
	} else {
		t.orphans[id] = parts
	}
}

func (t *Transcript) part(p Part) {
	parts := t.parts(p.Message)
	held := findPart(parts, p.ID)
	if held == nil {
		held = &viewPart{}
		t.setParts(p.Message, append(parts, held))
	}
	held.part, held.rev = p, t.revision()
	held.grown.Reset()
}

func findPart(parts []*viewPart, id PartID) *viewPart {
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].part.ID == id {
			return parts[i]
		}
	}
	return nil
}

func (t *Transcript) removePart(m MessageID, id PartID) {
	if parts := t.parts(m); findPart(parts, id) != nil {
		t.setParts(m, slices.DeleteFunc(parts, func(p *viewPart) bool { return p.part.ID == id }))
	}
}

// delta extends a part that has not ended. With an offset, what is already there is
// skipped and a hole is noticed.
func (t *Transcript) delta(d *PartDelta) {
	held := findPart(t.parts(d.Message), d.Part)
	if held == nil {
		t.stale = true
		return
	}
	if d.Field != "text" || held.ended() {
		return
	}
	if held.grown.Len() == 0 {
		text := held.part.GrowingText()
		held.grown.WriteString(text)
		held.units = UTF16Len(text)
	}
	text := d.Delta
	if d.Offset > held.units {
		t.stale = true
		return
	}
	if d.Offset >= 0 && d.Offset < held.units {
		text = skipUnits(text, held.units-d.Offset)
	}
	held.grown.WriteString(text)
	held.units += UTF16Len(text)
	held.rev = t.revision()
}

// ended reports whether the text is final: a delta for it comes late.
func (h *viewPart) ended() bool {
	switch b := h.part.Body.(type) {
	case *Text:
		return b.Time != nil && b.Time.End != 0
	case *Reasoning:
		return b.Time.End != 0
	default:
		return true
	}
}

// skipUnits drops n UTF-16 units from the start.
func skipUnits(s string, n int) string {
	for i, r := range s {
		if n <= 0 {
			return s[i:]
		}
		n--
		if r > 0xFFFF {
			n--
		}
	}
	return ""
}

// Session returns the record.
func (t *Transcript) Session() Session { return t.session }

// Deleted reports whether the session is gone.
func (t *Transcript) Deleted() bool { return t.deleted }

// Status returns what the session is doing.
func (t *Transcript) Status() Status { return t.status }

// Todos returns the session's list.
func (t *Transcript) Todos() []Todo { return t.todos }

// Diff returns what the session changed.
func (t *Transcript) Diff() []FileDiff { return t.diff }

// Asks returns the requests that wait for a person, oldest first.
func (t *Transcript) Asks() []Fact { return slices.Clone(t.asks) }

// Stale reports whether a delta did not fit: something was missed, and the session must be
// reloaded.
func (t *Transcript) Stale() bool { return t.stale }

// Messages returns the history with the texts as they are now.
func (t *Transcript) Messages() []Message {
	out := make([]Message, len(t.messages))
	for i, m := range t.messages {
		out[i] = m.Message
		out[i].Parts = make([]Part, len(m.parts))
		for j, p := range m.parts {
			out[i].Parts[j] = p.now()
		}
	}
	return out
}

// now is the part with its text as it is.
func (h *viewPart) now() Part {
	if h.grown.Len() > 0 {
		return h.part.WithText(h.grown.String())
	}
	return h.part
}
