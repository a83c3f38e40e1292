package wire

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/model"
)

// Limits of one generation of Kept: the bytes of encoded messages it holds, and how long it lasts.
const (
	maxCached = 8 << 20
	cacheTime = time.Minute
)

// Cache holds what messages were encoded to, by key, so that a request copies its history
// instead of encoding it again. What has not been asked for during a whole generation is
// let go, so a client at rest soon holds nothing. The zero value is ready; it is safe for use by many goroutines.
type Cache struct {
	mu    sync.Mutex // guards what follows
	young map[string][]byte
	old   map[string][]byte
	size  int         // bytes in young
	timer *time.Timer // ends the generation; nil while nothing is held

	seeded sync.Once
	seeds  [2]maphash.Seed
}

// Get returns the bytes cached under the key, or makes them. They must not be changed. An empty
// key keeps nothing.
func (k *Cache) Get(key string, encode func() []byte) []byte {
	if key == "" {
		return encode()
	}
	k.mu.Lock()
	b, ok := k.young[key]
	aged := false
	if !ok {
		b, aged = k.old[key]
	}
	k.mu.Unlock()
	if ok {
		return b
	}
	if !aged {
		b = encode()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.size > maxCached {
		k.age()
	}
	if k.young == nil {
		k.young = map[string][]byte{}
	}
	if k.timer == nil {
		k.timer = time.AfterFunc(cacheTime, k.expire)
	}
	if _, again := k.young[key]; !again {
		k.young[key] = b
		k.size += len(key) + len(b)
	}
	return b
}

// age begins a generation. The mutex is held.
func (k *Cache) age() { k.old, k.young, k.size = k.young, nil, 0 }

// expire is the timer's: it begins a generation, until nothing is held.
func (k *Cache) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.age()
	k.timer = nil
	if k.old != nil {
		k.timer = time.AfterFunc(cacheTime, k.expire)
	}
}

// Message returns what a message encodes to. Messages are identified by their key, or else by
// their content; the variant distinguishes different encodings of one message.
func (k *Cache) Message(variant string, m model.Message, encode func() []byte) []byte {
	key := m.Key
	if key == "" {
		key = k.sum(m)
	}
	return k.Get(variant+key, encode)
}

// Tools returns what tools encode to, with commas between them.
func (k *Cache) Tools(tools []model.Tool, encode func(t model.Tool) []byte) (out []byte) {
	for i, t := range tools {
		if i > 0 {
			out = append(out, ',')
		}
		key := "tool\x00" + t.Name + "\x00" + t.Description + "\x00" + string(t.Schema)
		out = append(out, k.Get(key, func() []byte { return encode(t) })...)
	}
	return out
}

// sum is a key for what a message holds: 128 bits that differ from process to process, so that
// two messages with the same key cannot be crafted. It costs a tenth of encoding.
func (k *Cache) sum(m model.Message) string {
	k.seeded.Do(func() { k.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()} })
	b := append(make([]byte, 0, 256), m.Role...)
	add := func(texts ...string) {
		for _, s := range texts {
			for _, seed := range k.seeds {
				b = binary.LittleEndian.AppendUint64(b, maphash.String(seed, s))
			}
		}
	}
	addRaw := func(raw []byte) {
		for _, seed := range k.seeds {
			b = binary.LittleEndian.AppendUint64(b, maphash.Bytes(seed, raw))
		}
	}
	for _, c := range m.Content {
		switch c := c.(type) {
		case model.TextContent:
			b = append(b, 't')
			add(c.Text)
			addRaw(c.Meta)
		case model.ReasoningContent:
			b = append(b, 'r')
			add(c.Text)
			addRaw(c.Meta)
		case model.FileContent:
			b = append(b, 'f')
			add(c.Mime, c.Name, c.Data, c.URL)
		case model.CallContent:
			b = append(b, 'c', flag(c.Executed))
			add(c.ID, c.Name)
			addRaw(c.Input)
			addRaw(c.Meta)
		case model.ResultContent:
			b = binary.AppendUvarint(append(b, 'o', flag(c.Executed), flag(c.Failed)), uint64(len(c.Media)))
			add(c.ID, c.Name, c.Text)
			addRaw(c.Meta)
			for _, f := range c.Media {
				add(f.Mime, f.Name, f.Data, f.URL)
			}
		}
	}
	var out []byte
	for _, seed := range k.seeds {
		out = binary.LittleEndian.AppendUint64(out, maphash.Bytes(seed, b))
	}
	return string(out)
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// EncodeEach writes the contents of a message with commas between them. Those that encode to
// nothing are left out.
func EncodeEach(m model.Message, encode func(b []byte, c model.Content) []byte) (b []byte) {
	size := 0 // of what tools gave, which may be megabytes
	for _, c := range m.Content {
		if r, ok := c.(model.ResultContent); ok {
			size += len(r.Text) + len(r.Text)/16 + 128
		}
	}
	b = slices.Grow(b, size)
	for _, c := range m.Content {
		before := len(b)
		if before > 0 {
			b = append(b, ',')
		}
		start := len(b)
		if b = encode(b, c); len(b) == start {
			b = b[:before]
		}
	}
	return b
}

// Turn is the encoded messages of one side before the other answers: adjacent pieces.
type Turn struct {
	Role   model.Role // of the user or the assistant; tool results come from the user
	Pieces [][]byte
	Last   model.Message // of those the pieces are made of
}

// Turns encodes messages for a protocol in which the sides take turns, with encode for messages
// that are not cached. A message that encodes to nothing is left out.
func (k *Cache) Turns(variant string, messages []model.Message, encode func(m model.Message) []byte) (out []Turn) {
	for _, m := range messages {
		piece := k.Message(variant, m, func() []byte { return encode(m) })
		if len(piece) == 0 {
			continue
		}
		role := model.UserRole
		if m.Role == model.AssistantRole {
			role = model.AssistantRole
		}
		if n := len(out); n == 0 || out[n-1].Role != role {
			out = append(out, Turn{Role: role})
		}
		t := &out[len(out)-1]
		t.Pieces, t.Last = append(t.Pieces, piece), m
	}
	return out
}

// Join writes turns after the head of a body, with open and end around each and commas between
// them. It allocates once. The result of end stands after the last piece.
func Join(head []byte, turns []Turn, open func(b []byte, t Turn) []byte, end func(b []byte, i int) []byte) []byte {
	size := len(head) + 64
	for _, t := range turns {
		size += 128
		for _, p := range t.Pieces {
			size += len(p) + 1
		}
	}
	b := append(make([]byte, 0, size), head...)
	for i, t := range turns {
		if i > 0 {
			b = append(b, ',')
		}
		b = open(b, t)
		for j, p := range t.Pieces {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(b, p...)
		}
		b = end(b, i)
	}
	return b
}

// EndsInReasoning reports whether the last content that is encoded to anything is a reasoning: no
// breakpoint of a prompt cache may be there.
func (t Turn) EndsInReasoning(encode func(b []byte, c model.Content) []byte) bool {
	for _, c := range slices.Backward(t.Last.Content) {
		if len(encode(nil, c)) > 0 {
			_, thought := c.(model.ReasoningContent)
			return thought
		}
	}
	return false
}
