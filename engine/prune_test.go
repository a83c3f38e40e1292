package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/history/historytest"
	"github.com/lathe-agent/lathe/model"
)

// masked are the ids of the parts that can be left out.
func masked(messages []*history.Message) (ids []string) {
	parts, _ := compact.Prunable(messages)
	for _, p := range parts {
		ids = append(ids, string(p.ID))
	}
	return ids
}

// later are two exchanges and ten small calls, after which all may go.
func later() []*history.Message {
	small := make([]lathe.Body, compact.PruneCalls)
	for i := range small {
		small[i] = historytest.Output("bash", `{"command":"ls"}`, `{"exit":0}`, 1)
	}
	return []*history.Message{historytest.User("y1"), historytest.Answer("y2", historytest.Stopped), historytest.User("z1"), historytest.Answer("z2", historytest.Calling, small...)}
}

func TestMaskable(t *testing.T) {
	const half = compact.PruneProtect/2 + 1
	pass, fail := `{"exit":0}`, `{"exit":1}`
	for _, tt := range []struct {
		name string
		said []lathe.Body
		want []string
	}{
		{"the newest stay", []lathe.Body{historytest.Output("bash", `{}`, pass, half), historytest.Output("bash", `{}`, pass, half), historytest.Output("bash", `{}`, pass, half)}, []string{"m20", "m21"}},
		{"what was read again goes first", []lathe.Body{
			historytest.Output("read", `{"filePath":"a"}`, `{}`, 9), historytest.Output("read", `{"filePath":"b"}`, `{}`, 9), historytest.Output("read", `{"filePath":"a"}`, `{}`, 9),
		}, []string{"m20"}},
		{"what was written since", []lathe.Body{historytest.Output("read", `{"filePath":"a"}`, `{}`, 9), historytest.Output("edit", `{"filePath":"a"}`, `{}`, 9)}, []string{"m20"}},
		{"what was patched since", []lathe.Body{
			historytest.Output("read", `{"filePath":"/r/a"}`, `{}`, 9), historytest.Output("apply_patch", `{}`, `{"files":[{"filePath":"/r/a","relativePath":"a"}]}`, 9),
		}, []string{"m20"}},
		{"other lines of a file are not the same", []lathe.Body{
			historytest.Output("read", `{"filePath":"a","offset":100}`, `{}`, 9), historytest.Output("read", `{"filePath":"a","offset":200}`, `{}`, 9), historytest.Output("read", `{"filePath":"a","offset":100}`, `{}`, 9),
		}, []string{"m20"}},
		{"tests that passed, not those that failed", []lathe.Body{
			historytest.Output("bash", `{"command":"go test ./..."}`, pass, 9), historytest.Output("bash", `{"command":"go test ./..."}`, fail, 9), historytest.Output("bash", `{"command":"make build"}`, pass, 9),
		}, []string{"m20"}},
		{"listings and pages", []lathe.Body{historytest.Output("glob", `{}`, `{}`, 9), historytest.Output("grep", `{}`, `{}`, 9), historytest.Output("webfetch", `{}`, `{}`, 9)}, []string{"m20", "m21", "m22"}},
		{"skills stay, and so does the newest list", []lathe.Body{
			historytest.Output("todowrite", `{}`, `{}`, compact.PruneProtect+1), historytest.Output("todowrite", `{}`, `{}`, compact.PruneProtect+1), historytest.Output("skill", `{}`, `{}`, compact.PruneProtect+1),
		}, []string{"m20"}},
		{"errors stay", []lathe.Body{historytest.FailedCall(`{}`), &lathe.Text{Text: "glob"}}, nil},
	} {
		got := masked(append([]*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, tt.said...)}, later()...))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	near := []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.Output("glob", `{}`, `{}`, 9)), historytest.User("m3"), historytest.Answer("m4", historytest.Calling, slices.Repeat([]lathe.Body{historytest.Output("glob", `{}`, `{}`, 9)}, 20)...)}
	if got := masked(near); got != nil {
		t.Errorf("the last two exchanges: %q", got)
	}
}

