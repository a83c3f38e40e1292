//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/sse"
)

// What the server costs over HTTP, measured from outside: the provider and the clients are this
// process, the server is one of its own, and the floor is a relay in a process that does nothing
// but hand on.

// stamping answers as Chat Completions do, with as many deltas as the prompt says, at its pace in
// microseconds. Each delta is the time at which it was written.
func stamping(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // the answer fails too, if this does
	n, every := 1, time.Duration(0)
	if i := bytes.LastIndex(body, []byte("deltas ")); i >= 0 {
		var us int
		_, _ = fmt.Sscanf(string(body[i:]), "deltas %d %d", &n, &us) // only our own prompts come here
		every = time.Duration(us) * time.Microsecond
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control, begin := http.NewResponseController(w), time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for i := range n {
		if every > 0 {
			timer.Reset(time.Until(begin.Add(time.Duration(i) * every)))
			<-timer.C
		}
		fmt.Fprintf(w, `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"%d "}}]}`+"\n\n", time.Now().UnixNano())
		if every > 0 || i%16 == 15 {
			_ = control.Flush()
		}
	}
	fmt.Fprint(w, `data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
}

// processor is how long a process has computed.
func processor(b testing.TB, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// resident is how much memory a process has, in MB.
func resident(b testing.TB, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kb / 1024
}

// benchServe starts a server with a provider behind it.
func benchServe(b *testing.B) *benchServer {
	b.Helper()
	provider := httptest.NewServer(http.HandlerFunc(stamping))
	b.Cleanup(provider.Close)
	s := &benchServer{B: b, provider: provider.URL, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2000}}}
	home := b.TempDir()
	s.cmd = exec.Command("lathe", "serve", "--no-auth")
	s.cmd.Dir = home
	s.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "LATHE_DATA="+home+"/data", "LATHE_CONFIG_CONTENT="+fmt.Sprintf(scriptSettings, provider.URL))
	out, err := s.cmd.StdoutPipe()
	s.ok(err)
	s.began = time.Now()
	s.ok(s.cmd.Start())
	b.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	s.ok(err)
	s.url = strings.TrimSpace(strings.TrimPrefix(line, "opencode server listening on "))
	return s
}

type benchServer struct {
	*testing.B
	cmd           *exec.Cmd
	url, provider string
	client        *http.Client
	began         time.Time
}

func (s *benchServer) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *benchServer) ask(method, path, body string) []byte {
	s.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	s.ok(err)
	r.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(r)
	s.ok(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	s.ok(err)
	if res.StatusCode >= 300 {
		s.Fatalf("%s %s: %d %s", method, path, res.StatusCode, data)
	}
	return data
}

func (s *benchServer) session() string {
	var rec lathe.Session
	s.ok(json.Unmarshal(s.ask("POST", "/session", `{"title":"T"}`), &rec))
	return string(rec.ID)
}

// hear reads a stream and gives each delta with the time it came, until it has so many.
func (s *benchServer) hear(url string, ready func(), each func(text string, at time.Time) bool) {
	res, err := s.client.Get(url)
	s.ok(err)
	defer res.Body.Close()
	in := sse.NewReader(res.Body)
	for first := true; ; first = false {
		ev, err := in.Next()
		if err != nil {
			return
		}
		now := time.Now()
		if first {
			ready()
		}
		if i := bytes.Index(ev.Data, []byte(`"delta":"`)); i >= 0 {
			text, _, _ := bytes.Cut(ev.Data[i+9:], []byte(`"`))
			if !each(string(text), now) {
				return
			}
		}
	}
}

// BenchmarkServeReady is how long a server takes from its start to its first answer, and what memory
// it then has.
func BenchmarkServeReady(b *testing.B) {
	var took, memory []float64
	for b.Loop() {
		s := benchServe(b)
		s.ask("GET", "/global/health", "")
		took = append(took, float64(time.Since(s.began).Microseconds())/1000)
		memory = append(memory, resident(b, s.cmd.Process.Pid))
		_ = s.cmd.Process.Kill()
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "ms-to-ready")
	b.ReportMetric(slices.Max(memory), "MB")
}

// BenchmarkServeDelta is the processor time of a text delta from the provider's socket to that of a
// client that listens, beside that of a bare relay. They come one at a time: faster ones are merged
// here and not by the relay, which would compare other work.
func BenchmarkServeDelta(b *testing.B) {
	s := benchServe(b)
	id := s.session()
	pid, url := s.relay()
	const paced = 8000 // one at a time
	slow := s.burn(s.cmd.Process.Pid, s.url+"/event", func() {
		s.ask("POST", "/session/"+id+"/prompt_async", fmt.Sprintf(`{"parts":[{"type":"text","text":"deltas %d 400"}]}`, paced))
	}, paced)
	slowFloor := s.burn(pid, url+"?every=400&n="+strconv.Itoa(paced), func() {}, paced)
	for b.Loop() { // what is measured has been
	}
	b.ReportMetric(float64(slow.Nanoseconds())/paced, "ns/delta")
	b.ReportMetric(float64(slowFloor.Nanoseconds())/paced, "relay-ns/delta")
	b.ReportMetric(float64(slow)/float64(slowFloor), "times-relay")
}

// burn is what a process computes while so many stamps go through it.
func (s *benchServer) burn(pid int, url string, begin func(), want int) time.Duration {
	s.Helper()
	before, got := processor(s, pid), 0
	s.hear(url, begin, func(text string, _ time.Time) bool {
		got += strings.Count(text, " ")
		return got < want
	})
	if got < want {
		s.Fatalf("%d of %d deltas came", got, want)
	}
	return processor(s, pid) - before
}

