package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// every is between two words of the model: 200 come in a second.
const every = 5 * time.Millisecond

// provider plays a model over the Chat Completions protocol that says words at a steady pace.
type provider struct {
	listener net.Listener
	server   *http.Server
	words    atomic.Int64 // that an answer has
	done     atomic.Int64 // those that were said
}

func startProvider(ctx context.Context) (*provider, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &provider{listener: l}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

func (p *provider) url() string { return "http://" + p.listener.Addr().String() + "/v1" }

func (p *provider) close() { _ = p.server.Close() }

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	send := func(choice string) {
		_, _ = fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,%s}]}\n\n", choice)
		_ = control.Flush()
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := range int(p.words.Load()) {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
		send(`"delta":{"content":` + strconv.Quote(word(i)) + `},"finish_reason":null`)
		p.done.Add(1)
	}
	send(`"delta":{"content":"\n\n` + lastWord + `"},"finish_reason":null`)
	send(`"delta":{},"finish_reason":"stop"`)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// lastWord is what the model says when it is done.
const lastWord = "BENCHDONE"

// word is a word of an answer in markdown: paragraphs, lists and code.
func word(i int) string {
	at := i % 400
	switch {
	case at == 100:
		return "\n\n- a **list** "
	case at == 150:
		return "\n- more of it "
	case at == 200:
		return "\n\n```go\nfunc f() {\n"
	case at == 300:
		return "\n}\n```\n\n"
	case at > 200 && at < 300 && i%4 == 3:
		return fmt.Sprintf("x%d := %d\n", i, i)
	case i%80 == 79:
		return "word.\n\n"
	}
	return strings.Repeat("w", 1+i%7) + " "
}
