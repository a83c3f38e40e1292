package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/scripts/turncheck"
)

// The test binary is the child, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childName {
		os.Exit(childMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// A short campaign; `make torture` has the long one.
func TestTorture(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	t.Setenv("GORACE", "halt_on_error=1") // a child with a race ends, and the parent notices
	var out bytes.Buffer
	err := torture(&out, uint64(time.Now().UnixNano())%1_000_000_000, 20, latest, t.TempDir())
	t.Logf("%s", &out)
	if err != nil || !strings.Contains(out.String(), "no violation") {
		t.Error(err)
	}
}

// history is a good one: a prompt, a call, the answer.
func history() []lathe.Message {
	const at = 1_700_000_000_000
	done := &lathe.ToolCall{CallID: "call_1", Tool: "mark", State: &lathe.Completed{
		Input: json.RawMessage(`{"key":"k1"}`), Metadata: json.RawMessage(`{}`), Output: "left k1", Start: at, End: at,
	}}
	said := func(m lathe.Message, bodies ...lathe.Body) lathe.Message {
		m.Session, m.Created = "ses_1", at+lathe.Time(len(m.ID))
		for i, b := range bodies {
			m.Parts = append(m.Parts, lathe.Part{ID: lathe.PartID("prt_" + string(m.ID) + string(rune('a'+i))), Session: m.Session, Message: m.ID, Body: b})
		}
		return m
	}
	return []lathe.Message{
		said(lathe.Message{ID: "msg_1", Data: &lathe.User{}}, &lathe.Text{Text: "Please do prompt-0-0;"}),
		said(lathe.Message{ID: "msg_22", Data: &lathe.Assistant{Completed: at, Finish: "tool-calls"}}, done),
		said(lathe.Message{ID: "msg_333", Data: &lathe.Assistant{Completed: at, Finish: "stop"}}, &lathe.Text{Text: "done: prompt-0-0; END"}),
	}
}

// A checker that notices nothing would make every campaign good.
func TestCheck_Notices(t *testing.T) {
	assistant := func(m *lathe.Message) *lathe.Assistant { return m.Data.(*lathe.Assistant) }
	for name, c := range map[string]struct {
		marks string
		spoil func([]lathe.Message) []lathe.Message
		want  string
	}{
		"nothing": {marks: "k1\n"},
		"a prompt twice": {"k1\n", func(h []lathe.Message) []lathe.Message {
			return append([]lathe.Message{h[0]}, h...)
		}, "is in the history 2 times"},
		"two answers":  {"k1\n", func(h []lathe.Message) []lathe.Message { return append(h, h[2]) }, "was answered 2 times"},
		"no answer":    {"k1\n", func(h []lathe.Message) []lathe.Message { return h[:2] }, "has no answer after it"},
		"an empty one": {"k1\n", func(h []lathe.Message) []lathe.Message { h[2].Parts = nil; return h }, "was passed over"},
		"an open one":  {"k1\n", func(h []lathe.Message) []lathe.Message { assistant(&h[2]).Completed = 0; return h }, "has no end"},
		"a failed one": {"k1\n", func(h []lathe.Message) []lathe.Message { assistant(&h[1]).Error = &lathe.UnknownFault{}; return h }, "failed"},
		"cancelled by nobody": {"k1\n", func(h []lathe.Message) []lathe.Message {
			assistant(&h[2]).Error = &lathe.AbortedFault{Message: turncheck.CanceledWords}
			return h
		}, "was not canceled"},
		"a rejected call": {"k1\n", func(h []lathe.Message) []lathe.Message {
			h[1].Parts[0].Body = &lathe.ToolCall{CallID: "call_1", Tool: "mark", State: &lathe.Failed{
				Input: json.RawMessage(`{"key":"k1"}`), Metadata: json.RawMessage(`{"rejected":true}`), Error: "no",
			}}
			return h[:2]
		}, ""},
		"a call twice":  {"k1\n", func(h []lathe.Message) []lathe.Message { return append(h[:2:2], h[1], h[2]) }, "two calls have the key"},
		"marked twice":  {"k1\nk1\n", nil, "was left 2 times"},
		"not marked":    {"", nil, "was left 0 times"},
		"unknown marks": {"k1\nk2\n", nil, "mark k2 was left 1 times, in the history: false"},
		"an open call": {"k1\n", func(h []lathe.Message) []lathe.Message {
			h[1].Parts[0].Body = &lathe.ToolCall{CallID: "call_1", Tool: "mark", State: &lathe.Running{Input: json.RawMessage(`{"key":"k1"}`)}}
			return h
		}, "is open"},
	} {
		t.Run(name, func(t *testing.T) {
			h := history()
			if c.spoil != nil {
				h = c.spoil(h)
			}
			got := noticed(t, c.marks, h)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func noticed(t *testing.T, marks string, h []lathe.Message) string {
	t.Helper()
	c := &campaign{dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(c.dir, "marks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "marks", "ses_1"), []byte(marks), 0o600); err != nil {
		t.Fatal(err)
	}
	c.prompts(lathe.Session{ID: "ses_1"}, h, map[string]int{})
	if err := c.calls("ses_1", h); err != nil {
		t.Fatal(err)
	}
	return strings.Join(c.wrong, "\n")
}

// A client that missed something must not pass for one that did not.
func TestCheck_Client(t *testing.T) {
	for name, missed := range map[string]int{"nothing": 0, "the last message": 1, "all": 3} {
		t.Run(name, func(t *testing.T) {
			h := history()
			c := &campaign{client: turncheck.NewReader()}
			c.client.Sessions["ses_1"] = lathe.NewTranscript(lathe.Session{ID: "ses_1"}, h[:len(h)-missed])
			c.same("ses_1", h)
			if (len(c.wrong) > 0) != (missed > 0) {
				t.Errorf("missed %d messages and noticed %q", missed, c.wrong)
			}
		})
	}
}

// Who may be canceled is known by parent and child, for each session.
func TestOrder_MayCancel(t *testing.T) {
	o, found := order{1, 3}, map[bool]int{}
	for n := range 100 * perSession {
		id := o.session(n)
		if slot, ok := slotOf(id); slot != 3 || !ok {
			t.Fatalf("%s is of slot %d", id, slot)
		}
		if o.cancels(n) && !o.mayCancel(id) {
			t.Errorf("prompt %d of %s is cancelled, and nobody knows", n, id)
		}
		found[o.mayCancel(id)]++
	}
	if found[true] == 0 || found[false] == 0 {
		t.Errorf("%v", found)
	}
}

func TestClient_Resync(t *testing.T) {
	c := turncheck.NewReader()
	good := takeLine(c, `7 1 feed {"id":"evt_1","type":"session.idle","properties":{"sessionID":"ses_1"}}`)
	if good != nil || c.At != (lathe.Cursor{Seq: 7, Feed: "feed"}) {
		t.Errorf("%v, at %s", good, c.At)
	}
	if err := c.Take(lathe.Event{Seq: 9, Last: true, Fact: &lathe.ServerResync{}}, "feed"); err == nil {
		t.Error("a feed that begins anew is not noticed")
	}
	if err := c.Take(lathe.Event{Seq: 3, Last: true, Fact: &lathe.ServerConnected{}}, "feed"); err == nil {
		t.Error("a number that goes back is not noticed")
	}
}
