package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// TestServe_Figures runs a turn on a server whose settings want metrics, and whose command line
// wants traces.
func TestServe_Figures(t *testing.T) {
	sent := make(chan string, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		sent <- r.Header.Get("X-Key") + string(data)
	}))
	defer collector.Close()
	m := modeltest.Start(t, modeltest.MustParse("call bash {\"command\":\"true\"}\nfinish tool-calls\n--\ntext \"Hi.\"\nfinish stop\n"))
	home := serveHome(t, m.URL)
	settings := filepath.Join(home, ".config", "lathe", "lathe.json")
	old, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(strings.Replace(string(old), "{", `{"server": {"metrics": true}, "permission": {"*": "allow"}, `, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"LATHE_NO_AUTH=1", "OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-key=a%20b"}
	s := startServe(t, home, env, "--traces")
	var made lathe.Session
	s.ask(http.StatusOK, &made, "POST", "/session", `{"title":"t"}`)
	s.ask(http.StatusOK, nil, "POST", "/session/"+string(made.ID)+"/message", `{"parts":[{"type":"text","text":"secret words"}]}`)
	if page := s.ask(http.StatusOK, nil, "GET", "/lathe/metrics", ""); !strings.Contains(page, "lathe_turn_duration_seconds_count 1\n") || !strings.Contains(page, `lathe_tool_duration_seconds_count{tool="bash"} 1`) {
		t.Errorf("the figures are\n%s", page)
	}
	s.end()
	close(sent)
	all := ""
	for one := range sent {
		if !strings.HasPrefix(one, "a b{") {
			t.Errorf("sent without its key: %.40s", one)
		}
		all += one
	}
	for _, name := range []string{"turn", "step", "chat script", "tool bash", "POST /session/{sessionID}/message"} {
		if !strings.Contains(all, `"name":"`+name+`"`) {
			t.Errorf("there is no span %s in %s", name, all)
		}
	}
	if strings.Contains(all, "secret words") {
		t.Error("what was said is in the traces")
	}
}

func TestServe_TracesNeedACollector(t *testing.T) {
	home := serveHome(t, "http://127.0.0.1:1")
	out, err := command(t, home, "serve", "--traces").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "OTEL_EXPORTER_OTLP_ENDPOINT") {
		t.Errorf("it ended with %v: %s", err, out)
	}
}
