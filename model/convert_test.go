package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// Short names for what the tables below are full of.
type (
	text      = model.TextContent
	reasoning = model.ReasoningContent
	file      = model.FileContent
	call      = model.CallContent
	result    = model.ResultContent
)

var (
	target  = model.Target{Provider: "acme", Model: "m-1"}
	same    = lathe.ModelRef{Provider: "acme", Model: "m-1", Variant: "high"}
	another = lathe.ModelRef{Provider: "acme", Model: "m-2"}
	meta    = json.RawMessage(`{"acme":{"id":"i"}}`)
	sig     = json.RawMessage(`{"anthropic":{"signature":"c2ln"}}`)
	hidden  = json.RawMessage(`{"anthropic":{"redactedData":"ZGF0YQ=="}}`)
)

func bodyMessage(bodies ...lathe.Body) (out []lathe.Part) {
	for _, b := range bodies {
		out = append(out, lathe.Part{Body: b})
	}
	return out
}

func user(bodies ...lathe.Body) lathe.Message {
	return lathe.Message{Data: &lathe.User{}, Parts: bodyMessage(bodies...)}
}

func answer(m lathe.ModelRef, bodies ...lathe.Body) lathe.Message {
	return lathe.Message{Data: &lathe.Assistant{Model: m}, Parts: bodyMessage(bodies...)}
}

func failed(f lathe.Fault, bodies ...lathe.Body) lathe.Message {
	return lathe.Message{Data: &lathe.Assistant{Model: same, Error: f}, Parts: bodyMessage(bodies...)}
}

func fromUser(c ...model.Content) model.Message {
	return model.Message{Role: model.UserRole, Content: c}
}

func fromModel(c ...model.Content) model.Message {
	return model.Message{Role: model.AssistantRole, Content: c}
}

func fromTools(c ...model.Content) model.Message {
	return model.Message{Role: model.ToolRole, Content: c}
}

func tool(id string, s lathe.ToolState) *lathe.ToolCall {
	return &lathe.ToolCall{CallID: id, Tool: "bash", State: s, Metadata: meta}
}

var ls = json.RawMessage(`{"command":"ls"}`)

func completed(output string, attachments ...lathe.Body) *lathe.Completed {
	return &lathe.Completed{Input: ls, Output: output, Attachments: bodyMessage(attachments...)}
}

// called is the call of tool() as the same model sees it.
func called(id string) call { return call{ID: id, Name: "bash", Input: ls, Meta: meta} }

func gave(id, text string) result { return result{ID: id, Name: "bash", Text: text, Meta: meta} }

func gaveError(id, text string) result {
	return result{ID: id, Name: "bash", Text: text, Failed: true, Meta: meta}
}

// convertCase is a row of spec/engine.md §3.7.
type convertCase struct {
	name    string
	history []lathe.Message
	target  model.Target // the one above when it names no model
	want    []model.Message
}

