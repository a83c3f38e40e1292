package engine

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/history/historytest"
	"github.com/lathe-agent/lathe/model"
)

// longHistory is a history of so many messages with outputs of tools, compressed in its middle
// or not.
func longHistory(n int, compressed bool) (*history.Conversation, []*history.Message) {
	m := history.New(&atomic.Int64{})
	code := strings.Repeat("if err != nil { return fmt.Errorf(\"run: %w\", err) }\n", 40)
	var messages []*history.Message
	for i := range n / 2 {
		file := fmt.Sprintf(`{"filePath":"/repo/pkg/file%d.go"}`, i%97)
		question, answer := historytest.User(lathe.MessageID(fmt.Sprint("u", i))), historytest.Answer(lathe.MessageID(fmt.Sprint("a", i)), historytest.Stopped, &lathe.Text{Text: code[:200]},
			&lathe.ToolCall{CallID: fmt.Sprint("c", i), Tool: "read", State: &lathe.Completed{Input: []byte(file), Metadata: []byte(`{"truncated":false}`), Output: code}})
		if compressed && i == n/4 {
			question = historytest.User(question.ID, &lathe.Compaction{Auto: true, TailStart: lathe.MessageID(fmt.Sprint("u", i-20))})
			answer = historytest.SummaryOf(answer.ID, question.ID, historytest.Stopped)
		}
		messages = append(messages, question, answer)
	}
	return m, messages
}

// BenchmarkCompact_Assembly is what a step adds to assemble a request of 2,000 messages that were
// compressed once: what is visible, converted. The first has everything to convert.
func BenchmarkCompact_Assembly(b *testing.B) {
	target := model.Target{Provider: "p", Model: "m"}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			m, messages := longHistory(2000, true)
			b.StartTimer()
			if len(m.Convert(history.Visible(messages), target)) == 0 {
				b.Fatal("nothing")
			}
		}
	})
	b.Run("next", func(b *testing.B) {
		m, messages := longHistory(2000, true)
		for b.Loop() {
			if len(m.Convert(history.Visible(messages), target)) == 0 {
				b.Fatal("nothing")
			}
		}
	})
}

// BenchmarkCompact_Divide is the choice of what stays, and the text of what is summarized.
func BenchmarkCompact_Divide(b *testing.B) {
	for _, n := range []int{2000, 8000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, messages := longHistory(n, false)
			target := model.Target{Provider: "p", Model: "m"}
			m.Convert(messages, target) // a step has done that
			for b.Loop() {
				at := compact.TailStart(messages, compact.Sizes(m, messages, target), compact.MaxTail, 0)
				if text := compact.Fit(compact.Serialize(messages[:at], compact.ResultLimit), 600_000); len(text) == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
}

// BenchmarkPrune is the choice of what is left out; it must grow with the history and no faster.
func BenchmarkPrune(b *testing.B) {
	for _, n := range []int{2000, 8000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			_, messages := longHistory(n, false)
			for b.Loop() {
				if parts, _ := compact.Prunable(history.Visible(messages)); len(parts) == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
}
