package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/record"
)

const (
	chat = "/v1/chat/completions"
	ask  = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi <b>"}]}`
)

func request(t testing.TB, ctx context.Context, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk-planted-key")
	req.Header.Set("Content-Type", "application/json")
	return req
}

// exchange sends a request and reads its answer: the first n bytes, or all when n is negative.
func exchange(t testing.TB, rt http.RoundTripper, url, body string, n int) (status int, got string, err error) {
	t.Helper()
	resp, err := rt.RoundTrip(request(t, t.Context(), url, body))
	if err != nil {
		return 0, "", err
	}
	var all []byte
	if n < 0 {
		all, err = io.ReadAll(resp.Body)
	} else {
		all = make([]byte, n)
		_, err = io.ReadFull(resp.Body, all)
	}
	return resp.StatusCode, string(all), errors.Join(err, resp.Body.Close())
}

func player(t testing.TB, file []byte) *record.Player {
	t.Helper()
	p, err := record.NewPlayer(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What a recording plays is what the provider said, byte for byte, status and headers too.
func TestRecord_Replay(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse("status 429 retry-after=2\n--\ntext \"a\" \"é <b>\"\nraw \"\\xff\\n\\n\"\n--\ntext \"other\""))
	var file bytes.Buffer
	rec := record.NewRecorder(&file, s.Client.Transport)
	other := strings.Replace(ask, "hi", "ho", 1)
	type said struct {
		status int
		body   string
	}
	var want []said
	for _, body := range []string{ask, ask, other} {
		status, got, err := exchange(t, rec, s.URL+chat, body, -1)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, said{status, got})
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	p := player(t, file.Bytes())
	for i, n := range []int{2, 0, 1} { // another order; equal requests keep theirs
		body := []string{other, ask, ask}[i]
		status, got, err := exchange(t, p, "https://elsewhere.example"+chat, body, -1)
		if err != nil || (said{status, got}) != want[n] {
			t.Errorf("%d %q %v, want %+v", status, got, err, want[n])
		}
	}
	if got := strings.Count(file.String(), "\n"); got != 3 {
		t.Errorf("%d lines", got)
	}
	resp, err := player(t, file.Bytes()).RoundTrip(request(t, t.Context(), "http://x"+chat, ask))
	if err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("Retry-After") != "2" || resp.Body.Close() != nil {
		t.Errorf("%v", resp.Header)
	}
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Error(err)
	}
}

// The client has its bytes while the provider still talks.
func TestRecord_Streams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := modeltest.Pipe(t, modeltest.MustParse("raw \"abc\"\npause 3s\nraw \"de\"\npause 1h\nraw \"f\""))
		var file bytes.Buffer
		rec := record.NewRecorder(&file, s.Client.Transport)
		rec.Timing = true
		start := time.Now()
		read := func(rt http.RoundTripper) (out []record.Chunk) {
			resp, err := rt.RoundTrip(request(t, t.Context(), s.URL+chat, ask))
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 100)
			for {
				n, err := resp.Body.Read(buf)
				if n > 0 {
					out = append(out, record.Chunk{At: time.Since(start).Milliseconds(), Bytes: n})
				}
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := resp.Body.Close(); err != nil {
				t.Fatal(err)
			}
			return out
		}
		want := []record.Chunk{{At: 0, Bytes: 3}, {At: 3000, Bytes: 2}, {At: 3603000, Bytes: 1}}
		if diff := cmp.Diff(want, read(rec)); diff != "" {
			t.Error(diff)
		}
		p := player(t, file.Bytes())
		p.Timing, start = true, time.Now()
		if diff := cmp.Diff(want, read(p)); diff != "" {
			t.Errorf("played: %s", diff)
		}
		start = time.Now()
		if diff := cmp.Diff([]record.Chunk{{Bytes: 3}, {Bytes: 2}, {Bytes: 1}}, read(player(t, file.Bytes()))); diff != "" {
			t.Errorf("played at once: %s", diff)
		}
	})
}