func runConvert(t *testing.T, cases []convertCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.target.Model == "" {
				c.target.Provider, c.target.Model = target.Provider, target.Model
			}
			if diff := cmp.Diff(c.want, model.Convert(c.history, c.target)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const png = "data:image/png;base64,AA=="

func TestConvert_User(t *testing.T) {
	image := &lathe.File{Mime: "image/png", URL: png, Filename: "a.png"}
	pdf := &lathe.File{Mime: "application/pdf", URL: "https://h/a.pdf"}
	runConvert(t, []convertCase{
		{"no parts", []lathe.Message{user()}, target, nil},
		{"text", []lathe.Message{user(&lathe.Text{Text: "hi", Metadata: meta})}, target, []model.Message{fromUser(text{Text: "hi"})}},
		{"synthetic text is sent", []lathe.Message{user(&lathe.Text{Text: "hi", Synthetic: lathe.Yes})}, target, []model.Message{fromUser(text{Text: "hi"})}},
		{"ignored text is not", []lathe.Message{user(&lathe.Text{Text: "hi", Ignored: lathe.Yes})}, target, nil},
		{"text that says it is not ignored", []lathe.Message{user(&lathe.Text{Text: "hi", Ignored: lathe.No})}, target, []model.Message{fromUser(text{Text: "hi"})}},
		{"empty text", []lathe.Message{user(&lathe.Text{}, &lathe.Text{Text: "b"})}, target, []model.Message{fromUser(text{Text: "b"})}},
		{"blank text", []lathe.Message{user(&lathe.Text{Text: " \n"}, image)}, target, []model.Message{fromUser(file{Mime: "image/png", Name: "a.png", Data: "AA=="})}},
		{"broken text", []lathe.Message{user(&lathe.Text{Text: "a\xed\xa0\x80b"})}, target, []model.Message{fromUser(text{Text: "a\uFFFDb"})}},
		{"order", []lathe.Message{user(&lathe.Text{Text: "a"}, image, &lathe.Text{Text: "b"})}, target, []model.Message{
			fromUser(text{Text: "a"}, file{Mime: "image/png", Name: "a.png", Data: "AA=="}, text{Text: "b"}),
		}},
		{"an address stays one", []lathe.Message{user(pdf)}, target, []model.Message{fromUser(file{Mime: "application/pdf", URL: "https://h/a.pdf"})}},
		{
			"files that were expanded to text", []lathe.Message{user(
				&lathe.File{Mime: "text/plain", URL: "file:///a"}, &lathe.File{Mime: "application/x-directory", URL: "file:///d"},
			)}, target, nil,
		},
		{"media left out", []lathe.Message{user(image, pdf, &lathe.File{Mime: "text/csv", URL: "data:text/csv,a"})}, model.Target{StripMedia: true}, []model.Message{
			fromUser(text{Text: "[Attached image/png: a.png]"}, text{Text: "[Attached application/pdf: file]"}, file{Mime: "text/csv", Data: "YQ=="}),
		}},
		{"compaction", []lathe.Message{user(&lathe.Compaction{Auto: true})}, target, []model.Message{fromUser(text{Text: "What did we do so far?"})}},
		{"subtask", []lathe.Message{user(&lathe.Subtask{Prompt: "x"})}, target, []model.Message{fromUser(text{Text: "The following tool was executed by the user"})}},
		{"nothing to say", []lathe.Message{user(
			&lathe.AgentMention{Name: "plan"}, &lathe.Snapshot{}, &lathe.Patch{}, &lathe.Retry{}, &lathe.StepStart{}, &lathe.StepFinish{}, &lathe.UnknownBody{TypeName: "x"},
		)}, target, nil},
		{"each message alone", []lathe.Message{user(&lathe.Text{Text: "a"}), user(), user(&lathe.Text{Text: "b"})}, target, []model.Message{
			fromUser(text{Text: "a"}), fromUser(text{Text: "b"}),
		}},
	})
}

func TestConvert_Texts(t *testing.T) {
	empty, b := &lathe.Text{}, &lathe.Text{Text: "b", Metadata: meta}
	thought := &lathe.Reasoning{Text: "hm", Metadata: meta}
	signed := &lathe.Reasoning{Text: "hm", Metadata: sig}
	runConvert(t, []convertCase{
		{"no parts", []lathe.Message{answer(same)}, target, nil},
		{"same model", []lathe.Message{answer(same, thought, b)}, target, []model.Message{fromModel(reasoning{"hm", meta}, text{"b", meta})}},
		{"another model", []lathe.Message{answer(another, thought, b)}, target, []model.Message{fromModel(text{Text: "hm"}, text{Text: "b"})}},
		{"another provider", []lathe.Message{answer(lathe.ModelRef{Provider: "other", Model: "m-1"}, b)}, target, []model.Message{fromModel(text{Text: "b"})}},
		{"blank thought of another", []lathe.Message{answer(another, &lathe.Reasoning{Text: " \n", Metadata: sig}, b)}, target, []model.Message{fromModel(text{Text: "b"})}},
		{"only a blank thought of another", []lathe.Message{answer(another, &lathe.Reasoning{Metadata: sig})}, target, nil},
		{"hidden thought", []lathe.Message{answer(same, &lathe.Reasoning{Metadata: hidden}, b)}, target, []model.Message{fromModel(reasoning{"", hidden}, text{"b", meta})}},
		{"empty text", []lathe.Message{answer(same, empty, b)}, target, []model.Message{fromModel(text{"b", meta})}},
		{"only an empty text", []lathe.Message{answer(same, empty)}, target, nil},
		{"empty text with metadata", []lathe.Message{answer(same, &lathe.Text{Metadata: meta})}, target, []model.Message{fromModel(text{"", meta})}},
		{"empty text with metadata of another", []lathe.Message{answer(another, &lathe.Text{Metadata: meta})}, target, nil},
		{"empty text between signed thoughts", []lathe.Message{answer(same, signed, empty, signed)}, target, []model.Message{
			fromModel(reasoning{"hm", sig}, text{Text: " "}, reasoning{"hm", sig}),
		}},
		{"empty text before a hidden thought", []lathe.Message{answer(same, empty, &lathe.Reasoning{Metadata: hidden})}, target, []model.Message{
			fromModel(text{Text: " "}, reasoning{"", hidden}),
		}},
		{"empty text between another's signed thoughts", []lathe.Message{answer(another, signed, empty)}, target, []model.Message{fromModel(text{Text: "hm"})}},
		{"nothing for the model", []lathe.Message{answer(
			same, &lathe.StepStart{}, &lathe.StepFinish{}, &lathe.Patch{}, &lathe.Snapshot{}, &lathe.Retry{}, &lathe.UnknownBody{TypeName: "x"}, &lathe.File{Mime: "image/png", URL: png},
		)}, target, nil},
		{"broken text", []lathe.Message{answer(same, &lathe.Text{Text: "\xff"}, &lathe.Reasoning{Text: "\xff"})}, target, []model.Message{
			fromModel(text{Text: "\uFFFD"}, reasoning{Text: "\uFFFD"}),
		}},
	})
}

func TestConvert_Errors(t *testing.T) {
	aborted := &lathe.AbortedFault{Message: "Aborted"}
	b, thought, start := &lathe.Text{Text: "b"}, &lathe.Reasoning{Text: "hm"}, &lathe.StepStart{}
	runConvert(t, []convertCase{
		{"failed", []lathe.Message{failed(&lathe.APIFault{Message: "x"}, b)}, target, nil},
		{"too long", []lathe.Message{failed(&lathe.OutputLengthFault{}, b)}, target, nil},
		{"aborted before anything", []lathe.Message{failed(aborted)}, target, nil},
		{"aborted while it thought", []lathe.Message{failed(aborted, start, thought)}, target, nil},
		{"aborted with words", []lathe.Message{failed(aborted, start, thought, b)}, target, []model.Message{
			fromModel(reasoning{Text: "hm"}, text{Text: "b"}),
		}},
		{"aborted in a call", []lathe.Message{failed(aborted, tool("c1", &lathe.Running{Input: ls}))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gaveError("c1", "[Tool execution was interrupted]")),
		}},
	})
}

func TestConvert_Calls(t *testing.T) {
	runConvert(t, []convertCase{
		{"completed", []lathe.Message{answer(same, tool("c1", completed("a\n")))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gave("c1", "a\n")),
		}},
		{"without output", []lathe.Message{answer(same, tool("c1", completed("")))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gave("c1", "")),
		}},
		{"of another model", []lathe.Message{answer(another, tool("c1", completed("a")))}, target, []model.Message{
			fromModel(call{ID: "c1", Name: "bash", Input: ls}), fromTools(result{ID: "c1", Name: "bash", Text: "a"}),
		}},
		{"pending", []lathe.Message{answer(same, tool("c1", &lathe.Pending{}))}, target, []model.Message{
			fromModel(call{ID: "c1", Name: "bash", Input: json.RawMessage(`{}`), Meta: meta}),
			fromTools(gaveError("c1", "[Tool execution was interrupted]")),
		}},
		{"running", []lathe.Message{answer(same, tool("c1", &lathe.Running{Input: ls, Metadata: json.RawMessage(`{"output":"a"}`)}))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gaveError("c1", "[Tool execution was interrupted]")),
		}},
		{"failed", []lathe.Message{answer(same, tool("c1", &lathe.Failed{Input: ls, Error: "no \xff"}))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gaveError("c1", "no \uFFFD")),
		}},
		{"interrupted with output", []lathe.Message{answer(same, tool("c1", interrupted(`{"interrupted":true,"output":"half"}`)))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gave("c1", "half\n\n[Tool execution was interrupted; its output until then is above]")),
		}},
		{"interrupted with no output yet", []lathe.Message{answer(same, tool("c1", interrupted(`{"interrupted":true,"output":""}`)))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gaveError("c1", "aborted")),
		}},
		{"interrupted without output", []lathe.Message{answer(same, tool("c1", interrupted(`{"interrupted":true,"output":7}`)))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gaveError("c1", "aborted")),
		}},
		{"not interrupted", []lathe.Message{answer(same, tool("c1", interrupted(`{"interrupted":false,"output":"half"}`)))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gaveError("c1", "aborted")),
		}},
		{"cleared", []lathe.Message{answer(same, tool("c1", &lathe.Completed{
			Input: ls, Output: "long", Compacted: 1, Attachments: bodyMessage(&lathe.File{Mime: "image/png", URL: png}),
		}))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gave("c1", "[Old tool result content cleared]\nbash: 4 bytes removed to save context. Look again if you need it, with a call that changes nothing.")),
		}},
		{"cleared, and kept in a file", []lathe.Message{answer(same, tool("c1", &lathe.Completed{
			Input: ls, Output: "long", Title: "list", Compacted: 1, Metadata: json.RawMessage(`{"outputPath":"/o/tool_1"}`),
		}))}, target, []model.Message{
			fromModel(called("c1")), fromTools(gave("c1", "[Old tool result content cleared]\nbash list: 4 bytes removed to save context. It is in /o/tool_1.")),
		}},
		{"several, in order", []lathe.Message{answer(same, &lathe.Text{Text: "a"}, tool("c1", completed("1")), &lathe.Text{Text: "b"}, tool("c2", &lathe.Running{Input: ls}))}, target, []model.Message{
			fromModel(text{Text: "a"}, called("c1"), text{Text: "b"}, called("c2")),
			fromTools(gave("c1", "1"), gaveError("c2", "[Tool execution was interrupted]")),
		}},
	})
}

