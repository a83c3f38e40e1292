package device

import (
	"sync"
	"time"
)

// Attempts limits guesses of passwords and links: by the address they come from, and in all.
type Attempts struct {
	mu   sync.Mutex // guards the fields below
	from time.Time  // begin of the present period
	made map[string]int
	all  int
}

// The guesses in a period. More addresses than mostAddresses share one limit.
const (
	attemptPeriod  = time.Minute
	mostOfAddress  = 10
	mostOfAll      = 100
	mostAddresses  = 1000
	otherAddresses = "*"
)

// Begin counts an attempt before it is judged, so that many at once are no way around the limit. It returns how long
// to wait instead, or 0.
func (a *Attempts) Begin(address string, now time.Time) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if since := now.Sub(a.from); since >= attemptPeriod || since < 0 {
		a.from, a.made, a.all = now, map[string]int{}, 0
	}
	address = a.key(address)
	if a.made[address] >= mostOfAddress || a.all >= mostOfAll {
		return a.from.Add(attemptPeriod).Sub(now)
	}
	a.made[address]++
	a.all++
	return 0
}

// Forgive takes an attempt back that was right.
func (a *Attempts) Forgive(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if address = a.key(address); a.made[address] > 0 {
		a.made[address]--
		a.all--
	}
}

// key is the address under which attempts are counted. The caller holds mu.
func (a *Attempts) key(address string) string {
	if _, known := a.made[address]; !known && len(a.made) >= mostAddresses {
		return otherAddresses
	}
	return address
}
