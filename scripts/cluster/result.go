//go:build unix

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/scripts/turncheck"
)

// result is what a campaign counted and measured.
type result struct {
	sessions, messages, prompts, lost int
	completed, effects                int
	ends                              turncheck.Ends
	events, resyncs, retries          int

	killed, stopped, drained []time.Duration // until another process had the session
	delays                   []time.Duration // of words, until a reader had them
	memory                   map[string]float64
}

// quantile returns the value that a share of all values does not exceed.
func quantile(all []time.Duration, share float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// spread describes times.
func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	return fmt.Sprintf("%d, p50 %s, p99 %s, longest %s", len(all), round(quantile(all, 0.5)), round(quantile(all, 0.99)), round(slices.Max(all)))
}

// figures takes what readers measured.
func (l *load) figures(_ map[lathe.SessionID][]lease, r *result) {
	for _, one := range l.readers {
		one.mu.Lock()
		r.events += one.view.Events
		r.resyncs += one.resyncs
		r.delays = append(r.delays, one.delays...)
		one.mu.Unlock()
	}
	r.retries = l.retries
}

// takeovers takes the times from a fault to the next owner of each session that the process had.
func (r *result) takeovers(all []fault, leases map[lathe.SessionID][]lease) {
	for _, f := range all {
		for _, changes := range leases {
			if took, ok := takeover(f, changes); ok {
				switch f.kind {
				case "kill":
					r.killed = append(r.killed, took)
				case "stop", "store-stall", "store-cut":
					r.stopped = append(r.stopped, took)
				case "drain":
					r.drained = append(r.drained, took)
				}
			}
		}
	}
}

// takeover finds the time that a session was without its owner. A drain counts from the release of the session.
func takeover(f fault, changes []lease) (time.Duration, bool) {
	at := slices.IndexFunc(changes, func(c lease) bool { return c.at.After(f.at) })
	if at <= 0 || changes[at-1].life != f.life {
		return 0, false // it was not the owner
	}
	from := f.at
	if f.kind == "drain" {
		if !changes[at].given || at+1 == len(changes) {
			return 0, false
		}
		from, at = changes[at].at, at+1
	}
	took := changes[at].at.Sub(from)
	return took, changes[at].life != "" && changes[at].life != f.life && took < 30*time.Second
}

func (r *result) print(out io.Writer, count map[string]int) {
	var kinds []string
	for kind, n := range count {
		kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(kinds)
	var memory []string
	for name, mb := range r.memory {
		memory = append(memory, fmt.Sprintf("%s %.0f MB", name, mb))
	}
	slices.Sort(memory)
	fmt.Fprintf(out, `faults          %s
sessions        %d with %d messages
prompts         %d admitted, %d answered, %d canceled; answers cut off %d, continued by a prompt %d; requests sent again %d
calls           %d completed; marks %d
readers         %d events, %d resyncs
after kill -9   %s
after a stop    %s
after a drain   %s
a word's way    %s
memory          %s
lost            %d
`, strings.Join(kinds, ", "), r.sessions, r.messages, r.prompts, r.ends.Answers, r.ends.Canceled, r.ends.Cut, r.ends.Resumed, r.retries,
		r.completed, r.effects, r.events, r.resyncs, spread(r.killed), spread(r.stopped), spread(r.drained), spread(r.delays), strings.Join(memory, ", "), r.lost)
}
