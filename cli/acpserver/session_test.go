package acpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/acp/acptest"
)

// Sessions are listed in pages, resumed without their history, closed, loaded and deleted.
func TestSessions(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
text "first"
finish stop
--
text "second"
finish stop
`, "")
	e := h.open(`{}`)
	id := e.session()
	e.prompt(id, "one")
	for range 55 {
		e.Must("session/new", map[string]any{"cwd": h.dir, "mcpServers": []any{}}, nil)
	}
	seen, cursor, pages := map[string]bool{}, "", 0
	for {
		var page struct {
			Sessions []struct {
				ID        string `json:"sessionId"`
				Cwd       string
				Title     string
				UpdatedAt string
			}
			NextCursor string
		}
		params := map[string]any{"cwd": h.dir}
		if cursor != "" {
			params["cursor"] = cursor
		}
		e.Must("session/list", params, &page)
		for _, s := range page.Sessions {
			if seen[s.ID] || s.Cwd != h.dir || s.UpdatedAt == "" {
				t.Errorf("%+v", s)
			}
			seen[s.ID] = true
		}
		pages++
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != 56 || pages != 2 || !seen[id] {
		t.Errorf("%d sessions in %d pages", len(seen), pages)
	}
	e.Must("session/close", map[string]any{"sessionId": id}, nil)
	if err := e.Call("session/prompt", promptOf(id, "x"), nil); err == nil || !strings.Contains(err.Error(), "not open") {
		t.Errorf("a closed session: %v", err)
	}
	e.Forget()
	e.Must("session/resume", map[string]any{"sessionId": id, "cwd": h.dir}, nil)
	if got := e.Texts("user_message_chunk") + e.Texts("agent_message_chunk"); got != "" {
		t.Errorf("resume sent the history: %q", got)
	}
	e.prompt(id, "two")
	if got := e.Texts("agent_message_chunk"); got != "second" {
		t.Errorf("after resume: %q", got)
	}
	e.Forget()
	e.load(id)
	e.load(id) // again, while it is open
	if got := e.Texts("agent_message_chunk"); got != "firstsecondfirstsecond" {
		t.Errorf("loaded twice: %q", got)
	}
	e.Must("session/delete", map[string]any{"sessionId": id}, nil)
	e.Must("session/delete", map[string]any{"sessionId": id}, nil) // is deleted already
	if err := e.Call("session/load", map[string]any{"cwd": h.dir, "mcpServers": []any{}, "sessionId": id}, nil); err == nil || !strings.Contains(err.Error(), "-32002") {
		t.Errorf("a deleted session: %v", err)
	}
}

// Bad requests have clear errors and break nothing.
func TestRequests_Bad(t *testing.T) {
	t.Parallel()
	h := newHome(t, "text \"ok\"\nfinish stop\n", "")
	e := h.open(`{}`)
	id := e.session()
	for _, row := range []struct{ method, params, want string }{
		{"session/new", `{"cwd":"relative","mcpServers":[]}`, "-32602"},
		{"session/new", `{"cwd":7}`, "-32602"},
		{"session/load", `{"cwd":"` + h.dir + `","mcpServers":[],"sessionId":"ses_none"}`, "-32002"},
		{"session/prompt", `{"sessionId":"` + id + `","prompt":[]}`, "empty"},
		{"session/prompt", `{"sessionId":"` + id + `","prompt":[{"type":"hologram"}]}`, "unknown type of content"},
		{"session/prompt", `{"sessionId":"` + id + `","prompt":[{"type":"image","data":"!","mimeType":"image/png"}]}`, "base64"},
		{"session/prompt", `{"sessionId":"nope","prompt":[{"type":"text","text":"x"}]}`, "not open"},
		{"session/set_mode", `{"sessionId":"` + id + `","modeId":"wizard"}`, "unknown mode"},
		{"session/set_config_option", `{"sessionId":"` + id + `","configId":"model","value":"a/b"}`, "unknown model"},
		{"session/set_config_option", `{"sessionId":"` + id + `","configId":"model","value":true}`, "must be a string"},
		{"session/set_config_option", `{"sessionId":"` + id + `","configId":"nope","value":"x"}`, "unknown option"},
		{"session/list", `{"cursor":"garbage"}`, "cursor"},
		{"authenticate", `{"methodId":"x"}`, "unknown login method"},
		{"session/fly", `{}`, "-32601"},
	} {
		e.SendRaw(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s %s","method":%q,"params":%s}`+"\n", row.method, row.want, row.method, row.params))
	}
	e.prompt(id, "still there")
	answers := map[string]string{}
	for _, m := range e.Messages() {
		if m.Error != nil {
			var key string
			_ = json.Unmarshal(m.ID, &key)
			answers[key] += m.Error.Error()
		}
	}
	for key, text := range answers {
		if _, want, _ := strings.Cut(key, " "); !strings.Contains(text, want) {
			t.Errorf("%s: %s", key, text)
		}
	}
	if len(answers) < 13 {
		t.Errorf("%d answers: %v", len(answers), answers)
	}
}

