package model_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// repeated says the same event as often as a user listens.
type repeated struct{ event model.Event }

func (m repeated) Stream(context.Context, model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for yield(m.event, nil) {
		}
	}
}

func TestBounded(t *testing.T) {
	kb := strings.Repeat("x", 1<<10)
	for name, tt := range map[string]struct {
		event  model.Event
		output int
		want   int // received events
	}{
		"text":                   {model.TextDelta{Text: kb}, 640, 10},
		"text, unknown limit":    {model.TextDelta{Text: kb}, 0, 32 << 10},
		"reasoning":              {model.ReasoningDelta{Text: kb}, 640, 10},
		"arguments":              {model.InputDelta{ID: "a", Text: kb}, 640, 10},
		"whole calls":            {model.ToolCall{Input: kb}, 640, 10},
		"results of a provider":  {model.ToolResult{Output: []byte(kb)}, 640, 32 << 10},
		"signatures":             {model.ReasoningEnd{Meta: model.Meta(kb)}, 640, 32 << 10},
		"one large opaque field": {model.ReasoningDelta{Meta: make(model.Meta, 33<<20)}, 640, 0},
	} {
		t.Run(name, func(t *testing.T) {
			heard, failure := 0, error(nil)
			for _, err := range (model.Bounded{Model: repeated{tt.event}, Output: tt.output}).Stream(t.Context(), model.Request{}) {
				if failure = err; err == nil {
					heard++
				}
			}
			if heard != tt.want || lathe.CodeOf(failure) != lathe.Refused {
				t.Errorf("%d events, then %v", heard, failure)
			}
		})
	}
}
