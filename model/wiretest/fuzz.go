package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/lathe-agent/lathe/model"
)

// FuzzRead reads arbitrary input: each decoder ends properly, and none panics.
func FuzzRead(f *testing.F, decoders ...Decode) {
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, decode := range decoders {
			events, err := decode(bytes.NewReader(data))
			if wrong := CheckShape(events, err); wrong != nil && !errors.Is(wrong, ErrInput) {
				t.Fatalf("%v\n%s", wrong, Show(events, err))
			}
		}
	})
}

// FuzzScan holds a decoder with its scanner against one without.
func FuzzScan(f *testing.F, decoders func() (fast, general func(event []byte) ([]model.Event, error))) {
	f.Fuzz(func(t *testing.T, data []byte) {
		fast, general := decoders()
		SameEvents(t, data, fast, general)
	})
}

// SameEvents gives the same events to two decoders: they must say the same. Events are separated
// by line breaks, which no scanner takes.
func SameEvents(t *testing.T, data []byte, fast, general func(event []byte) ([]model.Event, error)) {
	t.Helper()
	for event := range bytes.SplitSeq(data, []byte("\n")) {
		events, err := fast(event)
		got := Show(events, err) // before the other, for events may be good for one call only
		if want := Show(general(event)); got != want {
			t.Fatalf("%q: the scanner says\n%s\nthe general path\n%s", event, got, want)
		}
		if err != nil {
			return
		}
	}
}

// FuzzRequest encodes anything: it must be JSON.
func FuzzRequest(f *testing.F, encoders ...func(r model.Request) []byte) {
	f.Add("words", `{"type":"object"}`, `{"openai":{"itemId":"x"}}`, `{"a":1}`)
	f.Add("\xff\x00", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, `{"openrouter":{"reasoning_details":[{}]}}`, `7`)
	f.Add("thinking", `{"anyOf":[{"type":["string","null"]}]}`, `{"anthropic":{"signature":"s"},"google":{"thoughtSignature":"s"}}`, `{"type":"enabled","budgetTokens":5}`)
	f.Add("reasoningConfig", `true`, `{"bedrock":{"redactedData":"s"}}`, `{"type":"adaptive","maxReasoningEffort":"x"}`)
	f.Fuzz(func(t *testing.T, words, schema, meta, value string) {
		if !json.Valid([]byte(meta)) || !json.Valid([]byte(value)) {
			return // they come from our own store
		}
		r := model.Request{
			Model: words, System: []string{words}, Choice: words, Cache: model.CacheHour,
			Tools:   []model.Tool{{Name: words, Description: words, Schema: json.RawMessage(schema)}},
			Options: map[string]json.RawMessage{words: json.RawMessage(value), "reasoningEffort": json.RawMessage(value), "include": json.RawMessage(value)},
			Messages: []model.Message{
				{Role: model.UserRole, Content: []model.Content{
					model.TextContent{Text: words}, model.FileContent{Mime: "text/x", Name: words, Data: words}, model.FileContent{Mime: "application/pdf", Name: words, Data: words},
				}},
				{Role: model.AssistantRole, Content: []model.Content{
					model.ReasoningContent{Text: words, Meta: model.Meta(meta)},
					model.TextContent{Text: words, Meta: model.Meta(meta)},
					model.CallContent{ID: words, Name: words, Input: json.RawMessage(value), Meta: model.Meta(meta)},
					model.ResultContent{ID: words, Text: value, Executed: true, Meta: model.Meta(meta)},
				}},
				{Role: model.ToolRole, Content: []model.Content{model.ResultContent{ID: words, Text: words, Media: []model.FileContent{{Mime: words, Data: words}}}}},
			},
		}
		for i, encode := range encoders {
			if b := encode(r); !json.Valid(b) {
				t.Fatalf("encoder %d writes no JSON: %s", i, b)
			}
		}
	})
}
