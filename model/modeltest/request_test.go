package modeltest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// history is one conversation in the words of each wire.
var history = map[modeltest.Protocol]string{
	modeltest.Anthropic: `{"model":"m","max_tokens":64,"stream":true,"temperature":0.5,"tool_choice":{"type":"any"},
		"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Two."}],
		"tools":[{"name":"bash","description":"Runs.","input_schema":{"type":"object"}}],
		"messages":[
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"So."},
				{"type":"tool_use","id":"c1","name":"bash","input":{"command":"ls"}},{"type":"tool_use","id":"c2","name":"bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a\nb"},
				{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"no"}],"is_error":true},{"type":"text","text":"go on"}]}]}`,
	modeltest.Chat: `{"model":"m","max_completion_tokens":64,"stream":true,"temperature":0.5,"tool_choice":"required",
		"tools":[{"type":"function","function":{"name":"bash","description":"Runs.","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"Be brief."},{"role":"developer","content":"Two."},
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]},
			{"role":"assistant","content":"So.","reasoning_content":"hm","tool_calls":[
				{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}},
				{"id":"c2","type":"function","function":{"name":"bash","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"a\nb"},{"role":"tool","tool_call_id":"c2","content":"no"},
			{"role":"user","content":"go on"}]}`,
	modeltest.Responses: `{"model":"m","max_output_tokens":64,"stream":true,"temperature":0.5,"tool_choice":"required",
		"instructions":"Be brief.","tools":[{"type":"function","name":"bash","description":"Runs.","parameters":{"type":"object"}}],
		"input":[{"role":"developer","content":"Two."},
			{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]},
			{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"c2ln"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"So."}]},
			{"type":"function_call","call_id":"c1","name":"bash","arguments":"{\"command\":\"ls\"}"},
			{"type":"function_call","call_id":"c2","name":"bash","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":"a\nb"},
			{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"no"}]},
			{"role":"user","content":"go on"}]}`,
	modeltest.Gemini: `{"systemInstruction":{"parts":[{"text":"Be brief."},{"text":"Two."}]},
		"generationConfig":{"maxOutputTokens":64,"temperature":0.5},"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},
		"tools":[{"functionDeclarations":[{"name":"bash","description":"Runs.","parameters":{"type":"object"}}]}],
		"contents":[{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"AA=="}}]},
			{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"So."},
				{"functionCall":{"id":"c1","name":"bash","args":{"command":"ls"}}},{"functionCall":{"id":"c2","name":"bash","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"bash","response":{"output":"a\nb"}}},
				{"functionResponse":{"id":"c2","name":"bash","response":{"error":"no"}}}]},
			{"role":"user","parts":[{"text":"go on"}]}]}`,
	modeltest.Bedrock: `{"inferenceConfig":{"maxTokens":64,"temperature":0.5},
		"system":[{"text":"Be brief."},{"cachePoint":{"type":"default"}},{"text":"Two."}],
		"toolConfig":{"tools":[{"toolSpec":{"name":"bash","description":"Runs.","inputSchema":{"json":{"type":"object"}}}}],"toolChoice":{"any":{}}},
		"messages":[{"role":"user","content":[{"text":"look"},{"image":{"format":"png","source":{"bytes":"AA=="}}}]},
			{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"c2ln"}}},{"text":"So."},
				{"toolUse":{"toolUseId":"c1","name":"bash","input":{"command":"ls"}}},{"toolUse":{"toolUseId":"c2","name":"bash","input":{}}}]},
			{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"a\nb"}]}},
				{"toolResult":{"toolUseId":"c2","content":[{"text":"no"}],"status":"error"}},{"text":"go on"},{"cachePoint":{"type":"default"}}]}]}`,
}