func interrupted(metadata string) *lathe.Failed {
	return &lathe.Failed{Input: ls, Error: "aborted", Metadata: json.RawMessage(metadata)}
}

func TestConvert_Executed(t *testing.T) {
	by := json.RawMessage(`{"providerExecuted":true,"acme":{"id":"i"}}`)
	search := &lathe.ToolCall{CallID: "s1", Tool: "web_search", State: completed("found"), Metadata: by}
	runConvert(t, []convertCase{
		{"stays in the answer", []lathe.Message{answer(same, search, &lathe.Text{Text: "b"}, tool("c1", completed("1")))}, target, []model.Message{
			fromModel(
				call{ID: "s1", Name: "web_search", Input: ls, Executed: true, Meta: by},
				result{ID: "s1", Name: "web_search", Text: "found", Executed: true, Meta: by},
				text{Text: "b"}, called("c1"),
			),
			fromTools(gave("c1", "1")),
		}},
		{"another model sees an ordinary call", []lathe.Message{answer(another, search)}, target, []model.Message{
			fromModel(call{ID: "s1", Name: "web_search", Input: ls}), fromTools(result{ID: "s1", Name: "web_search", Text: "found"}),
		}},
	})
}

func TestConvert_Blocks(t *testing.T) {
	start := &lathe.StepStart{Snapshot: "x"}
	runConvert(t, []convertCase{
		{"split at each start of a step", []lathe.Message{answer(
			same, start, &lathe.Text{Text: "a"}, tool("c1", completed("1")), &lathe.StepFinish{}, start, tool("c2", completed("2")), start, start, &lathe.Text{Text: "b"},
		)}, target, []model.Message{
			fromModel(text{Text: "a"}, called("c1")), fromTools(gave("c1", "1")),
			fromModel(called("c2")), fromTools(gave("c2", "2")),
			fromModel(text{Text: "b"}),
		}},
		{"answers are not joined", []lathe.Message{answer(same, &lathe.Text{Text: "a"}), answer(same, &lathe.Text{Text: "b"})}, target, []model.Message{
			fromModel(text{Text: "a"}), fromModel(text{Text: "b"}),
		}},
	})
}

