package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// thinker is a server of Chat Completions that thinks, calls a tool, thinks again and answers; its thoughts travel in
// the field that its own software has for them.
type thinker struct {
	field string
	mu    sync.Mutex
	asked [][]byte
}

func (s *thinker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, body)
	deltas := []string{`"content":"It is there."`, `"content":""`}
	if len(s.asked) == 1 {
		deltas = []string{fmt.Sprintf(`%q:"First I look."`, s.field), `"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"glob","arguments":"{\"pattern\":\"*\"}"}}]`}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range deltas {
		fmt.Fprintf(w, "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"script\",\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":null}]}\n\n", d)
	}
	end := "stop"
	if len(s.asked) == 1 {
		end = "tool_calls"
	}
	fmt.Fprintf(w, "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"script\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", end)
}

// A custom server gets its thoughts back between the calls of a turn, in the field it sent them in. No setting says so.
func TestReasoning_GoesBackWhereItCameFrom(t *testing.T) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		s := &thinker{field: field}
		server := httptest.NewServer(s)
		out := must(t, serveHome(t, server.URL), "run", "--title", "Thoughts", "look")
		server.Close()
		if !strings.Contains(out, "It is there.") || len(s.asked) != 2 {
			t.Fatalf("%s: asked %d times: %s", field, len(s.asked), out)
		}
		var request struct{ Messages []map[string]json.RawMessage }
		if err := json.Unmarshal(s.asked[1], &request); err != nil {
			t.Fatal(err)
		}
		sent := map[string]string{}
		for _, m := range request.Messages {
			for _, name := range []string{"reasoning_content", "reasoning", "reasoning_details"} {
				if m[name] != nil {
					sent[name] = string(m["role"]) + " " + string(m[name])
				}
			}
		}
		if len(sent) != 1 || sent[field] != `"assistant" "First I look."` {
			t.Errorf("%s: the second request has %v", field, sent)
		}
	}
}
