// Package wiretest is what every protocol's decoder passes: recorded answers of real
// providers, whole, cut, and in other shapes that mean the same.
//
// The recordings lie beside the project, with what must be extracted from each; where they
// are not, the tests that need them skip and say so.
package wiretest

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/model"
)

// Decode reads a whole stream.
type Decode func(body io.Reader) ([]model.Event, error)

// Recording is an answer and what must be extracted from it.
type Recording struct {
	ID, Proto, File string
	Expect          struct {
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
		Error           json.RawMessage
		Text, Reasoning json.RawMessage
	}
	Data []byte
}

// Recordings returns those of a protocol.
func Recordings(t testing.TB, proto string) (out []*Recording) {
	t.Helper()
	root := find(t)
	index, err := os.ReadFile(filepath.Join(root, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Streams []*Recording }
	if err := json.Unmarshal(index, &all); err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Streams {
		if r.Proto != proto {
			continue
		}
		if r.Data, err = os.ReadFile(filepath.Join(root, r.File)); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		t.Fatalf("the index names no recording of %s", proto)
	}
	return out
}

func find(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		root := filepath.Join(dir, "shared", "fixtures", "streams")
		if _, err := os.Stat(root); err == nil {
			return root
		}
		if dir == filepath.Dir(dir) {
			t.Skip("the recorded answers (shared/fixtures/streams) are not beside the project")
		}
		dir = filepath.Dir(dir)
	}
}

// Run holds a decoder to the recordings of its protocol.
func Run(t *testing.T, proto string, decode Decode) {
	for _, r := range Recordings(t, proto) {
		if bytes.HasPrefix(r.Data, []byte("HTTP")) { // a refusal, not a stream: the client's to read
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			events, err := decode(bytes.NewReader(r.Data))
			r.check(t, events, err)
			if err == nil {
				checkBlocks(t, events)
			}
			r.shapes(t, decode, events, err)
			r.cuts(t, decode, events)
		})
	}
}

// shapes are other ways to send the same.
func (r *Recording) shapes(t *testing.T, decode Decode, want []model.Event, wantErr error) {
	t.Helper()
	crlf := bytes.ReplaceAll(bytes.ReplaceAll(r.Data, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	commented := bytes.ReplaceAll(r.Data, []byte("\n\n"), []byte("\n\n: still here\n\n"))
	for name, body := range map[string]io.Reader{
		"byte by byte":    iotest.OneByteReader(bytes.NewReader(r.Data)),
		"data with error": iotest.DataErrReader(bytes.NewReader(r.Data)),
		"CRLF":            bytes.NewReader(crlf),
		"comments":        bytes.NewReader(commented),
		"no last line":    bytes.NewReader(bytes.TrimRight(r.Data, "\r\n")),
	} {
		got, err := decode(body)
		if !reflect.DeepEqual(withoutIDs(got), withoutIDs(want)) || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %d events and error %v, want %d and %v", name, len(got), err, len(want), wantErr)
		}
	}
}

// cuts ends the stream early: an error, and nothing that was not in the whole.
func (r *Recording) cuts(t *testing.T, decode Decode, whole []model.Event) {
	t.Helper()
	step := max(len(r.Data)/400, 1)
	for n := 0; n < len(r.Data); n += step {
		events, err := decode(bytes.NewReader(r.Data[:n]))
		if err == nil && !finished(events) {
			t.Fatalf("cut at byte %d: no error and no finish", n)
		}
		if finished(events) && !finished(whole) {
			t.Fatalf("cut at byte %d: a finish that the whole does not have", n)
		}
	}
}

func finished(events []model.Event) bool {
	for _, e := range events {
		if _, ok := e.(model.Finish); ok {
			return true
		}
	}
	return false
}

// withoutIDs leaves out ids that a decoder makes up itself.
func withoutIDs(events []model.Event) []model.Event {
	out := make([]model.Event, len(events))
	for i, e := range events {
		switch e := e.(type) {
		case model.InputStart:
			e.ID = ""
			out[i] = e
		case model.InputDelta:
			e.ID = ""
			out[i] = e
		case model.InputEnd:
			out[i] = model.InputEnd{}
		case model.ToolCall:
			e.ID = ""
			out[i] = e
		default:
			out[i] = e
		}
	}
	return out
}

// check compares everything the index says.
func (r *Recording) check(t *testing.T, events []model.Event, failed error) {
	t.Helper()
	var said, thought strings.Builder
	var usage model.Usage
	finish, raw, calls, hosted := "", "", 0, 0
	for _, e := range events {
		switch e := e.(type) {
		case model.TextDelta:
			said.WriteString(e.Text)
		case model.ReasoningDelta:
			thought.WriteString(e.Text)
		case model.Used:
			usage = e.Usage
		case model.Finish:
			finish, raw = e.Reason, e.Raw
		case model.ToolCall:
			if e.Executed {
				hosted++
			} else {
				r.checkCall(t, calls, e)
				calls++
			}
		default:
		}
	}
	checkWords(t, "text", said.String(), r.Expect.Text)
	checkWords(t, "reasoning", thought.String(), r.Expect.Reasoning)
	if calls != len(r.Expect.ToolCalls) || hosted != len(r.Expect.ProviderTools) {
		t.Errorf("%d calls and %d hosted ones, want %d and %d", calls, hosted, len(r.Expect.ToolCalls), len(r.Expect.ProviderTools))
	}
	if failed != nil || finish != r.Expect.Finish || raw != r.Expect.FinishRaw {
		t.Errorf("finish %q (%s), error %v; want %q (%s)", finish, raw, failed, r.Expect.Finish, r.Expect.FinishRaw)
	}
	if u := r.Expect.Usage; u != nil {
		want := model.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning, Total: usage.Total}
		if usage != want {
			t.Errorf("usage %+v, want %+v", usage, want)
		}
	}
}

