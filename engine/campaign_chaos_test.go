package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// backoffs is how long five attempts after the first wait together.
const backoffs = (2 + 4 + 8 + 16 + 30) * time.Second

func refusedWith(code int, header ...string) modeltest.Answer {
	h := map[string]string{}
	for i := 0; i+1 < len(header); i += 2 {
		h[header[i]] = header[i+1]
	}
	return modeltest.Answer{modeltest.Status{Code: code, Header: h}}
}

func answeredWith(words string) modeltest.Answer {
	return modeltest.Answer{modeltest.Text{words}, modeltest.Finish("stop")}
}

var (
	callsWrite = modeltest.Call{Name: "write", Args: `{"path":"a.txt","content":"x"}`}
	wellDone   = answeredWith("Done.")
)

// chaos is a provider that behaves badly, and what a turn with it comes to, without a model
// to fall back to and with one.
type chaos struct {
	name     string
	answer   func(n int) modeltest.Answer // to the n-th request
	requests int
	took     time.Duration
	fault    string // part of the error at the end; "" is an answer
	falls    bool   // another model answers in its place, if there is one
	status   string // part of the status while it waits
	runs     int    // of tools, at most: not every wire says before its end that a call is whole
}

func chaosCases() []chaos {
	always := func(a modeltest.Answer) func(int) modeltest.Answer { return func(int) modeltest.Answer { return a } }
	inOrder := func(all ...modeltest.Answer) func(int) modeltest.Answer {
		return func(n int) modeltest.Answer { return all[min(n, len(all))-1] }
	}
	cut := func(how modeltest.Ending, before ...modeltest.Step) modeltest.Answer {
		return append(before, modeltest.Cut{How: how})
	}
	calls := modeltest.Answer{callsWrite, modeltest.Finish("tool-calls")}
	drip := modeltest.Answer{modeltest.Drip{Bytes: 300, Every: 4*time.Minute + 50*time.Second}, modeltest.Text{"Do", "ne."}, modeltest.Finish("stop")}
	return []chaos{
		{name: "429 with an hour to wait", answer: always(refusedWith(429, "Retry-After", "3600")), requests: 1, fault: "Too Many Requests", falls: true},
		{name: "429 with an hour to wait, at last", answer: inOrder(refusedWith(429), refusedWith(429, "Retry-After", "3600")), requests: 2, took: 2 * time.Second, fault: "Too Many Requests", falls: true, status: "retry 1 in 2s"},
		{name: "429 with nine minutes to wait, for ever", answer: always(refusedWith(429, "Retry-After", "540")), requests: 6, took: 45 * time.Minute, fault: "Too Many Requests", falls: true, status: "retry 5 in 540s"},
		{name: "a storm of 5xx", answer: func(n int) modeltest.Answer { return refusedWith([]int{500, 502, 503, 504, 529, 520}[n%6]) }, requests: 6, took: backoffs, fault: "Internal Server Error", falls: true, status: "retry 5 in 30s"},
		{name: "a storm that ends", answer: inOrder(refusedWith(503), refusedWith(500), refusedWith(529), wellDone), requests: 4, took: 14 * time.Second, status: "retry 3 in 8s"},
		{name: "a storm in the middle", answer: inOrder(calls, refusedWith(503), refusedWith(500), wellDone), requests: 4, took: 6 * time.Second, status: "retry 2 in 4s", runs: 1},
		{name: "401 at once", answer: always(refusedWith(401)), requests: 1, fault: "Unauthorized"},
		{name: "401 in the middle", answer: inOrder(calls, refusedWith(401)), requests: 2, fault: "Unauthorized", runs: 1},
		{name: "401 in a storm", answer: inOrder(refusedWith(503), refusedWith(401)), requests: 2, took: 2 * time.Second, fault: "Unauthorized", status: "retry 1 in 2s"},
		{name: "connections that end before the headers", answer: always(cut(modeltest.Reset)), requests: 6, took: backoffs, fault: "ended early", falls: true, status: "retry 5 in 30s"},
		{name: "connections that end in the middle", answer: always(cut(modeltest.Abrupt, modeltest.Text{"Half"})), requests: 6, took: backoffs, fault: "ended early", falls: true, status: "retry 5 in 30s"},
		{name: "streams that end too early", answer: always(cut(modeltest.Clean, modeltest.Text{"Half"})), requests: 6, took: backoffs, fault: "ended early", falls: true, status: "retry 5 in 30s"},
		{name: "connections that always end behind a call", answer: always(cut(modeltest.Abrupt, callsWrite, modeltest.Pause(time.Millisecond))), requests: 6, took: backoffs, fault: "ended early", falls: true, status: "retry 5 in 30s", runs: 6},
		{name: "a connection that ends behind a call", answer: inOrder(cut(modeltest.Abrupt, callsWrite), wellDone), requests: 2, took: 2 * time.Second, status: "retry 1 in 2s", runs: 1},
		{name: "a slow drip", answer: always(drip), requests: 1},
		{name: "headers after four minutes", answer: always(append(modeltest.Answer{modeltest.Pause(4 * time.Minute)}, wellDone...)), requests: 1, took: 4 * time.Minute},
	}
}

