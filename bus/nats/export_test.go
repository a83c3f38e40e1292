package nats

import "github.com/lathe-agent/lathe"

// The limits of what waits.
const (
	MaxHeldBytes = maxHeldBytes
	MaxHeldParts = maxHeldParts
)

// Held returns the bytes that wait for earlier deltas, and the number of their parts.
func Held(r *Relay) (bytes, parts int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.in.held {
		bytes += h.bytes
	}
	return bytes, len(r.in.held)
}

// Flush waits until the server has everything that was sent.
func Flush(r *Relay) error { return r.conn.Flush() }

// Subscribed reports whether the server sends the deltas of a session.
func Subscribed(r *Relay, session lathe.SessionID) bool {
	r.mu.Lock()
	f := r.in.followed[session]
	there := f != nil && f.sub != nil
	r.mu.Unlock()
	return there && r.conn.Flush() == nil
}