// The same conversation is the same prompt, whatever the wire.
func TestRequest_Neutral(t *testing.T) {
	half := 0.5
	for _, p := range modeltest.Protocols() {
		t.Run(string(p), func(t *testing.T) {
			s := modeltest.Start(t, modeltest.Script{{}})
			path, _ := asked(p, true)
			resp := post(t, s, path, history[p])
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("status %d: %s", resp.StatusCode, s.Last().Problem)
			}
			want := model.Request{
				Model: "m", System: []string{"Be brief.", "Two."}, MaxOutput: 64, Temperature: &half, Choice: "required",
				Tools: []model.Tool{{Name: "bash", Description: "Runs.", Schema: json.RawMessage(`{"type":"object"}`)}},
				Messages: []model.Message{
					{Role: model.UserRole, Content: []model.Content{
						model.TextContent{Text: "look"}, model.FileContent{Mime: "image/png", Data: "AA=="},
					}},
					{Role: model.AssistantRole, Content: []model.Content{
						model.ReasoningContent{Text: "hm", Meta: json.RawMessage(`"c2ln"`)},
						model.TextContent{Text: "So."},
						model.CallContent{ID: "c1", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)},
						model.CallContent{ID: "c2", Name: "bash", Input: json.RawMessage(`{}`)},
					}},
					{Role: model.ToolRole, Content: []model.Content{
						model.ResultContent{ID: "c1", Text: "a\nb"}, model.ResultContent{ID: "c2", Text: "no", Failed: true},
					}},
					{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "go on"}}},
				},
			}
			results := want.Messages[2].Content
			switch p { // what the wire does not tell
			case modeltest.Chat:
				want.Messages[1].Content[0] = model.ReasoningContent{Text: "hm"}
				results[1] = model.ResultContent{ID: "c2", Text: "no"}
			case modeltest.Responses:
				results[1] = model.ResultContent{ID: "c2", Text: "no"}
			case modeltest.Gemini:
				results[0] = model.ResultContent{ID: "c1", Name: "bash", Text: "a\nb"}
				results[1] = model.ResultContent{ID: "c2", Name: "bash", Text: "no", Failed: true}
			case modeltest.Anthropic:
			}
			got := s.Last()
			if diff := cmp.Diff(want, got.Prompt); diff != "" {
				t.Error(diff)
			}
			if !got.Stream || got.Protocol != p || got.N != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
}

const shown = `model m
system "Be brief."
system "Two."
tool bash
user text "look"
user file image/png  4
assistant reasoning "hm"
assistant text "So."
assistant call c1 bash {"command":"ls"}
assistant call c2 bash {}
tool result c1 "a\nb" and 0 files
tool failed c2 "no" and 0 files
user text "go on"
`

func TestRequest_String(t *testing.T) {
	s := modeltest.Start(t, modeltest.Script{{}})
	post(t, s, "/v1/messages", history[modeltest.Anthropic])
	if diff := cmp.Diff(shown, s.Last().String()); diff != "" {
		t.Error(diff)
	}
}

// Keys are nowhere in what is kept, but a test can ask for the one it knows.
func TestRequest_Scrubbed(t *testing.T) {
	s := modeltest.Start(t, modeltest.Script{{}})
	path, body := asked(modeltest.Gemini, true)
	post(t, s, path+"&key=AIzaSecret", body)
	r := s.Last()
	if !r.HasKey("sk-secret-1") || !r.HasKey("AIzaSecret") || r.HasKey("other-key") {
		t.Error("HasKey does not know what was sent")
	}
	if r.Header.Get("Authorization") != "" || r.Query.Get("key") != "" || r.Query.Get("alt") != "sse" {
		t.Errorf("%v %v", r.Header, r.Query)
	}
	if r.Path != "/v1beta/models/m:streamGenerateContent" || r.Method != http.MethodPost || string(r.Body) != body {
		t.Errorf("%s %s %s", r.Method, r.Path, r.Body)
	}
}

