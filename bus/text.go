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
	event   lathe.Event // session, directory and project of its events
	id      lathe.PartID
	message lathe.MessageID
	order   int64
	quiet   bool // not published: the arguments of a tool call

	fact      lathe.PartChanged // the part as last published, without its text
	buf       strings.Builder   // whole characters only
	rest      string            // the first bytes of an incomplete character
	units     int               // length of buf in UTF-16 units
	published int               // length of buf when the whole part was last published
	closed    bool              // no longer published
	own       bool              // opened by a runner of this process
	ahead     int               // bytes at the end that came from another node and are not known to be stored
}

// growing reports whether a part can have an open text.
func growing(p lathe.Part) bool {
	if call, ok := p.Body.(*lathe.ToolCall); ok {
		_, pending := call.State.(*lathe.Pending)
		return pending
	}
	return p.Open()
}

// Open returns the text of the open part in the event, a message.part.updated as it was
// published. Publish has already started the text, so that no reader can join in between. If
// the event was not published, Open sends it to the current subscribers. The arguments of a
// pending tool call are a text too, but are not published. There is one text for each part:
// opening it twice returns the same.
func (b *Bus) Open(e lathe.Event) *Text {
	part := e.Fact.(*lathe.PartChanged).Part
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.texts[part.ID]; t != nil {
		t.own = true
		return t
	}
	t := b.begin(e)
	t.own = true
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

// Texts is the number of open texts.
func (b *Bus) Texts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.texts)
}

// begin creates the text of an open part.
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
	t.units, t.published = lathe.UTF16Len(text), len(text)
	if !t.closed {
		b.texts[t.id] = t
	}
	return t
}

// end stops publishing a text. Its queued items stay, because they are older.
func (b *Bus) end(t *Text) {
	t.closed = true
	if b.texts[t.id] == t {
		delete(b.texts, t.id)
	}
}

// endAll ends the matching texts.
func (b *Bus) endAll(matches func(*Text) bool) {
	for _, t := range b.texts {
		if matches(t) {
			b.end(t)
		}
	}
}

// setText adds the text to another update of an open part: while the part grows, its text is
// here and not in the event, and deltas continue from its end. Only for a part
// that grows in another process the event may have more text.
func (t *Text) setText(e *lathe.Event) {
	fact := *e.Fact.(*lathe.PartChanged)
	t.fact = fact
	t.fact.Part = fact.Part.WithText("")
	if t.quiet {
		return
	}
	if more, ok := strings.CutPrefix(fact.Part.GrowingText(), t.buf.String()); ok {
		t.write(more)
		t.ahead = 0
	}
	t.published = t.buf.Len()
	fact.Part = fact.Part.WithText(t.buf.String())
	e.Fact = &fact
}

// whole is a message.part.updated with the text so far, for a new subscriber. Its cost is
// small, because its text is shared.
func (t *Text) whole() item {
	e, fact := t.event, t.fact
	fact.Part = fact.Part.WithText(t.buf.String())
	e.Fact = &fact
	return item{event: &e, text: t, cost: smallCost}
}

// Append extends the text and sends a delta to every subscriber in scope. Its cost depends on
// the length of s, not of the text. If s ends inside a character, Append holds its first
// bytes back until the rest comes. After the text has ended it still grows, because the
// runner needs all of it to settle the part, but deltas are no longer sent.
func (t *Text) Append(s string) {
	b := t.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	t.extend(s)
}

// extend is Append with the bus locked.
func (t *Text) extend(s string) {
	b := t.bus
	d := item{text: t, from: t.buf.Len(), units: t.units, cost: smallCost}
	t.write(s)
	if t.buf.Len() == d.from || t.quiet || t.closed {
		return
	}
	d.sofar = t.buf.String()
	if b.grown != nil && t.own {
		b.grown(Delta{Session: t.event.Session, Message: t.message, Part: t.id, Offset: d.from, Text: d.sofar[d.from:], sofar: d.sofar})
	}
	published := t.published
	b.index.each(t.event.Session, t.event.Directory, func(s *Subscription) bool { return s.grow(d, published) })
}

// write adds the complete characters.
func (t *Text) write(s string) {
	if t.rest != "" {
		s = t.rest + s
	}
	n := wholeRunes(s)
	t.rest = strings.Clone(s[n:])
	t.buf.WriteString(s[:n])
	t.units += lathe.UTF16Len(s[:n])
}

// wholeRunes is the length of s without an incomplete character at its end.
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

// Since returns the text from a byte offset on, without copying it, for a checkpoint. Past
// the end it is empty.
func (t *Text) Since(offset int) string {
	t.bus.mu.Lock()
	defer t.bus.mu.Unlock()
	return t.buf.String()[min(max(offset, 0), t.buf.Len()):]
}

// Close ends a text whose settled part was not published because the commit failed or was
// abandoned. Otherwise it does nothing. Existing subscribers keep their copy open until a
// repair of the session settles the part. New ones get none.
func (t *Text) Close() {
	t.bus.mu.Lock()
	defer t.bus.mu.Unlock()
	t.bus.end(t)
}