func (r *Recording) checkCall(t *testing.T, n int, c model.ToolCall) {
	t.Helper()
	var args any
	if err := json.Unmarshal([]byte(c.Input), &args); err != nil {
		t.Error(err)
	}
	if want := r.Expect.ToolCalls; n >= len(want) || want[n].Name != c.Name || !reflect.DeepEqual(want[n].Args, args) || c.ID == "" {
		t.Errorf("call %d is %+v", n, c)
	}
}

// checkWords compares a text, of which long ones are in the index by length and ends.
func checkWords(t *testing.T, what, got string, want json.RawMessage) {
	t.Helper()
	var text string
	if len(want) == 0 || json.Unmarshal(want, &text) != nil {
		return // another form: the openai package's own tests read it
	}
	if got != text {
		t.Errorf("%s is %q, want %q", what, got, text)
	}
	if !utf8.ValidString(got) {
		t.Errorf("%s is not UTF-8", what)
	}
}

// checkBlocks: every block has one start and one end, and nothing outside them.
func checkBlocks(t *testing.T, events []model.Event) {
	t.Helper()
	open := map[string]bool{}
	step := func(kind, id string, want, set bool) {
		if open[kind+id] != want {
			t.Errorf("%s %q: open is %v", kind, id, open[kind+id])
		}
		open[kind+id] = set
	}
	for _, e := range events {
		switch e := e.(type) {
		case model.TextStart:
			step("text", e.ID, false, true)
		case model.TextDelta:
			step("text", e.ID, true, true)
		case model.TextEnd:
			step("text", e.ID, true, false)
		case model.ReasoningStart:
			step("reasoning", e.ID, false, true)
		case model.ReasoningDelta:
			step("reasoning", e.ID, true, true)
		case model.ReasoningEnd:
			step("reasoning", e.ID, true, false)
		case model.InputStart:
			step("input", e.ID, false, true)
		case model.InputDelta:
			step("input", e.ID, true, true)
		case model.InputEnd:
			step("input", e.ID, true, false)
		default:
		}
	}
	for id, is := range open {
		if is {
			t.Errorf("%s is never closed", id)
		}
	}
}
