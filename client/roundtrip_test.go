package client_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/server/servertest"
)

// observer is an engine that notes what a server asks of it.
type observer struct {
	servertest.Backend
	got any
}

func (w *observer) Create(ctx context.Context, dir string, in lathe.NewSession) (lathe.Session, error) {
	w.got = in
	return w.Backend.Create(ctx, dir, in)
}

func (w *observer) Submit(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Message, error) {
	w.got = p
	return w.Backend.Submit(ctx, id, p)
}

func (w *observer) Command(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (lathe.Message, error) {
	w.got = call
	return w.Backend.Command(ctx, id, call)
}

func (w *observer) Shell(ctx context.Context, id lathe.SessionID, in lathe.ShellCommand) (lathe.Message, error) {
	w.got = in
	return w.Backend.Shell(ctx, id, in)
}

func (w *observer) Compact(ctx context.Context, id lathe.SessionID, req lathe.CompactRequest) error {
	w.got = req
	return w.Backend.Compact(ctx, id, req)
}

func (w *observer) Undo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	w.got = u
	return w.Backend.Undo(ctx, id, u)
}

func (w *observer) Search(ctx context.Context, q lathe.SearchQuery) (lathe.SearchResult, error) {
	w.got = q
	return w.Backend.Search(ctx, q)
}

// What a caller gives a client arrives at the engine whole: every field of every request is set, and none is lost
// on the way. A field that is added and forgotten somewhere fails here.
func TestClient_RequestsArriveWhole(t *testing.T) {
	w := begin(t, "")
	seen := &observer{Backend: servertest.Backend{Engine: w.engine}}
	b, terminals := newBackend(w)
	defer terminals.Close()
	b.Engine = seen
	s := newServerOn(w, b, "")
	defer s.Close()
	h := httptest.NewServer(s)
	defer h.Close()
	c, err := client.New(h.URL, client.Options{Directory: w.dir})
	w.ok(err)
	ctx, ids := t.Context(), lathe.NewIDs()
	parent, err := c.Create(ctx, "", lathe.NewSession{})
	w.ok(err)
	model := &lathe.ModelRef{Provider: "test", Model: "big"}
	parts := []lathe.Part{{ID: ids.Part(), Body: &lathe.Text{Text: "hi"}}, {Body: &lathe.File{Mime: "text/plain", URL: "data:text/plain,x"}}}
	for _, tt := range []struct {
		sent any
		own  []string // a field that no request has
	}{
		{sent: lathe.NewSession{
			Parent: parent.ID, Title: "t", Rules: lathe.Ruleset{{Permission: "bash", Pattern: "*", Action: lathe.Deny}}, Agent: "build",
			Model: &lathe.SessionModel{ID: "big", Provider: "test"}, Metadata: json.RawMessage(`{"a":1}`), Workspace: "wrk_1",
		}, own: []string{"ID"}},
		{sent: lathe.Prompt{
			ID: ids.Message(), Agent: "build", Model: model, Variant: "high", System: "Be brief.", Tools: map[string]bool{"look": false},
			Format: json.RawMessage(`{"type":"text"}`), Delivery: lathe.Queue, NoReply: true, Parts: parts,
		}},
		{sent: lathe.CommandCall{Command: "none", Arguments: "a b", Message: ids.Message(), Agent: "build", Model: model, Variant: "high", Parts: parts[1:]}},
		{sent: lathe.ShellCommand{Message: ids.Message(), Agent: "build", Model: model, Command: "true"}, own: []string{"Local"}},
		{sent: lathe.CompactRequest{Model: model, Auto: true}},
		{sent: lathe.SearchQuery{
			Text: `"a b" c*`, Typing: true, Session: parent.ID, Project: "prj", Path: "pkg/sub", Model: "test/big", Tool: "look", Since: 7, Limit: 3, Cursor: "1z",
		}},
		{sent: lathe.Undo{Message: ids.Message(), Part: ids.Part(), All: true, DryRun: true}},
	} {
		everyFieldSet(t, tt.sent, tt.own)
		seen.got = nil
		switch v := tt.sent.(type) { // what the engine says to it is for other tests
		case lathe.NewSession:
			_, _ = c.Create(ctx, "", v)
		case lathe.Prompt:
			_, _ = c.Submit(ctx, parent.ID, v)
		case lathe.CommandCall:
			_, _ = c.Command(ctx, parent.ID, v)
		case lathe.ShellCommand:
			v.Local = true // which a client cannot say
			_, _ = c.Shell(ctx, parent.ID, v)
		case lathe.CompactRequest:
			_ = c.Compact(ctx, parent.ID, v)
		case lathe.SearchQuery:
			_, _ = c.Search(ctx, v)
		case lathe.Undo:
			_, _ = c.Undo(ctx, parent.ID, v)
		}
		if !reflect.DeepEqual(seen.got, tt.sent) {
			t.Errorf("sent %+v\narrived as %+v", tt.sent, seen.got)
		}
	}
}

func everyFieldSet(t *testing.T, v any, own []string) {
	t.Helper()
	r := reflect.ValueOf(v)
	for i := range r.NumField() {
		name := r.Type().Field(i).Name
		if isOwn := len(own) > 0 && own[0] == name; r.Field(i).IsZero() != isOwn {
			t.Fatalf("%T.%s: set it here, so that it is seen to arrive", v, name)
		}
	}
}
