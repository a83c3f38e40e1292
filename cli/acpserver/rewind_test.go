package acpserver

import (
	"strings"
	"testing"
)

// Editors have no list to choose a step from: /rewind writes it into the conversation, and the words after it choose. An
// unknown word changes nothing.
func TestRewind(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
call write {"filePath":"a.txt","content":"1\n"}
finish tool-calls
--
call write {"filePath":"a.txt","content":"2\n"}
finish tool-calls
--
text "ok"
finish stop
`, "")
	e := h.open(`{}`)
	id := e.session()
	e.prompt(id, "go")
	e.prompt(id, "/rewind")
	if got := e.Texts("agent_message_chunk"); !strings.Contains(got, "- 2: `changed a.txt") {
		t.Errorf("the list is %q", got)
	}
	if err := e.Call("session/prompt", promptOf(id, "/rewind 1 everything"), nil); err == nil || !strings.Contains(err.Error(), "/rewind does not know") {
		t.Errorf("an unknown word gives %v", err)
	}
	e.prompt(id, "/rewind 1 code dry-run")
	if got := h.read("a.txt"); got != "2\n" {
		t.Errorf("before the rewind: %q", got)
	}
	e.prompt(id, "/rewind 1")
	if got := h.read("a.txt"); got != "1\n" {
		t.Errorf("after the rewind: %q", got)
	}
	e.prompt(id, "/rewind redo")
	if got := h.read("a.txt"); got != "2\n" {
		t.Errorf("after the redo: %q", got)
	}
}
