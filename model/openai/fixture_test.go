package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// fixture is a recorded answer and what must be extracted from it.
type fixture struct {
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
		Error           *struct{ Code, Message string }
		Text, Reasoning json.RawMessage
	}
	data []byte
}

func (f *fixture) decoder() decoder {
	if f.Proto == "chat" {
		return chatForTest()
	}
	return responsesForTest()
}

// fixtures reads the recordings of both protocols from beside the project.
func fixtures(t testing.TB) []*fixture {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		root := filepath.Join(dir, "shared", "fixtures", "streams")
		if index, err := os.ReadFile(filepath.Join(root, "index.json")); err == nil {
			return readFixtures(t, root, index)
		}
		if dir == filepath.Dir(dir) {
			t.Skip("the recorded answers (shared/fixtures/streams) are not beside the project")
		}
		dir = filepath.Dir(dir)
	}
}

func readFixtures(t testing.TB, root string, index []byte) (out []*fixture) {
	t.Helper()
	var all struct{ Streams []*fixture }
	if err := json.Unmarshal(index, &all); err != nil {
		t.Fatal(err)
	}
	for _, f := range all.Streams {
		if f.Proto != "chat" && f.Proto != "responses" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, f.File))
		if err != nil {
			t.Fatal(err)
		}
		f.data = data
		out = append(out, f)
	}
	if len(out) == 0 {
		t.Fatal("the index names no recording of these protocols")
	}
	return out
}

// responses cuts a recording that holds several responses: each was a request of its own.
func (f *fixture) responses() [][]byte {
	const head = "event: response.created"
	if f.Proto != "responses" || bytes.Count(f.data, []byte(head)) < 2 {
		return [][]byte{f.data}
	}
	var out [][]byte
	for _, piece := range bytes.Split(f.data, []byte(head))[1:] {
		out = append(out, append([]byte(head), piece...))
	}
	return out
}

func TestFixtures(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.ID, func(t *testing.T) {
			var all []model.Event
			var failed error
			for _, body := range f.responses() {
				events, err := drain(f.decoder(), bytes.NewReader(body))
				if shape := checkShape(events, err); shape != nil {
					t.Error(shape)
				}
				all, failed = append(all, events...), err
			}
			f.check(t, all, failed)
		})
	}
}

// check compares everything the index says.
func (f *fixture) check(t *testing.T, events []model.Event, failed error) {
	t.Helper()
	want := f.Expect
	var said, thought strings.Builder
	var usage *model.Usage
	finish, raw, calls, hosted := "", "", 0, 0
	for _, e := range events {
		switch e := e.(type) {
		case model.TextDelta:
			said.WriteString(e.Text)
		case model.ReasoningDelta:
			thought.WriteString(e.Text)
		case model.Used:
			usage = &e.Usage
		case model.Finish:
			if finish != model.FinishCalls { // the index joins the answers of one recording
				finish = e.Reason
			}
			raw = e.Raw
		case model.ToolCall:
			if e.Executed {
				if hosted >= len(want.ProviderTools) || want.ProviderTools[hosted].Name != e.Name {
					t.Errorf("hosted call %d is %s", hosted, e.Name)
				}
				hosted++
				continue
			}
			f.checkCall(t, calls, e)
			calls++
		default:
		}
	}
	checkWords(t, "text", said.String(), want.Text)
	checkWords(t, "reasoning", thought.String(), want.Reasoning)
	if calls != len(want.ToolCalls) || hosted != len(want.ProviderTools) {
		t.Errorf("%d calls and %d hosted ones, want %d and %d", calls, hosted, len(want.ToolCalls), len(want.ProviderTools))
	}
	if want.Error != nil {
		f.checkFailure(t, failed)
		return
	}
	if failed != nil || finish != want.Finish || raw != want.FinishRaw {
		t.Errorf("finish %q (%s), error %v; want %q (%s)", finish, raw, failed, want.Finish, want.FinishRaw)
	}
	got := model.Usage{}
	if usage != nil {
		got = *usage
	}
	u := want.Usage
	if exp := (model.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning, Total: got.Total}); got != exp {
		t.Errorf("usage %+v, want %+v", got, exp)
	}
}

func (f *fixture) checkCall(t *testing.T, n int, c model.ToolCall) {
	t.Helper()
	var args any
	if err := json.Unmarshal([]byte(c.Input), &args); err != nil {
		t.Error(err)
	}
	if want := f.Expect.ToolCalls; n >= len(want) || want[n].Name != c.Name || !reflect.DeepEqual(want[n].Args, args) || c.ID == "" {
		t.Errorf("call %d is %+v", n, c)
	}
}

