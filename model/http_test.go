package model_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
)

const (
	chatPath = "/chat/completions"
	chatBody = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
)

func endpoint(s *modeltest.Server) model.Endpoint {
	return model.Endpoint{
		Provider: "acme", BaseURL: s.URL, Client: s.Client, Header: map[string]string{"Authorization": "Bearer sk-secret-1"},
		Deadlines: model.Deadlines{Headers: 10 * time.Second, First: 20 * time.Second, Gap: 30 * time.Second},
	}
}

// fetch sends the request and reads the answer, all of it.
func fetch(ctx context.Context, e model.Endpoint) (string, error) {
	resp, err := e.Post(ctx, chatPath, []byte(chatBody), nil)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(resp.Body)
	if closed := resp.Body.Close(); closed != nil && err == nil {
		err = closed
	}
	return string(body), err
}

// Every wait for the provider has its own limit, and says which one it was. The clock is
// virtual, so the times are exact; a goroutine that is left over fails the bubble.
func TestPost_Deadlines(t *testing.T) {
	for _, c := range []struct {
		name, script string
		edit         func(*model.Deadlines)
		took         time.Duration
		body, err    string
	}{
		{"answers", "text \"a\"\ncut clean", nil, 0, "", ""},
		{"never answers", "stall", nil, 10 * time.Second, "", "the provider sent no response headers within 10s"},
		{"answers late", "pause 9s\nraw \"a\"", nil, 9 * time.Second, "a", ""},
		{"headers, then nothing", "pause 9s\nheaders\nstall", nil, 29 * time.Second, "", "the provider sent nothing within 20s of its headers"},
		{"headers, then late", "headers\npause 19s\nraw \"a\"", nil, 19 * time.Second, "a", ""},
		{"stalls in the middle", "raw \"ab\"\nstall", nil, 30 * time.Second, "ab", "the provider sent nothing for 30s in the middle of its answer"},
		{"stalls after a pause", "raw \"a\"\npause 29s\nraw \"b\"\nstall", nil, 59 * time.Second, "ab", "the provider sent nothing for 30s in the middle of its answer"},
		{"drips within the gap", "drip 1 29s\nraw \"abcdefghij\"", nil, 290 * time.Second, "abcdefghij", ""},
		{"drips too slowly", "drip 1 1m\nraw \"abc\"", nil, 30 * time.Second, "a", "the provider sent nothing for 30s in the middle of its answer"},
		{"no limits", "pause 1h\nheaders\npause 1h\nraw \"a\"\npause 1h\nraw \"b\"", func(d *model.Deadlines) {
			*d = model.Deadlines{Headers: -1, First: -1, Gap: -1}
		}, 3 * time.Hour, "ab", ""},
		{"the usual limits", "pause 4m\nraw \"a\"\nstall", func(d *model.Deadlines) { *d = model.Deadlines{} }, 9 * time.Minute, "a", "the provider sent nothing for 5m0s in the middle of its answer"},
		{"cut", "raw \"ab\"\ncut", nil, 0, "ab", "the answer ended early"},
		{"cut before the headers", "cut", nil, 0, "", "the answer ended early"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := endpoint(modeltest.Pipe(t, modeltest.MustParse(c.script)))
				if c.edit != nil {
					c.edit(&e.Deadlines)
				}
				start := time.Now()
				body, err := fetch(t.Context(), e)
				if took := time.Since(start); took != c.took {
					t.Errorf("it took %s, want %s", took, c.took)
				}
				if c.body != "" && body != c.body {
					t.Errorf("body %q, want %q", body, c.body)
				}
				if c.err == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if lathe.CodeOf(err) != lathe.Unavailable || err.Error() != c.err {
					t.Errorf("%v, want %s", err, c.err)
				}
				var known *lathe.Error
				if !errors.As(err, &known) || !retryable(known) {
					t.Fatalf("%v cannot be tried again", err)
				}
				_, after, late := strings.Cut(err.Error(), "within ")
				if meta := string(known.Fault.(*lathe.APIFault).Metadata); late && !strings.Contains(meta, `"timeoutMs":"`+strings.TrimSuffix(strings.Fields(after)[0], "s")+`000"`) {
					t.Errorf("%v with %s", err, meta)
				}
			})
		})
	}
}

// A reader that does something else meanwhile is no silence of the provider.
func TestPost_SlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := endpoint(modeltest.Pipe(t, modeltest.MustParse("raw \"a\"\nraw \"b\"\nstall")))
		resp, err := e.Post(t.Context(), chatPath, []byte(chatBody), nil)
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1)
		for range 2 {
			time.Sleep(time.Hour) // a question waits for a person
			if _, err := resp.Body.Read(buf); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour)
		start := time.Now()
		if _, err := resp.Body.Read(buf); err == nil || time.Since(start) != 30*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A cancel ends any wait at once and is reported as one; our own cause is returned itself.
