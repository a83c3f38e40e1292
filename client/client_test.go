package client_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/server"
)

func text(words string) lathe.Prompt {
	return lathe.Prompt{Parts: []lathe.Part{{Body: &lathe.Text{Text: words}}}}
}

func TestClient_Sessions(t *testing.T) {
	w := begin(t, "")
	c, ctx := w.dial(), t.Context()
	version, err := c.Health(ctx)
	w.ok(err)
	at, err := c.Location(ctx, "")
	w.ok(err)
	if version != "1.2.3" || at.Directory != w.dir || at.Project == "" {
		t.Errorf("version %q at %+v", version, at)
	}
	first, err := c.Create(ctx, "", lathe.NewSession{Title: "first", Rules: lathe.Ruleset{{Permission: "bash", Pattern: "*", Action: lathe.Deny}}})
	w.ok(err)
	child, err := c.Create(ctx, "", lathe.NewSession{Title: "below", Parent: first.ID})
	w.ok(err)
	renamed, err := c.Rename(ctx, first.ID, "other")
	w.ok(err)
	children, err := c.Children(ctx, first.ID)
	w.ok(err)
	if first.Directory != w.dir || len(first.Rules) != 1 || renamed.Title != "other" || len(children) != 1 || children[0].ID != child.ID {
		t.Errorf("first %+v, renamed %q, children %+v", first, renamed.Title, children)
	}
	copied, err := c.Fork(ctx, "", first.ID, "")
	w.ok(err)
	shared, err := c.Share(ctx, copied.ID)
	w.ok(err)
	unshared, err := c.Unshare(ctx, copied.ID)
	w.ok(err)
	if shared.Share == nil || unshared.Share != nil {
		t.Errorf("shared at %v, then %v", shared.Share, unshared.Share)
	}
	now := lathe.Now()
	archived, err := c.Archive(ctx, copied.ID, &now)
	w.ok(err)
	if archived.Archived == nil {
		t.Error("it is not archived")
	}
	titles(w, c, "other", lathe.Query{Roots: true})
	titles(w, c, "other (fork #1)", lathe.Query{Archived: lathe.OnlyArchived})
	titles(w, c, "below", lathe.Query{Parent: first.ID})
	titles(w, c, "", lathe.Query{Project: "another"})
	titles(w, c, "other", lathe.Query{Project: first.Project, Path: strings.Trim(filepath.ToSlash(w.dir), "/"), Roots: true})
	titles(w, c, "", lathe.Query{Path: "somewhere/else"})
	if back, err := c.Archive(ctx, copied.ID, nil); err != nil || back.Archived != nil {
		t.Errorf("back: %v, %v", back.Archived, err)
	}
	w.ok(c.Remove(ctx, first.ID))
	if _, err := c.Get(ctx, child.ID); lathe.CodeOf(err) != lathe.NotFound {
		t.Errorf("what was deleted: %v", err)
	}
}

// titles holds what a query finds.
func titles(w *fixture, c *client.Client, want string, q lathe.Query) {
	w.Helper()
	all, err := c.List(w.Context(), q)
	w.ok(err)
	var got []string
	for _, s := range all {
		got = append(got, s.Title)
		if s.Extra != "" {
			w.Errorf("a record came with %s", s.Extra)
		}
	}
	if strings.Join(got, ", ") != want {
		w.Errorf("%+v finds %q, not %q", q, got, want)
	}
}

// TestClient_ListsMoreThanAPage makes more sessions of one instant than a page holds.
func TestClient_ListsMoreThanAPage(t *testing.T) {
	w := begin(t, "")
	const many = 1203
	for range many {
		_, err := w.engine.Create(t.Context(), w.dir, engineNew)
		w.ok(err)
	}
	all, err := w.dial().List(t.Context(), lathe.Query{})
	w.ok(err)
	seen := map[lathe.SessionID]bool{}
	for _, s := range all {
		seen[s.ID] = true
	}
	if len(all) != many || len(seen) != many {
		t.Errorf("listed %d, %d of them different", len(all), len(seen))
	}
	if some, err := w.dial().List(t.Context(), lathe.Query{Limit: 7}); err != nil || len(some) != 7 {
		t.Errorf("of seven: %d, %v", len(some), err)
	}
}

