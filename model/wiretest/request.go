package wiretest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// update belongs to the tests that link this package.
var update = flag.Bool("update", false, "rewrite the goldens")

// History has every kind of part and state. The thought is what the provider wants back with
// its reasoning, hosted a call that it ran itself; both are of the provider whose encoder is
// tested. Of the models in it the first is p/m.
func History(thought string, hosted *lathe.ToolCall) []lathe.Message {
	input := json.RawMessage(`{"path":"a \"b\".go"}`)
	tool := func(id string, s lathe.ToolState) *lathe.ToolCall {
		return &lathe.ToolCall{CallID: id, Tool: "read", State: s, Metadata: json.RawMessage(`{"openai":{"itemId":"fc_` + id + `"}}`)}
	}
	pixel := lathe.Part{Body: &lathe.File{Mime: "image/png", Filename: "shot.png", URL: "data:image/png;base64,AAAA"}}
	return []lathe.Message{
		user(&lathe.Text{Text: "Look at these."}, &lathe.File{Mime: "image/png", URL: "data:image/png;base64,BBBB"}, &lathe.File{Mime: "image/jpeg", URL: "https://example.com/a.jpg"},
			&lathe.File{Mime: "application/pdf", Filename: "b.pdf", URL: "data:application/pdf;base64,CCCC"}, &lathe.File{Mime: "image/png", Filename: "c.png", URL: "data:image/png;base64,"},
			&lathe.File{Mime: "text/csv", URL: "data:text/csv;base64,YSxi"}, &lathe.File{Mime: "video/mp4", Filename: "d.mp4", URL: "data:video/mp4;base64,DDDD"}, &lathe.File{Mime: "audio/wav", URL: "data:audio/wav;base64,EEEE"}),
		answer("m", &lathe.StepStart{}, &lathe.Reasoning{Text: "I should read.", Metadata: json.RawMessage(`{"openai":{"itemId":"rs_1"}}`)},
			&lathe.Reasoning{Text: "Twice.", Metadata: json.RawMessage(thought)},
			&lathe.Text{Text: "Reading.", Metadata: json.RawMessage(`{"openai":{"itemId":"msg_1","phase":"commentary"}}`)},
			tool("call_1", &lathe.Completed{Input: input, Output: "package a"}), tool("call:2/é", &lathe.Failed{Input: input, Error: "no such file"}),
			tool("call_3", &lathe.Running{Input: input}), tool("chatcmpl-tool-0123456789abcdef0123456789abcdef0123456789abcdef01234567", &lathe.Completed{Input: input, Output: "an image", Attachments: []lathe.Part{pixel}}),
			&lathe.StepStart{}, &lathe.Reasoning{Text: "", Metadata: json.RawMessage(strings.ReplaceAll(thought, "rs_1", "rs_2"))},
			hosted, &lathe.Text{Text: "Done."}, &lathe.Text{Text: "Really."}),
		user(&lathe.Text{Text: "And now?"}, &lathe.Text{Text: "Hurry."}),
		answer("other", &lathe.StepStart{}, &lathe.Reasoning{Text: "Another's thought."}, &lathe.Text{Text: "Nothing."}),
		answer("m", &lathe.StepStart{}, &lathe.Reasoning{Text: "Cut off in the middle of", Metadata: json.RawMessage(`{"openai":{"itemId":"rs_9","reasoningEncryptedContent":"e9"}}`)}),
		user(&lathe.Text{Text: "Continue."}),
	}
}

func said(bodies ...lathe.Body) (out []lathe.Part) {
	for _, b := range bodies {
		out = append(out, lathe.Part{Body: b})
	}
	return out
}

func user(bodies ...lathe.Body) lathe.Message {
	return lathe.Message{Data: &lathe.User{}, Parts: said(bodies...)}
}

func answer(name string, bodies ...lathe.Body) lathe.Message {
	return lathe.Message{Data: &lathe.Assistant{Model: lathe.ModelRef{Provider: "p", Model: name}}, Parts: said(bodies...)}
}

// Request has a value in every member. Its history is converted for p/m.
func Request(history []lathe.Message, target model.Target) model.Request {
	temperature, topP, topK := 0.7, 0.95, 40
	target.Provider, target.Model = "p", "m"
	return model.Request{
		Model: "vendor/model-1", System: []string{"You are good.", "", "The directory is /a."}, Messages: model.Convert(history, target),
		Tools: []model.Tool{
			{Name: "bash", Description: "Run a <command>.", Schema: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"command":{"type":["string","null"],"format":"x","default":1},"mode":{"$ref":"#/$defs/mode"}},"required":["command"],"additionalProperties":false,"$defs":{"mode":{"const":"fast"}}}`)},
			{Name: "now", Description: "Print the time."},
		},
		MaxOutput: 32000, Temperature: &temperature, TopP: &topP, TopK: &topK, Cache: model.CacheFive,
		Options: map[string]json.RawMessage{
			"reasoningEffort": json.RawMessage(`"high"`), "reasoningSummary": json.RawMessage(`"auto"`), "textVerbosity": json.RawMessage(`"low"`), "promptCacheKey": json.RawMessage(`"ses_1"`),
			"parallelToolCalls": json.RawMessage(`true`), "serviceTier": json.RawMessage(`"flex"`), "enable_thinking": json.RawMessage(`true`), "chatTemplateArgs": json.RawMessage(`{"a":1}`), "apiKey": json.RawMessage(`"secret"`),
		},
	}
}

// Golden compares a body with the file of that name in testdata, and makes it with -update. No
// member may stand in the body twice.
func Golden(t *testing.T, name string, body []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, body, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	pretty.WriteByte('\n')
	if twice := duplicate(body); twice != "" {
		t.Errorf("the member %s stands twice", twice)
	}
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(path, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pretty.Bytes(), want) {
		t.Errorf("%s is another now; run with -update and read the diff:\n%s", path, pretty.Bytes())
	}
}

// duplicate returns a member of the body that stands there twice.
func duplicate(body []byte) string {
	d := json.NewDecoder(bytes.NewReader(body))
	_, _ = d.Token() // of an object: Golden has indented it
	names := map[string]bool{}
	for d.More() {
		name, _ := d.Token()
		var value json.RawMessage
		_ = d.Decode(&value) // it is JSON
		text, _ := name.(string)
		if names[text] {
			return text
		}
		names[text] = true
	}
	return ""
}

// Stable encodes the same request many times, with cached bytes and without: the bytes are the
// same, and a longer history begins with the shorter one. A new encoder is made for each.
func Stable(t *testing.T, encoder func() func(model.Request) []byte, request func() model.Request) {
	t.Helper()
	r := request()
	r.Cache = model.NoCache // a breakpoint wanders
	want := encoder()(r)
	for range 20 {
		again := request()
		again.Cache = model.NoCache
		if got := encoder()(again); !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
	keyed := r
	keyed.Messages = nil
	for i, m := range r.Messages {
		m.Key = string(rune('a' + i))
		keyed.Messages = append(keyed.Messages, m)
	}
	for _, full := range []model.Request{r, keyed} {
		keeping := encoder()
		for n := range full.Messages {
			part := full
			part.Messages = full.Messages[:n+1]
			got := keeping(part)
			if head := bytes.TrimRight(got, "]}"); !bytes.HasPrefix(want, head) {
				t.Fatalf("with %d messages: %s\nis not the beginning of %s", n+1, got, want)
			}
		}
		if got := keeping(full); !bytes.Equal(got, want) {
			t.Fatalf("kept: %s\nwant %s", got, want)
		}
	}
}
