package engine_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/prompt"
)

// Of an attachment that becomes several files each stays, also where the client has given the part
// its id, as the reference's does.
func TestExpand_FilesOfOnePart(t *testing.T) {
	d := newDesk(t, "")
	d.resource = func(context.Context, string, string) ([]prompt.Resource, error) {
		return []prompt.Resource{{URI: "a.png", Mime: "image/png", Blob: []byte("one")}, {URI: "b.png", Mime: "image/png", Blob: []byte("two")}}, nil
	}
	var part lathe.Part
	d.ok(json.Unmarshal([]byte(`{"id":"prt_own","type":"file","mime":"text/plain","filename":"docs","url":"docs://a",
		"source":{"type":"resource","clientName":"docs","uri":"docs://a","text":{"value":"@docs","start":0,"end":5}}}`), &part))
	m, err := d.Submit(t.Context(), d.session, lathe.Prompt{NoReply: true, Parts: []lathe.Part{part}})
	d.ok(err)
	var files []string
	for _, p := range m.Parts {
		if f, ok := p.Body.(*lathe.File); ok {
			name := f.Filename
			if p.ID == "prt_own" {
				name += " by its own id"
			}
			files = append(files, name)
		}
	}
	if len(files) != 3 || files[0] != "a.png" || files[1] != "b.png" || files[2] != "docs by its own id" {
		t.Errorf("the prompt holds the files %q", files)
	}
}