func (f *fixture) checkFailure(t *testing.T, failed error) {
	t.Helper()
	var e *lathe.Error
	if !errors.As(failed, &e) {
		t.Fatalf("error %v, want %v", failed, f.Expect.Error)
	}
	var meta struct{ Code string }
	api, _ := e.Fault.(*lathe.APIFault)
	if api == nil || json.Unmarshal(api.Metadata, &meta) != nil || meta.Code != f.Expect.Error.Code || e.Message != f.Expect.Error.Message || api.Retryable {
		t.Errorf("error %+v with fault %+v, want %+v", e, e.Fault, f.Expect.Error)
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

// TestFixtures_Framing reads each recording in other frames: the answer is the same.
func TestFixtures_Framing(t *testing.T) {
	for _, f := range fixtures(t) {
		for n, body := range f.responses() {
			t.Run(fmt.Sprintf("%s/%d", f.ID, n), func(t *testing.T) {
				t.Parallel()
				want := show(drain(f.decoder(), bytes.NewReader(body)))
				forms := map[string]io.Reader{
					"single bytes":       iotest.OneByteReader(bytes.NewReader(body)),
					"data with EOF":      iotest.DataErrReader(bytes.NewReader(body)),
					"CRLF":               bytes.NewReader(bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))),
					"comments":           bytes.NewReader(bytes.ReplaceAll(body, []byte("\n\n"), []byte("\n: ping\n\n: another\n\n"))),
					"no last blank line": bytes.NewReader(bytes.TrimRight(body, "\n")),
					"unknown events":     bytes.NewReader(bytes.ReplaceAll(body, []byte("\n\n"), []byte("\n\nevent: new.kind\ndata: {\"object\":\"new\",\"type\":\"new.kind\",\"delta\":7}\n\n"))),
				}
				for name, r := range forms {
					if got := show(drain(f.decoder(), r)); got != want {
						t.Errorf("%s: got:\n%s\nwant:\n%s", name, got, want)
					}
				}
			})
		}
	}
}

// thin leaves out most of the deltas in the middle of a long stream, so that a test can look
// at each of its bytes.
func thin(body []byte) []byte {
	events := bytes.SplitAfter(body, []byte("\n\n"))
	if len(body) < 3<<10 {
		return body
	}
	var out []byte
	size := 0
	for i, e := range events {
		if (size < 1<<10 || i >= len(events)-4) && len(e) < 2<<10 {
			out = append(out, e...)
			size += len(e)
		}
	}
	return out
}

// TestFixtures_Split reads each recording in two pieces. Single bytes, in the test above, are
// cut everywhere at once; here what stands before and after a cut is large.
func TestFixtures_Split(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			body := thin(f.responses()[0])
			want := show(drain(f.decoder(), bytes.NewReader(body)))
			for i := 0; i < len(body); i += 5 {
				r := io.MultiReader(bytes.NewReader(body[:i]), bytes.NewReader(body[i:]))
				if got := show(drain(f.decoder(), r)); got != want {
					t.Fatalf("split at %d: got:\n%s\nwant:\n%s", i, got, want)
				}
			}
		})
	}
}

// TestFixtures_Cut ends each recording at every byte, cleanly and with a broken connection: it
// is an error unless the server had said why it stopped.
func TestFixtures_Cut(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			body := thin(f.responses()[0])
			for i := range body {
				f.cut(t, body[:i], bytes.NewReader(body[:i]))
				if i%7 == 0 {
					f.cut(t, body[:i], io.MultiReader(bytes.NewReader(body[:i]), iotest.ErrReader(errors.New("connection reset by peer"))))
				}
			}
		})
	}
}

func (f *fixture) cut(t *testing.T, body []byte, r io.Reader) {
	t.Helper()
	events, err := drain(f.decoder(), r)
	if shape := checkShape(events, err); shape != nil && !strings.HasPrefix(shape.Error(), "input is no JSON") {
		t.Fatalf("cut at %d: %v", len(body), shape)
	}
	ended := bytes.Contains(body, []byte(`"finish_reason":"`)) && f.Proto == "chat" || bytes.Contains(body, []byte(`"type":"response.completed"`))
	if err == nil && !ended {
		t.Fatalf("cut at %d: finished", len(body))
	}
	var known *lathe.Error
	if err != nil && f.Expect.Error == nil && (!errors.As(err, &known) || known.Code != lathe.Unavailable || !known.Fault.(*lathe.APIFault).Retryable) {
		t.Fatalf("cut at %d: %v", len(body), err)
	}
}
