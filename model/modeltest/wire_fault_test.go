package modeltest_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/wiretest"
)

// What is wrong with an answer is wrong on every wire, and each client makes the same of it.

// Bytes that are no text and halves of pairs are replaced, and a pair split over two deltas is
// one character, in words and in thoughts.
func TestWire_BrokenText(t *testing.T) {
	for words, want := range map[string]string{
		`"a\xed\xa0\xbd" "\xed\xb8\x80b"`:        "a😀b",
		`"a\xff" "b"`:                            "a\uFFFDb",
		`"\xed\xa0\xbd" "a" "\xed\xb8\x80"`:      "\uFFFDa\uFFFD",
		`"a\xed\xa0\xbd"`:                        "a\uFFFD",
		`"\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80"`: "\uFFFD😀",
	} {
		for _, p := range modeltest.Protocols() {
			for _, kind := range []string{"text", "reasoning"} {
				s := modeltest.Start(t, modeltest.MustParse(kind+" "+words))
				got := transcript(t.Context(), client(s, p, model.Deadlines{}), hello)
				if line, _, _ := strings.Cut(got, "\n"); line != kind+" "+want {
					t.Errorf("%s of %s on %s: %q", kind, words, p, got)
				}
			}
		}
	}
}

// An event of more than 64 MB is an error, however it is framed.
func TestWire_TooLarge(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, 65<<20)
	head = binary.BigEndian.AppendUint32(head, 0)
	for p, raw := range map[modeltest.Protocol]string{
		modeltest.Anthropic: "data: " + strings.Repeat("x", 65<<20), modeltest.Bedrock: string(binary.BigEndian.AppendUint32(head, crc32.ChecksumIEEE(head))),
	} {
		s := modeltest.Start(t, modeltest.Script{{modeltest.Text{"a"}, modeltest.Raw(raw)}})
		if got := transcript(t.Context(), client(s, p, model.Deadlines{}), hello); !strings.HasPrefix(got, "text a\nerror unavailable: ") || !strings.Contains(got, "large") {
			t.Errorf("%s: %.200q", p, got)
		}
	}
}

// Counts that are missing or make no sense are 0, and the answer is whole all the same.
func TestWire_Usage(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		s := modeltest.Start(t, modeltest.Script{
			{modeltest.Text{"a"}, modeltest.Usage{None: true}},
			{modeltest.Text{"a"}, modeltest.Usage{Input: -5, Output: -7, CacheRead: -1, Reasoning: -2}},
		})
		for i := range 2 {
			events, err := wiretest.Collect(client(s, p, model.Deadlines{}).Stream(t.Context(), hello))
			if wrong := wiretest.CheckShape(events, err); wrong != nil || err != nil {
				t.Errorf("%s: %v %v", p, wrong, err)
			}
			var used model.Usage
			for _, e := range events {
				if u, ok := e.(model.UsageUpdate); ok {
					used = u.Usage
				}
			}
			tokens, cost := model.Count(used, model.Price{Input: 1, Output: 1, CacheRead: 1, CacheWrite: 1})
			if tokens.Input < 0 || tokens.Output < 0 || tokens.Cache.Read < 0 || cost < 0 || i == 0 && used != (model.Usage{}) {
				t.Errorf("%s: %+v %+v %d", p, used, tokens, cost)
			}
		}
	}
}

// Refusals become the same codes on every wire, and each form of the header that says how long
// to wait is kept.
func TestWire_Refusals(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	waits := map[string]string{"retry-after-ms": "1500", "Retry-After": "2", "retry-after": now.Add(3 * time.Second).Format(http.TimeFormat), "X-None": "1"}
	for status, want := range map[int]struct {
		code  lathe.Code
		retry bool
	}{
		400: {lathe.Invalid, false}, 401: {lathe.Unauthorized, false}, 403: {lathe.Unauthorized, false}, 404: {lathe.NotFound, false},
		408: {lathe.Unavailable, true}, 409: {lathe.Unavailable, true}, 413: {lathe.Overflow, false}, 429: {lathe.Limited, true},
		500: {lathe.Unavailable, true}, 503: {lathe.Unavailable, true}, 529: {lathe.Unavailable, true},
	} {
		for _, p := range modeltest.Protocols() {
			for header, value := range waits {
				s := modeltest.Start(t, modeltest.Script{{modeltest.Status{Code: status, Header: map[string]string{header: value}}}})
				_, err := wiretest.Collect(client(s, p, model.Deadlines{}).Stream(t.Context(), hello))
				var known *lathe.Error
				if !errors.As(err, &known) || known.Code != want.code {
					t.Errorf("%d on %s: %v", status, p, err)
					continue
				}
				if api, ok := known.Fault.(*lathe.APIFault); ok && (api.Retryable != want.retry || api.StatusCode != status) {
					t.Errorf("%d on %s: %+v", status, p, api)
				} else if ok {
					checkWait(t, fmt.Sprintf("%d on %s, %s", status, p, header), api, map[string]time.Duration{
						"retry-after-ms": 1500 * time.Millisecond, "Retry-After": 2 * time.Second, "retry-after": 3 * time.Second,
					}[header], now)
				}
			}
		}
	}
}