// However a provider fails: the number of requests and the time are bounded, no call runs
// twice, and the end says what is true.
func TestCampaign_Chaos(t *testing.T) {
	t.Parallel()
	for i, c := range chaosCases() {
		for j, protocol := range []modeltest.Protocol{modeltest.Anthropic, modeltest.Chat} {
			if raced && j != i%2 {
				continue
			}
			for _, fallback := range []string{"", "test/second"} {
				t.Run(c.name+"/"+string(protocol)+"/"+fallback, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { c.run(t, protocol, fallback) })
				})
			}
		}
	}
}

func (c chaos) run(t *testing.T, protocol modeltest.Protocol, fallback string) {
	t.Helper()
	ran, s := &runs{count: map[string]int{}}, parseScript(t, "-- model --\n")
	if fallback != "" {
		s.settings = append(s.settings, []string{"fallback", fallback})
		if c.falls {
			c.fault, c.requests = "", c.requests+1
		}
	}
	p := beginPlayWith(t, s, protocol, ran.watch)
	var mu sync.Mutex
	asked := 0
	p.server.Respond(func(r modeltest.Request) modeltest.Answer {
		mu.Lock()
		defer mu.Unlock()
		asked++
		if r.Prompt.Model == "second" {
			return wellDone
		}
		return c.answer(asked)
	})
	began := time.Now()
	_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("write")})
	p.ok(err)
	p.ok(p.settledIn(12 * time.Hour))
	took, m := time.Since(began), p.lastOf(p.session)
	p.check() // idle, nothing open
	ran.check(p)
	fault := ""
	if f := m.Data.(*lathe.Assistant).Error; f != nil {
		fault = lathe.FaultMessage(f)
	}
	if asked != c.requests || (fault == "") != (c.fault == "") || !strings.Contains(fault, c.fault) {
		t.Errorf("after %d requests it ends with %q", asked, fault)
	}
	if c.fault == "" && !strings.HasSuffix(wordsOf(m), "Done.") || strings.Contains(wordsOf(m), "answers instead") != (fallback != "" && c.falls) {
		t.Errorf("the answer is %q", wordsOf(m)) // with a note on who gave it
	}
	if c.took != 0 && (took < c.took || took > c.took+5*time.Second) {
		t.Errorf("it takes %s, not %s", took, c.took)
	}
	if len(ran.count) > c.runs {
		t.Errorf("%d calls were run", len(ran.count))
	}
	if said := p.shown.events(); !strings.Contains(said, c.status) || c.status == "" && strings.Contains(said, "retry") {
		t.Errorf("the status never says %q:\n%s", c.status, said)
	}
}

// A provider that picks its faults: bounded all the same, and what the session says at the
// end is how the last request went.
func TestCampaign_RandomChaos(t *testing.T) {
	t.Parallel()
	seed := campaignSeed(t)
	all := chaosCases()
	const attempts, steps = 6, 4
	for _, i := range some(rand.New(rand.NewPCG(seed, 0)), 20, 200) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				protocol := modeltest.Protocols()[r.IntN(len(modeltest.Protocols()))]
				ran := &runs{count: map[string]int{}}
				p := beginPlayWith(t, parseScript(t, "-- model --\n"), protocol, ran.watch)
				var mu sync.Mutex
				asked, called := 0, 0
				p.server.Respond(func(modeltest.Request) modeltest.Answer {
					mu.Lock()
					defer mu.Unlock()
					asked++
					switch {
					case r.IntN(3) > 0:
						one := all[r.IntN(len(all))]
						return one.answer(1 + r.IntN(4))
					case called < steps && r.IntN(2) == 0:
						called++
						return modeltest.Answer{callsWrite, modeltest.Finish("tool-calls")}
					default:
						return wellDone
					}
				})
				began := time.Now()
				_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("write")})
				p.ok(err)
				p.ok(p.settledIn(12 * time.Hour))
				took := time.Since(began)
				p.check()
				ran.check(p)
				// Each step has its attempts; cut off after a call it is a step, too.
				if most := attempts * (steps + attempts*steps); asked > most || took > 12*time.Hour {
					t.Errorf("%d requests in %s", asked, took)
				}
				a := p.lastOf(p.session).Data.(*lathe.Assistant)
				if (a.Error == nil) != (a.Finish == "stop") {
					t.Errorf("it ends with %q and %v", a.Finish, a.Error)
				}
			})
		})
	}
}

// settledIn waits so long for the session to rest, and allows what it asks within a second.
// An answer that cannot be written is an error, too.
func (p *playing) settledIn(limit time.Duration) error {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), limit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := p.Wait(ctx, p.session)
		done <- err
	}()
	for {
		select {
		case err := <-done:
			synctest.Wait()
			return err
		case <-time.After(time.Second):
		}
		asks, err := p.Asks(p.Context(), lathe.Scope{})
		p.ok(err)
		for _, a := range asks {
			err := p.Reply(p.Context(), lathe.AskOf(a), lathe.Once, "")
			if err != nil && lathe.CodeOf(err) != lathe.NotFound { // who asked may have given up in this moment
				cancel()
				return errors.Join(err, ignore(<-done))
			}
		}
	}
}
