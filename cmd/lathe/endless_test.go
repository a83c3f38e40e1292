package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lathe-agent/lathe/cli/debug"
)

// endless is a provider whose answer never ends: the same event of a chat completion again and again.
// It counts requests and bytes.
type endless struct {
	event    string
	requests atomic.Int64
	sent     atomic.Int64
}

func (e *endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if strings.Contains(string(body), "title for this conversation") {
		http.Error(w, "no titles", http.StatusBadRequest)
		return
	}
	e.requests.Add(1)
	w.Header().Set("Content-Type", "text/event-stream")
	piece := bytes.Repeat([]byte("data: "+e.event+"\n\n"), 16)
	for r.Context().Err() == nil {
		n, err := w.Write(piece)
		if e.sent.Add(int64(n)); err != nil {
			return
		}
	}
}

// An answer that never ends is given up at 16 bytes for a token of the limit of the model, in text,
// reasoning and arguments. It is asked for once, and what came is kept.
func TestRun_EndlessAnswer(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("on and on ", 100)
	for name, delta := range map[string]string{
		"text":      `{"content":"` + words + `"}`,
		"reasoning": `{"reasoning_content":"` + words + `"}`,
		"arguments": `{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"bash","arguments":"` + words + `"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := &endless{event: `{"choices":[{"index":0,"delta":` + delta + `}]}`}
			s := httptest.NewServer(e)
			defer s.Close()
			home := t.TempDir()
			const limit = 20_000
			settings := strings.Replace(fmt.Sprintf(debug.ScriptConfig, s.URL), `{"cost":`, fmt.Sprintf(`{"limit": {"context": 100000, "output": %d}, "cost":`, limit), 1)
			if err := os.WriteFile(home+"/lathe.json", []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := command(t, home, "run", "--format", "json", "--title", "endless", "Go on.")
			cmd.Env = append(cmd.Env, "LATHE_CONFIG="+home+"/lathe.json", "GOMEMLIMIT=200MiB")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "more than 312 KB of text") {
				t.Errorf("%v: %.2000s", err, out)
			}
			if n := e.requests.Load(); n != 1 {
				t.Errorf("it was asked %d times", n)
			}
			if sent := e.sent.Load(); sent < 16*limit || sent > 32<<20 {
				t.Errorf("it could send %d bytes", sent)
			}
			list := must(t, home, "session", "list")
			id := list[strings.Index(list, "ses_"):]
			exported := must(t, home, "export", id[:30])
			if n := strings.Count(exported, "on and on "); name != "arguments" && (n < 16*limit/10-200 || n > 2*16*limit/10) {
				t.Errorf("%d repetitions are kept", n)
			}
		})
	}
}
