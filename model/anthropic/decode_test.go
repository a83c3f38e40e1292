package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

func drain(body io.Reader) (events []model.Event, err error) {
	read(context.Background(), "anthropic", body, func(e model.Event, failed error) bool {
		if err = failed; err == nil {
			events = append(events, e)
		}
		return true
	})
	return events, err
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
	f.Fuzz(func(t *testing.T, data []byte) {
		s, ok := scanDelta(data)
		if !ok {
			return
		}
		var e wireEvent
		if json.Unmarshal(data, &e) != nil {
			return // the scanner is more lenient inside strings; UnquoteJSON then decides
		}
		raw := map[deltaKind]json.RawMessage{textDelta: e.Delta.Text, thinkingDelta: e.Delta.Thinking, inputDelta: e.Delta.PartialJSON}[s.kind]
		if e.Type != "content_block_delta" || e.Index != s.index || !reflect.DeepEqual([]byte(raw), s.raw) {
			t.Errorf("scanned %+v (%s), read %+v", s, s.raw, e)
		}
	})
}

func BenchmarkDelta(b *testing.B) {
	data := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" and so it goes on"}}`)
	d := decoder{}
	d.begin(0, wireBlock{Type: "text"})
	b.ReportAllocs()
	for b.Loop() {
		if out, err := d.event(data); err != nil || len(out) != 1 {
			b.Fatal(out, err)
		}
	}
}
