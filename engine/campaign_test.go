package engine_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// A campaign tries a fault at every place it can happen. LATHE_CAMPAIGN=all tries all of
// them; otherwise a sample, which LATHE_SEED repeats.

// isWhole reports whether all places are tried.
func isWhole() bool { return os.Getenv("LATHE_CAMPAIGN") == "all" }

// campaignSeed is the seed of a sample, and prints it.
func campaignSeed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano()) % 1_000_000_000
	if s := os.Getenv("LATHE_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("LATHE_SEED: %v", err)
		}
		seed = n
	}
	t.Logf("LATHE_SEED=%d", seed)
	return seed
}

// some are n of the numbers from 0 up to below of, in random order; all in their order when
// the campaign is whole or there are no more.
func some(r *rand.Rand, n, of int) []int {
	all := r.Perm(of)
	if n < of && !isWhole() {
		return all[:n]
	}
	for i := range all {
		all[i] = i
	}
	return all
}

// runs counts how often each call was run, by its message and its id.
type runs struct {
	mu    sync.Mutex // guards count
	count map[string]int
}

func runKey(m lathe.MessageID, call string) string { return string(m) + " " + call }

// watch lets an engine count its calls.
func (r *runs) watch(o *opening) {
	before := o.Hooks.ToolBefore
	o.Hooks.ToolBefore = func(ctx context.Context, name string, c *tool.Call) (json.RawMessage, error) {
		r.mu.Lock()
		r.count[runKey(c.Message, c.ID)]++
		r.mu.Unlock()
		if before != nil {
			return before(ctx, name, c)
		}
		return c.Input, nil
	}
}

func (r *runs) of(m lathe.MessageID, call string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count[runKey(m, call)]
}

// check holds that no call was run twice, and every completed one once.
func (r *runs) check(p *playing) {
	p.Helper()
	r.mu.Lock()
	for key, n := range r.count {
		if n > 1 {
			p.Errorf("call %s was run %d times", key, n)
		}
	}
	r.mu.Unlock()
	for _, m := range p.all() {
		for _, part := range m.Parts {
			c, ok := part.Body.(*lathe.ToolCall)
			if !ok {
				continue
			}
			_, completed := c.State.(*lathe.Completed)
			if completed && !strings.Contains(string(c.Metadata), "providerExecuted") && r.of(m.ID, c.CallID) != 1 {
				p.Errorf("call %s of %s is completed and was run %d times", c.CallID, m.ID, r.of(m.ID, c.CallID))
			}
		}
	}
}