// Modes are agents and permission modes; options are model, agent and permission mode. Changes are told.
func TestModes(t *testing.T) {
	t.Parallel()
	h := newHome(t, "text \"ok\"\nfinish stop\n", "")
	e := h.open(`{}`)
	var s struct {
		ID    string `json:"sessionId"`
		Modes struct {
			CurrentModeID  string `json:"currentModeId"`
			AvailableModes []struct{ ID, Name string }
		}
		ConfigOptions []struct{ ID, CurrentValue string }
	}
	e.Must("session/new", map[string]any{"cwd": h.dir, "mcpServers": []any{}}, &s)
	names := ""
	for _, m := range s.Modes.AvailableModes {
		names += m.ID + " "
	}
	if s.Modes.CurrentModeID != "build" || !strings.HasPrefix(names, "build plan permission:ask") || len(s.ConfigOptions) != 3 || s.ConfigOptions[0].CurrentValue != "script/script" {
		t.Errorf("%+v", s)
	}
	e.Must("session/set_mode", map[string]any{"sessionId": s.ID, "modeId": "plan"}, nil)
	e.Until("the mode", func(u acptest.Update) bool {
		return u.Kind == "current_mode_update" && strings.Contains(string(u.Data), `"plan"`)
	})
	var out struct {
		ConfigOptions []struct{ ID, CurrentValue string }
	}
	e.Must("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": "model", "value": "script/other"}, &out)
	if out.ConfigOptions[0].CurrentValue != "script/other" || out.ConfigOptions[1].CurrentValue != "plan" {
		t.Errorf("%+v", out)
	}
	e.Must("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": "agent", "value": "build"}, nil)
	e.Must("session/set_mode", map[string]any{"sessionId": s.ID, "modeId": "permission:ask"}, nil)
	e.Must("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": "permission_mode", "value": "read-only"}, &out)
	if last := out.ConfigOptions[len(out.ConfigOptions)-1]; last.CurrentValue != "read-only" {
		t.Errorf("%+v", last)
	}
	e.prompt(s.ID, "go")
	if r := h.lastRequest(); !strings.Contains(r, `"model":"other"`) {
		t.Errorf("the wrong model: %.200s", r)
	}
	e.close()
	e = h.open(`{}`)
	var l struct {
		ConfigOptions []struct{ ID, CurrentValue string }
		Modes         struct {
			CurrentModeID string `json:"currentModeId"`
		}
	}
	e.Must("session/load", map[string]any{"cwd": h.dir, "mcpServers": []any{}, "sessionId": s.ID}, &l)
	if l.ConfigOptions[0].CurrentValue != "script/other" || l.Modes.CurrentModeID != "build" {
		t.Errorf("after a restart: %+v", l)
	}
}

// A session of another front end is followed live: its prompts, its text, and no double.
func TestSessions_InStep(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
text "a" "b" "c"
finish stop
--
text "d" "e"
finish stop
`, "")
	e, other := h.open(`{}`), h.open(`{}`)
	id := e.session()
	other.load(id)
	e.prompt(id, "first")
	other.Until("the text", func(acptest.Update) bool { return other.Texts("agent_message_chunk") == "abc" })
	other.prompt(id, "second")
	e.Until("the text", func(acptest.Update) bool { return e.Texts("agent_message_chunk") == "abcde" })
	if a, b := other.Texts("user_message_chunk"), e.Texts("user_message_chunk"); a != "first" || b != "second" {
		t.Errorf("prompts: %q, %q", a, b)
	}
	if got := other.Texts("agent_message_chunk"); got != "abcde" {
		t.Errorf("%q", got)
	}
}
