package server

import (
	"net/http"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/web"
)

// pageAPI serves the web app. It holds no data, so that it needs no credentials: the app asks for them.
type pageAPI struct{}

func (a pageAPI) routes() []row {
	file := func(path, name, summary string) row {
		return raw(route("GET "+path, name, "lathe", anyone, summary, []failure{failsMissing}, withoutDirectory, withoutCompression), "", sendFile)
	}
	page := file("/", "lathe.page", "Get the web app, unless the client asks for JSON")
	page.media = "text/html"
	page.run = a.sendPage
	return []row{
		page,
		file("/assets/{file}", "lathe.page.asset", "Get a script or style of the web app"),
		file("/sw.js", "lathe.page.worker", "Get the service worker of the web app"),
		file("/manifest.webmanifest", "lathe.page.manifest", "Get the manifest of the web app"),
		file("/icon.svg", "lathe.page.icon", "Get the icon of the web app"),
		file("/icon-192.png", "lathe.page.icon192", "Get the icon of the web app in 192 pixels"),
		file("/icon-512.png", "lathe.page.icon512", "Get the icon of the web app in 512 pixels"),
	}
}

// sendPage sends the app to everyone who does not ask for JSON, as OpenCode does. Clients of the API get what every
// unknown path has: for them / is no route.
func (pageAPI) sendPage(c *call) error {
	c.w.Header().Add("Vary", "Accept")
	if wantsPage(c.Request) {
		return sendFile(c, none{})
	}
	if err := c.server.identify(c); err != nil {
		return err
	}
	return unknownRoute(c)
}

// wantsPage reports whether a client reads HTML: it says so, or it takes anything and does not show that it is a client
// of the API.
func wantsPage(r *http.Request) bool {
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	switch {
	case strings.Contains(accept, "text/html"):
		return true
	case r.Header.Get("X-Opencode-Directory") != "", strings.Contains(accept, "json"), strings.Contains(accept, "event-stream"):
		return false
	}
	return accept == "" || strings.Contains(accept, "*/*") || strings.Contains(accept, "text/*")
}

func unknownRoute(c *call) error {
	return notFound("Route %s %s not found; GET /doc lists all routes", c.Method, phrase.Shorten(c.URL.Path, 200))
}

// sendFile sends a file of the app in the smallest form that the client reads.
func sendFile(c *call, _ none) error {
	f, ok := web.Open(c.URL.Path)
	if !ok {
		return unknownRoute(c)
	}
	h := c.w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("ETag", f.ETag)
	h.Set("Content-Security-Policy", web.Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(self), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-cache")
	if f.Immutable {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Add("Vary", "Accept-Encoding")
	if c.Header.Get("If-None-Match") == f.ETag {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	body := f.Body
	switch {
	case f.Brotli != nil && accepts(c.Request, "br"):
		h.Set("Content-Encoding", "br")
		body = f.Brotli
	case f.Gzip != nil && accepts(c.Request, "gzip"):
		h.Set("Content-Encoding", "gzip")
		body = f.Gzip
	}
	c.w.whole(http.StatusOK, body)
	return nil
}
