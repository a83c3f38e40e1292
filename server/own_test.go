package server_test

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/server"
)

// Undo undoes from a message; what is meant without one is for the program to find out.
func (b backend) Undo(ctx context.Context, id lathe.SessionID, u server.Undo) (server.Undone, error) {
	if u.Message == "" {
		return server.Undone{}, lathe.Errorf(lathe.NotFound, "there is nothing to undo in %s", id)
	}
	done, err := b.Engine.Revert(ctx, id, engine.Undo{Message: u.Message, Part: u.Part, DryRun: u.DryRun})
	out := server.Undone{Message: u.Message, Session: done.Session}
	for _, c := range done.Changes {
		out.Files = append(out.Files, server.UndoneFile{File: filepath.ToSlash(c.Path), Action: "restore", Conflict: c.Conflict, Note: c.Note})
	}
	return out, err
}

func (b backend) Redo(ctx context.Context, id lathe.SessionID, u server.Undo) (server.Undone, error) {
	done, err := b.Engine.Unrevert(ctx, id, engine.Redo{DryRun: u.DryRun})
	return server.Undone{Session: done.Session}, err
}

func (b backend) Interrupted(ctx context.Context) (ids []lathe.SessionID, err error) {
	all, err := b.Interruptions(ctx)
	for _, i := range all {
		ids = append(ids, i.Session)
	}
	return ids, err
}

func TestOwn_UndoTellsWhatItDid(t *testing.T) {
	w := begin(t, "text \"Hi.\"\nfinish stop\n")
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"t"}`)
	var prompt, answer lathe.Message
	w.want(http.StatusOK, &prompt, "POST", "/lathe/session/"+string(s.ID)+"/prompt", `{"parts":[{"type":"text","text":"hello"}]}`)
	w.want(http.StatusOK, &answer, "POST", "/lathe/session/"+string(s.ID)+"/wait", "")
	if _, ok := prompt.Said.(*lathe.User); !ok || answer.Session != s.ID {
		t.Errorf("sent %v, answered %v", prompt.ID, answer.ID)
	}
	undo := "/lathe/session/" + string(s.ID) + "/undo"
	var out server.Undone
	w.want(http.StatusOK, &out, "POST", undo, `{"messageID":"`+string(prompt.ID)+`","dryRun":true}`)
	if out.Session.Revert != nil || out.Files == nil {
		t.Errorf("a dry run left %+v", out)
	}
	w.want(http.StatusOK, &out, "POST", undo, `{"messageID":"`+string(prompt.ID)+`"}`)
	if out.Message != prompt.ID || out.Session.Revert == nil || out.Session.Revert.Message != prompt.ID {
		t.Errorf("undone is %+v", out)
	}
	w.want(http.StatusOK, &out, "POST", "/lathe/session/"+string(s.ID)+"/redo", `{}`)
	if out.Session.Revert != nil {
		t.Errorf("redone is %+v", out.Session.Revert)
	}
	for path, body := range map[string]string{undo: `{"messageID":"prt_x"}`, "/lathe/session/ses_x/undo": `{"partID":"x"}`} {
		if a := w.ask("POST", path, body); a.StatusCode != http.StatusBadRequest && a.StatusCode != http.StatusNotFound {
			t.Errorf("%s %s: status %d", path, body, a.StatusCode)
		}
	}
}

func TestOwn_UnarchiveAndInterrupted(t *testing.T) {
	w := begin(t, "")
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{}`)
	w.want(http.StatusOK, &s, "PATCH", "/session/"+string(s.ID), `{"time":{"archived":7}}`)
	if s.Archived == nil {
		t.Fatal("it is not archived")
	}
	var back lathe.Session
	w.want(http.StatusOK, &back, "POST", "/lathe/session/"+string(s.ID)+"/unarchive", "")
	if back.Archived != nil {
		t.Errorf("it is archived at %v", *back.Archived)
	}
	w.want(http.StatusOK, nil, "GET", "/lathe/interrupted", "").is(w, "[]")
}
