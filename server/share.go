package server

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server/webpage"
	"github.com/lathe-agent/lathe/web"
	"github.com/lathe-agent/lathe/workspace"
)

// A share is a page of this server at a URL that cannot be guessed: its last part is a secret, which
// is stored only in the session's record. The server renders the conversation for clients without scripts; the renderer of the
// web app draws it and follows it while the session runs. Nothing there reads or sets a cookie. It is gone when the record has no
// share or the time in its URL is over.

const cssType = "text/css; charset=utf-8"

// shareAPI shares sessions and serves the pages of shares.
type shareAPI struct {
	engine   Engine
	settings ConfigStore
	streams  *streamAPI
}

// routes are those that create shares, and the public ones that need no password.
func (a shareAPI) routes() []row {
	missing := []failure{failsBad, failsMissing}
	return []row{
		answer(route("POST /session/{sessionID}/share", "session.share", "session", mayAll,
			"Share the session with everyone who has its URL; expires=7d ends the share automatically", missing, in(atPlaceOr)), ofSession(a.share)),
		answer(route("DELETE /session/{sessionID}/share", "session.unshare", "session", mayAll, "Stop sharing the session", missing), ofSession(a.unshare)),
		raw(route("GET /share/page.css", "lathe.share.style", "lathe", anyone, "Get the style of a share without scripts", nil, withoutDirectory),
			cssType, func(c *call, _ none) error { return c.w.page(cssType, []byte(webpage.Style())) }),
		raw(route("GET /share/{sessionID}/{secret}", "lathe.share.page", "lathe", anyone,
			"Read a shared session as a page", missing, withoutDirectory), "text/html; charset=utf-8", func(c *call, _ none) error {
			return a.sharePage(c)
		}),
		answer(route("GET /share/{sessionID}/{secret}/data", "lathe.share.data", "lathe", anyone,
			"Read a shared session as JSON", missing, withoutDirectory), a.shareData),
		raw(route("GET /share/{sessionID}/{secret}/event", "lathe.share.event", "lathe", anyone,
			"Follow a shared session", missing, withoutDirectory), "text/event-stream", a.shareEvents),
	}
}

// page writes a part of the page, which may load its own script and style and nothing else.
func (w *writer) page(media string, data []byte) error {
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	w.whole(http.StatusOK, data)
	return nil
}

// share gives a session its URL. A shared session keeps its URL.
func (a shareAPI) share(c *call, rec lathe.Session, q shareQuery, _ none) (lathe.Session, error) {
	lasts, err := lathe.ParseDuration(q.Expires)
	if err != nil {
		return rec, badRequest("Query", "expires: %v", err)
	}
	at, _, err := c.placeOf(rec.Directory)
	if err == nil {
		var off bool
		if off, err = a.shareMode(c, at, "disabled"); off {
			err = lathe.Errorf(lathe.Denied, "sharing is disabled in the config (share)")
		}
	}
	if err != nil {
		return rec, &problem{status: http.StatusInternalServerError, body: taggedBody{Tag: "InternalServerError"}, cause: err}
	}
	return a.publish(c, rec, lasts)
}

type shareQuery struct {
	Expires string `query:"expires"`
}

// shareMode reports whether the config sets this mode of sharing.
func (a shareAPI) shareMode(c *call, at workspace.Place, mode string) (bool, error) {
	l, err := a.settings.Config(c.Context(), at)
	if err != nil {
		return false, err
	}
	return l.Config.Share == mode, nil
}

// shareNew shares a new session if the config says so. An invalid config is reported elsewhere.
func (a shareAPI) shareNew(c *call, at workspace.Place, rec lathe.Session) (lathe.Session, error) {
	if rec.Parent != "" { // child sessions are not shared on their own
		return rec, nil
	}
	if auto, err := a.shareMode(c, at, "auto"); err != nil || !auto {
		return rec, nil
	}
	return a.publish(c, rec, 0)
}

// publish gives a session a URL with a lifetime, unlimited if it is 0. A shared session keeps its URL, with the new
// lifetime.
func (a shareAPI) publish(c *call, rec lathe.Session, lasts time.Duration) (lathe.Session, error) {
	if rec.Share != nil && !rec.Share.Expired(time.Now()) && lasts == 0 {
		return rec, nil
	}
	to := c.server.options.Pairing.address(c.Request)
	if old := rec.Share; old != nil && !old.Expired(time.Now()) {
		if u, err := url.Parse(old.URL); err == nil {
			to.Path = u.Path
		}
	}
	if to.Path == "" {
		var secret [24]byte
		_, _ = rand.Read(secret[:]) // it never fails
		to.Path = path.Join("/share", string(rec.ID), base64.RawURLEncoding.EncodeToString(secret[:]))
	}
	share := lathe.Share{URL: to.String()}
	if lasts > 0 {
		share = share.WithExpiry(time.Now().Add(lasts))
	}
	return a.engine.Update(c.Context(), rec.ID, lathe.Edit{Share: lathe.Some(&share)})
}