// relay starts the floor and returns its process and address.
func (s *benchServer) relay() (int, string) {
	s.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRelay_Process$")
	cmd.Env = append(os.Environ(), "LATHE_BENCH_RELAY="+s.provider)
	out, err := cmd.StdoutPipe()
	s.ok(err)
	s.ok(cmd.Start())
	s.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	s.ok(err)
	return cmd.Process.Pid, strings.TrimSpace(line)
}

// TestRelay_Process is the relay of BenchmarkServeDelta, in a process of its own.
func TestRelay_Process(t *testing.T) {
	provider := os.Getenv("LATHE_BENCH_RELAY")
	if provider == "" {
		t.Skip("it is the other process of BenchmarkServeDelta")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("http://%s\n", l.Addr())
	t.Fatal(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		handOn(r.Context(), w, provider, r.URL.Query().Get("n")+" "+r.URL.Query().Get("every"))
	})))
}

type handedOn struct {
	ID         string      `json:"id"`
	Type       string      `json:"type"`
	Properties handedDelta `json:"properties"`
}

type handedDelta struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
	Part    string `json:"partID"`
	Field   string `json:"field"`
	Delta   string `json:"delta"`
}

// handOn asks the provider and writes each delta as an event of ours, as soon as nothing more is there
// to read.
func handOn(ctx context.Context, w http.ResponseWriter, provider, n string) {
	r, _ := http.NewRequestWithContext(ctx, "POST", provider+"/v1/chat/completions", strings.NewReader("deltas "+n))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	defer res.Body.Close()
	in, control := bufio.NewReaderSize(res.Body, 32<<10), http.NewResponseController(w)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		data, ok := bytes.CutPrefix(line, []byte("data: {"))
		if !ok {
			continue
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if json.Unmarshal(append([]byte("{"), data...), &chunk) != nil || len(chunk.Choices) == 0 || chunk.Choices[0].Delta.Content == "" {
			continue
		}
		out, _ := json.Marshal(handedOn{ID: "evt_0123456789abABCDEFGHIJKLMN", Type: "message.part.delta", Properties: handedDelta{
			"ses_0123456789abABCDEFGHIJKLMN", "msg_0123456789abABCDEFGHIJKLMN", "prt_0123456789abABCDEFGHIJKLMN", "text", chunk.Choices[0].Delta.Content,
		}})
		_, _ = w.Write(append(append([]byte("data: "), out...), '\n', '\n'))
		if in.Buffered() == 0 {
			_ = control.Flush()
		}
	}
}

// BenchmarkServeLatency is how long a delta takes from the provider to a client, while 50 sessions
// stream 20 deltas a second each: to one client, and to fifty that each hear all of them. The time
// in which the turns begin counts too.
func BenchmarkServeLatency(b *testing.B) {
	for _, listeners := range []int{1, 50} {
		b.Run(fmt.Sprintf("listeners=%d", listeners), func(b *testing.B) { benchLatency(b, listeners) })
	}
}

func benchLatency(b *testing.B, listeners int) {
	const sessions, deltas = 50, 100
	s := benchServe(b)
	var mu sync.Mutex // guards took
	var took []float64
	var ready, done sync.WaitGroup
	ready.Add(listeners)
	for range listeners {
		done.Go(func() {
			heard, own := 0, []float64{}
			s.hear(s.url+"/event", ready.Done, func(text string, at time.Time) bool {
				for one := range strings.FieldsSeq(text) {
					sent, _ := strconv.ParseInt(one, 10, 64)
					own = append(own, float64(at.UnixNano()-sent)/1e6)
					heard++
				}
				return heard < deltas*sessions
			})
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	ready.Wait()
	for range sessions {
		s.ask("POST", "/session/"+s.session()+"/prompt_async", fmt.Sprintf(`{"parts":[{"type":"text","text":"deltas %d 50000"}]}`, deltas))
	}
	done.Wait()
	for b.Loop() { // what is measured has been
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "ms-p50")
	b.ReportMetric(took[len(took)*99/100], "ms-p99")
}

// BenchmarkServeStreams is what a thousand streams and a thousand sessions cost in memory, and whether
// all of them hear everything.
func BenchmarkServeStreams(b *testing.B) {
	const many, deltas = 1000, 50
	s := benchServe(b)
	ids := make([]string, many)
	for i := range ids {
		ids[i] = s.session()
	}
	var ready, done sync.WaitGroup
	var mu sync.Mutex
	lost := many
	ready.Add(many)
	for range many {
		done.Go(func() {
			got := 0
			s.hear(s.url+"/global/event", ready.Done, func(text string, _ time.Time) bool {
				got += strings.Count(text, " ")
				return got < deltas
			})
			if got == deltas {
				mu.Lock()
				lost--
				mu.Unlock()
			}
		})
	}
	ready.Wait()
	connected := resident(b, s.cmd.Process.Pid)
	before := processor(b, s.cmd.Process.Pid)
	s.ask("POST", "/session/"+ids[0]+"/prompt_async", fmt.Sprintf(`{"parts":[{"type":"text","text":"deltas %d 20000"}]}`, deltas))
	done.Wait()
	for b.Loop() { // what is measured has been
	}
	b.ReportMetric(connected, "MB-connected")
	b.ReportMetric(resident(b, s.cmd.Process.Pid), "MB")
	b.ReportMetric(float64(lost), "streams-that-missed")
	b.ReportMetric(float64((processor(b, s.cmd.Process.Pid)-before).Nanoseconds())/(many*deltas), "ns/delivery")
}
