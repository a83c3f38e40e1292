package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

// browser runs the script of the page against as much of a document as it uses. It reads the data of
// the session and the events that follow, and prints after the data and after the events what is seen:
// a list of [role, text] each.
const browser = `
const fs = require("fs"), vm = require("vm")
const { script, data, events } = JSON.parse(fs.readFileSync(0, "utf8"))
class Element {
  constructor() { this.children = []; this.className = ""; this.hidden = false; this.text = "" }
  append(...more) { for (const e of more) { e.parent = this; this.children.push(e) } }
  replaceChildren() { this.children = []; this.text = "" }
  remove() { this.parent.children = this.parent.children.filter((e) => e !== this) }
  set textContent(text) { this.text = text }
  get textContent() { return this.text + this.children.map((e) => e.textContent).join("") }
}
const list = new Element()
let source
const page = {
  console, Map, JSON, encodeURIComponent,
  location: { pathname: "/share/x/", reload() {} },
  document: { createElement: () => new Element(), getElementById: (id) => (id === "messages" ? list : new Element()) },
  fetch: async () => ({ ok: true, json: async () => data }),
  EventSource: class { constructor() { source = this } },
}
vm.runInNewContext(script, page)
const seen = () => list.children.filter((e) => !e.hidden).map((e) => [e.className, e.textContent])
setImmediate(() => {
  const first = seen()
  for (const event of events) source.onmessage({ data: JSON.stringify(event) })
  console.log(JSON.stringify([first, seen()]))
})
`

// The page shows no box for a message of which there is nothing to see, also while it is followed.
func TestShare_PageSkipsEmptyMessages(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed; it runs the script of the page")
	}
	w := begin(t, "")
	s := w.session()
	w.want(http.StatusOK, &s, "POST", "/session/"+string(s.ID)+"/share", "")
	user := &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}}
	assistant := &lathe.Assistant{Parent: "msg_1", Agent: "build", Mode: "build", Completed: 9}
	for _, m := range []struct {
		id   lathe.MessageID
		said lathe.RoleData
		body []lathe.Body
	}{
		{"msg_1", user, []lathe.Body{&lathe.Text{Text: "Hello"}}},
		{"msg_2", assistant, nil},
		{"msg_3", assistant, []lathe.Body{&lathe.StepStart{}, &lathe.Text{Text: " \n"}, &lathe.Reasoning{Text: ""}, &lathe.StepFinish{Reason: "stop"}}},
		{"msg_4", user, []lathe.Body{&lathe.Text{Text: "A note of the program.", Synthetic: lathe.Yes}}},
		{"msg_5", assistant, []lathe.Body{&lathe.StepStart{}, &lathe.Text{Text: "Good day."}}},
	} {
		_, err := w.engine.UpdateMessage(t.Context(), lathe.Message{ID: m.id, Session: s.ID, Data: m.said})
		w.ok(err)
		for i, b := range m.body {
			_, err := w.engine.UpdatePart(t.Context(), lathe.Part{ID: lathe.PartID("prt_" + string(m.id) + string(rune('a'+i))), Session: s.ID, Message: m.id, Body: b}, "")
			w.ok(err)
		}
	}
	at, err := url.Parse(s.Share.URL)
	w.ok(err)
	in, err := json.Marshal(map[string]any{
		"script": string(w.want(http.StatusOK, nil, "GET", "/share/page.js", "").body),
		"data":   json.RawMessage(w.want(http.StatusOK, nil, "GET", at.Path+"/data", "").body),
		"events": []json.RawMessage{
			json.RawMessage(`{"type":"message.part.removed","properties":{"messageID":"msg_5","partID":"prt_msg_5b"}}`),
			json.RawMessage(`{"type":"message.updated","properties":{"info":{"id":"msg_6","role":"assistant"}}}`),
			json.RawMessage(`{"type":"message.part.updated","properties":{"part":{"id":"prt_6","messageID":"msg_6","type":"text","text":""}}}`),
			json.RawMessage(`{"type":"message.updated","properties":{"info":{"id":"msg_7","role":"assistant"}}}`),
			json.RawMessage(`{"type":"message.part.updated","properties":{"part":{"id":"prt_7","messageID":"msg_7","type":"text","text":""}}}`),
			json.RawMessage(`{"type":"message.part.delta","properties":{"messageID":"msg_7","partID":"prt_7","field":"text","delta":"Late."}}`),
		},
	})
	w.ok(err)
	cmd := exec.CommandContext(t.Context(), node, "-e", browser)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var seen [2][][2]string
	w.ok(json.Unmarshal(out, &seen))
	want := [2][][2]string{{{"user", "Hello"}, {"assistant", "Good day."}}, {{"user", "Hello"}, {"assistant", "Late."}}}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}