func TestConvert_ResultMedia(t *testing.T) {
	image := &lathe.File{Mime: "image/png", URL: png, Filename: "a.png"}
	pdf := &lathe.File{Mime: "application/pdf", URL: "data:application/pdf;base64,UERG"}
	csv := &lathe.File{Mime: "text/csv", URL: "data:text/csv,a"}
	imageOut, pdfOut, csvOut := file{Mime: "image/png", Name: "a.png", Data: "AA=="}, file{Mime: "application/pdf", Data: "UERG"}, file{Mime: "text/csv", Data: "YQ=="}
	history := []lathe.Message{
		answer(same, tool("c1", completed("", image, pdf, csv)), tool("c2", completed("2", image))),
		user(&lathe.Text{Text: "next"}),
	}
	holds := func(id, text string, media ...model.FileContent) result {
		r := gave(id, text)
		r.Media = media
		return r
	}
	calls, next := fromModel(called("c1"), called("c2")), fromUser(text{Text: "next"})
	images := func(mime string) bool { return strings.HasPrefix(mime, "image/") }
	runConvert(t, []convertCase{
		{"accepted", history, model.Target{ResultMedia: func(string) bool { return true }}, []model.Message{
			calls, fromTools(holds("c1", "", imageOut, pdfOut, csvOut), holds("c2", "2", imageOut)), next,
		}},
		{"not accepted", history, model.Target{}, []model.Message{
			calls, fromTools(holds("c1", "", csvOut), gave("c2", "2")),
			fromUser(text{Text: "Attached media from tool result:"}, imageOut, pdfOut, imageOut), next,
		}},
		{"some accepted", history, model.Target{ResultMedia: images}, []model.Message{
			calls, fromTools(holds("c1", "", imageOut, csvOut), holds("c2", "2", imageOut)),
			fromUser(text{Text: "Attached media from tool result:"}, pdfOut), next,
		}},
		{"left out", history, model.Target{StripMedia: true}, []model.Message{
			calls, fromTools(holds("c1", "", csvOut), gave("c2", "2")), next,
		}},
		{"only data", []lathe.Message{answer(same, tool("c1", completed("1",
			&lathe.File{Mime: "image/png", URL: "https://h/a.png"}, &lathe.File{Mime: "image/png", URL: "data:nothing"}, &lathe.Text{Text: "x"},
		)))}, model.Target{}, []model.Message{fromModel(called("c1")), fromTools(gave("c1", "1"))}},
		{"after its own block", []lathe.Message{answer(same, tool("c1", completed("1", image)), &lathe.StepStart{}, &lathe.Text{Text: "b"})}, model.Target{}, []model.Message{
			fromModel(called("c1")), fromTools(gave("c1", "1")),
			fromUser(text{Text: "Attached media from tool result:"}, imageOut), fromModel(text{Text: "b"}),
		}},
	})
}