func TestClient_Turns(t *testing.T) {
	w := begin(t, `
text "One."
finish stop
--
text "Two."
finish stop
--
text "In short."
finish stop
`)
	c, ctx := w.dial(), t.Context()
	s, err := c.Create(ctx, "", lathe.NewSession{Title: "t"})
	w.ok(err)
	answer, err := c.Prompt(ctx, s.ID, text("first"))
	w.ok(err)
	if got := answer.Parts[1].Body.(*lathe.Text).Text; got != "One." {
		t.Errorf("answered %q", got)
	}
	sent, err := c.Submit(ctx, s.ID, lathe.Prompt{ID: lathe.NewIDs().Message(), Agent: "build", Model: &lathe.ModelRef{Provider: "test", Model: "big"}, Parts: text("second").Parts})
	w.ok(err)
	if answer, err = c.Wait(ctx, s.ID); err != nil || answer.Data.(*lathe.Assistant).Parent != sent.ID {
		t.Errorf("waited for %v (%v), sent %s", answer.ID, err, sent.ID)
	}
	page, err := c.Messages(ctx, s.ID, lathe.Position{}, 3)
	w.ok(err)
	older, err := c.Messages(ctx, s.ID, page.Next, 3)
	w.ok(err)
	if len(page.Messages) != 3 || len(older.Messages) != 1 || older.More {
		t.Errorf("pages of %d and %d, then %q", len(page.Messages), len(older.Messages), older.Next.ID)
	}
	one, err := c.Message(ctx, s.ID, sent.ID)
	w.ok(err)
	if one.ID != sent.ID || len(one.Parts) != 1 {
		t.Errorf("got %+v", one)
	}
	undone, err := c.Undo(ctx, s.ID, lathe.Undo{Message: sent.ID})
	w.ok(err)
	if undone.Session.Revert == nil || undone.Message != sent.ID {
		t.Errorf("undone %+v", undone)
	}
	redone, err := c.Redo(ctx, s.ID, lathe.Undo{})
	w.ok(err)
	if redone.Session.Revert != nil {
		t.Errorf("redone %v", redone.Session.Revert)
	}
	todos, err := c.Todos(ctx, s.ID)
	w.ok(err)
	diffs, err := c.Diff(ctx, s.ID, "")
	w.ok(err)
	cut, err := c.Interrupted(ctx)
	w.ok(err)
	if len(todos)+len(diffs)+len(cut) != 0 {
		t.Errorf("todos %v, diffs %v, cut off %v", todos, diffs, cut)
	}
	if _, err := c.Command(ctx, s.ID, lathe.CommandCall{Command: "nonesuch"}); err == nil || !strings.Contains(err.Error(), "Command not found") {
		t.Errorf("a command that is none: %v", err)
	}
	w.ok(c.Compact(ctx, s.ID, lathe.CompactRequest{Model: &lathe.ModelRef{Provider: "test", Model: "big"}}))
	page, err = c.Messages(ctx, s.ID, lathe.Position{}, 0)
	w.ok(err)
	if last := page.Messages[len(page.Messages)-1]; !last.Data.(*lathe.Assistant).Summary.On() {
		t.Errorf("compressed to %+v", last)
	}
}

func TestClient_AnswersAndCancels(t *testing.T) {
	w := begin(t, `
call ask {"permission":"look","patterns":["x"]}
finish tool-calls
--
text "Done."
finish stop
--
call ask {"permission":"look","patterns":["y"]}
finish tool-calls
`)
	c := w.dial()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	s, err := c.Create(ctx, "", lathe.NewSession{Title: "t"})
	w.ok(err)
	answered := 0
	for ev, err := range c.Events(ctx, lathe.Scope{Session: s.ID}, lathe.Opt[lathe.Cursor]{}) {
		w.ok(err)
		switch f := ev.Fact.(type) {
		case *lathe.ServerConnected:
			_, err := c.Submit(ctx, s.ID, text("look"))
			w.ok(err)
		case *lathe.PermissionAsked:
			waiting, err := c.Asks(ctx, lathe.Scope{})
			w.ok(err)
			if len(waiting) != 1 || waiting[0].(*lathe.PermissionAsked).ID != f.ID {
				t.Errorf("%d wait", len(waiting))
			}
			if answered++; answered == 2 {
				w.ok(c.Cancel(ctx, s.ID))
				continue
			}
			w.ok(c.Reply(ctx, f.ID, lathe.Once, ""))
			if err := c.Reply(ctx, f.ID, lathe.Once, ""); lathe.CodeOf(err) != lathe.NotFound {
				t.Errorf("answered twice: %v", err)
			}
		case *lathe.SessionIdle:
			if answered == 2 {
				return
			}
			_, err := c.Submit(ctx, s.ID, text("again"))
			w.ok(err)
		}
	}
	t.Error("the stream ended")
}

func TestClient_Socket(t *testing.T) {
	w := begin(t, "")
	path := filepath.Join(t.TempDir(), "s")
	l, err := server.ListenSocket(t.Context(), path)
	if err != nil {
		t.Skip("no unix sockets here:", err)
	}
	s, terminals := newServer(w, password)
	h := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = h.Serve(l) }()
	t.Cleanup(func() {
		_ = h.Close()
		_ = terminals.Close()
	})
	c, err := client.New("unix://"+path, client.Options{Password: password})
	w.ok(err)
	if version, err := c.Health(t.Context()); err != nil || version != "1.2.3" || !c.IsLocal() {
		t.Errorf("over a socket: %q, %v", version, err)
	}
}

