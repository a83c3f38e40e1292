package modeltest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/anthropic"
	"github.com/lathe-agent/lathe/model/bedrock"
	"github.com/lathe-agent/lathe/model/gemini"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/openai"
)

// client is our own client of a wire, pointed at a scripted server.
func client(s *modeltest.Server, p modeltest.Protocol, d model.Deadlines) model.Model {
	e := model.Endpoint{Provider: "acme", BaseURL: s.URL + "/v1", Client: s.Client, Deadlines: d}
	ids := lathe.NewIDs()
	switch p {
	case modeltest.Anthropic:
		return anthropic.New(e, ids)
	case modeltest.Chat:
		return openai.NewChat(e, ids, openai.Dialect{})
	case modeltest.Responses:
		return openai.NewResponses(e, ids, openai.Dialect{})
	case modeltest.Bedrock:
		return bedrock.New(e, ids)
	default:
		return gemini.New(e, ids)
	}
}

var hello = model.Request{
	Model: "m", MaxOutput: 64, Messages: []model.Message{{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "hi"}}}},
}

// transcript is what a stream comes to: its words, in order, whatever the deltas were.
func transcript(ctx context.Context, m model.Model, r model.Request) string {
	var b strings.Builder
	open := ""
	say := func(kind, format string, args ...any) {
		if kind != open {
			open = kind
			fmt.Fprintf(&b, "\n%s ", kind)
		}
		fmt.Fprintf(&b, format, args...)
	}
	usage := model.Usage{}
	for e, err := range m.Stream(ctx, r) {
		if err != nil {
			say("error", "%s: %v", lathe.CodeOf(err), err)
			break
		}
		switch e := e.(type) {
		case model.TextDelta:
			say("text", "%s", e.Text)
		case model.ReasoningDelta:
			say("reasoning", "%s", e.Text)
		case model.ToolCall:
			if !e.Executed {
				say("call "+e.ID, "%s %s", e.Name, compact(e.Input))
			}
		case model.UsageUpdate:
			usage = e.Usage
		case model.Finish:
			say("used", "%d %d", usage.Input, usage.Output)
			say("finish", "%s", e.Reason)
		default:
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

func compact(s string) string {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	out, err := json.Marshal(v)
	if err != nil {
		return s
	}
	return string(out)
}

// The point of all this: one script, every wire, the same transcript.
func TestWire_SameTranscript(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"text", "text \"Hel\" \"lo \" \"😀\"\nusage 7 3", "text Hello 😀\nused 7 3\nfinish stop"},
		{"nothing", "usage 7 3", "used 7 3\nfinish stop"},
		{"length", "text \"a\"\nusage 7 3\nfinish length", "text a\nused 7 3\nfinish length"},
		{
			"reasoning", "reasoning \"let \" \"me\" signature=\"c2ln\"\ntext \"Yes.\"\nusage 70 30 cache-read=20 reasoning=4",
			"reasoning let me\ntext Yes.\nused 70 30\nfinish stop",
		},
		{
			"calls", "text \"Both.\"\ncall bash pieces=5 {\"command\":\"ls -la\"}\ncall read {\"path\":\"a\"}\nusage 7 3",
			"text Both.\ncall call_1_1 bash {\"command\":\"ls -la\"}\ncall call_1_2 read {\"path\":\"a\"}\nused 7 3\nfinish tool-calls",
		},
		{
			"calls in turns", "call bash pieces=5 {\"command\":\"ls -la\"}\nand read pieces=3 {\"path\":\"a\"}\nusage 7 3",
			"call call_1_1 bash {\"command\":\"ls -la\"}\ncall call_1_2 read {\"path\":\"a\"}\nused 7 3\nfinish tool-calls",
		},
		{"no arguments", "call now\nusage 7 3", "call call_1_1 now {}\nused 7 3\nfinish tool-calls"},
		{"busy in the middle", "text \"a\"\nerror overloaded_error \"Busy\"", "text a\nerror unavailable: Busy"},
		{"limited in the middle", "text \"a\"\nerror rate_limit_error \"Slow\"", "text a\nerror limited: Slow"},
		{"wrong key", "status 401\nerror authentication_error \"Who?\"", "error unauthorized: Who?"},
		{"limited", "status 429 retry-after=2\nerror rate_limit_error \"Slow\"", "error limited: Slow"},
		{"busy", "status 503\nerror overloaded_error \"Busy\"", "error unavailable: Busy"},
		{"a web page", "status 502 \"<html>x</html>\"", "error unavailable: Bad Gateway"},
		{"cut", "text \"a\"\ncut", "text a\nerror unavailable: the answer ended early"},
		{"ended too early", "text \"a\"\ncut clean", "text a\nerror unavailable: the answer ended early"},
		{"no answer left", "when \"never\"", "error invalid: modeltest: the script has no answer left for request 1"},
	} {
		for _, p := range modeltest.Protocols() {
			s := modeltest.Start(t, modeltest.MustParse(c.script))
			if diff := cmp.Diff(c.want, transcript(t.Context(), client(s, p, model.Deadlines{}), hello)); diff != "" {
				t.Errorf("%s on %s: %s", c.name, p, diff)
			}
		}
	}
}

// Deadlines and cancels are the same, too; in virtual time.
func TestWire_SameWaits(t *testing.T) {
	limits := model.Deadlines{Headers: 10 * time.Second, First: 20 * time.Second, Gap: 30 * time.Second}
	for _, c := range []struct {
		script, want string
		took         time.Duration
	}{
		{"stall", "error unavailable: the provider sent no response headers within 10s", 10 * time.Second},
		{"headers\nstall", "error unavailable: the provider sent nothing within 20s of its headers", 20 * time.Second},
		{"text \"a\"\nstall", "text a\nerror unavailable: the provider sent nothing for 30s in the middle of its answer", 30 * time.Second},
		{"drip 1 1m\ntext \"a\"", "error unavailable: the provider sent nothing for 30s in the middle of its answer", 30 * time.Second},
		{"text \"a\"\npause 29s\ntext \"b\"\npause 29s\nusage 1 1", "text ab\nused 1 1\nfinish stop", 58 * time.Second},
	} {
		for _, p := range modeltest.Protocols() {
			synctest.Test(t, func(t *testing.T) {
				s := modeltest.Pipe(t, modeltest.MustParse(c.script))
				start := time.Now()
				got := transcript(t.Context(), client(s, p, limits), hello)
				if took := time.Since(start); got != c.want || took != c.took {
					t.Errorf("%q on %s: %q after %s", c.script, p, got, took)
				}
			})
		}
	}
}

// Breaking out of a stream closes its connection.
func TestWire_EarlyBreak(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		s := modeltest.Start(t, modeltest.MustParse("text \"a\" \"b\"\nstall"))
		for e, err := range client(s, p, model.Deadlines{}).Stream(t.Context(), hello) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.(model.TextDelta); ok {
				break
			}
		}
		if !s.Last().ClientLeft() {
			t.Errorf("%s: the connection is still there", p)
		}
	}
}

