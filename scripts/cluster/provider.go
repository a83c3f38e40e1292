//go:build unix

package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/scripts/turncheck"
)

// stampSign begins a word that is the time at which the model said it, in nanoseconds since 1970.
const stampSign = "@"

// noStamp stands for that word until it is sent.
const noStamp = stampSign + "0000000000000000000"

// stepPlan is how the model behaves.
type stepPlan struct {
	calls  int           // steps with calls before an answer, at most
	words  int           // of an answer
	every  time.Duration // between two words
	long   bool          // some commands run for seconds
	always bool          // each prompt takes one long command, for the positive control and the demo
	exact  int           // each prompt takes that many short commands; 0 leaves it to the seed
}

// steps is how many steps with calls a prompt takes.
func (s stepPlan) steps(seed uint64, token string) int {
	switch {
	case s.always:
		return 1
	case s.exact > 0:
		return s.exact
	default:
		return int(turncheck.Dice(seed, token, 0, 0) % uint64(s.calls+1))
	}
}

// call is a call of a tool that the model asked for.
type call struct {
	key, tool string
	life      string // the process that asked the model
	session   lathe.SessionID
	asked     time.Time
}

// provider plays the model. Each process of a node has its own address, so that it is known which one asked.
type provider struct {
	url   string
	http  *http.Server
	seed  uint64
	place string

	mu       sync.Mutex // guards the fields below
	plan     stepPlan
	servers  map[string]*modeltest.Server
	calls    map[string]call
	sessions map[string]lathe.SessionID // of tokens
	refused  []string                   // problems of requests that a real provider would refuse
}

func newProvider(seed uint64, place string, plan stepPlan) (p *provider, err error) {
	p = &provider{seed: seed, place: place, plan: plan, servers: map[string]*modeltest.Server{}, calls: map[string]call{}, sessions: map[string]lathe.SessionID{}}
	p.http, p.url, err = serveLoopback(p)
	return p, err
}

func (p *provider) close() { _ = p.http.Close() }

// address is where a process finds the model.
func (p *provider) address(life string) string { return p.url + "/" + life }

// belongs tells in which session a prompt is.
func (p *provider) belongs(token string, to lathe.SessionID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[token] = to
}

// ServeHTTP plays the model for the process in the path.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	life, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	p.mu.Lock()
	s := p.servers[life]
	if s == nil {
		s = modeltest.New(nil)
		s.Respond(func(r modeltest.Request) modeltest.Answer { return p.answer(life, r) })
		p.servers[life] = s
	}
	p.mu.Unlock()
	http.StripPrefix("/"+life, s).ServeHTTP(stamper{w}, r)
}

// answer says what comes next in a conversation: calls, and in the end which prompts are done.
func (p *provider) answer(life string, r modeltest.Request) modeltest.Answer {
	at := turncheck.PositionIn(r.Prompt.Messages)
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Problem != "" {
		p.refused = append(p.refused, r.Problem)
	}
	if len(at.Pending) > 0 {
		if last := at.Pending[len(at.Pending)-1]; at.Steps < p.plan.steps(p.seed, last) {
			return p.step(life, last)
		}
	}
	a := modeltest.Answer{}
	for range p.plan.words {
		a = append(a, modeltest.Text{noStamp + " "}, modeltest.Pause(p.plan.every))
	}
	words := modeltest.Text{turncheck.DoneWord}
	for _, t := range at.Pending {
		words = append(words, t+" ")
	}
	return append(a, words, modeltest.Text{"and that is the ", turncheck.EndWord})
}

// setPlan changes the behavior of the model from the next request on.
func (p *provider) setPlan(plan stepPlan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = plan
}

// step is a step with calls of tools that leave marks: commands, of which some take seconds, and files. The lock is held.
func (p *provider) step(life, token string) modeltest.Answer {
	session := p.sessions[token]
	var a modeltest.Answer
	for i := range 1 + turncheck.Dice(p.seed, token, len(p.calls), 1)%2 {
		c := call{key: fmt.Sprintf("k%d", len(p.calls)+1), tool: "bash", life: life, session: session, asked: time.Now()}
		roll := turncheck.Dice(p.seed, token, len(p.calls), 2+int(i)) % 10
		args := fmt.Sprintf(`{"command":%q,"description":"Leave a mark"}`, p.command(c, p.plan.always || p.plan.long && roll < 3))
		if !p.plan.always && p.plan.exact == 0 && roll > 6 {
			c.tool = "write"
			args = fmt.Sprintf(`{"filePath":%q,"content":%q}`, p.file(c.key), c.key+"\n")
		}
		p.calls[c.key] = c
		a = append(a, modeltest.Call{ID: "call_" + c.key, Name: c.tool, Args: args, Pieces: 2})
		if p.plan.always || p.plan.exact > 0 {
			break
		}
	}
	return a
}

// beat is how often a long command leaves a mark, and beats how many it leaves.
const (
	beat  = 250 * time.Millisecond
	beats = 40
)

// command is a shell command that appends its key and the time to the file of its session, in one write. A long one
// continues to do so, under the key with a dot, so that the file shows when it ended.
func (p *provider) command(c call, long bool) string {
	file := filepath.Join(p.place, "effects", string(c.session))
	text := fmt.Sprintf(`mark() { printf '%%s %%s\n' "$1" "$(date +%%s%%N)" >> %s; }; mark %s`, file, c.key)
	if long {
		text += fmt.Sprintf("; i=0; while [ $i -lt %d ]; do sleep %g; mark %s.; i=$((i+1)); done", beats, beat.Seconds(), c.key)
	}
	return text
}

// file is what a call of write makes.
func (p *provider) file(key string) string { return filepath.Join(p.place, "out", key) }

// taken returns the calls so far.
func (p *provider) taken() map[string]call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.calls)
}

// stamper writes the time into the words of the model.
type stamper struct{ http.ResponseWriter }

func (s stamper) Write(data []byte) (int, error) {
	if at := bytes.Index(data, []byte(noStamp)); at >= 0 {
		data = bytes.Clone(data)
		copy(data[at+len(stampSign):], strconv.FormatInt(time.Now().UnixNano(), 10))
	}
	return s.ResponseWriter.Write(data)
}

// Unwrap lets the server flush.
func (s stamper) Unwrap() http.ResponseWriter { return s.ResponseWriter }
