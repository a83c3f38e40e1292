package server

import (
	"encoding/json"
	"sync"

	"github.com/lathe-agent/lathe"
)

// eventFormat is the event format of a stream.
type eventFormat struct {
	global  bool // with directory and project around them
	offsets bool // deltas say where they belong
}

// frames writes events as frames of a stream. Many streams send the same event one after the
// other, so the last few are cached as JSON. Deltas differ by reader and are not.
type frames struct {
	mu     sync.Mutex // guards the fields below
	cached map[lathe.EventID][]byte
	order  [cachedFrames]lathe.EventID
	next   int
}

const (
	cachedFrames = 32
	keepUpTo     = 256 << 10 // bytes; eight megabytes in all
)

// append adds the frame of one event.
func (f *frames) append(dst []byte, ev lathe.Event, to eventFormat, feed string) []byte {
	if ev.Last && ev.Seq > 0 {
		dst = append(dst, "id: "...)
		dst = append(dst, lathe.Cursor{Seq: ev.Seq, Feed: feed}.String()...)
		dst = append(dst, '\n')
	}
	dst = append(dst, "data: "...)
	if to.global {
		dst = append(appendPlace(dst, ev), `"payload":`...)
	}
	dst = f.payload(dst, ev, to)
	if to.global {
		dst = append(dst, '}')
	}
	return append(dst, "\n\n"...)
}

func (f *frames) payload(dst []byte, ev lathe.Event, to eventFormat) []byte {
	if _, delta := ev.Fact.(*lathe.PartDelta); delta {
		if to.offsets {
			return ev.AppendWithOffset(dst)
		}
		return ev.AppendJSON(dst)
	}
	if data := f.find(ev.ID); data != nil {
		return append(dst, data...)
	}
	from := len(dst)
	dst = ev.AppendJSON(dst)
	f.keep(ev.ID, dst[from:])
	return dst
}

func (f *frames) find(id lathe.EventID) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cached[id]
}

func (f *frames) keep(id lathe.EventID, data []byte) {
	if len(data) > keepUpTo {
		return
	}
	own := append([]byte(nil), data...)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cached == nil {
		f.cached = map[lathe.EventID][]byte{}
	}
	delete(f.cached, f.order[f.next])
	f.cached[id], f.order[f.next] = own, id
	f.next = (f.next + 1) % cachedFrames
}

// appendPlace opens the object around an event with its directory: "global" for an event about
// all, none for an event about the stream itself.
func appendPlace(dst []byte, ev lathe.Event) []byte {
	dst = append(dst, '{')
	dir := ev.Directory
	if dir == "" {
		switch ev.Fact.(type) {
		case *lathe.ServerConnected, *lathe.ServerHeartbeat, *lathe.ServerResync:
			return dst
		default:
			dir = "global"
		}
	}
	dst = appendMember(dst, "directory", dir)
	if ev.Project != "" {
		dst = appendMember(dst, "project", ev.Project)
	}
	return dst
}

func appendMember(dst []byte, name, value string) []byte {
	text, _ := json.Marshal(value) // strings always can be
	dst = append(dst, '"')
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	dst = append(dst, text...)
	return append(dst, ',')
}