// A model is notified of media that it cannot read, wherever they stand; results that could not
// hold them are reported first, the model after (trap 45).
func TestConvert_Modalities(t *testing.T) {
	cannot := func(name, mime string) text {
		return text{Text: "[The file " + name + " of type " + mime + " cannot be read by this model. Tell the user.]"}
	}
	image := &lathe.File{Mime: "image/png", URL: png, Filename: "a.png"}
	pdf := &lathe.File{Mime: "application/pdf", URL: "https://h/a.pdf"}
	audio := &lathe.File{Mime: "audio/wav", URL: "data:audio/wav;base64,AA=="}
	video := &lathe.File{Mime: "video/mp4", URL: "data:video/mp4;base64,AA=="}
	csv := &lathe.File{Mime: "text/csv", URL: "data:text/csv,a%2Cb"}
	empty := &lathe.File{Mime: "image/png", URL: "data:image/png;base64,", Filename: "e.png"}
	damaged := text{Text: `[The image "e.png" is empty or damaged. Tell the user and ask for it again.]`}
	csvOut := file{Mime: "text/csv", Data: "YSxi"}
	reads := func(what ...string) model.Target { return model.Target{Input: what} }
	everything := reads("text", "image", "pdf")
	everything.ResultMedia = func(string) bool { return true }
	nothing := reads("text")
	nothing.ResultMedia = everything.ResultMedia
	stripped := reads("text")
	stripped.StripMedia = true
	runConvert(t, []convertCase{
		{"text only", []lathe.Message{user(image, pdf, audio, video, csv)}, reads("text"), []model.Message{fromUser(
			cannot(`"a.png"`, "image/png"), cannot("without a name", "application/pdf"), cannot("without a name", "audio/wav"), cannot("without a name", "video/mp4"), csvOut,
		)}},
		{"images", []lathe.Message{user(image, pdf)}, reads("image"), []model.Message{fromUser(file{Mime: "image/png", Name: "a.png", Data: "AA=="}, cannot("without a name", "application/pdf"))}},
		{"documents", []lathe.Message{user(image, pdf)}, reads("pdf"), []model.Message{fromUser(cannot(`"a.png"`, "image/png"), file{Mime: "application/pdf", URL: "https://h/a.pdf"})}},
		{"an empty image", []lathe.Message{user(empty)}, target, []model.Message{fromUser(damaged)}},
		{"an empty image, unread", []lathe.Message{user(empty)}, reads(), []model.Message{fromUser(damaged)}},
		{"an image that is no address", []lathe.Message{user(&lathe.File{Mime: "image/png", URL: "data:image/png;base64", Filename: "e.png"})}, target, []model.Message{fromUser(damaged)}},
		{"media left out anyway", []lathe.Message{user(image)}, stripped, []model.Message{fromUser(text{Text: "[Attached image/png: a.png]"})}},
		{"in a result", []lathe.Message{answer(same, tool("c1", completed("1", image)))}, everything, []model.Message{
			fromModel(called("c1")), fromTools(result{ID: "c1", Name: "bash", Text: "1", Meta: meta, Media: []model.FileContent{{Mime: "image/png", Name: "a.png", Data: "AA=="}}}),
		}},
		{"in a result, unread", []lathe.Message{answer(same, tool("c1", completed("1", image, csv)))}, nothing, []model.Message{
			fromModel(called("c1")), fromTools(result{ID: "c1", Name: "bash", Text: "1", Meta: meta, Media: []model.FileContent{csvOut}}),
			fromUser(text{Text: "Attached media from tool result:"}, cannot(`"a.png"`, "image/png")),
		}},
	})
}