// Of any history nothing goes that must stay, and what goes is counted.
func TestMaskable_KeepsWhatMustStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawCalls(t)
		parts, freed := compact.Prunable(messages)
		gone := map[lathe.PartID]bool{}
		sum := 0
		for _, p := range parts {
			gone[p.ID] = true
			done, ok := p.Body.(*lathe.ToolCall).State.(*lathe.Completed)
			if !ok || done.Compacted != 0 || p.Body.(*lathe.ToolCall).Tool == "skill" {
				t.Fatalf("%s goes: %+v", p.ID, p.Body)
			}
			sum += compact.TokensIn(done.Output)
		}
		if sum != freed {
			t.Fatalf("%d tokens, said to be %d", sum, freed)
		}
		words, calls := 0, 0
		for _, h := range slices.Backward(messages) {
			for _, p := range slices.Backward(h.Parts) {
				if _, ok := p.Body.(*lathe.ToolCall); ok {
					calls++
				}
				if gone[p.ID] && (words < compact.PruneExchanges || calls <= compact.PruneCalls) {
					t.Fatalf("%s goes: %d exchanges and %d calls from the end", p.ID, words, calls)
				}
			}
			if history.IsUserPrompt(h) {
				words++
			}
		}
	})
}

// drawCalls draws a history of exchanges with calls.
func drawCalls(t *rapid.T) (messages []*history.Message) {
	id := 0
	for range rapid.IntRange(1, 6).Draw(t, "exchanges") {
		id++
		messages = append(messages, historytest.User(lathe.MessageID(fmt.Sprint("m", id, "."))))
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			id++
			messages = append(messages, historytest.Answer(lathe.MessageID(fmt.Sprint("m", id, ".")), historytest.Calling, drawOutputs(t)...))
		}
	}
	return messages
}

func drawOutputs(t *rapid.T) (out []lathe.Body) {
	for range rapid.IntRange(0, 8).Draw(t, "calls") {
		switch kind := rapid.SampledFrom([]string{"read", "bash", "glob", "skill", "todowrite", "failed", "gone"}).Draw(t, "kind"); kind {
		case "failed":
			out = append(out, historytest.FailedCall(`{}`))
		case "gone":
			c, _ := historytest.Output("bash", `{}`, `{}`, 9).Compact(1)
			out = append(out, c)
		default:
			file := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "file")
			out = append(out, historytest.Output(kind, `{"filePath":"`+file+`"}`, `{"exit":0}`, rapid.IntRange(0, 12_000).Draw(t, "tokens")))
		}
	}
	return out
}

// Between two words of the user it happens once at most, and never for little: a session that
// lost outputs with every step would lose its memory.
func TestPrune_OncePerWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s state
		now, batches := lathe.Time(1), 0
		for i := range rapid.IntRange(1, 30).Draw(t, "rounds") {
			now += lathe.Time(rapid.SampledFrom([]int{1, 1000, 600_000}).Draw(t, "pause"))
			if i == 0 || rapid.IntRange(0, 3).Draw(t, "speaker") == 0 {
				h := historytest.User(lathe.MessageID(fmt.Sprint("m", i, ".")))
				h.Created, batches = now, 0
				s.messages = append(s.messages, h)
			}
			parts, freed := s.prunable(100_000, model.CacheFive)
			if len(parts) > 0 {
				if batches++; batches > 1 || freed < compact.PruneMin {
					t.Fatalf("batch %d frees %d tokens", batches, freed)
				}
				leaveOut(s.messages, parts, now)
			}
			now++
			tokens := lathe.Tokens{Input: int64(rapid.SampledFrom([]int{10, 90_000}).Draw(t, "used"))}
			h := historytest.Answer(lathe.MessageID(fmt.Sprint("a", i, ".")), lathe.Assistant{Finish: "tool-calls", Tokens: tokens, Completed: now}, drawOutputs(t)...)
			h.Created = now
			s.messages = append(s.messages, h)
		}
	})
}

func leaveOut(messages []*history.Message, parts []lathe.Part, at lathe.Time) {
	for _, h := range messages {
		for i, p := range h.Parts {
			if slices.ContainsFunc(parts, func(q lathe.Part) bool { return q.ID == p.ID }) {
				h.Parts[i].Body, _ = p.Body.(*lathe.ToolCall).Compact(at)
			}
		}
	}
}
