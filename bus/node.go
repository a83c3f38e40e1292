package bus

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Delta is the growth of an open part on another node.
type Delta struct {
	Session lathe.SessionID
	Message lathe.MessageID
	Part    lathe.PartID
	Offset  int // of Text in bytes
	Text    string

	sofar string // the text up to the end of the delta, on the node where it grows; shares its memory
}

// Join extends a delta by the one after it, without copying, and reports whether they are of one part and adjacent.
func (d *Delta) Join(next Delta) bool {
	if d.Part != next.Part || d.Offset+len(d.Text) != next.Offset || next.sofar == "" {
		return false
	}
	d.Text, d.sofar = next.sofar[d.Offset:], next.sofar
	return true
}

// Node is what a relay between nodes needs of a process. Look does not block, Read may.
type Node struct {
	Feed string // names the database
	Name string // of the process, unique among the nodes
	Bus  *Bus
	// Look makes the process publish soon what other nodes have committed.
	Look func()
	// Read publishes what is stored of an open part, as a change by another node.
	Read func(context.Context, Delta) error
}

// maxAhead limits what a text grows by deltas of other nodes beyond what is known to be stored, in bytes. A node
// stores the growth of its texts about once a second.
const maxAhead = 1 << 20

// Fit says how a delta of another node fits the text here.
type Fit int

const (
	Applied Fit = iota // it continued the text
	Behind             // the text has it
	Beyond             // something before it is missing
	Unknown            // there is no such text
	Refused            // it contradicts the text, the text grows here, or it is too much
)

// Extend appends a delta of another node to its text, if it continues the text. What it adds is shown to readers until the
// store says otherwise.
func (b *Bus) Extend(d Delta) Fit {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.texts[d.Part]
	if t == nil {
		return Unknown
	}
	if t.own || t.quiet || t.event.Session != d.Session || t.message != d.Message || d.Offset < 0 || wholeRunes(d.Text) != len(d.Text) {
		return Refused
	}
	end := t.buf.Len()
	if d.Offset > end {
		return Beyond
	}
	known := min(end-d.Offset, len(d.Text))
	if t.buf.String()[d.Offset:d.Offset+known] != d.Text[:known] {
		return Refused
	}
	more := d.Text[known:]
	switch {
	case more == "":
		return Behind
	case t.ahead+len(more) > maxAhead:
		return Refused
	}
	t.extend(more)
	t.ahead += len(more)
	return Applied
}

// Follow lets a text that grows on another node continue with what is stored of it. It returns false if the text is
// something else than what is stored: it must end then.
func (t *Text) Follow(stored string) bool {
	t.bus.mu.Lock()
	defer t.bus.mu.Unlock()
	have := t.buf.String()
	if more, ok := strings.CutPrefix(stored, have); ok {
		t.extend(more)
		t.ahead = 0
		return true
	}
	if more, ok := strings.CutPrefix(have, stored); ok && len(more) <= t.ahead {
		t.ahead = len(more)
		return true
	}
	return false
}

// Disown lets another node continue the text.
func (t *Text) Disown() {
	t.bus.mu.Lock()
	defer t.bus.mu.Unlock()
	t.own = false
}
