package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// output is a call that has ended, with an output of so many tokens.
func output(tool, input, meta string, tokens int) *lathe.ToolCall {
	return &lathe.ToolCall{CallID: "c", Tool: tool, State: &lathe.Completed{
		Input: []byte(input), Metadata: []byte(meta), Output: strings.Repeat("word", tokens),
	}}
}

// masked are the ids of the parts that can be left out.
func masked(messages []*held) (ids []string) {
	parts, _ := maskable(messages)
	for _, p := range parts {
		ids = append(ids, string(p.ID))
	}
	return ids
}

// later are two exchanges and ten small calls, behind which all may go.
func later() []*held {
	small := make([]lathe.Body, pruneCalls)
	for i := range small {
		small[i] = output("bash", `{"command":"ls"}`, `{"exit":0}`, 1)
	}
	return []*held{u("y1"), a("y2", stopped), u("z1"), a("z2", calling, small...)}
}

func TestMaskable(t *testing.T) {
	const half = pruneProtect/2 + 1
	pass, fail := `{"exit":0}`, `{"exit":1}`
	for _, tt := range []struct {
		name string
		said []lathe.Body
		want []string
	}{
		{"the newest stay", []lathe.Body{output("bash", `{}`, pass, half), output("bash", `{}`, pass, half), output("bash", `{}`, pass, half)}, []string{"m20", "m21"}},
		{"what was read again goes first", []lathe.Body{
			output("read", `{"filePath":"a"}`, `{}`, 9), output("read", `{"filePath":"b"}`, `{}`, 9), output("read", `{"filePath":"a"}`, `{}`, 9),
		}, []string{"m20"}},
		{"what was written since", []lathe.Body{output("read", `{"filePath":"a"}`, `{}`, 9), output("edit", `{"filePath":"a"}`, `{}`, 9)}, []string{"m20"}},
		{"what was patched since", []lathe.Body{
			output("read", `{"filePath":"/r/a"}`, `{}`, 9), output("apply_patch", `{}`, `{"files":[{"filePath":"/r/a","relativePath":"a"}]}`, 9),
		}, []string{"m20"}},
		{"other lines of a file are not the same", []lathe.Body{
			output("read", `{"filePath":"a","offset":100}`, `{}`, 9), output("read", `{"filePath":"a","offset":200}`, `{}`, 9), output("read", `{"filePath":"a","offset":100}`, `{}`, 9),
		}, []string{"m20"}},
		{"tests that passed, not those that failed", []lathe.Body{
			output("bash", `{"command":"go test ./..."}`, pass, 9), output("bash", `{"command":"go test ./..."}`, fail, 9), output("bash", `{"command":"make build"}`, pass, 9),
		}, []string{"m20"}},
		{"listings and pages", []lathe.Body{output("glob", `{}`, `{}`, 9), output("grep", `{}`, `{}`, 9), output("webfetch", `{}`, `{}`, 9)}, []string{"m20", "m21", "m22"}},
		{"skills stay, and so does the newest list", []lathe.Body{
			output("todowrite", `{}`, `{}`, pruneProtect+1), output("todowrite", `{}`, `{}`, pruneProtect+1), output("skill", `{}`, `{}`, pruneProtect+1),
		}, []string{"m20"}},
		{"errors stay", []lathe.Body{failedCall(`{}`), &lathe.Text{Text: "glob"}}, nil},
	} {
		got := masked(append([]*held{u("m1"), a("m2", calling, tt.said...)}, later()...))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	near := []*held{u("m1"), a("m2", calling, output("glob", `{}`, `{}`, 9)), u("m3"), a("m4", calling, slices.Repeat([]lathe.Body{output("glob", `{}`, `{}`, 9)}, 20)...)}
	if got := masked(near); got != nil {
		t.Errorf("the last two exchanges: %q", got)
	}
}

// Of any history nothing goes that must stay, and what goes is counted.
func TestMaskable_KeepsWhatMustStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawCalls(t)
		parts, freed := maskable(messages)
		gone := map[lathe.PartID]bool{}
		sum := 0
		for _, p := range parts {
			gone[p.ID] = true
			done, ok := p.Body.(*lathe.ToolCall).State.(*lathe.Completed)
			if !ok || done.Compacted != 0 || p.Body.(*lathe.ToolCall).Tool == "skill" {
				t.Fatalf("%s goes: %+v", p.ID, p.Body)
			}
			sum += tokensIn(done.Output)
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
				if gone[p.ID] && (words < pruneExchanges || calls <= pruneCalls) {
					t.Fatalf("%s goes: %d exchanges and %d calls from the end", p.ID, words, calls)
				}
			}
			if isWord(h) {
				words++
			}
		}
	})
}

// drawCalls draws a history of exchanges with calls.
func drawCalls(t *rapid.T) (messages []*held) {
	id := 0
	for range rapid.IntRange(1, 6).Draw(t, "exchanges") {
		id++
		messages = append(messages, u(lathe.MessageID(fmt.Sprint("m", id, "."))))
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			id++
			messages = append(messages, a(lathe.MessageID(fmt.Sprint("m", id, ".")), calling, drawOutputs(t)...))
		}
	}
	return messages
}

func drawOutputs(t *rapid.T) (out []lathe.Body) {
	for range rapid.IntRange(0, 8).Draw(t, "calls") {
		switch kind := rapid.SampledFrom([]string{"read", "bash", "glob", "skill", "todowrite", "failed", "gone"}).Draw(t, "kind"); kind {
		case "failed":
			out = append(out, failedCall(`{}`))
		case "gone":
			c, _ := output("bash", `{}`, `{}`, 9).Compact(1)
			out = append(out, c)
		default:
			file := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "file")
			out = append(out, output(kind, `{"filePath":"`+file+`"}`, `{"exit":0}`, rapid.IntRange(0, 12_000).Draw(t, "tokens")))
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
				h := u(lathe.MessageID(fmt.Sprint("m", i, ".")))
				h.Created, batches = now, 0
				s.messages = append(s.messages, h)
			}
			parts, freed := s.prunable(100_000, model.CacheFive)
			if len(parts) > 0 {
				if batches++; batches > 1 || freed < pruneLeast {
					t.Fatalf("batch %d frees %d tokens", batches, freed)
				}
				leaveOut(s.messages, parts, now)
			}
			now++
			tokens := lathe.Tokens{Input: int64(rapid.SampledFrom([]int{10, 90_000}).Draw(t, "used"))}
			h := a(lathe.MessageID(fmt.Sprint("a", i, ".")), lathe.Assistant{Finish: "tool-calls", Tokens: tokens, Completed: now}, drawOutputs(t)...)
			h.Created = now
			s.messages = append(s.messages, h)
		}
	})
}

func leaveOut(messages []*held, parts []lathe.Part, at lathe.Time) {
	for _, h := range messages {
		for i, p := range h.Parts {
			if slices.ContainsFunc(parts, func(q lathe.Part) bool { return q.ID == p.ID }) {
				h.Parts[i].Body, _ = p.Body.(*lathe.ToolCall).Compact(at)
			}
		}
	}
}