// Halves of characters in the input of a call are replaced, like those in texts.
func TestConvert_BrokenInput(t *testing.T) {
	runConvert(t, []convertCase{{"", []lathe.Message{answer(same, tool("c1", &lathe.Completed{Input: json.RawMessage(`{"command":"\ud83d \ud83d\ude00"}`)}))}, target, []model.Message{
		fromModel(call{ID: "c1", Name: "bash", Input: json.RawMessage(`{"command":"\ufffd \ud83d\ude00"}`), Meta: meta}), fromTools(gave("c1", "")),
	}}})
}

// The limit counts UTF-16 units: a rune outside the basic plane is two.
func TestConvert_MaxOutput(t *testing.T) {
	const note = "\n\n[%d more characters of this output are left out]"
	for _, c := range []struct {
		max      int
		in, want string
	}{
		{0, strings.Repeat("x", 100), strings.Repeat("x", 100)},
		{-1, "abc", "abc"},
		{3, "abc", "abc"},
		{3, "abcd", "abc" + strings.Replace(note, "%d", "1", 1)},
		{3, "éèê", "éèê"},
		{3, "éèêë", "éèê" + strings.Replace(note, "%d", "1", 1)},
		{4, "😀😀", "😀😀"},
		{4, "😀😀😀", "😀😀" + strings.Replace(note, "%d", "2", 1)},
		{3, "😀😀", "😀\uFFFD" + strings.Replace(note, "%d", "1", 1)}, // the half of a pair is no character
	} {
		for name, state := range map[string]lathe.ToolState{
			"completed": completed(c.in), "interrupted": interrupted(`{"interrupted":true,"output":"` + c.in + `"}`),
		} {
			to := target
			to.MaxOutput = c.max
			got, want := model.Convert([]lathe.Message{answer(same, tool("c1", state))}, to), c.want
			if name == "interrupted" {
				want += "\n\n[Tool execution was interrupted; its output until then is above]"
			}
			if diff := cmp.Diff([]model.Message{fromModel(called("c1")), fromTools(gave("c1", want))}, got); diff != "" {
				t.Errorf("%s, %d of %q: %s", name, c.max, c.in, diff)
			}
		}
	}
}

