package acpserver

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/acptest"
)

const everything = `
reasoning "hm"
text "I " "look."
call read {"filePath":"a.txt"}
finish tool-calls
--
call edit {"filePath":"a.txt","oldString":"unsaved","newString":"edited"}
and bash {"command":"echo hi"}
and question {"questions":[{"question":"Which?","header":"Which","options":[{"label":"A","description":"a"}]}]}
and todowrite {"todos":[{"content":"x","status":"pending"}]}
finish tool-calls
--
text "done"
usage 100 10
finish stop
--
status 500 "try later"
--
text "retried"
finish stop
--
text "## Objective\nA summary.\n\n## Constraints and decisions\nnone\n\n## Done\nnone\n\n## Active\nnone\n\n## Blocked\nnone\n\n## Next steps\n1. Tell.\n\n## Open questions\nnone\n\n## Tried and failed\nnone\n\n## Files\nnone"
finish stop
--
text "## Objective\nA summary.\n\n## Constraints and decisions\nnone\n\n## Done\nnone\n\n## Active\nnone\n\n## Blocked\nnone\n\n## Next steps\n1. Tell.\n\n## Open questions\nnone\n\n## Tried and failed\nnone\n\n## Files\nnone"
finish stop
--
call bash {"command":"touch never"}
finish tool-calls
--
text "begun"
stall
`

// Every method of the schema, in both directions, and every kind of update: one row for each, with a piece of the
// message that must be seen. A method that the schema gains is missing here.
func TestProtocol_Complete(t *testing.T) {
	t.Parallel()
	seen := &record{}
	dayOfEverything(t, seen)
	loginOfServer(t, seen)
	rows := map[string]string{
		"agent initialize": `"protocolVersion":1`, "agent authenticate": "lathe-login", "agent logout": "", "agent session/new": `"mcpServers"`,
		"agent session/load": "", "agent session/resume": "", "agent session/list": "", "agent session/close": "", "agent session/delete": "",
		"agent session/prompt": `"prompt"`, "agent session/cancel": "", "agent session/set_mode": "plan", "agent session/set_config_option": "model",
		"client session/update": "", "client session/request_permission": `"kind":"reject_once"`, "client fs/read_text_file": "a.txt", "client fs/write_text_file": "edited",
		"client terminal/create": `"acp","show"`, "client terminal/output": "", "client terminal/wait_for_exit": "", "client terminal/kill": "", "client terminal/release": "",
		"client elicitation/create": `"mode":"form"`, "client elicitation/complete": "mcp-login-docs", "protocol $/cancel_request": "requestId",
		"update user_message_chunk": "go", "update agent_message_chunk": "look", "update agent_thought_chunk": "hm", "update tool_call": `"status":"pending"`,
		"update tool_call_update": `"type":"diff"`, "update plan": `"content":"x"`, "update available_commands_update": "compact", "update current_mode_update": "plan",
		"update config_option_update": "script/other", "update session_info_update": "A title", "update usage_update": `"used":110`, "update notice": "repeated",
		"update compaction_update": "completed", "update compaction_summary_chunk": "summary",
	}
	schema, err := acptest.Stable()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, side := range []string{"agent", "client", "protocol"} {
		for _, m := range schema.Methods(side) {
			all = append(all, side+" "+m)
		}
	}
	for _, kind := range schema.UpdateKinds() {
		all = append(all, "update "+kind)
	}
	slices.Sort(all)
	for _, name := range all {
		piece, ok := rows[name]
		switch {
		case !ok:
			t.Errorf("%s: no row", name)
		case !seen.has(name, piece):
			t.Errorf("%s: not seen with %q; seen: %.500s", name, piece, seen.all[name])
		}
	}
	if len(rows) != len(all) {
		t.Errorf("%d rows for %d methods and updates", len(rows), len(all))
	}
}

// record is what was said, by the name of a row.
type record struct {
	mu  sync.Mutex
	all map[string][]string
}

func (r *record) note(name string, data any) {
	text, _ := json.Marshal(data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string][]string{}
	}
	r.all[name] = append(r.all[name], string(text))
}

func (r *record) has(name, piece string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.all[name], func(s string) bool { return strings.Contains(s, piece) })
}

// watch notes the messages of the agent.
func (r *record) watch(e *editor) {
	for _, m := range e.Messages() {
		switch {
		case m.Method == "$/cancel_request":
			r.note("protocol "+m.Method, m.Params)
		case m.Method != "":
			r.note("client "+m.Method, m.Params)
		}
	}
	for _, u := range e.Updates() {
		r.note("update "+u.Kind, u.Data)
	}
}

// do sends a request and notes it.
func (r *record) do(e *editor, method string, params any) {
	r.note("agent "+method, params)
	e.Must(method, params, nil)
}

