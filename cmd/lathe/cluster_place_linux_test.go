package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/lathe-agent/lathe"
)

// Every node answers for a place that another one has: files, repository, terminals and prompts. While that node is gone, its
// sessions can be read, a prompt waits, and the status says why. The next node with the place answers it.
func TestCluster_Place(t *testing.T) {
	n := startNodes(t, "text \"From the shop.\"\nfinish stop\n--\ntext \"Later.\"\nfinish stop\n")
	near, far := n.start(n.shop), n.start(t.TempDir())
	defer far.end()
	if err := os.WriteFile(filepath.Join(n.shop, "goods.txt"), []byte("apples\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := "?directory=" + url.QueryEscape(n.shop)
	id := n.session(far)
	if text := far.ask(http.StatusOK, nil, "GET", "/file/content"+in+"&path=goods.txt", ""); !strings.Contains(text, "apples") {
		t.Errorf("the file holds %s", text)
	}
	far.ask(http.StatusOK, nil, "GET", "/vcs"+in, "")
	if text := far.ask(http.StatusOK, nil, "POST", "/session/"+id+"/message", `{"parts":[{"type":"text","text":"begin"}]}`); !strings.Contains(text, "From the shop.") {
		t.Errorf("the answer is %s", text)
	}
	n.terminal(far, in)

	near.kill()
	why := `"shop\" is away`
	until(t, func() bool { return strings.Contains(far.answer("GET", "/file/content"+in+"&path=goods.txt", ""), why) })
	n.prompt(far, id)
	for _, path := range []string{"/session/status" + in, "/lathe/board"} {
		if text := far.ask(http.StatusOK, nil, "GET", path, ""); !strings.Contains(text, why) {
			t.Errorf("GET %s does not say that the place is away: %s", path, text)
		}
	}
	if text := far.ask(http.StatusOK, nil, "GET", "/session/"+id+"/message"+in, ""); !strings.Contains(text, "From the shop.") {
		t.Errorf("the session holds %s", text)
	}
	cmd := command(t, far.home, "agents", "--json")
	cmd.Env = append(cmd.Env, "LATHE_STORE="+n.dsn)
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), `"place away"`) {
		t.Errorf("lathe agents: %s (%v)", out, err)
	}

	again := n.start(n.shop)
	defer again.end()
	n.answered(far, id, "Later.")
	if text := far.ask(http.StatusOK, nil, "GET", "/session/status"+in, ""); strings.Contains(text, why) {
		t.Errorf("the status is %s", text)
	}
}

// A node that starts outside of its places works in the first one, unless a request says where.
func TestCluster_PlaceByDefault(t *testing.T) {
	n := startNodes(t, "")
	at := n.start(n.shop)
	defer at.end()
	var s lathe.Session
	if at.ask(http.StatusOK, &s, "POST", "/session", "{}"); s.Directory != n.shop {
		t.Errorf("the session is in %q, want %q", s.Directory, n.shop)
	}
}