func TestPost_Cancel(t *testing.T) {
	own := lathe.Errorf(lathe.Rejected, "a person said no")
	for _, script := range []string{"stall", "headers\nstall", "raw \"a\"\nstall"} {
		for _, cause := range []error{nil, own} {
			synctest.Test(t, func(t *testing.T) {
				s := modeltest.Pipe(t, modeltest.MustParse(script))
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(3*time.Second, func() { cancel(cause) })
				start := time.Now()
				_, err := fetch(ctx, endpoint(s))
				if took := time.Since(start); took != 3*time.Second {
					t.Errorf("%q: it took %s", script, took)
				}
				want, message := lathe.Canceled, "Aborted"
				if cause != nil {
					want, message = own.Code, own.Message
				}
				if lathe.CodeOf(err) != want || err.Error() != message {
					t.Errorf("%q: %v", script, err)
				}
				if !s.Last().ClientLeft() {
					t.Errorf("%q: the provider does not know", script)
				}
			})
		}
	}
}

// A reader that stops early ends the connection, and the provider sees it.
func TestPost_EarlyClose(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse("raw \"abc\"\nstall\n--\nheaders\nstall"))
	for _, read := range []int{2, 0} {
		resp, err := endpoint(s).Post(t.Context(), chatPath, []byte(chatBody), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, read)); err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if !s.Last().ClientLeft() {
			t.Error("the provider did not see that the reader left")
		}
	}
}

func TestPost_Refused(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = fetch(t.Context(), model.Endpoint{Provider: "acme", BaseURL: "http://" + address, Client: &http.Client{Transport: &http.Transport{}}})
	if lathe.CodeOf(err) != lathe.Unavailable || err.Error() != "the provider cannot be reached: the connection to "+address+" was refused" || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
}

func TestPost_Reset(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse("raw \"abc\"\ncut reset"))
	body, err := fetch(t.Context(), endpoint(s))
	if lathe.CodeOf(err) != lathe.Unavailable || err.Error() != "Connection reset by server" || !strings.HasPrefix("abc", body) {
		t.Errorf("%q, %v", body, err)
	}
}

// A body that cannot be unpacked may be asked for again.
func TestPost_GarbledZip(t *testing.T) {
	packed := &bytes.Buffer{}
	z := gzip.NewWriter(packed)
	_, _ = z.Write([]byte(strings.Repeat("some words ", 1000))) // a buffer takes everything
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	packed.Bytes()[packed.Len()-5] ^= 1 // of the checksum
	for name, body := range map[string][]byte{"no zip": []byte("plain words, not packed at all"), "a wrong sum": packed.Bytes()} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(body)
		}))
		t.Cleanup(s.Close)
		_, err := fetch(t.Context(), model.Endpoint{Provider: "acme", BaseURL: s.URL, Client: s.Client()})
		var known *lathe.Error
		if !errors.As(err, &known) || known.Message != "Response decompression failed" || !retryable(known) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A request is signed last, over what is sent; one that cannot be is not sent.
func TestPost_Sign(t *testing.T) {
	s := modeltest.Start(t, modeltest.Script{{}})
	e := endpoint(s)
	e.Sign = func(req *http.Request, body []byte) error {
		req.Header.Set("X-Signed", req.Header.Get("X-Last")+" "+string(body))
		return nil
	}
	resp, err := e.Post(t.Context(), chatPath, []byte(chatBody), map[string]string{"X-Last": "last"})
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.Last().Header.Get("X-Signed"); got != "last "+chatBody {
		t.Error(got)
	}
	own := lathe.Errorf(lathe.Unauthorized, "no keys")
	e.Sign = func(*http.Request, []byte) error { return own }
	if _, err := e.Post(t.Context(), chatPath, []byte(chatBody), nil); !errors.Is(err, own) || len(s.Requests()) != 1 {
		t.Error(err, len(s.Requests()))
	}
}

// A server that accepts and says nothing, not even HTTP.
func TestPost_SilentListener(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	_, err = fetch(t.Context(), model.Endpoint{
		Provider: "acme", BaseURL: "http://" + l.Addr().String(), Client: &http.Client{Transport: &http.Transport{}},
		Deadlines: model.Deadlines{Headers: 30 * time.Millisecond},
	})
	if lathe.CodeOf(err) != lathe.Unavailable || err.Error() != "the provider sent no response headers within 30ms" {
		t.Error(err)
	}
}

