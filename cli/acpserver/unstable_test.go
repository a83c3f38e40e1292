package acpserver

import (
	"encoding/json"
	"strings"
	"testing"
)

// Sessions are forked, renamed and archived by the unstable methods, whose capabilities initialize names.
func TestUnstable(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
text "first"
finish stop
--
text "second"
finish stop
`, "")
	e := h.open(`{"subagents":{}}`) // so messages are checked with the unstable schema
	id := e.session()
	e.prompt(id, "one")
	var fork struct {
		SessionID     string
		ConfigOptions []json.RawMessage
	}
	e.Forget()
	e.Must("session/fork", map[string]any{"sessionId": id, "cwd": h.dir}, &fork)
	if fork.SessionID == "" || fork.SessionID == id || len(fork.ConfigOptions) == 0 || e.Texts("agent_message_chunk") != "" {
		t.Fatalf("%+v, %q", fork, e.Texts("agent_message_chunk"))
	}
	e.prompt(fork.SessionID, "two")
	e.Forget()
	e.load(fork.SessionID)
	if got := e.Texts("agent_message_chunk"); got != "firstsecond" {
		t.Errorf("the fork: %q", got)
	}
	e.Forget()
	e.load(id)
	if got := e.Texts("agent_message_chunk"); got != "first" {
		t.Errorf("its origin: %q", got)
	}
	var title struct{ Title string }
	e.Must("session/set_title", map[string]any{"sessionId": id, "title": "  My\nsession "}, &title)
	if title.Title != "My session" {
		t.Errorf("%q", title.Title)
	}
	e.Must("session/archive", map[string]any{"sessionId": id}, nil)
	e.Must("session/archive", map[string]any{"sessionId": id}, nil) // is archived already
	if got := e.listed(""); got != fork.SessionID {
		t.Errorf("listed: %q", got)
	}
	if got := e.listed("only"); got != id+" My session" {
		t.Errorf("archived: %q", got)
	}
	if got := e.status(id) + e.status(fork.SessionID); got != "savedopen" {
		t.Errorf("status: %q", got)
	}
	e.Must("session/unarchive", map[string]any{"sessionId": id}, nil)
	if got := e.listed("only"); got != "" {
		t.Errorf("archived: %q", got)
	}
	for method, params := range map[string]map[string]any{
		"session/fork": {"cwd": h.dir}, "session/archive": {}, "session/unarchive": {}, "session/status": {}, "session/set_title": {"title": "x"},
	} {
		params["sessionId"] = "ses_none"
		if err := e.Call(method, params, nil); err == nil || !strings.Contains(err.Error(), "-32002") {
			t.Errorf("%s of an unknown session: %v", method, err)
		}
	}
	if err := e.Call("session/set_title", map[string]any{"sessionId": id, "title": " \n"}, nil); err == nil || !strings.Contains(err.Error(), "-32602") {
		t.Errorf("an empty title: %v", err)
	}
	if err := e.Call("session/list", map[string]any{"archived": "maybe"}, nil); err == nil || !strings.Contains(err.Error(), "-32602") {
		t.Errorf("an unknown filter: %v", err)
	}
	var auth struct {
		State    string
		Accounts []struct{ Label string }
	}
	e.Must("auth/status", map[string]any{}, &auth)
	if auth.State != "authenticated" || len(auth.Accounts) == 0 || auth.Accounts[0].Label == "" {
		t.Errorf("%+v", auth)
	}
	e.Must("logout", map[string]any{}, nil)
	e.Must("auth/status", map[string]any{}, &auth)
	if auth.State != "unauthenticated" {
		t.Errorf("after logout: %+v", auth)
	}
}

// listed are the ids of the sessions that session/list returns; archived ones with their titles.
func (e *editor) listed(filter string) string {
	var page struct {
		Sessions []struct {
			SessionID, Title string
			Archived         bool
		}
	}
	params := map[string]any{}
	if filter != "" {
		params["archived"] = filter
	}
	e.Must("session/list", params, &page)
	var all []string
	for _, s := range page.Sessions {
		if s.Archived {
			s.SessionID += " " + s.Title
		}
		all = append(all, s.SessionID)
	}
	return strings.Join(all, ",")
}

func (e *editor) status(id string) string {
	var out struct{ Status string }
	e.Must("session/status", map[string]any{"sessionId": id}, &out)
	return out.Status
}

// A prompt without any provider has the error for which editors offer the login.
func TestPrompt_NeedsLogin(t *testing.T) {
	t.Parallel()
	h := newHome(t, "text \"ok\"\nfinish stop\n", "")
	h.write("../.config/lathe/lathe.json", "{}")
	e := h.open(`{}`)
	if err := e.Call("session/prompt", promptOf(e.session(), "hello"), nil); err == nil || !strings.Contains(err.Error(), "-32000") {
		t.Errorf("%v", err)
	}
}
