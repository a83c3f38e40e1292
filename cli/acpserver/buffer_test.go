package acpserver

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
)

// buffers is an editor with open files.
type buffers struct {
	mu     sync.Mutex
	texts  map[string]string
	writes []string
	save   bool // writes reach the disk
}

func (b *buffers) serve(e *editor) {
	e.Answer("fs/read_text_file", func(raw json.RawMessage) (any, error) {
		var p struct{ Path string }
		_ = json.Unmarshal(raw, &p)
		b.mu.Lock()
		defer b.mu.Unlock()
		text, ok := b.texts[p.Path]
		if !ok {
			return nil, errors.New("not open")
		}
		return map[string]string{"content": text}, nil
	})
	e.Answer("fs/write_text_file", func(raw json.RawMessage) (any, error) {
		var p struct{ Path, Content string }
		_ = json.Unmarshal(raw, &p)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.texts[p.Path] = p.Content
		b.writes = append(b.writes, p.Path)
		if b.save {
			if err := os.WriteFile(p.Path, []byte(p.Content), 0o644); err != nil {
				return nil, err
			}
		}
		return struct{}{}, nil
	})
}

const readAndEdit = `
call read {"filePath":"a.txt"}
finish tool-calls
--
call edit {"filePath":"a.txt","oldString":"unsaved","newString":"edited"}
finish tool-calls
--
text "ok"
finish stop
`

// A file with unsaved changes is read from the editor and written by it. A file without is written here.
func TestBuffers_Unsaved(t *testing.T) {
	t.Parallel()
	h := newHome(t, readAndEdit, "")
	path := h.write("a.txt", "saved\n")
	e := h.open(`{"fs":{"readTextFile":true,"writeTextFile":true}}`)
	b := &buffers{texts: map[string]string{path: "unsaved\n"}, save: true}
	b.serve(e)
	id := e.session()
	e.prompt(id, "go")
	if r := e.one("read"); !strings.Contains(r.Content[0].Content.Text, "1: unsaved") {
		t.Errorf("read %s", r.Content[0].Content.Text)
	}
	if d := e.one("edit"); d.Status != "completed" || *d.Content[0].OldText != "unsaved\n" || d.Content[0].NewText != "edited\n" {
		t.Errorf("%+v", d)
	}
	if h.read("a.txt") != "edited\n" || len(b.writes) != 1 {
		t.Errorf("%q, %v", h.read("a.txt"), b.writes)
	}
	e.prompt(id, "/undo")
	if got := h.read("a.txt"); got != "saved\n" {
		t.Errorf("after undo: %q", got)
	}
}

// Without a way to write, or if the editor does not save, nothing is lost and the model is told.
func TestBuffers_Refused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ capabilities, want string }{
		{`{"fs":{"readTextFile":true}}`, "unsaved changes in the editor"},
		{`{"fs":{"readTextFile":true,"writeTextFile":true}}`, "does not have it"},
	} {
		h := newHome(t, readAndEdit, "")
		path := h.write("a.txt", "saved\n")
		e := h.open(row.capabilities)
		b := &buffers{texts: map[string]string{path: "unsaved\n"}}
		b.serve(e)
		e.prompt(e.session(), "go")
		if d := e.one("edit"); d.Status != "failed" || !strings.Contains(d.Content[0].Content.Text, row.want) {
			t.Errorf("%+v", d)
		}
		if h.read("a.txt") != "saved\n" {
			t.Error("the file was written behind the editor")
		}
	}
}

// A clean buffer, also one with other line ends, is written here. Patches and whole files follow the same rules.
func TestBuffers_WriteAndPatch(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
call read {"filePath":"clean.txt"}
and read {"filePath":"open.txt"}
finish tool-calls
--
call write {"filePath":"clean.txt","content":"new\n"}
and write {"filePath":"open.txt","content":"whole\n"}
finish tool-calls
--
call apply_patch {"patchText":"*** Begin Patch\n*** Update File: patched.txt\n@@\n-unsaved\n+patched\n*** End Patch"}
finish tool-calls
--
text "ok"
finish stop
`, "")
	clean, open, patched := h.write("clean.txt", "a\r\nb\r\n"), h.write("open.txt", "saved\n"), h.write("patched.txt", "saved\n")
	e := h.open(`{"fs":{"readTextFile":true,"writeTextFile":true}}`)
	b := &buffers{texts: map[string]string{clean: "a\nb\n", open: "unsaved\n", patched: "unsaved\n"}, save: true}
	b.serve(e)
	e.prompt(e.session(), "go")
	if strings.Join(b.writes, " ") != open+" "+patched {
		t.Errorf("the editor wrote %v", b.writes)
	}
	if h.read("clean.txt") != "new\r\n" || h.read("open.txt") != "whole\n" || h.read("patched.txt") != "patched\n" {
		t.Errorf("%q %q %q", h.read("clean.txt"), h.read("open.txt"), h.read("patched.txt"))
	}
}

// Rules come before the editor: a denied file is neither read from it nor written by it.
func TestBuffers_RulesFirst(t *testing.T) {
	t.Parallel()
	h := newHome(t, readAndEdit, `"permission":{"read":{"*a.txt":"deny"},"edit":{"*a.txt":"deny"}},`)
	path := h.write("a.txt", "saved\n")
	e := h.open(`{"fs":{"readTextFile":true,"writeTextFile":true}}`)
	b := &buffers{texts: map[string]string{path: "unsaved\n"}, save: true}
	b.serve(e)
	e.prompt(e.session(), "go")
	if strings.Contains(h.lastRequest(), "1: unsaved") || len(b.writes) > 0 || h.read("a.txt") != "saved\n" {
		t.Errorf("the editor was asked in spite of the rules: %v", b.writes)
	}
}

// Another session, even on the same engine, sees the disk.
func TestBuffers_OnlyOwnSession(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
call read {"filePath":"a.txt"}
finish tool-calls
--
text "ok"
finish stop
`, "")
	path := h.write("a.txt", "saved\n")
	first := h.open(`{"fs":{"readTextFile":true,"writeTextFile":true}}`)
	b := &buffers{texts: map[string]string{path: "unsaved\n"}}
	b.serve(first)
	first.session()
	second := h.open(`{}`)
	second.prompt(second.session(), "go")
	if r := second.one("read"); !strings.Contains(r.Content[0].Content.Text, "1: saved") {
		t.Errorf("read %s", r.Content[0].Content.Text)
	}
}

// A mentioned file with unsaved changes is sent as it stands in the editor.
func TestBuffers_Mention(t *testing.T) {
	t.Parallel()
	h := newHome(t, "text \"ok\"\nfinish stop\n", "")
	path := h.write("a.txt", "saved\n")
	e := h.open(`{"fs":{"readTextFile":true}}`)
	b := &buffers{texts: map[string]string{path: "FIRST\nSECOND\nTHIRD\n"}}
	b.serve(e)
	e.Must("session/prompt", map[string]any{"sessionId": e.session(), "prompt": []any{
		map[string]string{"type": "text", "text": "look at "},
		map[string]string{"type": "resource_link", "name": "a.txt", "uri": "file://" + path + "#L2-3"},
	}}, nil)
	if r := h.lastRequest(); !strings.Contains(r, `SECOND\nTHIRD`) || strings.Contains(r, `FIRST`) || strings.Contains(r, `1: saved`) {
		t.Errorf("the model was told: %s", r)
	}
}