// A canceled stream says so.
func TestWire_Cancel(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		s := modeltest.Start(t, modeltest.MustParse("text \"a\"\nstall"))
		ctx, cancel := context.WithCancel(t.Context())
		var last error
		for e, err := range client(s, p, model.Deadlines{}).Stream(ctx, hello) {
			last = err
			if _, ok := e.(model.TextDelta); ok {
				cancel()
			}
		}
		cancel()
		if lathe.CodeOf(last) != lathe.Canceled {
			t.Errorf("%s: %v", p, last)
		}
	}
}

// A stream cut at any byte ends in an error or says all it had to say; it never hangs.
func TestWire_CutAnywhere(t *testing.T) {
	const script = "reasoning \"m\" signature=\"s\"\ntext \"ab\"\ncall x {\"a\":1}\nusage 7 3"
	for _, p := range modeltest.Protocols() {
		answer := modeltest.MustParse(script)[0]
		s := modeltest.Start(t, modeltest.Script{answer})
		c := client(s, p, model.Deadlines{})
		whole := transcript(t.Context(), c, hello)
		for n := 1; ; n += 17 {
			s.Add(append(modeltest.Answer{modeltest.Cut{At: n}}, answer...))
			got := transcript(t.Context(), c, hello)
			want := strings.ReplaceAll(whole, "call_1_", fmt.Sprintf("call_%d_", s.Last().N))
			if got == want {
				break
			}
			if said(got) == said(want) {
				continue // nothing is missing but what it cost
			}
			head, tail, broken := strings.Cut(got, "error unavailable: ")
			if !broken || strings.Contains(tail, "\n") || !strings.HasPrefix(want, strings.TrimSpace(head)) {
				t.Fatalf("%s cut at %d: %q", p, n, got)
			}
		}
	}
}

// said is a transcript without what was used.
func said(transcript string) string {
	head, tail, _ := strings.Cut(transcript, "\nused ")
	_, tail, _ = strings.Cut(tail, "\n")
	return head + tail
}

// What is asked reaches every provider as the same prompt.
func TestWire_SamePrompt(t *testing.T) {
	half := 0.5
	want := model.Request{
		Model: "m", System: []string{"Be brief."}, MaxOutput: 64, Temperature: &half,
		Tools: []model.Tool{{Name: "bash", Description: "Runs.", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)}},
		Messages: []model.Message{
			{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "look"}, model.FileContent{Mime: "image/png", Data: "AAAA"}}},
			{Role: model.AssistantRole, Content: []model.Content{
				model.TextContent{Text: "So."},
				model.CallContent{ID: "c1", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)},
				model.CallContent{ID: "c2", Name: "bash", Input: json.RawMessage(`{"command":"cd"}`)},
			}},
			{Role: model.ToolRole, Content: []model.Content{
				model.ResultContent{ID: "c1", Name: "bash", Text: "a\nb"}, model.ResultContent{ID: "c2", Name: "bash", Text: "no", Failed: true},
			}},
			{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "go on"}}},
		},
	}
	// What not every wire has: a mark on failed results, ids of calls, an order of members.
	ids := strings.NewReplacer("bash#1", "c1", "bash#2", "c2")
	neutral := cmp.Options{
		cmp.Transformer("result", func(r model.ResultContent) any { return [2]string{ids.Replace(r.ID), r.Text} }),
		cmp.Transformer("call", func(c model.CallContent) any { return [3]string{ids.Replace(c.ID), c.Name, compact(string(c.Input))} }),
		cmp.Transformer("schema", func(r json.RawMessage) any { return compact(string(r)) }),
	}
	for _, p := range modeltest.Protocols() {
		s := modeltest.Start(t, modeltest.Script{{}})
		if got := transcript(t.Context(), client(s, p, model.Deadlines{}), want); strings.Contains(got, "error") {
			t.Errorf("%s: %s", p, got)
		}
		got := s.Last().Prompt
		got.Choice = ""
		if diff := cmp.Diff(want, got, neutral); diff != "" {
			t.Errorf("%s: %s", p, diff)
		}
	}
}
