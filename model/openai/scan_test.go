package openai

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/model/wiretest"
)

// generator writes events of words that servers use and some that they do not, in any order.
type generator struct {
	*rand.Rand
	b strings.Builder
}

func (g *generator) pick(words ...string) string { return words[g.IntN(len(words))] }

// object writes some of the members; each is a name and what writes its value.
func (g *generator) object(members map[string]func(), names ...string) {
	g.b.WriteByte('{')
	order := g.Perm(len(names))[:g.IntN(len(names)+1)]
	if len(order) > 0 && g.IntN(15) == 0 {
		order = append(order, order[0]) // twice
	}
	for i, n := range order {
		if i > 0 {
			g.b.WriteString(g.pick(",", ",", ",", " , ", ", "))
		}
		name := names[n]
		g.b.WriteString(`"` + name + `"` + g.pick(":", ":", ": "))
		if value := members[name]; value != nil && g.IntN(50) > 0 {
			value()
		} else {
			g.value()
		}
	}
	g.b.WriteByte('}')
}

func (g *generator) value() {
	g.b.WriteString(g.pick("null", "7", `"x"`, `""`, "{}", "[]", "true", "-1", "01", "1.5", `"a\nb"`, `"\ud83d"`, `"\ude00x"`, `"\q"`, "nul", `"\u12"`))
}

func (g *generator) text() {
	g.b.WriteString(g.pick(`"x"`, `"{\""`, `"}"`, `""`, "null", `"a\ud83d"`, `"\ude00"`, `"é\"\\"`, "\"\xff\""))
}

func (g *generator) number() { g.b.WriteString(g.pick("0", "1", "2", "0", "null", "1.0")) }

func (g *generator) chunk() {
	function := map[string]func(){"arguments": g.text, "name": func() { g.b.WriteString(g.pick(`""`, "null", `"f"`)) }}
	call := map[string]func(){
		"index": g.number, "id": func() { g.b.WriteString(g.pick(`""`, "null", `"a"`)) }, "type": g.text,
		"function": func() { g.object(function, "arguments", "name") },
	}
	list := func(one func()) func() {
		return func() {
			g.b.WriteByte('[')
			for i := range (g.IntN(12) + 10) / 11 {
				if i > 0 {
					g.b.WriteByte(',')
				}
				one()
			}
			g.b.WriteByte(']')
		}
	}
	detail := map[string]func(){
		"type": func() { g.b.WriteString(g.pick(`"reasoning.text"`, `"reasoning.text"`, `"reasoning.summary"`)) }, "text": g.text, "index": g.number,
		"format": func() { g.b.WriteString(g.pick(`"x"`, `"y"`, `""`, `"é"`, "null")) },
	}
	delta := map[string]func(){
		"reasoning_details": list(func() { g.object(detail, "type", "text", "format", "index", g.pick("signature", "data", "id", "Type")) }),
		"content":           g.text, "Content": g.text, "reasoning_content": g.text, "reasoning": g.text, "reasoning_text": g.text, "role": g.text, "refusal": g.text,
		"tool_calls": list(func() { g.object(call, "index", "id", "type", "function") }),
	}
	choice := map[string]func(){
		"delta": func() {
			g.object(delta, "content", "reasoning_content", "reasoning", "reasoning_text", "role", "refusal", "tool_calls", "reasoning_details", g.pick("annotations", "Content", "role"))
		},
		"index": g.number, "finish_reason": func() { g.b.WriteString(g.pick("null", "null", "null", "null", "null", "null", `"stop"`, `""`)) },
		"content_filter_results": func() { g.b.WriteString("{}") },
	}
	top := map[string]func(){
		"choices": list(func() {
			g.object(choice, "delta", "index", "finish_reason", "content_filter_results", g.pick("logprobs", "Delta", "delta", "message", "index"))
		}),
		"object": func() {
			g.b.WriteString(g.pick(`"chat.completion.chunk"`, `"chat.completion.chunk"`, `"chat.completion.chunk"`, `"chat.completion.chunk"`, `"error"`))
		},
		"id": g.text, "model": g.text, "created": g.number,
	}
	g.object(top, "choices", "object", "id", "model", "created", g.pick("usage", "error", "obfuscation", "x_groq", "type", "id"))
}

func (g *generator) responses() {
	top := map[string]func(){
		"type": func() {
			g.b.WriteString(g.pick(`"response.output_text.delta"`, `"response.reasoning_summary_text.delta"`, `"response.function_call_arguments.delta"`,
				`"response.reasoning_text.delta"`, `"response.refusal.delta"`, `"response.output_text.done"`))
		},
		"delta": g.text, "item_id": func() { g.b.WriteString(g.pick(`"m"`, `"rs"`, `""`, `"é"`, "null")) },
		"output_index": g.number, "content_index": g.number, "summary_index": g.number, "sequence_number": g.number,
		"logprobs": func() { g.b.WriteString("[]") }, "obfuscation": g.text,
	}
	g.object(top, "type", "delta", "item_id", "output_index", g.pick("content_index", "summary_index"), "sequence_number", "logprobs", "obfuscation", g.pick("Delta", "error", "content_index", "type"))
}

// TestScan_Generated holds the scanners against the general path over many made-up streams.
func TestScan_Generated(t *testing.T) {
	taken := 0
	for seed := range uint64(1000) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
		g.b.WriteString(`{"id":"c","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}`)
		from := g.b.Len() + 1
		for range 8 {
			g.b.WriteByte('\n')
			g.chunk()
		}
		fast, general := scanned(func() decoder { return chatForTest() }, "")()
		wiretest.SameEvents(t, []byte(g.b.String()), fast, general)
		for line := range strings.SplitSeq(g.b.String()[from:], "\n") {
			if _, ok := scanChunk([]byte(line)); ok {
				taken++
			}
		}
		g.b.Reset()
		g.b.WriteString(`{"type":"response.output_item.added","output_index":1,"item":{"type":"reasoning","id":"rs"}}`)
		for range 8 {
			g.b.WriteByte('\n')
			g.responses()
		}
		fast, general = scanned(func() decoder { return responsesForTest() }, "")()
		wiretest.SameEvents(t, []byte(g.b.String()), fast, general)
	}
	if taken < 200 {
		t.Errorf("the scanner took %d chunks only", taken)
	}
}
