package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/scripts/turncheck"
)

// childPrefix begins the token of a prompt to a session below another.
var childPrefix = fmt.Sprintf("prompt-%d-", childSlot)

// provider plays the models. Each child talks to its own server behind one address, so that
// what was asked is looked at and let go after each kill.
type provider struct {
	url    string
	seed   uint64
	http   *http.Server
	live   sync.WaitGroup
	server atomic.Pointer[modeltest.Server]
	keys   atomic.Int64
	calm   atomic.Bool // no more faults
	brief  atomic.Bool // no more calls

	mu     sync.Mutex // guards the fields below
	random *rand.Rand
	faults int
}

func newProvider(seed uint64) (*provider, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &provider{url: "http://" + l.Addr().String(), seed: seed, random: rand.New(rand.NewPCG(seed, 1))}
	p.http = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.server.Load().ServeHTTP(w, r)
	})}
	p.renew()
	p.live.Go(func() { _ = p.http.Serve(l) }) // it ends with ErrServerClosed
	return p, nil
}

func (p *provider) close() {
	_ = p.http.Close()
	p.live.Wait()
}

// renew returns what was asked until now and forgets it.
func (p *provider) renew() []modeltest.Request {
	s := modeltest.New(nil)
	s.Respond(p.answer)
	if old := p.server.Swap(s); old != nil {
		return old.Requests()
	}
	return nil
}

func (p *provider) roll(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.IntN(n)
}

// answer says what comes next in the conversation: calls, and in the end which prompts are
// done.
func (p *provider) answer(r modeltest.Request) modeltest.Answer {
	if a := p.fault(); a != nil {
		return a
	}
	at := turncheck.PositionIn(r.Prompt.Messages)
	if len(at.Pending) > 0 && !p.brief.Load() {
		last := at.Pending[len(at.Pending)-1]
		if at.Steps < int(turncheck.Dice(p.seed, last, 0, 0)%4) {
			return p.broken(p.calls(at.Steps, strings.HasPrefix(last, childPrefix)))
		}
	}
	words := modeltest.Text{turncheck.DoneWord}
	for _, t := range at.Pending {
		words = append(words, t+" ")
	}
	return p.broken(modeltest.Answer{modeltest.Pause(p.short()), words, modeltest.Pause(p.short()), modeltest.Text{"and ", "that is the ", turncheck.EndWord}})
}

// calls is a step with up to three calls, some after thoughts and words. A session below
// another has none below itself.
func (p *provider) calls(step int, below bool) modeltest.Answer {
	a := modeltest.Answer{modeltest.Pause(p.short())}
	if p.roll(3) == 0 {
		a = append(a, modeltest.Reasoning{Chunks: []string{"Let me ", "think."}, Signature: "c2lnbmVk"})
	}
	if p.roll(2) == 0 {
		a = append(a, modeltest.Text{"Step ", fmt.Sprint(step), "."})
	}
	for range 1 + p.roll(3) {
		key := p.keys.Add(1)
		name := []string{"mark", "mark", "mark", "slow", "slow", "ask", "ask", "ask", "spawn"}[p.roll(9)]
		if name == "spawn" && below {
			name = "mark"
		}
		a = append(a, modeltest.Call{
			ID: fmt.Sprintf("call_%d", key), Name: name, Pieces: 1 + p.roll(3),
			Args: fmt.Sprintf(`{"key":"k%d","ms":%d}`, key, p.roll(150)),
		}, modeltest.Pause(p.short()))
	}
	return a
}

func (p *provider) short() time.Duration { return time.Duration(p.roll(15_000)) * time.Microsecond }

// fault refuses one request in thirty.
func (p *provider) fault() modeltest.Answer {
	if p.calm.Load() || p.roll(30) != 0 {
		return nil
	}
	p.countFault()
	code := []int{429, 429, 503, 529}[p.roll(4)]
	return modeltest.Answer{modeltest.Status{Code: code, Header: map[string]string{"Retry-After-Ms": fmt.Sprint(5 + p.roll(40))}}}
}

// broken cuts one answer in forty somewhere.
func (p *provider) broken(a modeltest.Answer) modeltest.Answer {
	if p.calm.Load() || p.roll(40) != 0 {
		return a
	}
	p.countFault()
	how := []modeltest.Ending{modeltest.Abrupt, modeltest.Clean, modeltest.Reset}[p.roll(3)]
	return append(modeltest.Answer{modeltest.Cut{At: 1 + p.roll(1500), How: how}}, a...)
}

func (p *provider) countFault() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults++
}
