package modeltest_test

import (
	"bufio"
	stdcmp "cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// An error in the middle is said in each provider's words, whichever words the script uses.
func TestFail_InStream(t *testing.T) {
	for src, want := range map[string]words{
		`error overloaded_error "Busy"`: {
			modeltest.Anthropic: "overloaded_error: Busy", modeltest.Chat: "server_is_overloaded: Busy",
			modeltest.Responses: "server_is_overloaded: Busy", modeltest.Gemini: "UNAVAILABLE: Busy", modeltest.Bedrock: "serviceUnavailableException: Busy",
		},
		`error code=context_length_exceeded "9 > 8"`: {
			modeltest.Anthropic: "invalid_request_error: prompt is too long: 9 > 8", modeltest.Chat: "context_length_exceeded: 9 > 8",
			modeltest.Responses: "context_length_exceeded: 9 > 8",
			modeltest.Bedrock:   "validationException: Input is too long for requested model.: 9 > 8",
			modeltest.Gemini:    "INVALID_ARGUMENT: The input token count exceeds the maximum number of tokens allowed: 9 > 8",
		},
		`error RESOURCE_EXHAUSTED "slow"`: {
			modeltest.Anthropic: "rate_limit_error: slow", modeltest.Chat: "rate_limit_exceeded: slow",
			modeltest.Responses: "rate_limit_exceeded: slow", modeltest.Gemini: "RESOURCE_EXHAUSTED: slow", modeltest.Bedrock: "throttlingException: slow",
		},
		`error strange_error code=e7 "odd"`: {
			modeltest.Anthropic: "strange_error: odd", modeltest.Chat: "e7: odd", modeltest.Responses: "e7: odd", modeltest.Gemini: "STRANGE_ERROR: odd", modeltest.Bedrock: "strange_error: odd",
		},
	} {
		for _, p := range modeltest.Protocols() {
			s := modeltest.Start(t, modeltest.MustParse("text \"a\"\n"+src+"\ntext \"never\""))
			path, body := asked(p, true)
			got := listen(t, p, post(t, s, path, body).Body)
			if got.Error != want[p] || got.Text != "a" || got.Ended {
				t.Errorf("%s on %s: %+v", src, p, got)
			}
		}
	}
}

// The same error before anything streams, or without a stream, is a refusal.
func TestFail_Refusal(t *testing.T) {
	status := map[modeltest.Protocol]int{modeltest.Anthropic: 529, modeltest.Chat: 503, modeltest.Responses: 503, modeltest.Gemini: 503, modeltest.Bedrock: 503}
	said := func(d tree) string { return stdcmp.Or(d.at("error", "message").text(), d.at("message").text()) }
	for _, p := range modeltest.Protocols() {
		s := modeltest.Start(t, modeltest.MustParse("error overloaded_error \"Busy\"\n--\nstatus 418 x-why=tea\nerror overloaded_error \"Busy\""))
		path, body := asked(p, false)
		resp := post(t, s, path, body)
		if got := said(readJSON(t, resp)); resp.StatusCode != status[p] || got != "Busy" {
			t.Errorf("%s: %d %q", p, resp.StatusCode, got)
		}
		path, body = asked(p, true)
		resp = post(t, s, path, body)
		if got := said(readJSON(t, resp)); resp.StatusCode != 418 || got != "Busy" || resp.Header.Get("X-Why") != "tea" {
			t.Errorf("%s: %d %q", p, resp.StatusCode, got)
		}
	}
}

func TestStatus(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse(`
status 429 retry-after=2 "slow down"
--
status 529
--
status 503 "<html>no</html>"
--
status 302 location="/x"`))
	path, body := asked(modeltest.Anthropic, true)
	s.Client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, want := range []struct {
		code             int
		retry, kind, say string
	}{
		{429, "2", "text/plain; charset=utf-8", "slow down"},
		{529, "", "application/json", `{"type":"error","error":{"type":"overloaded_error","message":""},"request_id":"req_modeltest"}`},
		{503, "", "text/html; charset=utf-8", "<html>no</html>"},
		{302, "", "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"Found"},"request_id":"req_modeltest"}`},
	} {
		resp := post(t, s, path, body)
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != want.code || resp.Header.Get("Retry-After") != want.retry ||
			resp.Header.Get("Content-Type") != want.kind || string(got) != want.say {
			t.Errorf("%d %v %s, want %+v", resp.StatusCode, resp.Header, got, want)
		}
	}
}

// Cut at byte n gives exactly n bytes, streaming or not, and then a broken connection.
func TestCut_AtEveryByte(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		for _, stream := range []bool{true, false} {
			s := modeltest.Start(t, nil)
			path, body := asked(p, stream)
			s.Respond(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Text{"ab"}} })
			whole, err := io.ReadAll(post(t, s, path, body).Body)
			if err != nil {
				t.Fatal(err)
			}
			for n := 1; n <= len(whole); n += 13 {
				s.Respond(func(modeltest.Request) modeltest.Answer {
					return modeltest.Answer{modeltest.Cut{At: n}, modeltest.Text{"ab"}}
				})
				got, err := io.ReadAll(post(t, s, path, body).Body)
				if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != n {
					t.Fatalf("%s cut at %d gives %d bytes and %v", p, n, len(got), err)
				}
			}
		}
	}
}