func (a shareAPI) unshare(c *call, rec lathe.Session, _, _ none) (lathe.Session, error) {
	return a.engine.Update(c.Context(), rec.ID, lathe.Edit{Share: lathe.Some[*lathe.Share](nil)})
}

// findShared returns the session of the path if its secret is right. The error gives no reason.
func (a shareAPI) findShared(c *call) (lathe.Session, error) {
	id, err := c.sessionID()
	if err == nil {
		var rec lathe.Session
		if rec, err = a.engine.Get(c.Context(), id); err == nil && matchesSecret(rec, c.PathValue("secret")) {
			return rec, nil
		}
	}
	if code := lathe.CodeOf(err); err != nil && code != lathe.NotFound && !isProblem(err) {
		return lathe.Session{}, err
	}
	return lathe.Session{}, notFound("Share not found; it may have been revoked or have expired")
}

// matchesSecret compares the secret of a share in constant time.
func matchesSecret(rec lathe.Session, secret string) bool {
	if rec.Share == nil || rec.Share.Expired(time.Now()) {
		return false
	}
	u, err := url.Parse(rec.Share.URL)
	if err != nil {
		return false
	}
	want := path.Base(u.Path)
	return len(want) >= 32 && subtle.ConstantTimeCompare([]byte(want), []byte(secret)) == 1
}

type shareReply struct {
	Title    string          `json:"title"`
	Session  lathe.SessionID `json:"sessionID"`
	Created  lathe.Time      `json:"created"`
	Status   lathe.Status    `json:"status"`
	Cursor   string          `json:"cursor" doc:"where its event stream goes on"`
	Messages messages        `json:"messages"`
}

// sharePage is the conversation as HTML.
func (a shareAPI) sharePage(c *call) error {
	rec, err := a.findShared(c)
	if err != nil {
		return err
	}
	all, err := a.engine.Messages(c.Context(), rec.ID, lathe.Position{}, 0)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	p := webpage.Shared(&out, rec, webpage.App{Script: web.Asset("share", ".js"), Style: web.Asset("style", ".css")}, time.UTC)
	if err := cmp.Or(p.Messages(all.Messages), p.End()); err != nil {
		return err
	}
	return c.w.page("text/html; charset=utf-8", out.Bytes())
}

// shareData is the conversation; of the record only what the page shows.
func (a shareAPI) shareData(c *call, _, _ none) (shareReply, error) {
	rec, err := a.findShared(c)
	if err != nil {
		return shareReply{}, err
	}
	cursor, err := a.now(c, lathe.Scope{Session: rec.ID})
	if err != nil {
		return shareReply{}, err
	}
	page, err := a.engine.Messages(c.Context(), rec.ID, lathe.Position{}, 0)
	if err != nil {
		return shareReply{}, err
	}
	status := lathe.Status{Type: lathe.Idle}
	all, err := a.engine.Statuses(c.Context(), lathe.Scope{Session: rec.ID})
	if busy, ok := all[rec.ID]; ok {
		status = busy
	}
	h := c.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	return shareReply{
		Title: rec.Title, Session: rec.ID, Created: rec.Created, Status: status, Cursor: cursor, Messages: append(messages{}, page.Messages...),
	}, err
}

// now is the cursor of this moment.
func (a shareAPI) now(c *call, scope lathe.Scope) (string, error) {
	for ev, err := range a.engine.Follow(c.Context(), scope, lathe.Opt[lathe.Cursor]{}, func() {}) {
		if err != nil {
			return "", err
		}
		return lathe.Cursor{Seq: ev.Seq, Feed: a.engine.Feed()}.String(), nil
	}
	return "", lathe.Errorf(lathe.Unavailable, "the server is shutting down")
}

// shareEvents streams the conversation until the share ends.
func (a shareAPI) shareEvents(c *call, q streamQuery) error {
	rec, err := a.findShared(c)
	if err != nil {
		return err
	}
	secret := c.PathValue("secret")
	return a.streams.stream(c, q, streamScope{scope: lathe.Scope{Session: rec.ID, Directory: rec.Directory}, filter: func(f lathe.Fact) (send, more bool) {
		if rec.Share.Expired(time.Now()) {
			return false, false
		}
		switch f := f.(type) {
		case *lathe.SessionChanged:
			rec = f.Info
			return false, matchesSecret(rec, secret)
		case *lathe.SessionDeleted:
			return false, false
		case *lathe.MessageChanged, *lathe.MessageRemoved, *lathe.PartChanged, *lathe.PartRemoved, *lathe.PartDelta,
			*lathe.StatusChanged, *lathe.SessionIdle, *lathe.TodosChanged,
			*lathe.ServerConnected, *lathe.ServerHeartbeat, *lathe.ServerResync:
			return true, true
		default:
			return false, true
		}
	}})
}