// A played stream that waits ends when its request is canceled.
func TestPlayer_Cancel(t *testing.T) {
	const file = `{"v":1,"request":{"method":"POST","host":"h","path":"/v1/chat/completions","body":"b"},` +
		`"response":{"status":200,"body":"ab","chunks":[{"at":0,"n":1},{"at":3600000,"n":1}]}}` + "\n"
	synctest.Test(t, func(t *testing.T) {
		p := player(t, []byte(file))
		p.Timing = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		resp, err := p.RoundTrip(request(t, ctx, "http://h"+chat, "b"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if !errors.Is(err, context.DeadlineExceeded) || string(got) != "a" {
			t.Errorf("%q, %v", got, err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}

// No matter which side stops first, the file has what was read, and says that it was cut.
func TestRecord_Cut(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse("raw \"abcdef\"\nstall\n--\nraw \"abcdef\"\ncut\n--\nraw \"abcdef\"\nstall\n--\nstall"))
	var file bytes.Buffer
	rec := record.NewRecorder(&file, s.Client.Transport)
	if _, got, err := exchange(t, rec, s.URL+chat, ask, 4); err != nil || got != "abcd" {
		t.Fatalf("%q, %v", got, err)
	}
	if !s.Last().ClientLeft() {
		t.Error("the provider does not see that the client stopped")
	}
	if _, got, err := exchange(t, rec, s.URL+chat, ask, -1); !errors.Is(err, io.ErrUnexpectedEOF) || got != "abcdef" {
		t.Fatalf("%q, %v", got, err)
	}
	resp, err := rec.RoundTrip(request(t, t.Context(), s.URL+chat, ask))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended, arrived := make(chan error, 1), make(chan struct{})
	s.Respond(func(modeltest.Request) modeltest.Answer { close(arrived); return nil })
	go func() {
		_, err := rec.RoundTrip(request(t, ctx, s.URL+chat, ask))
		ended <- err
	}()
	<-arrived
	if err := rec.Close(); err != nil { // two are still running
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := record.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	var got []record.Response
	for _, e := range all {
		e.Response.Header = nil
		got = append(got, e.Response)
	}
	want := []record.Response{
		{Status: 200, Body: record.Body("abcd"), Cut: "the client stopped reading"},
		{Status: 200, Body: record.Body("abcdef"), Cut: "unexpected EOF"},
		{Status: 200, Body: record.Body("ab"), Cut: "the recording ended first"},
		{Failed: "the recording ended first", Body: record.Body("")},
	}
	byCut := cmpopts.SortSlices(func(a, b record.Response) bool { return a.Cut < b.Cut })
	if diff := cmp.Diff(want, got, byCut, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// What was cut or failed then does so now.
func TestPlayer_Cut(t *testing.T) {
	line := func(response string) string {
		return `{"v":1,"request":{"method":"POST","host":"h","path":"/v1/chat/completions","body":"b"},"response":` + response + "}\n"
	}
	p := player(t, []byte(line(`{"status":200,"body":"ab","cut":"the client stopped reading"}`)+
		line(`{"status":200,"body":{"base64":"/w=="},"cut":"connection reset by peer"}`)+
		line(`{"failed":"connection refused","body":""}`)))
	for _, want := range []struct{ body, err string }{
		{"ab", "unexpected EOF: the recorded client stopped reading here"},
		{"\xff", "unexpected EOF: recorded as connection reset by peer"},
		{"", "recorded failure: connection refused"},
		{"", "the request is not in the recording: POST /v1/chat/completions was recorded 3 times and requested once more"},
	} {
		_, got, err := exchange(t, p, "http://h"+chat, "b", -1)
		if got != want.body || err == nil || err.Error() != want.err {
			t.Errorf("%q, %v, want %+v", got, err, want)
		}
	}
}

func TestPlayer_Nearest(t *testing.T) {
	const file = `{"v":1,"request":{"method":"POST","host":"h","path":"/a?alt=sse","body":"{\"model\":\"m\",\"text\":\"one\"}"},"response":{"status":200,"body":""}}
{"v":1,"request":{"method":"POST","host":"h","path":"/a?alt=sse","body":"nothing alike"},"response":{"status":200,"body":""}}
`
	for _, c := range []struct{ file, url, want string }{
		{
			file, "http://h/a?key=sk-planted&alt=sse",
			`the request is not in the recording: POST /a?alt=sse (26 bytes); the nearest is exchange 1, whose body differs from byte 21 on: ` +
				`recorded "\"model\":\"m\",\"text\":\"one\"}", asked "\"model\":\"m\",\"text\":\"two\"}"`,
		},
		{file, "http://h/b", `the request is not in the recording: POST /b (26 bytes); recorded are: POST /a?alt=sse, POST /a?alt=sse`},
		{"", "http://h/b", `the request is not in the recording: POST /b (26 bytes); the recording is empty`},
	} {
		_, _, err := exchange(t, player(t, []byte(c.file)), c.url, `{"model":"m","text":"two"}`, -1)
		if !errors.Is(err, record.ErrNotRecorded) || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

// answering is a transport with given answers.
type answering func(*http.Request) (*http.Response, error)

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A key is nowhere in the file, wherever the provider repeats it.
func TestRecord_NoSecrets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		secret := rapid.StringMatching(`[a-zA-Z0-9+/=_-]{8,40}`).Draw(rt, "key")
		name := rapid.SampledFrom([]string{"Authorization", "x-api-key", "api-key", "x-goog-api-key", "Cookie", "X-Amz-Security-Token"}).Draw(rt, "header")
		var file bytes.Buffer
		fails := rapid.Bool().Draw(rt, "fails")
		rec := record.NewRecorder(&file, answering(func(r *http.Request) (*http.Response, error) {
			if fails {
				return nil, errors.New("dial with " + secret)
			}
			body := io.NopCloser(strings.NewReader("your key is " + secret + ", or " + r.URL.String()))
			return &http.Response{StatusCode: 401, Header: http.Header{"X-Echo": {secret}, "Set-Cookie": {secret}}, Body: body}, nil
		}))
		req := request(t, t.Context(), "http://h/a?key="+strings.ReplaceAll(secret, "+", "%2B")+"&alt=sse", `{"key":"`+secret+`"}`)
		req.Header.Set("Authorization", "Bearer other-secret")
		req.Header.Set(name, secret)
		if resp, err := rec.RoundTrip(req); err == nil {
			if _, err := io.ReadAll(resp.Body); err != nil {
				rt.Fatal(err)
			}
			_ = resp.Body.Close()
		}
		if err := rec.Close(); err != nil {
			rt.Fatal(err)
		}
		if got := file.String(); strings.Contains(got, secret) || strings.Contains(got, "other-secret") {
			rt.Fatalf("%q is in %s", secret, got)
		}
		if _, err := player(t, file.Bytes()).RoundTrip(req.Clone(t.Context())); err == nil && fails {
			rt.Fatal("a failure was recorded as an answer")
		}
	})
}

// A body of any bytes comes back as it was.
func FuzzBody(f *testing.F) {
	f.Add([]byte("data: {\"a\":\"<b>&\\u2028\"}\n\n"), []byte("\xff\x00"))
	f.Fuzz(func(t *testing.T, ask, answer []byte) {
		var file bytes.Buffer
		rec := record.NewRecorder(&file, answering(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(answer))}, nil
		}))
		for _, rt := range []http.RoundTripper{rec, nil} {
			if rt == nil {
				rt = player(t, file.Bytes())
			}
			_, got, err := exchange(t, rt, "http://h/a", string(ask), -1)
			want := strings.ReplaceAll(string(answer), "sk-planted-key", "[scrubbed]")
			if rt == http.RoundTripper(rec) {
				want = string(answer)
			}
			if err != nil || got != want {
				t.Fatalf("%q, %v, want %q", got, err, want)
			}
		}
	})
}

func TestRead_Errors(t *testing.T) {
	for file, want := range map[string]string{
		"nonsense\n":                          "read recording: line 1: invalid character",
		`{"v":2}` + "\n":                      "read recording: line 1: format 2 is not supported, only 1; record it again",
		`{"v":1,"request":{"body":7}}` + "\n": "read recording: line 1: ",
		`{"v":1,"request":{"body":{"base64":"!"}}}` + "\n": "read recording: line 1: ",
		`{"v":1,"request":{"body":{}}}` + "\n":             "a body must be a string or an object with base64",
	} {
		if _, err := record.NewPlayer(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", file, err)
		}
	}
	// A crash leaves half a line; what is before it counts.
	if all, err := record.Read(strings.NewReader(`{"v":1}` + "\n" + `{"v":1,"requ`)); err != nil || len(all) != 1 {
		t.Errorf("%d exchanges, %v", len(all), err)
	}
}

// endless is a file such as /dev/zero. Its reader gives up before the test does.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	if e.read += len(p); e.read > 1<<29 {
		return 0, errors.New("all of it was read")
	}
	return len(p), nil
}

func TestRead_Endless(t *testing.T) {
	if _, err := record.Read(&endless{}); err == nil || !strings.Contains(err.Error(), "a line is longer than") {
		t.Error(err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk is full") }

// The client is not disturbed when the file cannot be written; Close tells.
func TestRecord_WriteFails(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse(`text "a"`))
	rec := record.NewRecorder(fullDisk{}, s.Client.Transport)
	if _, _, err := exchange(t, rec, s.URL+chat, ask, -1); err != nil {
		t.Error(err)
	}
	if err := rec.Close(); err == nil || err.Error() != "write recording: disk is full" {
		t.Error(err)
	}
}

// Many at once write whole lines.
func TestRecord_Concurrent(t *testing.T) {
	s := modeltest.Start(t, nil)
	s.Respond(func(r modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Raw(r.Body)} })
	f, err := os.Create(filepath.Join(t.TempDir(), "rec.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	rec := record.NewRecorder(f, s.Client.Transport)
	const n = 40
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			body := strings.Replace(ask, "hi", strings.Repeat("x", i), 1)
			if _, got, err := exchange(t, rec, s.URL+chat, body, -1); err != nil || got != body {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	if err := errors.Join(rec.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	p := player(t, data)
	for i := range n {
		body := strings.Replace(ask, "hi", strings.Repeat("x", i), 1)
		if _, got, err := exchange(t, p, s.URL+chat, body, -1); err != nil || got != body {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// A loose player answers a request that differs with the nearest one that is left.
func TestPlayer_Loose(t *testing.T) {
	line := func(body, answer string) string {
		b, err := json.Marshal(record.Exchange{
			Version: 1, Request: record.Request{Method: "POST", Path: "/v1", Body: record.Body(body)},
			Response: record.Response{Status: 200, Body: record.Body(answer)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	file := line("turn of monday one", "first") + line("title", "name") + line("turn of monday two", "second")
	p, err := record.NewPlayer(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(body string) string {
		req, _ := http.NewRequest("POST", "http://host/v1", strings.NewReader(body))
		resp, err := p.RoundTrip(req)
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		got, _ := io.ReadAll(resp.Body)
		return string(got)
	}
	if got := ask("turn of sunday one"); !strings.Contains(got, record.ErrNotRecorded.Error()) {
		t.Errorf("a strict player answers %q", got)
	}
	p.Loose = true
	for _, tt := range [][2]string{{"turn of sunday one", "first"}, {"title!", "name"}, {"turn of sunday two", "second"}} {
		if got := ask(tt[0]); got != tt[1] {
			t.Errorf("%q is answered %q, want %q", tt[0], got, tt[1])
		}
	}
	if got := ask("turn of sunday three"); !strings.Contains(got, record.ErrNotRecorded.Error()) {
		t.Errorf("when nothing is left: %q", got)
	}
}
