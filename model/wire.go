package model

import (
	"sync"

	"github.com/lathe-agent/lathe"
)

// What the protocols share: reading strings off the wire, and keeping encoded messages.

// StringEnd returns the length of the JSON string at the start of b, 0 if there is none. Its
// escapes are not checked.
func StringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			i++
		case c < 0x20:
			return 0
		}
	}
	return 0
}

// Joiner reads the strings of a block's deltas and puts together surrogate pairs whose halves
// came in two of them.
type Joiner struct{ half []byte }

// Text reads a JSON string with its quotes, and reports whether it is one. The first half of
// a pair at its end is kept for the next.
func (j *Joiner) Text(raw []byte) (string, bool) {
	if len(j.half) > 0 && len(raw) >= 2 && raw[0] == '"' {
		joined := make([]byte, 0, len(j.half)+len(raw))
		joined = append(append(joined, '"'), j.half...)
		raw = append(joined, raw[1:]...)
		j.half = nil
	}
	if n := len(raw); n >= 8 && raw[n-7] == '\\' && raw[n-6] == 'u' && isHigh(raw[n-5:n-1]) && !escaped(raw, n-7) {
		j.half = append([]byte(nil), raw[n-7:n-1]...)
		raw = append(append(make([]byte, 0, n-6), raw[:n-7]...), '"')
	}
	return lathe.UnquoteJSON(raw)
}

// Rest returns what the end of a block leaves of a half whose other one never came.
func (j *Joiner) Rest() string {
	if len(j.half) == 0 {
		return ""
	}
	j.half = nil
	return "\uFFFD"
}

// isHigh reports whether four characters are the hex digits of a pair's first half.
func isHigh(b []byte) bool {
	return b[0]|0x20 == 'd' && (b[1] == '8' || b[1] == '9' || b[1]|0x20 == 'a' || b[1]|0x20 == 'b') && isHex(b[2]) && isHex(b[3])
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// escaped reports whether the backslash at i is itself escaped.
func escaped(b []byte, i int) bool {
	n := 0
	for i > 0 && b[i-1] == '\\' {
		i--
		n++
	}
	return n%2 == 1
}

// maxKept bounds how many bytes of encoded messages one generation of Kept holds.
const maxKept = 32 << 20

// Kept holds what messages were encoded to, by key, so that a request copies its history
// instead of encoding it again. What has not been asked for during a whole generation is
// let go. The zero value is ready; it is safe for use by many goroutines.
type Kept struct {
	mu    sync.Mutex // guards what follows
	young map[string][]byte
	old   map[string][]byte
	size  int // bytes in young
}

// Get returns the bytes kept under the key, or makes them. They must not be changed. An empty
// key keeps nothing.
func (k *Kept) Get(key string, encode func() []byte) []byte {
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
	if k.young == nil || k.size > maxKept {
		k.old, k.young, k.size = k.young, map[string][]byte{}, 0
	}
	if _, again := k.young[key]; !again {
		k.young[key] = b
		k.size += len(key) + len(b)
	}
	return b
}