// What a real provider refuses is refused here, with its reason.
func TestRequest_Problems(t *testing.T) {
	anthropic := func(messages string) string {
		return `{"model":"m","max_tokens":1,"messages":` + messages + `}`
	}
	for _, c := range []struct{ path, body, want string }{
		{"/messages", `{`, "the body is not valid JSON"},
		{"/messages", `[]`, "cannot unmarshal"},
		{"/messages", `{"max_tokens":1,"messages":[{"role":"user","content":"a"}]}`, "model: this field is required"},
		{"/messages", `{"model":"m","messages":[{"role":"user","content":"a"}]}`, "max_tokens: this field is required"},
		{"/messages", anthropic(`[]`), "at least one message"},
		{"/messages", anthropic(`[{"role":"user","content":[]}]`), "messages.0: the content must not be empty"},
		{"/messages", anthropic(`[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"x","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[]}]}]`), "messages.2.content.0: tool_result: content cannot be empty if `is_error` is true"},
		{"/messages", anthropic(`[{"role":"user","content":""}]`), "messages.0.content.0: text content blocks must be non-empty"},
		{"/messages", anthropic(`[{"role":"user","content":" "}]`), "text content blocks must not be empty"},
		{"/messages", anthropic(`[{"role":"system","content":"a"}]`), `"system" is not a role`},
		{"/messages", anthropic(`[{"role":"user","content":[{"type":"poem"}]}]`), `the type "poem" is not known`},
		{"/messages", anthropic(`[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{}}]},{"role":"user","content":"b"}]`), "messages.1: 1 calls before it have no result"},
		{"/messages", anthropic(`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"b"}]}]`), `the result "a" has no call before it`},
		{"/chat/completions", `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}},{"id":"a","function":{"name":"x","arguments":"{}"}}]}]}`, `two calls have the id "a"`},
		{"/chat/completions", `{"model":"m","messages":[{"role":"assistant","content":""}]}`, "must have content or calls"},
		{"/chat/completions", `{"model":"m","messages":[{"role":"user","content":""}]}`, "must not be empty"},
		{"/responses", `{"model":"m","input":[{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}]}`, "1 calls have no result"},
		{"/responses", `{"model":"m","input":[{"type":"riddle"}]}`, `the type "riddle" is not known`},
		{"/models/m:generateContent", `{"contents":[{"role":"user","parts":[]}]}`, "contents[0]: parts must not be empty"},
		{"/models/m:generateContent", `{"contents":[{"role":"assistant","parts":[{"text":"a"}]}]}`, "valid role"},
		{"/models/m:generateContent", `{"contents":[{"role":"user","parts":[{}]}]}`, "must have one of its fields"},
	} {
		s := modeltest.Start(t, modeltest.Script{{}})
		resp := post(t, s, c.path, c.body)
		got := readJSON(t, resp).at("error", "message").text()
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(got, c.want) || got != s.Last().Problem {
			t.Errorf("%s %s: %d %q, want %q", c.path, c.body, resp.StatusCode, got, c.want)
		}
		if s.Remaining() != 1 {
			t.Error("a refused request used an answer")
		}
	}
}

