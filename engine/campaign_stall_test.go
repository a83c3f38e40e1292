package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/anthropic"
	"github.com/lathe-agent/lathe/model/bedrock"
	"github.com/lathe-agent/lathe/model/gemini"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/openai"
)

// halting is a provider that sends so many bytes of an answer and then nothing, until the
// client goes away. Each connection takes one request.
type halting struct {
	answer recorded

	mu    sync.Mutex // guards the fields below
	stops []int      // of the connections to come; the last is that of all others
	asked int
}

// dial connects to the provider over a pipe: a socket would hold the virtual clock.
func (h *halting) dial(context.Context, string, string) (net.Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.stops[0]
	if len(h.stops) > 1 {
		h.stops = h.stops[1:]
	}
	h.asked++
	here, there := net.Pipe()
	go h.serve(there, n)
	return here, nil
}

func (h *halting) serve(c net.Conn, n int) {
	defer c.Close()
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	if err == nil {
		err = h.answer.send(c, n)
	}
	if err == nil {
		_, _ = io.Copy(io.Discard, c) // until the client is gone
	}
}

func (h *halting) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: h.dial, DisableKeepAlives: true, DisableCompression: true}}
}

func (h *halting) requests() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// recorded is an answer as it came over the wire, in the pieces in which it came: net/http
// shows a chunk when it is whole, and what came together with half of one not before that.
type recorded [][]byte

func (r recorded) len() int { return len(r.bytes()) }

func (r recorded) bytes() []byte { return bytes.Join(r, nil) }

// send sends the first n bytes.
func (r recorded) send(to io.Writer, n int) error {
	for _, piece := range r {
		piece = piece[:min(n, len(piece))]
		if n -= len(piece); len(piece) == 0 {
			break
		}
		if _, err := to.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// edges are the places where another deadline begins to count: after the headers, and behind
// the first chunk of the body.
func (r recorded) edges() (headers, first int) {
	all := r.bytes()
	headers = bytes.Index(all, []byte("\r\n\r\n")) + 4
	line, _, _ := bytes.Cut(all[headers:], []byte("\r\n"))
	size, err := strconv.ParseInt(string(line), 16, 32)
	if err != nil {
		panic(err)
	}
	return headers, headers + len(line) + 2 + int(size)
}

// recording keeps what is read from a connection.
type recording struct {
	net.Conn
	into *recorded
}

func (r recording) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	*r.into = append(*r.into, bytes.Clone(p[:n]))
	return n, err
}

// recordAnswer is an answer as it comes over the wire, from its first line on.
func recordAnswer(t *testing.T, protocol modeltest.Protocol, script string) (got recorded) {
	t.Helper()
	s := modeltest.Pipe(t, modeltest.MustParse(script))
	own := s.Client.Transport.(*http.Transport)
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := own.DialContext(ctx, network, addr)
			return recording{c, &got}, err
		},
		DisableKeepAlives: true, DisableCompression: true,
	}}
	if _, err := streamed(t.Context(), protocol, client); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return got
}

// stallDeadlines differ, so that the time tells which one it was.
var stallDeadlines = model.Deadlines{Headers: 10 * time.Second, First: 20 * time.Second, Gap: 30 * time.Second}

// streamed reads one answer: its events, a text each, but for what it used.
func streamed(ctx context.Context, protocol modeltest.Protocol, client *http.Client) (events []string, err error) {
	ids := lathe.NewIDsFrom(func() lathe.Time { return lathetest.Now }, randomness(99))
	at := model.Endpoint{Provider: "test", BaseURL: "http://modeltest", Client: client, Deadlines: stallDeadlines}
	var m model.Model
	switch protocol {
	case modeltest.Anthropic:
		m = anthropic.New(at, ids)
	case modeltest.Responses:
		m = openai.NewResponses(at, ids, openai.Dialect{})
	case modeltest.Gemini:
		m = gemini.New(at, ids)
	case modeltest.Bedrock:
		m = bedrock.New(at, ids)
	default:
		m = openai.NewChat(at, ids, openai.Dialect{})
	}
	request := model.Request{Model: "big", MaxOutput: 100, Messages: []model.Message{
		{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "hello"}}},
	}}
	for ev, err := range m.Stream(ctx, request) {
		if err != nil {
			return events, err
		}
		if _, ok := ev.(model.UsageUpdate); !ok {
			events = append(events, fmt.Sprintf("%T %+v", ev, ev))
		}
	}
	return events, nil
}

