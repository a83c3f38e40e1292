package lathetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/lathe-agent/lathe"
)

// longParts is the number of parts in an exchange of a long session: one of the prompt, the others of the answer.
const longParts = 25

// Long is a session of at least that many parts, like days of real work: prompts, reasoning, calls of many
// tools with their output and diffs, and answers in Markdown. It is the same on each call.
func Long(parts int) lathe.Export {
	now := Session().Created
	chance := rand.New(rand.NewPCG(1, 2))
	ids := lathe.NewIDsFrom(func() lathe.Time { return now }, func(b []byte) {
		for i := range b {
			b[i] = byte(chance.Uint32())
		}
	})
	s := lathe.Session{ID: ids.Session(), Slug: "long", Project: "global", Directory: "/srv/app", Title: "A long session", Version: "1", Created: now, Updated: now}
	out := lathe.Export{Info: s}
	for n := 0; n*longParts < parts; n++ {
		now += 60_000
		ask := lathe.Message{ID: ids.Message(), Session: s.ID, Created: now, Data: &lathe.User{Agent: "build", Model: Model()}}
		ask.Parts = []lathe.Part{{ID: ids.Part(), Session: s.ID, Message: ask.ID, Body: &lathe.Text{Text: fmt.Sprintf("Prompt %d: look at package p%d and fix its bugs, please.", n, n%40)}}}
		now += 1000
		answer := lathe.Message{ID: ids.Message(), Session: s.ID, Created: now, Data: &lathe.Assistant{
			Parent: ask.ID, Model: Model(), Agent: "build", Mode: "build", Path: lathe.Paths{Cwd: s.Directory, Root: s.Directory}, Completed: now + 50_000, Finish: "stop",
		}}
		for _, b := range longAnswer(n, ids, now) {
			answer.Parts = append(answer.Parts, lathe.Part{ID: ids.Part(), Session: s.ID, Message: answer.ID, Body: b})
		}
		out.Messages = append(out.Messages, ask, answer)
	}
	out.Info.Updated = now
	return out
}

// longAnswer is the parts of an answer.
func longAnswer(n int, ids *lathe.IDs, at lathe.Time) (out []lathe.Body) {
	call := func(tool, input, meta, output string) lathe.Body {
		return &lathe.ToolCall{CallID: ids.CallID(), Tool: tool, State: &lathe.Completed{
			Input: json.RawMessage(input), Metadata: json.RawMessage(meta), Output: output, Title: tool, Start: at, End: at + 100,
		}}
	}
	out = append(out, &lathe.StepStart{})
	span := lathe.Span{Start: at, End: at + 900}
	file := fmt.Sprintf("/srv/app/p%d/file.go", n%40)
	lines := strings.Repeat("ok  \tapp/p\t0.012s\tcoverage: 81% of statements\n", 30)
	patch := fmt.Sprintf("--- %[1]s\n+++ %[1]s\n@@ -1,5 +1,6 @@\n package p\n \n-func f() int { return 1 }\n+// f is what it was.\n+func f() int { return %[2]d }\n \n var x = f()\n", file, n)
	quoted, _ := json.Marshal(patch)
	for len(out) < longParts-3 {
		switch k := len(out) % 6; k {
		case 0:
			out = append(out, &lathe.Reasoning{Text: strings.Repeat("The test fails because a value is read before it is written. ", 8), Time: span})
		case 1:
			out = append(out, call("read", `{"filePath":"`+file+`"}`, `{}`, lines))
		case 2:
			out = append(out, call("grep", `{"pattern":"func f"}`, `{"matches":3}`, file))
		case 3:
			out = append(out, call("edit", `{"filePath":"`+file+`"}`, `{"diff":`+string(quoted)+`}`, "done"))
		case 4:
			out = append(out, call("bash", `{"command":"go test ./..."}`, `{}`, lines))
		default:
			out = append(out, &lathe.Text{Text: longText, Time: &span})
		}
	}
	return append(out, &lathe.Text{Text: longText, Time: &span}, &lathe.StepFinish{Reason: "stop"})
}

const longText = `I looked at **all callers** of ` + "`f`" + ` and found two things:

- the value is read *before* it is written, so that the first caller sees nothing of it at all
- no caller waits for the end, see [the notes](https://example.com/notes)

` + "```go\nfunc f() int {\n\tx := 1 // as before\n\treturn x + len(\"text\")\n}\n```" + `

| file | lines | what |
|------|-------|------|
| a.go | 12    | read |
| b.go | 7     | written |

It is fixed now, and the tests pass.
`
