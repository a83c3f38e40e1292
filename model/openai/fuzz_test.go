package openai

import (
	"io"
	"testing"

	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

func FuzzChatScan(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s.delta))
	}
	for _, seed := range []string{
		`{"choices":[{"delta":{"content":"a\ud83d"}}]}` + "\n" + `{"choices":[{"delta":{"content":"\ude00"}}]}`,
		`{"choices":[{"delta":{"content":"a","content":"b"}}]}`,
		`{"choices":[{"delta":{"reasoning":"a","reasoning_content":"b","tool_calls":[{"index":1,"function":{"arguments":"{"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"","arguments":"{\"a\":1}"},"id":null,"type":"function"}]}}]}`,
		`{"object":"error","choices":[{"delta":{}}]}`,
		`{"choices":[{"delta":{"content":"a"},"Delta":null}]}`,
		`{ "id" : "x" , "choices" : [ { "delta" : { "content" : "\u00e9\/\"" } } ] } `,
	} {
		f.Add([]byte(seed))
	}
	wiretest.FuzzScan(f, scanned(func() decoder { return chatForTest() }, `{"id":"c","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}`))
}

func FuzzResponsesScan(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s.delta))
	}
	for _, seed := range []string{
		`{"type":"response.output_text.delta","item_id":"m","delta":"a\ud83d"}` + "\n" + `{"type":"response.output_text.delta","item_id":"m","delta":"\ude00"}`,
		`{"type":"response.output_text.delta","delta":"a","type":"error"}`,
		`{"type":"response.reasoning_text.delta","content_index":1,"summary_index":2,"delta":"a"}`,
		`{"type":" response.output_text.delta","delta":"a","output_index":3}`,
		`{"type":"response.output_text.delta","item_id":"\u0061","delta":"a"}`,
	} {
		f.Add([]byte(seed))
	}
	wiretest.FuzzScan(f, scanned(func() decoder { return responsesForTest() }, `{"type":"response.output_item.added","output_index":1,"item":{"type":"reasoning","id":"rs"}}`))
}

// scanned makes decoders that have read the head of a stream, with a scanner and without. One
// that is done reads no more.
func scanned(create func() decoder, head string) func() (fast, general func([]byte) ([]model.Event, error)) {
	return func() (func([]byte) ([]model.Event, error), func([]byte) ([]model.Event, error)) {
		a := create()
		b := slow{create()}
		reader := func(d decoder) func([]byte) ([]model.Event, error) {
			if head != "" {
				_, _ = d.Decode(sse.Event{Data: []byte(head)})
			}
			return func(event []byte) ([]model.Event, error) {
				if d.IsDone() {
					return nil, nil
				}
				return d.Decode(sse.Event{Data: event})
			}
		}
		return reader(a), reader(b)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(sseBody(append(append(s.head, s.delta), s.tail...)...)))
	}
	f.Add([]byte(`{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`))
	wiretest.FuzzRead(f, func(body io.Reader) ([]model.Event, error) { return drain(chatForTest(), body) },
		func(body io.Reader) ([]model.Event, error) { return drain(responsesForTest(), body) })
}

func FuzzRequest(f *testing.F) {
	odd := Dialect{ShortIDs: true, Cache: "content", Reasoning: "reasoning", Effort: "reasoning"}
	wiretest.FuzzRequest(f, (&chatEncoder{}).request, (&responsesEncoder{}).request, (&chatEncoder{dialect: odd}).request, (&responsesEncoder{dialect: odd}).request)
}