// An answer that stalls at any byte, in its headers, before its first event, between two or
// in the middle of one, ends at its deadline with an error that may be tried again, and has
// said nothing that the whole one does not say. Behind its reason to end nothing is missing
// but what it used, which is no reason to ask again.
func TestCampaign_StallAtEveryByte(t *testing.T) {
	t.Parallel()
	seed := campaignSeed(t)
	for i, protocol := range modeltest.Protocols() {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				answer := recordAnswer(t, protocol, "reasoning \"hm\" signature=\"c2ln\"\ntext \"Hi \" \"there.\"\ncall write {\"path\":\"a\"}\nfinish tool-calls")
				h := &halting{answer: answer, stops: []int{answer.len()}}
				whole, err := streamed(t.Context(), protocol, h.client())
				if err != nil || len(whole) < 5 {
					t.Fatalf("the recording is no answer: %q, %v", whole, err)
				}
				places := answer.len()
				if raced {
					places = 200
				}
				for _, n := range some(rand.New(rand.NewPCG(seed, uint64(i))), places, answer.len()) {
					stallsAt(t, protocol, answer, n, whole)
				}
			})
		})
	}
}

// stallsAt lets the answer stall after n bytes.
func stallsAt(t *testing.T, protocol modeltest.Protocol, answer recorded, n int, whole []string) {
	t.Helper()
	h := &halting{answer: answer, stops: []int{n}}
	began := time.Now()
	events, err := streamed(t.Context(), protocol, h.client())
	took := time.Since(began)
	synctest.Wait()
	if err == nil {
		if !slices.Equal(events, whole) || took > stallDeadlines.Gap {
			t.Errorf("byte %d: after %s it is taken for whole: %q; whole it is %q", n, took, events, whole)
		}
		return
	}
	if said, all := withoutEnds(events), withoutEnds(whole); len(said) > len(all) || !slices.Equal(said, all[:len(said)]) {
		t.Errorf("byte %d: it says %q, and whole %q", n, said, all)
	}
	headers, first := answer.edges()
	want, words := stallDeadlines.Gap, "the provider sent nothing for 30s in the middle of its answer"
	if n < headers {
		want, words = stallDeadlines.Headers, "the provider sent no response headers within 10s"
	} else if n < first {
		want, words = stallDeadlines.First, "the provider sent nothing within 20s of its headers"
	}
	if lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), words) || took != want {
		t.Errorf("byte %d: after %s: %v; want %s: %s", n, took, err, want, words)
	}
}

// withoutEnds leaves out the ends of blocks: a decoder closes those that are open.
func withoutEnds(events []string) []string {
	return slices.DeleteFunc(slices.Clone(events), func(e string) bool {
		name, _, _ := strings.Cut(e, " ")
		return strings.HasSuffix(name, "End")
	})
}

// A turn whose model stalls says why it waits, tries again and is answered; one whose model
// always stalls ends in an error that says so. Both within the deadlines and the waits
// between attempts.
func TestCampaign_StalledTurn(t *testing.T) {
	t.Parallel()
	seed := campaignSeed(t)
	const deadline, between = model.DefaultGap, 2 * time.Second
	for i, protocol := range modeltest.Protocols() {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			var answer recorded
			synctest.Test(t, func(t *testing.T) { answer = recordAnswer(t, protocol, "text \"Hi \" \"there.\"\nfinish stop") })
			headers, first := answer.edges()
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			places := []int{0, r.IntN(headers), headers, first + r.IntN((answer.len()-first)/2)}
			if raced {
				places = []int{places[i%2], places[2+i%2]}
			}
			if isWhole() {
				places = some(r, 1, answer.len()-40)
			}
			for _, n := range places {
				for _, always := range []bool{false, true} {
					if always && (raced && (i > 0 || n != places[1]) || isWhole() && n%100 != 0) {
						continue // half an hour of virtual time each
					}
					t.Run(fmt.Sprintf("%d,always=%v", n, always), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							h := &halting{answer: answer, stops: []int{n, answer.len()}}
							if always {
								h.stops = []int{n}
							}
							stalledTurn(t, protocol, h, always, deadline, between)
						})
					})
				}
			}
		})
	}
}

func stalledTurn(t *testing.T, protocol modeltest.Protocol, h *halting, always bool, deadline, between time.Duration) {
	t.Helper()
	p := beginPlay(t, parseScript(t, "-- model --\n"), protocol)
	p.server.Client.Transport = h.client().Transport
	began := time.Now()
	m, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("hello")})
	p.ok(err)
	took := time.Since(began)
	p.rest()
	p.check()
	said := p.shown.events()
	if want := "status retry 1 in 2s: the provider sent no"; !strings.Contains(said, want) {
		t.Errorf("the status never says %q:\n%s", want, said)
	}
	fault := m.Data.(*lathe.Assistant).Error
	if !always {
		if wordsOf(m) != "Hi there." || fault != nil || h.requests() != 2 || took != deadline+between {
			t.Errorf("%q with %v after %d requests and %s", wordsOf(m), fault, h.requests(), took)
		}
		return
	}
	const attempts, waits = 6, (2 + 4 + 8 + 16 + 30) * time.Second
	if fault == nil || !strings.Contains(lathe.FaultMessage(fault), "the provider sent no") || h.requests() != attempts || took != attempts*deadline+waits {
		t.Errorf("it ends with %v after %d requests and %s", fault, h.requests(), took)
	}
}