func dayOfEverything(t *testing.T, seen *record) {
	h := newHome(t, everything, `"retry":{"delay":1},"permission":{"edit":"ask","bash":{"*":"allow","touch *":"ask"}},`)
	path := h.write("a.txt", "saved\n")
	e := h.open(`{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"elicitation":{"form":{}},"session":{"notices":{},"compaction":{}}}`)
	seen.note("agent initialize", map[string]int{"protocolVersion": 1})
	b := &buffers{texts: map[string]string{path: "unsaved\n"}, save: true}
	b.serve(e)
	e.permit("once")
	e.Answer("elicitation/create", func(json.RawMessage) (any, error) {
		return map[string]any{"action": "accept", "content": map[string]string{"question1": "A"}}, nil
	})
	e.Answer("terminal/create", func(json.RawMessage) (any, error) { return map[string]string{"terminalId": "t1"}, nil })
	e.Answer("terminal/wait_for_exit", func(json.RawMessage) (any, error) { return nil, errors.New("it hangs") })
	e.Answer("terminal/output", func(json.RawMessage) (any, error) { return map[string]any{"output": "", "truncated": false}, nil })
	e.Answer("terminal/kill", func(json.RawMessage) (any, error) { return struct{}{}, nil })
	released := make(chan bool, 10)
	e.Answer("terminal/release", func(json.RawMessage) (any, error) { released <- true; return struct{}{}, nil })

	seen.do(e, "logout", struct{}{})
	seen.do(e, "authenticate", map[string]string{"methodId": "lathe-login"})
	seen.note("agent session/new", map[string]any{"mcpServers": nil})
	id := e.session()
	s := map[string]any{"sessionId": id}
	seen.do(e, "session/prompt", promptOf(id, "go"))
	receive(t, released)
	e.Until("title", func(u acptest.Update) bool { return u.Kind == "session_info_update" })
	seen.do(e, "session/prompt", promptOf(id, "again"))
	seen.do(e, "session/prompt", promptOf(id, "/compact"))
	seen.do(e, "session/set_mode", map[string]any{"sessionId": id, "modeId": "plan"})
	seen.do(e, "session/set_mode", map[string]any{"sessionId": id, "modeId": "build"})
	seen.do(e, "session/set_config_option", map[string]any{"sessionId": id, "configId": "model", "value": "script/other"})
	seen.do(e, "session/list", map[string]any{"cwd": h.dir})
	cancelBothWays(t, e, seen, id)
	seen.do(e, "session/close", s)
	seen.do(e, "session/resume", map[string]any{"sessionId": id, "cwd": h.dir})
	seen.do(e, "session/load", map[string]any{"sessionId": id, "cwd": h.dir, "mcpServers": []any{}})
	seen.do(e, "session/delete", s)
	seen.watch(e)
}

// cancelBothWays cancels a turn with a permission request, which the agent takes back, and a turn by its request.
func cancelBothWays(t *testing.T, e *editor, seen *record, id string) {
	asked := make(chan bool, 10)
	e.Answer("session/request_permission", func(json.RawMessage) (any, error) { asked <- true; return nil, nil })
	got := e.Start("session/prompt", promptOf(id, "ask for something"))
	select {
	case <-asked:
	case m := <-got:
		t.Fatalf("no request: %+v\n%s", m, e.Script())
	case <-time.After(acptest.Patience / 4):
		t.Fatalf("no request:\n%s", e.Script())
	}
	seen.note("agent session/cancel", id)
	e.Notify("session/cancel", map[string]string{"sessionId": id})
	if err := e.Wait(got, nil); err != nil {
		t.Errorf("cancel: %v", err)
	}
	e.SendRaw(`{"jsonrpc":"2.0","id":"mine","method":"session/prompt","params":{"sessionId":"` + id + `","prompt":[{"type":"text","text":"stall"}]}}` + "\n")
	e.Until("the text", func(u acptest.Update) bool { return u.Text() == "begun" })
	e.Notify("$/cancel_request", map[string]string{"requestId": "mine"})
	e.UntilMessage("the end of the request", func(m acptest.Message) bool {
		return string(m.ID) == `"mine"` && m.Error != nil && m.Error.Code == -32800
	})
}

// loginOfServer shows the login page of an MCP server.
func loginOfServer(t *testing.T, seen *record) {
	h := newHome(t, "text \"ok\"\nfinish stop\n", "")
	engine, attached := h.serve(t)
	e := h.openWith(attached, `{"elicitation":{"url":{}}}`)
	opened := make(chan json.RawMessage, 1)
	e.Answer("elicitation/create", func(p json.RawMessage) (any, error) {
		opened <- p
		return map[string]string{"action": "accept"}, nil
	})
	e.session()
	engine.Publish(lathe.Event{Directory: h.dir, Fact: &lathe.MCPBrowserFailed{Name: "docs", URL: "https://example.org/login"}})
	if p := string(receive(t, opened)); !strings.Contains(p, `"url":"https://example.org/login"`) {
		t.Error(p)
	}
	engine.Publish(lathe.Event{Directory: h.dir, Fact: &lathe.MCPToolsChanged{Server: "docs"}})
	e.UntilMessage("the end of the login", func(m acptest.Message) bool { return m.Method == "elicitation/complete" })
	seen.watch(e)
}
