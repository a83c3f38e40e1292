package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/model"
)

// Each fuzz test gives the same events to a decoder with its scanner and to one without: they
// must say the same. Events are separated by line breaks, which no scanner takes.

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
	f.Fuzz(func(t *testing.T, data []byte) {
		fast, general := chatForTest(), chatForTest()
		head := []byte(`{"id":"c","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}`)
		compare(t, fast, general, append(append(head, '\n'), data...))
	})
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
	f.Fuzz(func(t *testing.T, data []byte) {
		fast, general := responsesForTest(), responsesForTest()
		head := []byte(`{"type":"response.output_item.added","output_index":1,"item":{"type":"reasoning","id":"rs"}}`)
		compare(t, fast, general, append(append(head, '\n'), data...))
	})
}

func compare(t *testing.T, fast, general decoder, data []byte) {
	t.Helper()
	for event := range bytes.SplitSeq(data, []byte("\n")) {
		a, errA := fast.event(nil, event)
		b, errB := slow{general}.event(nil, event)
		if got, want := show(a, errA), show(b, errB); got != want {
			t.Fatalf("%q: the scanner says\n%s\nthe general path\n%s", event, got, want)
		}
		if errA != nil || fast.isDone() {
			return
		}
	}
}

// FuzzRead reads anything: it must come to an end, in order, and never panic.
func FuzzRead(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(sseBody(append(append(s.head, s.delta), s.tail...)...)))
	}
	f.Add([]byte(`{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range []decoder{chatForTest(), responsesForTest()} {
			events, err := drain(d, bytes.NewReader(data))
			if shape := checkShape(events, err); shape != nil && !strings.HasPrefix(shape.Error(), "input is no JSON") {
				t.Fatalf("%v\n%s", shape, show(events, err))
			}
		}
	})
}

// FuzzRequest encodes anything: it must be JSON.
func FuzzRequest(f *testing.F) {
	f.Add("words", `{"type":"object"}`, `{"openai":{"itemId":"x"}}`, `{"a":1}`)
	f.Add("\xff\x00", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, `{"openrouter":{"reasoning_details":[{}]}}`, `7`)
	f.Fuzz(func(t *testing.T, words, schema, meta, value string) {
		if !json.Valid([]byte(meta)) || !json.Valid([]byte(value)) {
			return // they come from our own store
		}
		r := model.Request{
			Model: words, System: []string{words}, Choice: words, Cache: model.CacheHour,
			Tools:   []model.Tool{{Name: words, Description: words, Schema: json.RawMessage(schema)}},
			Options: map[string]json.RawMessage{words: json.RawMessage(value), "reasoningEffort": json.RawMessage(value), "include": json.RawMessage(value)},
			Messages: []model.Message{
				{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: words}, model.FileContent{Mime: "text/x", Name: words, Data: words}}},
				{Role: model.AssistantRole, Content: []model.Content{
					model.ReasoningContent{Text: words, Meta: model.Meta(meta)},
					model.TextContent{Text: words, Meta: model.Meta(meta)},
					model.CallContent{ID: words, Name: words, Input: json.RawMessage(value), Meta: model.Meta(meta)},
					model.ResultContent{ID: words, Text: value, Executed: true, Meta: model.Meta(meta)},
				}},
				{Role: model.ToolRole, Content: []model.Content{model.ResultContent{ID: words, Text: words}}},
			},
		}
		for _, d := range []Dialect{{}, {ShortIDs: true, Cache: "content", Reasoning: "reasoning", Effort: "reasoning", Schema: SchemaPlain, MaxID: 20}} {
			for _, b := range [][]byte{(&chatEncoder{dialect: d}).request(r), (&responsesEncoder{dialect: d}).request(r)} {
				if !json.Valid(b) {
					t.Fatalf("not JSON: %s", b)
				}
			}
		}
	})
}
