package gemini

import (
	"encoding/json"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

const signed = `{"google":{"thoughtSignature":"c2ln"}}`

func rich(target model.Target) model.Request {
	return wiretest.Request(wiretest.History(signed, &lathe.ToolCall{
		CallID: "c1", Tool: "code_execution", State: &lathe.Completed{Input: json.RawMessage(`{"code":"1"}`), Output: "1"},
		Metadata: json.RawMessage(`{"providerExecuted":true}`),
	}), target)
}

func TestRequest_Golden(t *testing.T) {
	for name, c := range map[string]struct {
		target model.Target
		edit   func(r *model.Request)
	}{
		"plain": {},
		"gemini-3": {target: model.Target{ResultMedia: func(string) bool { return true }, Input: []string{"image", "pdf"}}, edit: func(r *model.Request) {
			r.Model, r.Choice = "gemini-3-pro", "bash"
			r.Options = map[string]json.RawMessage{
				"thinkingConfig": json.RawMessage(`{"includeThoughts":true,"thinkingLevel":"high"}`), "safetySettings": json.RawMessage(`[]`), "seed": json.RawMessage(`no`),
			}
		}},
		"required": {edit: func(r *model.Request) {
			r.System, r.Choice, r.MaxOutput, r.Temperature, r.TopP, r.TopK, r.Messages = nil, "required", 0, nil, nil, nil, r.Messages[:1]
		}},
		"none": {edit: func(r *model.Request) { r.Choice, r.Messages = "none", r.Messages[:1] }},
	} {
		t.Run(name, func(t *testing.T) {
			r := rich(c.target)
			if c.edit != nil {
				c.edit(&r)
			}
			wiretest.Golden(t, name, (&encoder{}).request(r))
		})
	}
}

func TestRequest_Stable(t *testing.T) {
	wiretest.Stable(t, func() func(model.Request) []byte { return (&encoder{}).request }, func() model.Request { return rich(model.Target{}) })
}

// A file that is text stands with the words of a result, media beside them.
func TestRequest_ResultFiles(t *testing.T) {
	res := model.ResultContent{Name: "f", Text: "a", Media: []model.FileContent{{Mime: "text/csv", Data: "YQ=="}, {Mime: "image/png", Data: "AA=="}, {Mime: "application/zip", Data: "AA=="}}}
	const want = `{"functionResponse":{"name":"f","response":{"output":"a\n\na"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}}`
	if got := string(appendResult(nil, res)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
