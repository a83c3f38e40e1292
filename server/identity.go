package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server/device"
)

// A paired browser has a cookie instead of the password. Browsers send cookies with every request to a host, whoever
// caused it, so a cookie counts only in requests of our own page.

// securePrefix makes browsers accept a cookie only over TLS and for this host alone.
const securePrefix = "__Host-"

// cookieTime is how long a browser keeps its cookie after its last visit. Browsers allow no more.
const cookieTime = 400 * 24 * time.Hour

// identify finds out who sends a request, and what they may do. For a device the request ends when it is revoked.
func (s *Server) identify(c *call) error {
	if s.guard.hasPassword(c.Request) {
		c.right = device.Full
		if !s.guard.open {
			return nil
		}
	}
	d, cookie, ok := s.findDevice(c.Request)
	switch {
	case !ok && c.right == device.Full:
		return nil
	case !ok:
		return errPassword
	case !s.guard.isFromOwnPage(c.Request):
		if c.right == device.Full { // everyone may use this server
			return nil
		}
		return forbidden("A paired device can send this request only from the page of this server")
	}
	if !c.hold(d.ID) {
		return errPassword
	}
	c.device, c.cookie, c.right = d, cookie, max(d.Right, c.right)
	c.w.Header().Set("Cross-Origin-Resource-Policy", "same-origin") // no page of this host's other ports embeds it
	s.options.Pairing.Devices.Touch(context.WithoutCancel(c.Context()), d)
	return nil
}

// checkPlace rejects a directory that a device without all rights names, unless it is the server's or that of a session:
// opening one reads its config and its files, which only the owner may cause.
func (c *call) checkPlace() error {
	if c.device.ID == "" || c.right >= device.Full || c.row.locality == global {
		return nil
	}
	dir, err := c.directory()
	if err != nil || dir == c.server.options.Directory {
		return err
	}
	some, err := c.server.engine.List(c.Context(), lathe.Query{Directory: dir, Limit: 1, Archived: lathe.WithArchived})
	if err != nil || len(some) > 0 {
		return err
	}
	return forbidden("This device has the right %q; it can use only directories of sessions", c.right)
}

// hold lets the request end when a device is revoked. It reports false if it is already.
func (c *call) hold(id string) bool {
	held, release, ok := c.server.options.Pairing.Devices.Hold(c.Context(), id)
	c.Request, c.release = c.Request.WithContext(held), release
	return ok
}

// end releases what the request held. It comes after the response.
func (c *call) end() {
	if c.release != nil {
		c.release()
	}
}

// isRevoked reports whether a request ended because its device was revoked.
func (c *call) isRevoked() bool {
	return c.device.ID != "" && context.Cause(c.Context()) == device.ErrRevoked
}

// findDevice returns the device whose cookie a request has. Over TLS, a cookie that was set without it does not count:
// anyone in the network could have set it.
func (s *Server) findDevice(r *http.Request) (d device.Device, cookie *http.Cookie, ok bool) {
	if s.options.Pairing.Devices == nil || r.Header.Get("Cookie") == "" {
		return d, nil, false
	}
	name, err := s.cookieName()
	if err != nil || name == "" {
		return d, nil, false
	}
	for _, full := range []string{securePrefix + name, name} {
		if cookie, err := r.Cookie(full); err == nil && (full != name || r.TLS == nil) {
			if d, ok = s.options.Pairing.Devices.Find(cookie.Value); ok {
				return d, cookie, true
			}
		}
	}
	return d, nil, false
}

// cookieName differs between servers with other devices, because a host has the same cookies on all ports.
func (s *Server) cookieName() (string, error) {
	name, err := s.options.Pairing.Devices.Name()
	if name == "" || err != nil {
		return "", err
	}
	return "lathe_" + name, nil
}

// setCookie gives a browser the secret of its device; "" takes it away. name is that of a cookie to replace, "" for a
// new one.
func (c *call) setCookie(name, secret string) error {
	if name == "" {
		own, err := c.server.cookieName()
		if err != nil {
			return err
		}
		if name = own; isSecure(c.Request) {
			name = securePrefix + own
		}
	}
	cookie := &http.Cookie{
		Name: name, Value: secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: strings.HasPrefix(name, securePrefix), MaxAge: int(cookieTime.Seconds()),
	}
	if secret == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.w, cookie)
	c.w.Header().Set("Cache-Control", "no-store")
	return nil
}

// isSecure reports whether the client uses TLS: to this server, or to a proxy before it, as our own page tells.
func isSecure(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://")
}

// isFromOwnPage reports whether a page of this server sent a request, by what browsers say and pages cannot forge.
// Browsers that reach this server without TLS by a network address say nothing in reads. No other page can see the
// responses to those.
func (g *guard) isFromOwnPage(r *http.Request) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	isRead := (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Header.Get("Upgrade") == ""
	switch {
	case origin != "" && !isOwnOrigin(r, origin):
		return false
	case site == "same-origin":
		return true
	case site == "none": // typed, or opened from outside the browser
		return isRead && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	case site != "":
		return false
	}
	return origin != "" || isRead
}

// isOwnOrigin reports whether an origin is that of this server. Behind a proxy with TLS the browser has to confirm it.
func isOwnOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) || u.User != nil || u.Path != "" {
		return false
	}
	return u.Scheme == scheme(r) || u.Scheme == "https" && r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// clientAddress is where a request comes from, for limits. A network of IPv6 counts as one.
func clientAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if addr = addr.WithZone("").Unmap(); addr.Is6() {
		if network, err := addr.Prefix(64); err == nil {
			return network.String()
		}
	}
	return addr.String()
}