// A place that disappears is away until it is back, and its node says so. Prompts wait, at that node, too.
func TestCluster_PlaceDisappears(t *testing.T) {
	n := startNodes(t, "text \"One.\"\nfinish stop\n--\ntext \"Two.\"\nfinish stop\n")
	n.args = []string{"--print-logs"}
	data := t.TempDir()
	n.env, n.args = []string{"LATHE_DATA=" + filepath.Join(data, "lathe")}, append(n.args, "--place", "trees="+filepath.Join(data, "lathe-worktrees")) // not made yet
	near := n.start(n.shop)
	n.env, n.args = nil, nil
	far := n.start(t.TempDir())
	defer near.end()
	defer far.end()
	ids := []string{n.session(near), n.session(near)}
	in := "?directory=" + url.QueryEscape(n.shop)
	if text := near.answer("GET", "/lathe/ready", ""); strings.Contains(text, "warnings") {
		t.Errorf("ready says %s", text)
	}
	elsewhere := n.shop + ".unmounted"
	if err := os.Rename(n.shop, elsewhere); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*serving{near, far} {
		until(t, func() bool { return strings.Contains(s.answer("GET", "/file"+in+"&path=.", ""), `"shop\" is away`) })
	}
	if text := near.ask(http.StatusOK, nil, "GET", "/lathe/ready", ""); !strings.Contains(text, "place \\\"shop\\\" is away: "+n.shop+" is missing or no directory") {
		t.Errorf("ready says %s", text)
	}
	if text := near.ask(http.StatusOK, nil, "GET", "/lathe/metrics", ""); !strings.Contains(text, "lathe_places_missing 1") {
		t.Errorf("metrics are %s", text)
	}
	for i, s := range []*serving{near, far} {
		n.prompt(s, ids[i])
		until(t, func() bool { return strings.Contains(s.answer("GET", "/session/status"+in, ""), ids[i]) })
		if text := s.answer("GET", "/session/status"+in, ""); !strings.Contains(text, `"shop\" is away`) {
			t.Errorf("the status is %s", text)
		}
		s.ask(http.StatusOK, nil, "GET", "/session/"+ids[i]+"/message", "")
	}
	if got := len(n.model.Requests()); got > 0 {
		t.Errorf("%d requests to the model without the place", got)
	}
	if err := os.Rename(elsewhere, n.shop); err != nil {
		t.Fatal(err)
	}
	for i, s := range []*serving{far, near} {
		until(t, func() bool {
			text := s.ask(http.StatusOK, nil, "GET", "/session/"+ids[i]+"/message", "")
			return strings.Contains(text, "One.") || strings.Contains(text, "Two.")
		})
	}
	until(t, func() bool { return !strings.Contains(near.answer("GET", "/lathe/ready", ""), "warnings") })
}

// A node without its bus, its bucket and a place works, and says what it lacks.
func TestCluster_Warnings(t *testing.T) {
	n := startNodes(t, "")
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer bucket.Close()
	n.env = []string{"AWS_ENDPOINT_URL_S3=" + bucket.URL, "AWS_ACCESS_KEY_ID=k", "AWS_SECRET_ACCESS_KEY=s", "AWS_REGION=us-east-1"}
	n.args = []string{"--bus", "nats://127.0.0.1:1", "--blobs", "s3://values/p", "--place", "gone=" + filepath.Join(n.shop, "gone")}
	at := n.start(n.shop)
	text := at.ask(http.StatusOK, nil, "GET", "/lathe/ready", "")
	for _, want := range []string{"The bus cannot be reached", "cannot store a large value in s3://values/p"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	at.end()
	for _, want := range []string{`Warning: the place "gone" is away`, "Warning: cannot store a large value"} {
		if !strings.Contains(at.stderr.String(), want) {
			t.Errorf("no %q at the terminal:\n%s", want, at.stderr)
		}
	}
}

// answer is the body of any answer.
func (s *serving) answer(method, path, body string) string {
	s.Helper()
	res := s.do(method, path, body)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.Error(err)
	}
	return string(data)
}

// terminal runs a command in a terminal of the shop.
func (n *nodes) terminal(at *serving, in string) {
	n.Helper()
	var p lathe.Pty
	at.ask(http.StatusOK, &p, "POST", "/pty"+in, `{"command":"/bin/sh","args":["-c","read x; echo $x > typed; sleep 60"]}`)
	ctx, stop := context.WithTimeout(n.Context(), 30*time.Second)
	defer stop()
	h := http.Header{}
	h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("opencode:"+at.key)))
	conn, _, err := websocket.Dial(ctx, at.url+"/pty/"+string(p.ID)+"/connect"+in, &websocket.DialOptions{HTTPHeader: h})
	if err != nil {
		n.Fatal(err)
	}
	if err := conn.Write(ctx, websocket.MessageText, []byte("pears\n")); err != nil {
		n.Error(err)
	}
	until(n.T, func() bool {
		b, err := os.ReadFile(filepath.Join(n.shop, "typed"))
		return err == nil && string(b) == "pears\n"
	})
	_ = conn.Close(websocket.StatusNormalClosure, "")
	at.ask(http.StatusOK, nil, "DELETE", "/pty/"+string(p.ID)+in, "")
}