// checkWait reads the wait from the headers that a message keeps.
func checkWait(t *testing.T, what string, api *lathe.APIFault, want time.Duration, now time.Time) {
	t.Helper()
	var headers map[string]string
	if err := json.Unmarshal(api.ResponseHeaders, &headers); err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	for k, v := range headers {
		h.Set(k, v)
	}
	if wait, ok := model.RetryAfter(h, now); ok != (want != 0) || wait != want {
		t.Errorf("%s: %s %v", what, wait, ok)
	}
}

// Two calls with one id are two calls, each with its own id.
func TestWire_SameID(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		s := modeltest.Start(t, modeltest.Script{{modeltest.Call{ID: "x", Name: "a", Args: `{"n":1}`}, modeltest.Call{ID: "x", Name: "b", Args: `{"n":2}`}}})
		events, err := wiretest.Collect(client(s, p, model.Deadlines{}).Stream(t.Context(), hello))
		if wrong := wiretest.CheckShape(events, err); wrong != nil || err != nil {
			t.Errorf("%s: %v %v", p, wrong, err)
		}
		ids := map[string]string{}
		for _, e := range events {
			if c, ok := e.(model.ToolCall); ok {
				ids[c.ID] = c.Name + c.Input
			}
		}
		if len(ids) != 2 || ids["x"] != `a{"n":1}` {
			t.Errorf("%s: %v", p, ids)
		}
	}
}

// Success with something else than a stream is a refusal that says what came, on every wire that
// has text on it.
func TestWire_NoStream(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		if p == modeltest.Bedrock {
			continue
		}
		for body, want := range map[string]string{
			"\n<!DOCTYPE html><html>Sign in</html>":                                               "error invalid: the provider sent a web page instead of an answer; check its base URL",
			`{"type":"error","error":{"type":"api_error","status":"UNAVAILABLE","message":"no"}}`: "error unavailable: no",
		} {
			s := modeltest.Start(t, modeltest.Script{{modeltest.Raw(body)}})
			if got := transcript(t.Context(), client(s, p, model.Deadlines{}), hello); got != want {
				t.Errorf("%s: %q, want %q", p, got, want)
			}
		}
	}
}

// A provider that only shows that it lives is given up. (decisions: a deadline on every wait)
func TestWire_OnlySignsOfLife(t *testing.T) {
	limits := model.Deadlines{Gap: 30 * time.Second}
	for _, p := range modeltest.Protocols() {
		signs := []string{": processing\n\n"}
		switch p {
		case modeltest.Bedrock:
			continue
		case modeltest.Anthropic:
			signs = append(signs, "event: ping\ndata: {\"type\": \"ping\"}\n\n")
		}
		for _, sign := range signs {
			synctest.Test(t, func(t *testing.T) {
				answer := modeltest.Answer{modeltest.Text{"a"}}
				for range 100 {
					answer = append(answer, modeltest.Pause(20*time.Second), modeltest.Raw(sign))
				}
				s := modeltest.Pipe(t, modeltest.Script{answer})
				start := time.Now()
				got := transcript(t.Context(), client(s, p, limits), hello)
				took := time.Since(start)
				if got != "text a\nerror unavailable: the provider sent only keep-alives for 6m0s" || took > 7*time.Minute {
					t.Errorf("%q on %s: %q after %s", sign, p, got, took)
				}
			})
		}
		synctest.Test(t, func(t *testing.T) { // words in between are a sign of more
			answer := modeltest.Answer{}
			for range 20 {
				answer = append(answer, modeltest.Text{"a"}, modeltest.Pause(20*time.Second), modeltest.Raw(signs[0]))
			}
			s := modeltest.Pipe(t, modeltest.Script{answer})
			if got := transcript(t.Context(), client(s, p, limits), hello); strings.Contains(got, "error") || !strings.HasSuffix(got, "finish stop") {
				t.Errorf("%s: %q", p, got)
			}
		})
	}
}