// Calls that Gemini gives no id are distinguished by their order.
func TestRequest_GeminiWithoutIDs(t *testing.T) {
	s := modeltest.Start(t, modeltest.Script{{}})
	resp := post(t, s, "/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"a"}]},
		{"role":"model","parts":[{"functionCall":{"name":"x","args":{}}},{"functionCall":{"name":"x","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"x","response":{"n":1,"m":2}}},{"functionResponse":{"name":"x","response":{}}}]}]}`)
	if resp.StatusCode != http.StatusOK {
		t.Fatal(s.Last().Problem)
	}
	want := []model.Content{
		model.ResultContent{ID: "x#1", Name: "x", Text: `{"m":2,"n":1}`}, model.ResultContent{ID: "x#2", Name: "x", Text: "{}"},
	}
	if diff := cmp.Diff(want, s.Last().Prompt.Messages[2].Content); diff != "" {
		t.Error(diff)
	}
}

func TestServer_Queue(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse("text \"first\"\n--\nwhen \"a title\"\ntext \"Title\"\n--\ntext \"second\""))
	ask := func(text string) string {
		t.Helper()
		resp := post(t, s, "/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"`+text+`"}]}`)
		if resp.StatusCode != http.StatusOK {
			return readJSON(t, resp).at("error", "message").text()
		}
		return listen(t, modeltest.Chat, resp.Body).Text
	}
	for _, c := range []struct{ ask, want string }{
		{"hi", "first"},
		{"make a title", "Title"},
		{"make a title", "second"},
		{"hi", "modeltest: the script has no answer left for request 4"},
	} {
		if got := ask(c.ask); got != c.want {
			t.Errorf("%q is answered %q, want %q", c.ask, got, c.want)
		}
	}
	s.Add(modeltest.Answer{modeltest.Text{"added"}})
	s.Respond(func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(r.String(), "special") {
			return modeltest.Answer{modeltest.Text{"own"}}
		}
		return nil
	})
	if got := ask("special") + " " + ask("hi"); got != "own added" {
		t.Errorf("%q", got)
	}
	if n := len(s.Requests()); n != 6 || s.Remaining() != 0 {
		t.Errorf("%d requests, %d answers left", n, s.Remaining())
	}
}

// Many at once each get one answer, and each its own number.
func TestServer_Concurrent(t *testing.T) {
	const n = 50
	s := modeltest.Start(t, nil)
	for range n {
		s.Add(modeltest.Answer{modeltest.Call{Name: "x", Pieces: 2}})
	}
	seen := make(chan string, n)
	var all sync.WaitGroup
	path, body := asked(modeltest.Anthropic, true)
	for range n {
		all.Go(func() {
			resp, err := s.Client.Post(s.URL+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = resp.Body.Close() }()
			h, err := tryListen(modeltest.Anthropic, resp.Body)
			if err != nil || len(h.Calls) != 1 {
				t.Errorf("%+v, %v", h, err)
				return
			}
			seen <- h.Calls[0].ID
		})
	}
	all.Wait()
	close(seen)
	ids := map[string]bool{}
	for id := range seen {
		ids[id] = true
	}
	if len(ids) != n || s.Remaining() != 0 || len(s.Requests()) != n {
		t.Errorf("%d ids, %d answers left, %d requests", len(ids), s.Remaining(), len(s.Requests()))
	}
}

// Audio is a file like any other, in the two forms that the wire knows.
func TestRequest_Audio(t *testing.T) {
	for format, want := range map[string]model.Content{
		"wav": model.FileContent{Mime: "audio/wav", Data: "AA=="}, "mp3": model.FileContent{Mime: "audio/mpeg", Data: "AA=="}, "ogg": nil,
	} {
		s := modeltest.Start(t, modeltest.Script{{}})
		post(t, s, "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA==","format":"`+format+`"}}]}]}`)
		got := s.Last()
		if want == nil {
			if !strings.Contains(got.Problem, `"ogg"`) {
				t.Errorf("%s: %q", format, got.Problem)
			}
			continue
		}
		if diff := cmp.Diff([]model.Message{{Role: model.UserRole, Content: []model.Content{want}}}, got.Prompt.Messages); diff != "" || got.Problem != "" {
			t.Errorf("%s: %s %s", format, got.Problem, diff)
		}
	}
}

// The list of models takes no answer of the script.
func TestServer_Offer(t *testing.T) {
	s := modeltest.Start(t, modeltest.Script{{}})
	s.ListModels("b", "a")
	resp, err := get(t.Context(), s.Client, s.URL+"/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	d := readJSON(t, resp)
	if d.at("object").text() != "list" || d.at("data", 0, "id").text() != "b" || d.at("data", 1, "id").text() != "a" || len(d.at("data").each()) != 2 || s.Remaining() != 1 {
		t.Error(d.json())
	}
	if r := s.Last(); r.Path != "/v1/models" || r.Problem != "" {
		t.Errorf("%+v", r)
	}
	if post(t, s, "/v1/models", "{}").StatusCode != http.StatusNotFound {
		t.Error("a list is not posted to")
	}
}

// On Google's cloud the address names the model.
func TestRequest_Vertex(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse("text \"a\"\n--\ntext \"b\""))
	const at = "/v1/projects/p/locations/global/publishers/anthropic/models/claude-x@20251001"
	body := `{"anthropic_version":"vertex-2023-10-16","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	if got := listen(t, modeltest.Anthropic, post(t, s, at+":streamRawPredict", body).Body); got.Text != "a" || s.Last().Prompt.Model != "claude-x@20251001" {
		t.Errorf("%+v %+v", got, s.Last())
	}
	if got := readWhole(t, modeltest.Anthropic, post(t, s, at+":rawPredict", body)); got.Text != "b" {
		t.Errorf("%+v", got)
	}
}
