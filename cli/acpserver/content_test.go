package acpserver

import (
	"encoding/base64"
	"strings"
	"testing"
)

// Images, recordings, links with ranges, selections and other links reach the model, and come back when the session is
// loaded.
func TestPrompt_Content(t *testing.T) {
	t.Parallel()
	h := newHome(t, "text \"ok\"\nfinish stop\n", "")
	path := h.write("dir/a.go", "package a\n\nfunc A() {}\nfunc B() {}\n")
	png := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	e := h.open(`{}`)
	id := e.session()
	e.Must("session/prompt", map[string]any{"sessionId": id, "prompt": []any{
		map[string]any{"type": "text", "text": "See"},
		map[string]any{"type": "resource_link", "name": "a.go", "uri": "file://" + path + "#L3:4"},
		map[string]any{"type": "text", "text": " and "},
		map[string]any{"type": "resource", "resource": map[string]string{"uri": "file://" + path + "#L1", "text": "package unsaved", "mimeType": "text/x-go"}},
		map[string]any{"type": "resource_link", "name": "docs", "uri": "https://example.org/x"},
		map[string]any{"type": "image", "mimeType": "image/png", "data": png},
		map[string]any{"type": "audio", "mimeType": "audio/wav", "data": base64.StdEncoding.EncodeToString([]byte("RIFF"))},
	}}, nil)
	r := h.lastRequest()
	for _, want := range []string{"See @a.go#3-4 and @a.go#1-1[docs](https://example.org/x)", `3: func A() {}\n4: func B() {}`, "package unsaved", png} {
		if !strings.Contains(r, want) {
			t.Errorf("the model was not told %q", want)
		}
	}
	if strings.Contains(r, "1: package a") {
		t.Error("the range was not used")
	}
	e.Forget()
	e.load(id)
	kinds := ""
	for _, u := range e.Updates("user_message_chunk") {
		_, rest, _ := strings.Cut(string(u.Data), `"content":{"type":"`)
		kind, _, _ := strings.Cut(rest, `"`)
		kinds += kind + " "
	}
	if kinds != "text resource_link resource image audio " {
		t.Errorf("loaded as %s\n%s", kinds, e.Script())
	}
}

// Slash commands run with their arguments, and our own commands work.
func TestPrompt_Commands(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
text "greeted"
finish stop
--
text "## Objective\nA summary.\n\n## Constraints and decisions\nnone\n\n## Done\nnone\n\n## Active\nnone\n\n## Blocked\nnone\n\n## Next steps\n1. Tell.\n\n## Open questions\nnone\n\n## Tried and failed\nnone\n\n## Files\nnone"
finish stop
`, `"command":{"greet":{"template":"Say hello to $ARGUMENTS politely","description":"Greets"}},`)
	e := h.open(`{"session":{"compaction":{}}}`)
	id := e.session()
	found := false
	for _, u := range e.Updates("available_commands_update") {
		found = found || strings.Contains(string(u.Data), `{"description":"Greets","input":{"hint":"arguments"},"name":"greet"}`) && strings.Contains(string(u.Data), `"name":"compact"`)
	}
	if !found {
		t.Errorf("commands: %s", e.Script())
	}
	e.prompt(id, "/greet the world")
	if r := h.lastRequest(); !strings.Contains(r, "Say hello to the world politely") {
		t.Errorf("the model was told: %s", r)
	}
	if stop := e.prompt(id, "/compact"); stop != "end_turn" {
		t.Error(stop)
	}
	text, states := "", ""
	for _, u := range e.Updates("compaction_update", "compaction_summary_chunk") {
		text += u.Text()
		if _, s, ok := strings.Cut(string(u.Data), `"status":"`); ok {
			state, _, _ := strings.Cut(s, `"`)
			states += state + " "
		}
	}
	if !strings.Contains(text, "A summary") || states != "in_progress completed " {
		t.Errorf("compaction %q %q\n%s", states, text, e.Script())
	}
	if got := e.Texts("agent_message_chunk"); got != "greeted" {
		t.Errorf("text %q", got)
	}
	again := h.open(`{}`) // does not know compactions
	again.load(id)
	if _, all := again.tools(); len(all) != 1 {
		t.Errorf("a compaction is a call for other clients: %s", again.Script())
	}
}
