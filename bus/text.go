package bus

import (
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
)

// Text is the text of an open part. It has one writer, the runner of its session, and any
// number of readers. All fields that change are guarded by the mutex of the bus.
type Text struct {
	bus     *Bus
	event   lathe.Event // session, directory and project of all that is said about it
	id      lathe.PartID
	message lathe.MessageID
	order   int64
	quiet   bool // kept, but not told: the arguments of a tool call

	fact   lathe.PartChanged // the part as last told, its text left out
	buf    strings.Builder   // whole characters only
	rest   string            // the beginning of a character whose end has not come yet
	units  int               // length of buf in UTF-16 units
	told   int               // length of buf when the part was last told whole
	closed bool              // no longer told
}

// growing reports whether a part can have a text here that is not settled yet.
func growing(p lathe.Part) bool {
	if call, ok := p.Body.(*lathe.ToolCall); ok {
		_, pending := call.State.(*lathe.Pending)
		return pending
	}
	return p.Open()
}

// Open returns the text of the open part in the event, a message.part.updated as it was
// published. Publishing has begun the text, so that no reader can come in between; of
// an event that was not published, those who listen now are told here. The arguments
// of a pending tool call are kept in the same way, but nobody is told of them. There is
// one text for each part: opening it twice returns the same.
func (b *Bus) Open(e lathe.Event) *Text {
	part := e.Fact.(*lathe.PartChanged).Part
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.texts[part.ID]; t != nil {
		return t
	}
	t := b.begin(e)
	if !t.quiet && !t.closed {
		it := t.whole()
		b.index.each(t.event.Session, t.event.Directory, func(s *Subscription) bool { return s.push(it) })
	}
	return t
}

// Text returns the open text of a part, nil if there is none.
func (b *Bus) Text(id lathe.PartID) *Text {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.texts[id]
}

// Texts is how many texts are open.
func (b *Bus) Texts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.texts)
}

// begin makes the text of an open part.
func (b *Bus) begin(e lathe.Event) *Text {
	fact := *e.Fact.(*lathe.PartChanged)
	_, quiet := fact.Part.Body.(*lathe.ToolCall)
	b.opened++
	t := &Text{
		bus:     b,
		event:   lathe.Event{Session: e.Session, Directory: e.Directory, Project: e.Project},
		id:      fact.Part.ID,
		message: fact.Part.Message,
		order:   b.opened,
		quiet:   quiet,
		closed:  b.closed,
	}
	text := fact.Part.GrowingText()
	t.fact = fact
	t.fact.Part = fact.Part.WithText("")
	t.buf.WriteString(text)
	t.units, t.told = lathe.UTF16Len(text), len(text)
	if !t.closed {
		b.texts[t.id] = t
	}
	return t
}

// end stops telling of a text. What is queued of it stays: it came before.
func (b *Bus) end(t *Text) {
	t.closed = true
	if b.texts[t.id] == t {
		delete(b.texts, t.id)
	}
}

// endAll ends the texts that are meant.
func (b *Bus) endAll(meant func(*Text) bool) {
	for _, t := range b.texts {
		if meant(t) {
			b.end(t)
		}
	}
}

// setText completes an event that tells an open part again: while it grows its text is
// here and not in the event, and deltas go on from where this one ends. Only of a part
// that grows in another process the event may know more.
func (t *Text) setText(e *lathe.Event) {
	fact := *e.Fact.(*lathe.PartChanged)
	t.fact = fact
	t.fact.Part = fact.Part.WithText("")
	if t.quiet {
		return
	}
	if more, ok := strings.CutPrefix(fact.Part.GrowingText(), t.buf.String()); ok {
		t.write(more)
	}
	t.told = t.buf.Len()
	fact.Part = fact.Part.WithText(t.buf.String())
	e.Fact = &fact
}

// whole is a message.part.updated with the text so far, for one who joins. It counts
// little, since its text is shared.
func (t *Text) whole() item {
	e, fact := t.event, t.fact
	fact.Part = fact.Part.WithText(t.buf.String())
	e.Fact = &fact
	return item{event: &e, text: t, cost: smallCost}
}

// Append extends the text and tells everyone in whose scope it is. It costs what s is
// long, whatever the length of the text. s may end inside a character; what there is of
// it is kept back until the rest comes. After the text has ended it still grows, because
// a runner that settles its part needs all of it, but nobody is told.
func (t *Text) Append(s string) {
	b := t.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	d := item{text: t, from: t.buf.Len(), units: t.units, cost: smallCost}
	t.write(s)
	if t.buf.Len() == d.from || t.quiet || t.closed {
		return
	}
	d.sofar = t.buf.String()
	told := t.told
	b.index.each(t.event.Session, t.event.Directory, func(s *Subscription) bool { return s.grow(d, told) })
}

// write adds the whole characters of what has come.
func (t *Text) write(s string) {
	if t.rest != "" {
		s = t.rest + s
	}
	n := wholeRunes(s)
	t.rest = strings.Clone(s[n:])
	t.buf.WriteString(s[:n])
	t.units += lathe.UTF16Len(s[:n])
}

// wholeRunes is how many bytes of s come before a character that is cut off at the end.
func wholeRunes(s string) int {
	for n := len(s) - 1; n >= 0 && len(s)-n < utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			if utf8.FullRuneInString(s[n:]) {
				return len(s)
			}
			return n
		}
	}
	return len(s)
}

// String returns the text so far, without copying it.
func (t *Text) String() string { return t.Since(0) }

// Len is the length of the text so far in bytes.
func (t *Text) Len() int { return len(t.Since(0)) }

// Since returns the text from a byte offset on, without copying it: what a checkpoint
// has to add. Past the end there is nothing.
func (t *Text) Since(offset int) string {
	t.bus.mu.Lock()
	defer t.bus.mu.Unlock()
	return t.buf.String()[min(max(offset, 0), t.buf.Len()):]
}

// Close ends a text whose settling was not published, because its commit failed or was
// given up; after one that was, it does nothing. Those who have a copy keep it open until
// whoever repairs the session settles the part; those who join get none.
func (t *Text) Close() {
	t.bus.mu.Lock()
	defer t.bus.mu.Unlock()
	t.bus.end(t)
}
