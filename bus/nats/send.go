package nats

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

const (
	// maxOut limits what waits to be sent, in bytes. Beyond it all of it is dropped: readers get the text from the store.
	maxOut = 1 << 20
	// maxText limits the text of one message, in bytes. A longer delta is sent in pieces.
	maxText = 64 << 10
)

// outbox has what waits to be sent.
type outbox struct {
	deltas    []bus.Delta
	bytes     int
	committed bool
	wakes     []string
	follow    []lathe.SessionID // new subscriptions
}

// Grew queues a delta. It extends the one before it if that is of the same part.
func (r *Relay) Grew(d bus.Delta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &r.out
	if o.bytes+len(d.Text) > maxOut {
		r.count.dropped.Add(int64(len(o.deltas)) + 1)
		o.deltas, o.bytes = nil, 0
		return
	}
	o.bytes += len(d.Text)
	if n := len(o.deltas); n == 0 || !o.deltas[n-1].Join(d) {
		o.deltas = append(o.deltas, d)
	}
	r.signal()
}

// Announce queues a hint for all nodes.
func (r *Relay) Announce(upTo int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if upTo == 0 || upTo > r.upTo {
		r.upTo, r.out.committed = max(r.upTo, upTo), true
		r.signal()
	}
}

// Wake queues a hint for one node.
func (r *Relay) Wake(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.out.wakes) < 1000 {
		r.out.wakes = append(r.out.wakes, node)
	}
	r.signal()
}

func (r *Relay) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// send sends what was queued. Hints go first: they tell of the parts that the deltas are of.
func (r *Relay) send(ctx context.Context) {
	for {
		select {
		case <-r.wake:
		case <-ctx.Done():
			return
		}
		r.mu.Lock()
		out := r.out
		r.out = outbox{}
		r.mu.Unlock()
		for _, session := range out.follow {
			r.subscribe(session)
		}
		if !r.conn.IsConnected() {
			r.count.dropped.Add(int64(len(out.deltas)))
			continue
		}
		if out.committed {
			_ = r.conn.Publish(r.subject+"c", nil) // nodes look without it too
		}
		for _, node := range out.wakes {
			_ = r.conn.Publish(r.subject+"w."+token(node), nil)
		}
		for _, d := range out.deltas {
			r.sendDelta(d)
		}
	}
}

func (r *Relay) sendDelta(d bus.Delta) {
	for d.Text != "" {
		n := len(d.Text)
		if n > maxText {
			for n = maxText; !utf8.RuneStart(d.Text[n]); n-- {
			}
		}
		piece := d
		piece.Text = d.Text[:n]
		if err := r.conn.Publish(r.subject+"d."+token(string(d.Session)), encode(piece)); err != nil {
			r.count.dropped.Add(1)
			return
		}
		r.count.sent.Add(1)
		d.Offset, d.Text = d.Offset+n, d.Text[n:]
	}
}

// encode writes a delta as one line and its text.
func encode(d bus.Delta) []byte {
	b := make([]byte, 0, len(d.Message)+len(d.Part)+len(d.Text)+16)
	b = append(append(append(b, d.Message...), ' '), d.Part...)
	b = append(strconv.AppendInt(append(b, ' '), int64(d.Offset), 10), '\n')
	return append(b, d.Text...)
}

// decode reads a delta of another node, which may be anything.
func decode(session lathe.SessionID, data []byte) (d bus.Delta, ok bool) {
	if len(data) > maxText+1<<10 {
		return d, false
	}
	head, text, ok := strings.Cut(string(data), "\n")
	message, rest, ok1 := strings.Cut(head, " ")
	part, at, ok2 := strings.Cut(rest, " ")
	offset, err := strconv.ParseInt(at, 10, 48)
	if !ok || !ok1 || !ok2 || err != nil || offset < 0 || text == "" || !utf8.ValidString(text) || !isID(message) || !isID(part) {
		return d, false
	}
	return bus.Delta{Session: session, Message: lathe.MessageID(message), Part: lathe.PartID(part), Offset: int(offset), Text: text}, true
}

// isID bounds what is used as a key and a query.
func isID(s string) bool { return s != "" && len(s) <= 128 && utf8.ValidString(s) }
