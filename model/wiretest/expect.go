package wiretest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// Expectation is the index entry of a recording.
type Expectation struct {
	ToolCalls []struct {
		Name string
		Args any
	} `json:"tool_calls"`
	ProviderTools []struct{ Name string } `json:"provider_tools"`
	Finish        string
	FinishRaw     string `json:"finish_raw"`
	Usage         *struct {
		Input      int64 `json:"input_total"`
		CacheRead  int64 `json:"cache_read"`
		CacheWrite int64 `json:"cache_write"`
		Output     int64 `json:"output_total"`
		Reasoning  int64
	}
	Error           *struct{ Code, Message string }
	Text, Reasoning json.RawMessage
}

// decoded is the sum of the events of an answer.
type decoded struct {
	text, thought strings.Builder
	calls, hosted []model.ToolCall
	usage         model.Usage
	finish, raw   string
}

func listen(events []model.Event) *decoded {
	h := &decoded{}
	for _, e := range events {
		switch e := e.(type) {
		case model.TextDelta:
			h.text.WriteString(e.Text)
		case model.ReasoningDelta:
			h.thought.WriteString(e.Text)
		case model.UsageUpdate:
			h.usage = e.Usage
		case model.Finish:
			if h.finish != model.FinishCalls { // the index joins the answers of one recording
				h.finish = e.Reason
			}
			h.raw = e.Raw
		case model.ToolCall:
			if e.Executed {
				h.hosted = append(h.hosted, e)
			} else {
				h.calls = append(h.calls, e)
			}
		default:
		}
	}
	return h
}

// check compares everything the index says.
func (want *Expectation) check(t *testing.T, events []model.Event, failed error) {
	t.Helper()
	h := listen(events)
	checkWords(t, "text", h.text.String(), want.Text)
	checkWords(t, "reasoning", h.thought.String(), want.Reasoning)
	if len(h.calls) != len(want.ToolCalls) || len(h.hosted) != len(want.ProviderTools) {
		t.Fatalf("%d calls and %d hosted ones, want %d and %d", len(h.calls), len(h.hosted), len(want.ToolCalls), len(want.ProviderTools))
	}
	for i, c := range h.calls {
		var args any
		if err := json.Unmarshal([]byte(c.Input), &args); err != nil {
			t.Error(err)
		}
		if w := want.ToolCalls[i]; w.Name != c.Name || !reflect.DeepEqual(w.Args, args) || c.ID == "" {
			t.Errorf("call %d is %+v", i, c)
		}
	}
	for i, c := range h.hosted {
		if want.ProviderTools[i].Name != c.Name {
			t.Errorf("hosted call %d is %s", i, c.Name)
		}
	}
	if want.Error != nil {
		want.checkFailure(t, failed)
		return
	}
	if failed != nil || h.finish != want.Finish || h.raw != want.FinishRaw {
		t.Errorf("finish %q (%s), error %v; want %q (%s)", h.finish, h.raw, failed, want.Finish, want.FinishRaw)
	}
	if u := want.Usage; u != nil {
		exp := model.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning, Total: h.usage.Total}
		if h.usage != exp {
			t.Errorf("usage %+v, want %+v", h.usage, exp)
		}
	}
}

func (want *Expectation) checkFailure(t *testing.T, failed error) {
	t.Helper()
	var e *lathe.Error
	if !errors.As(failed, &e) {
		t.Fatalf("error %v, want %v", failed, want.Error)
	}
	var meta struct{ Code string }
	api, _ := e.Fault.(*lathe.APIFault)
	if api == nil || json.Unmarshal(api.Metadata, &meta) != nil || meta.Code != want.Error.Code || e.Message != want.Error.Message || api.Retryable {
		t.Errorf("error %+v with fault %+v, want %+v", e, e.Fault, want.Error)
	}
}

// checkWords compares a text with the index, which has long ones as their sum.
func checkWords(t *testing.T, what, got string, want json.RawMessage) {
	t.Helper()
	var whole string
	if json.Unmarshal(want, &whole) == nil {
		if got != whole {
			t.Errorf("%s %q, want %q", what, got, whole)
		}
		return
	}
	var sum struct {
		Length             int
		SHA256, Start, End string
	}
	if err := json.Unmarshal(want, &sum); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte(got))
	if utf8.RuneCountInString(got) != sum.Length || hex.EncodeToString(hash[:]) != sum.SHA256 || !strings.HasPrefix(got, sum.Start) || !strings.HasSuffix(got, sum.End) {
		t.Errorf("%s has %d characters and sum %x, want %+v", what, utf8.RuneCountInString(got), hash, sum)
	}
}
