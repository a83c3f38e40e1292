package modeltest_test

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/model/modeltest"
)

func contains(all []byte, want string) bool { return bytes.Contains(all, []byte(want)) }

func readJSON(t *testing.T, resp *http.Response) tree {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return tree{v}
}

// readWhole reads an answer that did not stream.
func readWhole(t *testing.T, p modeltest.Protocol, resp *http.Response) decoded {
	t.Helper()
	d, h := readJSON(t, resp), decoded{Ended: true}
	switch p {
	case modeltest.Anthropic:
		h.anthropicWhole(d)
	case modeltest.Chat:
		h.chatWhole(d)
	case modeltest.Responses:
		h.responsesWhole(d)
	case modeltest.Gemini:
		h.gemini(d)
	case modeltest.Bedrock:
		h.Finish = d.at("stopReason").text()
		h.bedrockUsage(d.at("usage"))
		for _, b := range d.at("output", "message", "content").each() {
			h.bedrockBlock(b)
		}
	}
	return h
}

func (h *decoded) bedrockBlock(b tree) {
	h.Text += b.at("text").text()
	h.Reasoning += b.at("reasoningContent", "reasoningText", "text").text()
	h.Signature = stdcmp.Or(b.at("reasoningContent", "reasoningText", "signature").text(), h.Signature)
	if t := b.at("toolUse"); t.is() {
		h.Calls = append(h.Calls, decodedCall{t.at("toolUseId").text(), t.at("name").text(), t.at("input").json()})
	}
	for _, inner := range b.at("citationsContent", "content").each() {
		h.Text += inner.at("text").text()
	}
	for _, c := range b.at("citationsContent", "citations").each() {
		h.Sources = append(h.Sources, c.at("location", "web", "url").text())
	}
}

func (h *decoded) anthropicWhole(d tree) {
	h.Finish = d.at("stop_reason").text()
	h.anthropicUsage(d.at("usage"))
	for _, b := range d.at("content").each() {
		switch kind := b.at("type").text(); {
		case kind == "text":
			h.Text += b.at("text").text()
			for _, c := range b.at("citations").each() {
				h.Sources = append(h.Sources, c.at("url").text())
			}
		case kind == "thinking":
			h.Reasoning += b.at("thinking").text()
			h.Signature = b.at("signature").text()
		case kind == "tool_use":
			h.Calls = append(h.Calls, decodedCall{b.at("id").text(), b.at("name").text(), b.at("input").json()})
		case kind == "server_tool_use":
			h.Executed = append(h.Executed, b.at("name").text())
		case strings.HasSuffix(kind, "_tool_result"):
			for _, r := range b.at("content").each() {
				h.Sources = append(h.Sources, r.at("url").text())
			}
		}
	}
}

func (h *decoded) chatWhole(d tree) {
	choice := d.at("choices", 0)
	m := choice.at("message")
	h.Finish, h.Text, h.Reasoning = choice.at("finish_reason").text(), m.at("content").text(), m.at("reasoning_content").text()
	h.chatUsage(d.at("usage"))
	for _, c := range m.at("tool_calls").each() {
		h.Calls = append(h.Calls, decodedCall{c.at("id").text(), c.at("function", "name").text(), c.at("function", "arguments").text()})
	}
	for _, a := range m.at("annotations").each() {
		h.Sources = append(h.Sources, a.at("url_citation", "url").text())
	}
}

func (h *decoded) responsesWhole(d tree) {
	h.Finish = d.at("status").text()
	if reason := d.at("incomplete_details", "reason").text(); reason != "" {
		h.Finish = reason
	}
	h.responsesUsage(d.at("usage"))
	for _, item := range d.at("output").each() {
		switch item.at("type").text() {
		case "message":
			for _, part := range item.at("content").each() {
				h.Text += part.at("text").text()
				for _, a := range part.at("annotations").each() {
					h.Sources = append(h.Sources, a.at("url").text())
				}
			}
		case "reasoning":
			h.Signature = item.at("encrypted_content").text()
			for _, s := range item.at("summary").each() {
				h.Reasoning += s.at("text").text()
			}
		case "function_call":
			h.Calls = append(h.Calls, decodedCall{item.at("call_id").text(), item.at("name").text(), item.at("arguments").text()})
		case "web_search_call":
			h.Executed = append(h.Executed, "web_search")
			for _, s := range item.at("action", "sources").each() {
				h.Sources = append(h.Sources, s.at("url").text())
			}
		}
	}
}

// An answer in one piece means what its stream means.
func TestWhole_SameAsStream(t *testing.T) {
	for _, src := range []string{
		full, `text "a"`, `call x {"n":1}`, "text \"a\"\ntext \"b\"\nreasoning \"c\"\nreasoning \"d\"\ntext \"e\"",
		"reasoning \"a\" signature=\"s\"\ntext \"b\"", `usage 1 2 reasoning=1`, "finish length",
	} {
		for _, p := range modeltest.Protocols() {
			script := modeltest.MustParse(src)
			streaming, single := modeltest.Start(t, script), modeltest.Start(t, script)
			path, body := asked(p, true)
			want := listen(t, p, post(t, streaming, path, body).Body)
			path, body = asked(p, false)
			resp := post(t, single, path, body)
			if got := resp.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("%s: Content-Type is %q", p, got)
			}
			if diff := cmp.Diff(want, readWhole(t, p, resp)); diff != "" {
				t.Errorf("%s of %s: %s", p, src, diff)
			}
		}
	}
}
