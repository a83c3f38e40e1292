package terminal

import (
	"sync"
	"unicode/utf8"
)

const (
	// BufferLimit is the size of a terminal's output buffer, in characters as clients count
	// them.
	BufferLimit = 2 << 20

	chunkSize = 16 << 10 // bytes, about
)

// buffer is the recent output of a terminal. Positions are counted from its first character on,
// in units of UTF-16, which is what the strings of most clients consist of.
type buffer struct {
	mu         sync.Mutex // guards the fields below
	chunks     []chunk
	start, end int64         // positions of the oldest and behind the newest character
	changed    chan struct{} // closed by the next change
	over       bool          // nothing more comes
	partial    []byte        // of a character whose other bytes have not come
}

type chunk struct {
	text  []byte
	units int
}

// units is how many units of UTF-16 a character has.
func units(r rune) int {
	if r >= 1<<16 {
		return 2
	}
	return 1
}

// add appends what was shown. Bytes that are no UTF-8 become U+FFFD.
func (b *buffer) add(p []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.partial) > 0 {
		p = append(b.partial, p...)
		b.partial = nil
	}
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n <= 1 && !utf8.FullRune(p) {
			b.partial = append([]byte(nil), p...)
			break
		}
		b.put(r)
		p = p[n:]
	}
	b.trim()
	b.wake()
}

func (b *buffer) put(r rune) {
	last := len(b.chunks) - 1
	if last < 0 || len(b.chunks[last].text) >= chunkSize {
		b.chunks = append(b.chunks, chunk{})
		last++
	}
	c := &b.chunks[last]
	c.text = utf8.AppendRune(c.text, r)
	c.units += units(r)
	b.end += int64(units(r))
}

// trim forgets the oldest chunks.
func (b *buffer) trim() {
	n := 0
	for n < len(b.chunks) && b.end-b.start-int64(b.chunks[n].units) >= BufferLimit {
		b.start += int64(b.chunks[n].units)
		n++
	}
	if n > 0 {
		b.chunks = append([]chunk(nil), b.chunks[n:]...) // so that the text of the others can go
	}
}

func (b *buffer) wake() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// finish says that nothing more comes.
func (b *buffer) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.partial) > 0 {
		b.partial = nil
		b.put(utf8.RuneError)
	}
	b.over = true
	b.wake()
}

// bounds are the positions of the oldest character and behind the newest.
func (b *buffer) bounds() (start, end int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.start, b.end
}

// Output is a part of what a terminal showed.
type Output struct {
	Text  string
	Next  int64           // the position after it
	More  <-chan struct{} // of an empty one: closed when there is more, or nothing more will come
	Ended bool            // nothing more comes
}

// read returns up to limit units from a position on, fewer where a character would be cut. What
// was forgotten is passed over.
func (b *buffer) read(from int64, limit int) Output {
	b.mu.Lock()
	defer b.mu.Unlock()
	from = max(from, b.start)
	if from >= b.end {
		if b.over {
			return Output{Next: b.end, Ended: true}
		}
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		return Output{Next: b.end, More: b.changed}
	}
	var out []byte
	skip, space := from-b.start, int64(limit)
	for _, c := range b.chunks {
		if skip >= int64(c.units) {
			skip -= int64(c.units)
			continue
		}
		part, over := c.cut(skip, space)
		if part.units == 0 && over == 0 {
			break // the next character does not fit
		}
		out = append(out, part.text...)
		space -= int64(part.units)
		from += over + int64(part.units)
		if skip = 0; space <= 0 {
			break
		}
	}
	return Output{Text: string(out), Next: from}
}

// cut returns up to limit units after the first skip ones. over is how many units more were
// skipped, because a position inside of a pair means the character after it.
func (c chunk) cut(skip, space int64) (part chunk, over int64) {
	if skip == 0 && int64(c.units) <= space {
		return c, 0
	}
	from := 0
	for from < len(c.text) && skip > 0 {
		r, size := utf8.DecodeRune(c.text[from:])
		skip -= int64(units(r))
		from += size
	}
	to, n := from, int64(0)
	for to < len(c.text) {
		r, size := utf8.DecodeRune(c.text[to:])
		u := int64(units(r))
		if n+u > space {
			break
		}
		n += u
		to += size
	}
	return chunk{text: c.text[from:to], units: int(n)}, -skip
}
