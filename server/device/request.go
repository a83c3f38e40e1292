package device

import (
	"context"
	"errors"
	"time"
)

// ErrRevoked is the cause of a context that ended because its device was revoked.
var ErrRevoked = errors.New("the device was revoked")

// pollEvery is how often open requests are checked for devices that another process revoked.
const pollEvery = 500 * time.Millisecond

// request is an open request of a device.
type request struct{ end context.CancelCauseFunc }

// Hold returns a context that ends when a device is revoked, also by another process. ok is false if it is already.
func (s *Store) Hold(ctx context.Context, id string) (held context.Context, release func(), ok bool) {
	held, end := context.WithCancelCause(ctx)
	r := &request{end}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refresh() != nil || s.content.index(id) < 0 || s.closed {
		end(ErrRevoked)
		return held, func() {}, false
	}
	if s.open == nil {
		s.open = map[string]map[*request]bool{}
	}
	if s.open[id] == nil {
		s.open[id] = map[*request]bool{}
	}
	s.open[id][r] = true
	if !s.polling {
		s.polling = true
		s.ended.Go(s.poll)
	}
	return held, func() { s.release(id, r) }, true
}

func (s *Store) release(id string, r *request) {
	r.end(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.open[id], r); len(s.open[id]) == 0 {
		delete(s.open, id)
	}
}

// endGone ends the requests of devices that are gone. The caller holds mu. The functions it calls take no lock of
// this package.
func (s *Store) endGone() {
	for id, all := range s.open {
		if s.content.index(id) >= 0 {
			continue
		}
		for r := range all {
			r.end(ErrRevoked)
		}
	}
}

// poll looks at the file while requests are open.
func (s *Store) poll() {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		s.mu.Lock()
		if len(s.open) == 0 {
			s.polling = false
			s.mu.Unlock()
			return
		}
		_ = s.refresh() // an unreadable file has ended all requests
		s.mu.Unlock()
	}
}