// A whole conversation, in order.
func TestConvert_History(t *testing.T) {
	runConvert(t, []convertCase{{"", []lathe.Message{
		user(&lathe.Text{Text: "push it"}),
		answer(same, &lathe.StepStart{}, &lathe.Text{Text: "Pushing."}, tool("c1", &lathe.Failed{Input: ls, Error: "denied"}), &lathe.StepFinish{}),
		answer(same, &lathe.StepStart{}, &lathe.Text{Text: "I may not."}, &lathe.StepFinish{}),
		failed(&lathe.APIFault{}, &lathe.Text{Text: "lost"}),
		user(&lathe.Text{Text: "ok"}),
	}, target, []model.Message{
		fromUser(text{Text: "push it"}),
		fromModel(text{Text: "Pushing."}, called("c1")), fromTools(gaveError("c1", "denied")),
		fromModel(text{Text: "I may not."}),
		fromUser(text{Text: "ok"}),
	}}})
}

// BenchmarkConvert converts a history of 500 messages with 250 calls, about 1 MB.
func BenchmarkConvert(b *testing.B) {
	words := strings.Repeat("some \"words\"\n", 150)
	var history []lathe.Message
	for i := range 250 {
		history = append(history, user(&lathe.Text{Text: words}), answer(same, &lathe.StepStart{}, &lathe.Reasoning{Text: "hm", Metadata: sig},
			&lathe.Text{Text: "ok", Metadata: meta}, tool(strings.Repeat("x", i), completed(words)), &lathe.StepFinish{}))
	}
	to := target
	to.Input = []string{"image"}
	for b.Loop() {
		if out := model.Convert(history, to); len(out) != 750 {
			b.Fatal(len(out))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/op")
}