// A caller that waits at one node for the answer gets it, even if the node that works on it dies.
func TestCluster_WaitSurvives(t *testing.T) {
	n := startNodes(t, shopScript)
	a, far := n.start(n.shop), n.start(t.TempDir())
	defer far.end()
	id := n.session(far)
	answer := make(chan string, 1)
	go func() {
		answer <- far.answer("POST", "/session/"+id+"/message", `{"parts":[{"type":"text","text":"begin"}]}`)
	}()
	until(t, func() bool { return n.effects() != "" })
	b := n.start(n.shop)
	defer b.end()
	a.kill()
	if got := <-answer; !strings.Contains(got, "There.") {
		t.Errorf("the answer is %s", got)
	}
	if got := n.effects(); got != "once\n" {
		t.Errorf("the command left %q", got)
	}
}

// A node with another password is no node of the cluster for requests, and the error says so.
func TestCluster_OtherPassword(t *testing.T) {
	n := startNodes(t, "")
	near, far := n.startAs(n.shop, "its own"), n.start(t.TempDir())
	defer near.end()
	defer far.end()
	if text := far.answer("GET", "/file?path=.&directory="+url.QueryEscape(n.shop), ""); !strings.Contains(text, "same LATHE_SERVER_PASSWORD on all nodes") {
		t.Errorf("the answer is %s", text)
	}
}

// spans are the trace and instance of each span of a name that a collector got.
func spans(bodies [][]byte, name string) (out [][2]string) {
	for _, b := range bodies {
		var got struct {
			ResourceSpans []struct {
				Resource struct {
					Attributes []struct {
						Key   string
						Value struct{ StringValue string }
					}
				}
				ScopeSpans []struct {
					Spans []struct{ Name, TraceID string }
				}
			}
		}
		if json.Unmarshal(b, &got) != nil {
			continue
		}
		for _, r := range got.ResourceSpans {
			instance := ""
			for _, a := range r.Resource.Attributes {
				if a.Key == "service.instance.id" {
					instance = a.Value.StringValue
				}
			}
			for _, s := range r.ScopeSpans {
				for _, one := range s.Spans {
					if one.Name == name {
						out = append(out, [2]string{one.TraceID, instance})
					}
				}
			}
		}
	}
	return out
}

// A turn that a node begins and another one ends is one trace, with spans of both.
func TestCluster_Trace(t *testing.T) {
	n := startNodes(t, strings.ReplaceAll(shopScript, "sleep 60", "while [ ! -e go ]; do sleep 0.02; done"))
	var mu sync.Mutex
	var got [][]byte
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, b)
	}))
	defer collector.Close()
	n.env, n.args = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL}, []string{"--traces"}
	a, b := n.start(n.shop), n.start(n.shop)
	id := n.session(a)
	n.prompt(a, id)
	until(t, func() bool { return n.effects() != "" })
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { // it has begun to leave
		res, err := http.Get(a.url + "/lathe/ready")
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil && res.StatusCode == http.StatusServiceUnavailable
	})
	if err := os.WriteFile(filepath.Join(n.shop, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = a.cmd.Wait()
	n.answered(b, id, "There.")
	b.end()
	mu.Lock()
	defer mu.Unlock()
	turns := spans(got, "turn")
	if len(turns) < 2 || turns[0][0] != turns[len(turns)-1][0] || turns[0][1] != a.url || turns[len(turns)-1][1] != b.url {
		t.Errorf("the turns are %v", turns)
	}
}