func TestCut_Endings(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse("text \"a\"\ncut\n--\ntext \"a\"\ncut clean\n--\ntext \"a\"\ncut reset\n--\ncut 10 reset\ntext \"a\"\n--\ncut"))
	path, body := asked(modeltest.Chat, true)
	for _, want := range []error{io.ErrUnexpectedEOF, nil, syscall.ECONNRESET} {
		got, err := tryListen(modeltest.Chat, post(t, s, path, body).Body)
		if !errors.Is(err, want) || want == nil && err != nil || got.Text != "a" || got.Ended {
			t.Errorf("%+v and %v, want %v", got, err, want)
		}
	}
	if _, err := io.ReadAll(post(t, s, path, body).Body); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("cut 10 reset: %v", err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client.Do(req) // nothing was sent at all
	if err == nil {
		_ = resp.Body.Close()
		t.Error("an answer of nothing but a cut has a response")
	}
}

// Half of a whole answer comes before a cut that names no byte.
func TestCut_WithoutStream(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse("text \"a\"\ncut"))
	path, body := asked(modeltest.Gemini, false)
	got, err := io.ReadAll(post(t, s, path, body).Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) == 0 {
		t.Errorf("%q and %v", got, err)
	}
}

// Raw alone is all there is; between other steps it is only something more.
func TestRaw(t *testing.T) {
	s := modeltest.Start(t, modeltest.Script{
		{modeltest.Raw("data: {broken\n\n")},
		{modeltest.Text{"a"}, modeltest.Raw(": comment\n\ndata: {}\n\n"), modeltest.Text{"b"}},
		modeltest.Recorded([]byte("event: x\ndata: 1\n\n")),
		modeltest.Recorded([]byte("HTTP 429\nretry-after: 3\n\n{\"error\":{}}\n")),
	})
	path, body := asked(modeltest.Chat, true)
	if got, err := io.ReadAll(post(t, s, path, body).Body); err != nil || string(got) != "data: {broken\n\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got := listen(t, modeltest.Chat, post(t, s, path, body).Body); got.Text != "ab" || !got.Ended {
		t.Errorf("%+v", got)
	}
	if got, err := io.ReadAll(post(t, s, path, body).Body); err != nil || string(got) != "event: x\ndata: 1\n\n" {
		t.Errorf("%q, %v", got, err)
	}
	resp := post(t, s, path, body)
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != "{\"error\":{}}\n" || resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "3" {
		t.Errorf("%d %q, %v", resp.StatusCode, got, err)
	}
}

// In a bubble the clock is virtual: pauses cost nothing and are exact.
func TestPipe_Time(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := modeltest.Pipe(t, modeltest.MustParse("pause 2s\nheaders\npause 1h\nraw \"abc\"\ndrip 1 1m\nraw \"de\""))
		start := time.Now()
		path, body := asked(modeltest.Chat, true)
		resp := post(t, s, path, body)
		var when []time.Duration
		when = append(when, time.Since(start))
		r := bufio.NewReaderSize(resp.Body, 16)
		for range "abcde" {
			if _, err := r.ReadByte(); err != nil {
				t.Fatal(err)
			}
			when = append(when, time.Since(start).Round(time.Second))
		}
		hour := time.Hour + 2*time.Second
		want := []time.Duration{2 * time.Second, hour, hour, hour, hour, hour + time.Minute}
		if diff := cmp.Diff(want, when); diff != "" {
			t.Error(diff)
		}
		if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		if s.Last().ClientLeft() {
			t.Error("the client read to the end")
		}
	})
}

// A stall lasts until the client goes; the server knows that it did.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := modeltest.Pipe(t, modeltest.MustParse("stall\n--\nheaders\nstall\n--\ntext \"a\"\nstall"))
		path, body := asked(modeltest.Chat, true)
		for i := range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := s.Client.Do(req)
			if (err != nil) != (i == 0) {
				t.Fatalf("answer %d: %v", i, err)
			}
			if err == nil {
				if _, err = io.ReadAll(resp.Body); err == nil {
					t.Error("a stalled answer has an end")
				}
				_ = resp.Body.Close()
			}
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || !s.Last().ClientLeft() {
				t.Errorf("answer %d: %v", i, err)
			}
		}
	})
}

// Close ends answers that would never end.
func TestClose_WhileStalled(t *testing.T) {
	s := modeltest.Start(nil, modeltest.MustParse("headers\nstall"))
	path, body := asked(modeltest.Chat, true)
	resp := post(t, s, path, body)
	s.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the answer has an end")
	}
	s.Close() // twice is harmless
}