// What is sent: the body, our headers, those of the endpoint, and over them those of the call.
func TestPost_Request(t *testing.T) {
	s := modeltest.Start(t, modeltest.Script{{}})
	e := endpoint(s)
	e.Header["X-A"], e.Header["X-B"] = "endpoint", "endpoint"
	resp, err := e.Post(t.Context(), chatPath, []byte(chatBody), map[string]string{"X-B": "call"})
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	got := s.Last()
	sent := map[string]string{}
	for _, name := range []string{"Content-Type", "Accept", "X-A", "X-B"} {
		sent[name] = got.Header.Get(name)
	}
	want := map[string]string{"Content-Type": "application/json", "Accept": "text/event-stream", "X-A": "endpoint", "X-B": "call"}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
	if string(got.Body) != chatBody || !got.HasKey("sk-secret-1") {
		t.Errorf("%s", got.Body)
	}
}

// A refusal is a response like any other.
func TestPost_Status(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse(`status 429 retry-after=2 "slow"`))
	resp, err := endpoint(s).Post(t.Context(), chatPath, []byte(chatBody), nil)
	if err != nil {
		t.Fatal(err)
	}
	f := model.ReadFailure("acme", resp)
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	after, ok := model.RetryAfter(f.Header, time.Now())
	if f.Status != 429 || string(f.Body) != "slow" || f.URL != s.URL+chatPath || after != 2*time.Second || !ok {
		t.Errorf("%+v", f)
	}
}

func TestPost_WrongAddress(t *testing.T) {
	_, err := fetch(t.Context(), model.Endpoint{Provider: "acme", BaseURL: "http://h:port\x7f"})
	if lathe.CodeOf(err) != lathe.Invalid || !strings.HasPrefix(err.Error(), "the base URL of acme is not valid: ") {
		t.Error(err)
	}
}

// However an answer ends, nothing of it continues.
func TestPost_NoLeaks(t *testing.T) {
	s := modeltest.Start(t, nil)
	s.Respond(func(r modeltest.Request) modeltest.Answer {
		return []modeltest.Answer{
			{modeltest.Text{"a"}},
			{modeltest.Text{"a"}, modeltest.Stall{}},
			{modeltest.Text{"a"}, modeltest.Cut{}},
			{modeltest.Status{Code: 500}},
			{modeltest.Stall{}},
		}[r.N%5]
	})
	before := runtime.NumGoroutine()
	for range 25 {
		e := endpoint(s)
		e.Deadlines = model.Deadlines{Headers: 10 * time.Millisecond, First: 10 * time.Millisecond, Gap: 10 * time.Millisecond}
		_, _ = fetch(t.Context(), e) // its end is what counts here
	}
	s.Close()
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		<-time.After(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		var all strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&all, 1) // a builder takes everything
		t.Errorf("%d goroutines, %d before:\n%s", n, before, all.String())
	}
}

// A key and a conversation go where the user sent them, and nowhere else.
func TestAsk_SentAway(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/307", "/302":
			status := http.StatusTemporaryRedirect
			if r.URL.Path == "/302" {
				status = http.StatusFound
			}
			http.Redirect(w, r, other.URL+"/v1?key=sk-secret-1", status)
		case "/moved":
			http.Redirect(w, r, "/new", http.StatusPermanentRedirect)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusPermanentRedirect)
		default:
			fmt.Fprintf(w, "%s %s %s", r.URL.Path, r.Header.Get("X-Api-Key"), body)
		}
	}))
	defer home.Close()
	ask := func(path string) (said string, err error) {
		e := model.Endpoint{Provider: "acme", BaseURL: home.URL, Header: map[string]string{"X-Api-Key": "sk-secret-1"}}
		err = e.Ask(t.Context(), model.Outgoing{Path: path, Body: []byte("words")}, func(f model.Failure) *lathe.Error { return f.Error() }, func(resp *http.Response) {
			body, _ := io.ReadAll(resp.Body)
			said = string(body)
		})
		return said, err
	}
	for _, path := range []string{"/307", "/302"} {
		_, err := ask(path)
		if lathe.CodeOf(err) != lathe.Invalid || !strings.Contains(err.Error(), other.URL+"/v1, ") || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("another server was asked %d times", n)
	}
	if said, err := ask("/moved"); err != nil || said != "/new sk-secret-1 words" {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := ask("/round"); lathe.CodeOf(err) != lathe.Invalid {
		t.Errorf("went round: %v", err)
	}
}
