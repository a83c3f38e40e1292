package modeltest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// errCut ends an answer in the middle.
var errCut = errors.New("modeltest: cut")

// player sends one answer. An answer that cannot continue (the client is gone, the script says cut) panics
// with errCut and is caught in play, so that encoders need not look after every event.
type player struct {
	w    http.ResponseWriter
	ctx  context.Context
	req  Request
	sent int // bytes of the body
	cut  Cut // At is 0 when there is none
	drip Drip

	script  Answer
	enc     encoder
	raw     bool // something was sent as it is
	started bool
	ended   bool
	left    bool // the client went away
}

// play sends the answer to a request.
func play(w http.ResponseWriter, h *http.Request, r Request, a Answer) {
	p := &player{w: w, ctx: h.Context(), req: r, script: named(r, a)}
	defer func() {
		caught := recover()
		r.outcome.left = p.left
		switch caught {
		case nil:
		case errCut:
			p.hangUp()
		default:
			panic(caught)
		}
	}()
	for _, s := range p.script {
		if c, ok := s.(Cut); ok && c.At > 0 {
			p.cut = c
		}
	}
	ans := newAnswering(r, p.script)
	ans.emit = p.write
	if r.Stream {
		p.enc = ans.encoder()
	} else {
		p.enc = &wholeAnswer{answering: ans, player: p}
	}
	for i, s := range p.script {
		if done := p.step(i, s); done {
			return
		}
	}
	p.end()
}

// step does one step; done means that nothing may follow.
func (p *player) step(i int, s Step) (done bool) {
	switch s := s.(type) {
	case Text, Reasoning, Call, Parallel, Executed, Source:
		p.content(s)
	case Finish:
		p.begin()
		p.enc.finish()
		p.ended = true
	case Fail:
		p.begin()
		p.enc.fail(s)
		return true
	case Raw:
		p.raw = true
		p.write(string(s))
	case Status:
		p.status(s, p.script[i+1:])
		return true
	case Pause:
		p.wait(time.Duration(s))
	case Headers:
		p.head()
		p.flush()
	case Stall:
		<-p.ctx.Done()
		p.check(p.ctx.Err())
	case Drip:
		p.drip = s
	case Cut:
		if s.At == 0 {
			p.cutHere(s, p.script[:i])
		}
	default: // Usage and When were known before the answer began
	}
	return false
}

// cutHere ends the answer. One that does not stream gets half of what it would have said.
func (p *player) cutHere(c Cut, before Answer) {
	if w, ok := p.enc.(*wholeAnswer); ok && p.started {
		body := string(w.whole(merged(before)))
		p.write(body[:len(body)/2])
	}
	p.cut = c
	panic(errCut)
}

// content encodes a step in the protocol of the request.
func (p *player) content(s Step) {
	p.begin()
	switch s := s.(type) {
	case Text:
		for _, chunk := range s {
			p.enc.text(chunk)
		}
	case Reasoning:
		p.enc.reason(s)
	case Call:
		p.enc.calls([]Call{s})
	case Parallel:
		p.enc.calls(s)
	case Executed:
		p.enc.executed(s)
	case Source:
		p.enc.source(s)
	default:
	}
}

func (p *player) begin() {
	if !p.started {
		p.started = true
		p.enc.start()
	}
}

// end says what the script left out. Bytes sent as they are need no end.
func (p *player) end() {
	if p.ended || p.raw && !p.started {
		return
	}
	p.begin()
	p.enc.finish()
}

// head sets the headers of a good answer.
func (p *player) head() {
	h := p.w.Header()
	if h.Get("Content-Type") == "" {
		kind := "application/json"
		switch {
		case p.req.Stream && p.req.Protocol == Bedrock:
			kind = "application/vnd.amazon.eventstream"
		case p.req.Stream && (p.req.Protocol != Gemini || p.req.wants.sse):
			kind = "text/event-stream; charset=utf-8"
		}
		h.Set("Content-Type", kind)
	}
	h.Set("Cache-Control", "no-cache")
	name := "Request-Id"
	if p.req.Protocol == Bedrock {
		name = "X-Amzn-Requestid"
	}
	h.Set(name, "req_"+strconv.Itoa(p.req.N))
}

// write sends bytes at once, in the pieces and up to the byte that the script says.
func (p *player) write(s string) {
	p.check(p.ctx.Err())
	if p.sent == 0 {
		p.head()
	}
	for len(s) > 0 {
		n, last := len(s), false
		if p.drip.Bytes > 0 {
			n = min(n, p.drip.Bytes)
		}
		if p.cut.At > 0 && p.sent+n >= p.cut.At {
			n, last = p.cut.At-p.sent, true
		}
		_, err := p.w.Write([]byte(s[:n]))
		p.check(err)
		p.sent += n
		s = s[n:]
		p.flush()
		if last {
			panic(errCut)
		}
		if p.drip.Bytes > 0 {
			p.wait(p.drip.Every)
		}
	}
}

func (p *player) flush() {
	p.check(http.NewResponseController(p.w).Flush())
}

// check ends the answer when the client is gone.
func (p *player) check(err error) {
	if err != nil {
		p.left = true
		panic(errCut)
	}
}

func (p *player) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
		p.check(p.ctx.Err())
	}
}

// status answers with a refusal.
func (p *player) status(s Status, after []Step) {
	body, kind := s.Body, "application/json"
	switch {
	case body == "":
		f := failOf(s.Code)
		if len(after) > 0 {
			if said, ok := after[0].(Fail); ok {
				f = said
			}
		}
		text, _ := f.body(p.req.Protocol)
		body = string(text)
		if p.req.Protocol == Bedrock {
			p.w.Header().Set("X-Amzn-Errortype", f.kind().amazon()+":http://internal.amazon.com/coral/")
		}
	case !strings.HasPrefix(body, "{"):
		kind = http.DetectContentType([]byte(body))
	}
	p.w.Header().Set("Content-Type", kind)
	for k, v := range s.Header {
		p.w.Header().Set(k, v)
	}
	p.head()
	p.w.WriteHeader(s.Code)
	p.write(body)
}

// hangUp ends a connection in the middle of an answer, the way the script wants it.
func (p *player) hangUp() {
	switch {
	case p.left || p.cut.How == Abrupt:
		panic(http.ErrAbortHandler)
	case p.cut.How == Reset:
		conn, _, err := http.NewResponseController(p.w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // without it the peer sees an early end instead
		}
		_ = conn.Close()
	}
}
