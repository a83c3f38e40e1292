package anthropic

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
	"github.com/lathe-agent/lathe/model/wiretest"
)

func newDecoder() *decoder {
	return &decoder{provider: "anthropic", ids: wire.NewCallIDs(wiretest.IDs())}
}

func read(body io.Reader, d *decoder, yield func(model.Event, error) bool) {
	wire.Relay(context.Background(), sse.NewReader(body).Next, d, yield)
}

func drain(body io.Reader) ([]model.Event, error) {
	return wiretest.Collect(func(yield func(model.Event, error) bool) { read(body, newDecoder(), yield) })
}

func TestRecordings(t *testing.T) { wiretest.Run(t, "anthropic", drain) }

// stream puts events into one, with a start and an end.
func stream(events ...string) string {
	all := append([]string{`{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":3,"output_tokens":1}}}`}, events...)
	all = append(all, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`)
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "data: %s\n\n", e)
	}
	return b.String()
}

func text(events []model.Event) (out string) {
	for _, e := range events {
		if d, ok := e.(model.TextDelta); ok {
			out += d.Text
		}
	}
	return out
}

func TestDecode_Text(t *testing.T) {
	start := `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	for name, c := range map[string]struct {
		deltas []string
		want   string
	}{
		"fast and general path": {[]string{
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\n"}}`,
			`{"index":0, "type":"content_block_delta","delta":{"text":"b","type":"text_delta"}}`,
		}, "a\nb"},
		"a pair in two halves": {[]string{
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x\ud83d"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ude00y"}}`,
		}, "x😀y"},
		"a lone half": {[]string{
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ud83d"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"y"}}`,
		}, "\uFFFDy"},
		"a lone half at the end": {[]string{
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"z\ud83d"}}`,
		}, "z\uFFFD"},
		"an escaped backslash before u": {[]string{
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\ud83d"}}`,
		}, `\ud83d`},
		"unknown events and blocks": {[]string{
			`{"type":"ping"}`, `{"type":"from_the_future","x":1}`,
			`{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"nobody's"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`,
		}, "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := drain(strings.NewReader(stream(append([]string{start}, c.deltas...)...)))
			if err != nil || text(events) != c.want {
				t.Errorf("%q, error %v; want %q", text(events), err, c.want)
			}
		})
	}
}

// Calls without an id get one, an index that comes twice is another block, and what is left open
// is closed at the end.
func TestDecode_Blocks(t *testing.T) {
	made := newDecoder().ids.Take("")
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"no id": {
			[]string{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f","input":{"a":1}}}`},
			"input ID of f\ninput ID end\ncall ID f {\"a\":1}\n",
		},
		"an index twice": {
			[]string{
				`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"b","signature":"s"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"not a thought"}}`,
			},
			"text 0\ntext 0 + \"a\"\ntext 0 end\nreasoning 0\nreasoning 0 + \"b\"\nreasoning 0 end {\"anthropic\":{\"signature\":\"s\"}}\n",
		},
		"blocks of tomorrow": {
			[]string{
				`{"type":"content_block_start","index":0,"content_block":{"type":"hologram"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`, `{"type":"content_block_stop","index":0}`,
				`{"type":"content_block_start","index":-1,"content_block":{"type":"text"}}`, `{"type":"content_block_start","index":999999999,"content_block":{"type":"text"}}`,
			}, "",
		},
		"members of other types": {[]string{`{"type":"message_delta","delta":{"stop_reason":7},"usage":{"input_tokens":"3","output_tokens":{}}}`, `{"type":"ping","index":"x","delta":7}`}, "used in=3 read=0 write=0 out=1 reasoning=0 total=0\n"},
		"negative usage":         {[]string{`{"type":"message_delta","delta":{},"usage":{"input_tokens":-5,"cache_read_input_tokens":-1,"output_tokens":-7}}`}, "used in=0 read=0 write=0 out=0 reasoning=0 total=0\n"},
	} {
		input := "3"
		if name == "negative usage" {
			input = "0"
		}
		want := "start m c\nused in=3 read=0 write=0 out=1 reasoning=0 total=0\n" + strings.ReplaceAll(c.want, "ID", made) +
			"used in=" + input + " read=0 write=0 out=9 reasoning=0 total=0\nfinish stop end_turn\n"
		got := wiretest.Show(drain(strings.NewReader(stream(c.events...))))
		if !sameButOrder(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// sameButOrder compares lines: blocks left open are closed after what was used is reported.
func sameButOrder(a, b string) bool {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// An answer that had said why it ends is whole, whatever becomes of the connection.
func TestDecode_End(t *testing.T) {
	whole := stream(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`)
	cut, _, _ := strings.Cut(whole, `data: {"type":"message_stop"}`)
	events, err := drain(strings.NewReader(cut))
	if wrong := wiretest.CheckShape(events, err); wrong != nil || err != nil {
		t.Error(wrong, err)
	}
	events, err = drain(strings.NewReader("data: {\"type\":\"message_stop\"}\n\n"))
	if err != nil || wiretest.Show(events, err) != "finish unknown\n" {
		t.Error(wiretest.Show(events, err))
	}
}

func TestDecode_Large(t *testing.T) {
	wiretest.Large(t, func(words string) []byte {
		return []byte(stream(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+words+`"}}`))
	}, drain)
}

func TestDecode_Failures(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		code lathe.Code
	}{
		"overloaded in the stream": {`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, lathe.Unavailable},
		"too long":                 {`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens"}}`, lathe.Overflow},
		"not JSON":                 {`{"type":`, lathe.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := drain(strings.NewReader("data: " + c.body + "\n\n"))
			if lathe.CodeOf(err) != c.code {
				t.Errorf("%v has code %s, want %s", err, lathe.CodeOf(err), c.code)
			}
		})
	}
	if _, err := drain(strings.NewReader("")); lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("an empty stream: %v", err)
	}
}

// FuzzScan holds the scanner against the general path.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\"\\b"}}`,
		`{"type":"content_block_delta","index":12,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}  }`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"\u00e9"}}`,
	} {
		f.Add([]byte(s))
	}
	wiretest.FuzzScan(f, func() (fast, general func([]byte) ([]model.Event, error)) {
		a, b := newDecoder(), newDecoder()
		b.slow = true
		for i, kind := range []string{"text", "thinking", "tool_use"} {
			a.begin(i, wireBlock{Type: kind, ID: "c"})
			b.begin(i, wireBlock{Type: kind, ID: "c"})
		}
		return a.event, b.event
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(stream(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`)))
	wiretest.FuzzRead(f, drain)
}

func FuzzRequest(f *testing.F) {
	wiretest.FuzzRequest(f, (&encoder{}).request, (&encoder{version: "v"}).request)
}
