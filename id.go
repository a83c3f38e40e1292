package lathe

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"sync"
)

// The kinds of id. Ids are opaque: they wrap every 795 days (last on 2026-08-14),
// so nothing may be ordered by them alone.
type (
	SessionID   string
	MessageID   string
	PartID      string
	AskID       string // per_… for permissions, que_… for questions
	EventID     string
	WorkspaceID string
	PtyID       string
	TaskID      string // job_… for commands, ses_… for sessions
)

// Prefix is the kind of an id, the letters before its underscore.
type Prefix string

// The prefixes in use.
const (
	PrefixSession    Prefix = "ses"
	PrefixMessage    Prefix = "msg"
	PrefixPart       Prefix = "prt"
	PrefixPermission Prefix = "per"
	PrefixQuestion   Prefix = "que"
	PrefixPty        Prefix = "pty"
	PrefixTool       Prefix = "tool"
	PrefixEvent      Prefix = "evt"
	PrefixWorkspace  Prefix = "wrk"
	PrefixJob        Prefix = "job"
)

// MaxID is the longest id accepted from outside, in bytes.
const MaxID = 128

const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// IDs makes ids in OpenCode's layout: prefix, underscore, 12 hex digits of
// time and counter, 14 random characters. Within one generator they rise (session
// ids fall) even when the clock goes back. One generator serves a process.
type IDs struct {
	now  func() Time
	rand func([]byte)

	mu   sync.Mutex
	last uint64 // the last tick
}

// NewIDs returns a generator on the real clock and the system's randomness.
func NewIDs() *IDs { return NewIDsFrom(Now, func(b []byte) { _, _ = rand.Read(b) }) }

// NewIDsFrom returns a generator on the given clock and randomness, for tests that
// need the same ids each time.
func NewIDsFrom(now func() Time, random func([]byte)) *IDs {
	return &IDs{now: now, rand: random}
}

// Session returns a new session id; newer ones sort first within a period.
func (g *IDs) Session() SessionID { return SessionID(g.make(PrefixSession, ^uint64(0))) }

// Message returns a new message id.
func (g *IDs) Message() MessageID { return MessageID(g.make(PrefixMessage, 0)) }

// Part returns a new part id.
func (g *IDs) Part() PartID { return PartID(g.make(PrefixPart, 0)) }

// Event returns a new event id.
func (g *IDs) Event() EventID { return EventID(g.make(PrefixEvent, 0)) }

// New returns a new ascending id of any kind.
func (g *IDs) New(p Prefix) string { return g.make(p, 0) }

// make builds an id; flip is xored into the time part, all ones for ids that descend.
func (g *IDs) make(p Prefix, flip uint64) string {
	var b [48]byte
	n := copy(b[:], p)
	b[n] = '_'
	n++
	var t [8]byte
	binary.BigEndian.PutUint64(t[:], g.tick()^flip)
	hex.Encode(b[n:], t[2:])
	n += 12
	tail := b[n : n+14]
	g.rand(tail)
	for i, c := range tail {
		tail[i] = idAlphabet[int(c)%len(idAlphabet)]
	}
	return string(b[:n+14])
}

// tick returns milliseconds × 4096 plus a counter that starts at 1 in each one. It
// always rises: a clock that went back is ignored, and so is one that has not yet
// reached what more than 4095 ids in a millisecond have borrowed from the next.
func (g *IDs) tick() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = max(g.last, uint64(max(g.now(), 0))<<12) + 1
	return g.last
}

// CheckID refuses an id from outside that has another prefix, is too long, or holds
// anything but letters, digits, underscore and hyphen: ids become file names, URLs
// and database keys.
func CheckID(p Prefix, id string) error {
	if !strings.HasPrefix(id, string(p)) {
		return Errorf(Invalid, "id %q must start with %q", clip(id, 64), p)
	}
	if len(id) > MaxID {
		return Errorf(Invalid, "id %q… is longer than %d bytes", clip(id, 40), MaxID)
	}
	for i := range len(id) {
		if c := id[i]; c != '_' && c != '-' && !isAlnum(c) {
			return Errorf(Invalid, "id %q holds %q; only letters, digits, _ and - are allowed", clip(id, 64), c)
		}
	}
	return nil
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// CallID returns a tool call id for a call that the engine itself makes, in
// OpenCode's form: a ULID, 26 characters of Crockford's base 32.
func (g *IDs) CallID() string {
	const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var b [16]byte
	g.rand(b[6:])
	ms := g.tick() >> 12
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	var out [26]byte
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	for i := 25; i >= 0; i-- { // 128 bits, five at a time from the low end
		out[i] = crockford[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out[:])
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
