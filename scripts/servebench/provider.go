package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// provider plays a model over the Chat Completions protocol. What a prompt says decides:
// "bench-stream N" lets it say N words, each the time at which it is said; "bench-tool" lets it call a
// tool once.
type provider struct {
	listener net.Listener
	server   *http.Server
	every    time.Duration

	mu    sync.Mutex // guards calls
	calls []*exchange
}

// exchange is one request: when it came, and when it was answered.
type exchange struct{ came, answered time.Time }

func startProvider(address string) (*provider, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	p := &provider{listener: l, every: 20 * time.Millisecond}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

func (p *provider) url() string { return "http://" + p.listener.Addr().String() }

func (p *provider) close() { _ = p.server.Close() }

// taken returns the requests so far and forgets them.
func (p *provider) taken() (all []exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.calls {
		all = append(all, *c)
	}
	p.calls = nil
	return all
}

// note keeps a request; the function returned notes that it was answered.
func (p *provider) note(came time.Time) (answered func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := &exchange{came: came}
	p.calls = append(p.calls, one)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		one.answered = time.Now()
	}
}

// asked is the part of a request that matters.
type asked struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// The words that tell it what to do. Servers put their own words around them.
const (
	streamWord = "bench-stream "
	toolWord   = "bench-tool"
)

// latest is what was said since the last answer, and whether that was the result of a tool.
func (a asked) latest() (words string, tool bool) {
	for i := len(a.Messages) - 1; i >= 0; i-- {
		switch m := a.Messages[i]; m.Role {
		case "tool":
			return words, true
		case "user":
			words = string(m.Content) + words
		case "assistant":
			return words, false
		}
	}
	return words, false
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	data, err := io.ReadAll(r.Body)
	var in asked
	if err != nil || json.Unmarshal(data, &in) != nil || len(in.Messages) == 0 {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	answered := p.note(came)
	w.Header().Set("Content-Type", "text/event-stream")
	out := chunks{w, http.NewResponseController(w)}
	words, answeredTool := in.latest()
	at := strings.Index(words, streamWord)
	switch {
	case answeredTool:
		out.send(`{"content":"Done."}`, "")
		out.end("stop")
	case at >= 0:
		n := 0
		_, _ = fmt.Sscanf(words[at+len(streamWord):], "%d", &n) // 0 if it is not a number
		p.stream(r, out, n)
	case strings.Contains(words, toolWord):
		out.send(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write","arguments":"{\"filePath\":\"out.txt\",\"content\":\"`+
			strconv.FormatInt(came.UnixNano(), 10)+`\\n\"}"}}]}`, "")
		answered() // the rest is read while it is written
		out.end("tool_calls")
	default: // a title, for servers that want one
		out.send(`{"content":"A title"}`, "")
		out.end("stop")
	}
}

// stream says words at a steady pace.
func (p *provider) stream(r *http.Request, out chunks, n int) {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for range n {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
		out.send(`{"content":"`+strconv.FormatInt(time.Now().UnixNano(), 10)+` "}`, "")
	}
	out.end("stop")
}

// chunks are the events of an answer.
type chunks struct {
	w       io.Writer
	control *http.ResponseController
}

func (c chunks) send(delta, finish string) {
	if finish == "" {
		finish = "null"
	}
	_, _ = fmt.Fprintf(c.w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
	_ = c.control.Flush()
}

func (c chunks) end(reason string) {
	c.send("{}", strconv.Quote(reason))
	_, _ = io.WriteString(c.w, "data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15}}\n\ndata: [DONE]\n\n")
	_ = c.control.Flush()
}

// settingsFor lets a server use the provider, and allows what is done here.
func settingsFor(address string) string {
	return `{"model": "bench/m", "permission": {"*": "allow"}, "provider": {"bench": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://` +
		address + `/v1", "apiKey": "none"}, "models": {"m": {"tool_call": true}}}}}`
}