func TestClient_TLS(t *testing.T) {
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"healthy":true,"version":"s"}`)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	defer h.Close()
	c, err := client.New(h.URL, client.Options{TLS: h.Client().Transport.(*http.Transport).TLSClientConfig})
	if err != nil {
		t.Fatal(err)
	}
	if version, err := c.Health(t.Context()); err != nil || version != "s" {
		t.Errorf("over TLS: %q, %v", version, err)
	}
	c, _ = client.New(h.URL, client.Options{})
	if _, err := c.Health(t.Context()); lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("with a certificate that nobody signed: %v", err)
	}
}

// TestClient_Refusals holds what becomes of answers that are none.
func TestClient_Refusals(t *testing.T) {
	for name, one := range map[string]struct {
		status     int
		body, says string
		code       lathe.Code
	}{
		"first family":  {404, `{"name":"NotFoundError","data":{"message":"Session not found: x"}}`, "Session not found: x", lathe.NotFound},
		"second family": {409, `{"_tag":"SessionBusyError","sessionID":"s","message":"Session is busy: s"}`, "Session is busy: s", lathe.Conflict},
		"only a tag":    {400, `{"_tag":"BadRequest"}`, "rejected the request as invalid", lathe.Invalid},
		"no password":   {401, ``, "LATHE_SERVER_PASSWORD", lathe.Unauthorized},
		"forbidden":     {403, `{"name":"ForbiddenError","data":{"message":"not known as x"}}`, "not known as x", lathe.Denied},
		"a page":        {502, `<html>bad gateway`, "502 Bad Gateway", lathe.Unavailable},
		"too many":      {429, `{}`, "429", lathe.Limited},
		"elsewhere":     {302, ``, "redirects to", lathe.Invalid},
		"ours":          {500, `{"name":"UnknownError","data":{"message":"its log says why","ref":"err_1"}}`, "its log says why", lathe.Internal},
		"no JSON":       {200, `<html>welcome`, "check the address", lathe.Invalid},
		"truncated":     {200, `{"healthy":tr`, "check the address", lathe.Invalid},
		"huge":          {200, `{"version":"` + strings.Repeat("x", 2000) + `"}`, "longer than", lathe.Overflow},
	} {
		t.Run(name, func(t *testing.T) {
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if one.status == 302 {
					w.Header().Set("Location", "http://elsewhere.invalid/")
				}
				w.WriteHeader(one.status)
				_, _ = io.WriteString(w, one.body)
			}))
			defer h.Close()
			c, err := client.New(strings.Replace(h.URL, "//", "//name:secret@", 1), client.Options{MaxBody: 1000})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Health(t.Context())
			if lathe.CodeOf(err) != one.code || !strings.Contains(fmt.Sprint(err), one.says) {
				t.Errorf("%v (%s), not %q (%s)", err, lathe.CodeOf(err), one.says, one.code)
			}
			if strings.Contains(fmt.Sprint(err), "secret") || strings.Contains(c.Address(), "secret") {
				t.Errorf("the password is told: %v", err)
			}
		})
	}
}

func TestClient_SlowAndCut(t *testing.T) {
	quiet := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/todo") { // says how much comes, and breaks off
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "[")
			panic(http.ErrAbortHandler)
		}
		<-quiet
	}))
	defer h.Close()
	defer close(quiet)
	c, _ := client.New(h.URL, client.Options{Timeout: 50 * time.Millisecond})
	if _, err := c.Health(t.Context()); lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "did not answer within 50ms") {
		t.Errorf("slow: %v", err)
	}
	if _, err := c.Todos(t.Context(), "ses_x"); lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("cut: %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if _, err := c.Prompt(ctx, "ses_x", text("x")); lathe.CodeOf(err) != lathe.Canceled { // it has no deadline of its own
		t.Errorf("a prompt: %v", err)
	}
}

func TestNew_Addresses(t *testing.T) {
	for _, bad := range []string{"", "localhost:4096", "ftp://x", "http://", "unix://", "unix://host/path", "http://x\n"} {
		if _, err := client.New(bad, client.Options{}); lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for address, local := range map[string]bool{"http://localhost:1": true, "http://[::1]:1/": true, "https://example.org/lathe/": false, "unix:///run/s": true} {
		if c, err := client.New(address, client.Options{}); err != nil || c.IsLocal() != local {
			t.Errorf("%s: %v", address, err)
		}
	}
}
