package server

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/netaddr"
	"github.com/lathe-agent/lathe/server/device"
	"github.com/lathe-agent/lathe/server/qrcode"
)

// deviceAPI pairs browsers and lists them.
type deviceAPI struct {
	Pairing
	guard    *guard
	attempts *device.Attempts
}

func (a deviceAPI) routes() []row {
	bad := []failure{failsBad}
	return []row{
		answer(route("POST /lathe/pair", "lathe.pair", "lathe", anyone,
			"Redeem a pairing link: sets a cookie that stands for the device", bad, withoutDirectory), a.pair),
		answer(route("POST /lathe/login", "lathe.login", "lathe", anyone,
			"Pair a device with all rights by the password", bad, withoutDirectory), a.login),
		answer(route("POST /lathe/pair/new", "lathe.pair.new", "lathe", mayAll,
			"Create a pairing link, which works once and for two minutes", bad, withoutDirectory), a.newLink),
		answer(route("GET /lathe/device", "lathe.device.get", "lathe", mayRead,
			"Get the device that sends the request; the password has no ID", nil, withoutDirectory), a.self),
		answer(route("GET /lathe/devices", "lathe.device.list", "lathe", mayRead,
			"List the paired devices; without all rights only the own one", nil, withoutDirectory), a.list),
		answer(route("DELETE /lathe/device/{deviceID}", "lathe.device.revoke", "lathe", mayRead,
			"Revoke a device and end its requests; without all rights only the own one", []failure{failsBad, failsMissing}, withoutDirectory), a.revoke),
	}
}

type (
	pairBody struct {
		Token string `json:"token"`
		Name  string `json:"name,omitempty" doc:"name of the device in lists"`
	}
	loginBody struct {
		Password string `json:"password"`
		Name     string `json:"name,omitempty" doc:"name of the device in lists"`
	}
	deviceReply struct {
		ID    string       `json:"id" doc:"empty for the password"`
		Name  string       `json:"name"`
		Right device.Right `json:"right" enum:"read,answer,full"`
	}
	deviceEntry struct {
		ID      string       `json:"id"`
		Name    string       `json:"name"`
		Right   device.Right `json:"right" enum:"read,answer,full"`
		Created lathe.Time   `json:"created"`
		Seen    lathe.Time   `json:"seen" doc:"last use, exact to 15 minutes"`
		Push    bool         `json:"push" doc:"it gets notifications"`
		Self    bool         `json:"self" doc:"it sends this request"`
	}
	linkBody struct {
		Right device.Right `json:"right" enum:"read,answer,full"`
		Name  string       `json:"name,omitempty" doc:"name of a device that does not name itself"`
	}
	linkReply struct {
		Token       string     `json:"token"`
		URL         string     `json:"url"`
		Expires     lathe.Time `json:"expires"`
		QR          string     `json:"qr" doc:"an SVG image of the URL"`
		Fingerprint string     `json:"fingerprint,omitempty" doc:"SHA-256 of the server's certificate, if browsers do not trust it"`
	}
)

func (deviceReply) schemaName() string { return "LatheDeviceSelf" }
func (deviceEntry) schemaName() string { return "LatheDevice" }
func (linkReply) schemaName() string   { return "LathePairingLink" }

var errNoPairing = lathe.Errorf(lathe.Unavailable, "this server pairs no devices; start it with `lathe serve`")

func (a deviceAPI) pair(c *call, _ none, in pairBody) (deviceReply, error) {
	return a.admit(c, func(ctx context.Context, old string) (device.Device, string, error) {
		return a.Devices.Redeem(ctx, in.Token, in.Name, old)
	})
}

func (a deviceAPI) login(c *call, _ none, in loginBody) (deviceReply, error) {
	return a.admit(c, func(ctx context.Context, old string) (d device.Device, secret string, err error) {
		if !a.guard.isPassword(in.Password) {
			return d, "", lathe.Errorf(lathe.Denied, "The password is wrong")
		}
		return a.Devices.Add(ctx, in.Name, device.Full, old)
	})
}

// admit makes a device of a browser, whose previous device it replaces. Every device gets a new secret, so that nobody
// can choose the cookie of another. Failures count against the address of the client.
func (a deviceAPI) admit(c *call, add func(ctx context.Context, old string) (device.Device, string, error)) (deviceReply, error) {
	if a.Devices == nil {
		return deviceReply{}, errNoPairing
	}
	fromBrowser := c.Header.Get("Origin") != "" || c.Header.Get("Sec-Fetch-Site") != ""
	if fromBrowser && !a.guard.isFromOwnPage(c.Request) {
		return deviceReply{}, forbidden("Only the page of this server can pair a device")
	}
	from := clientAddress(c.Request)
	if wait := a.attempts.Begin(from, time.Now()); wait > 0 {
		c.w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
		return deviceReply{}, lathe.Errorf(lathe.Limited, "too many attempts; try again in a minute")
	}
	old := ""
	if d, _, ok := c.server.findDevice(c.Request); ok && fromBrowser {
		old = d.ID
	}
	d, secret, err := add(context.WithoutCancel(c.Context()), old)
	if err != nil {
		return deviceReply{}, err
	}
	a.attempts.Forgive(from)
	return deviceReply{d.ID, d.Name, d.Right}, c.setCookie("", secret)
}

func (a deviceAPI) newLink(c *call, _ none, in linkBody) (out linkReply, err error) {
	if a.Devices == nil {
		return out, errNoPairing
	}
	token, until, err := a.Devices.NewLink(context.WithoutCancel(c.Context()), in.Right, in.Name)
	if err != nil {
		return out, err
	}
	at := a.address(c.Request)
	out = linkReply{Token: token, URL: PairingURL(at.String(), token), Expires: lathe.TimeOf(until)}
	if a.Fingerprint != nil {
		out.Fingerprint = a.Fingerprint()
	}
	c.w.Header().Set("Cache-Control", "no-store")
	out.QR, err = qrcode.SVG(out.URL)
	return out, err
}

// PairingURL is the link for a token. The token is in the fragment, which browsers send nowhere: it is in no log and
// no referrer.
func PairingURL(server, token string) string {
	return strings.TrimRight(server, "/") + "/#pair=" + token
}

// address is where another device reaches this server: as the client of this request did, unless that is on the same
// machine.
func (p Pairing) address(r *http.Request) url.URL {
	u := url.URL{Scheme: scheme(r), Host: r.Host}
	if isSecure(r) {
		u.Scheme = "https"
	}
	public, err := url.Parse(p.Address)
	if err == nil && public.Host != "" && (netaddr.IsLoopback(u.Hostname()) || strings.HasSuffix(u.Hostname(), ".localhost")) {
		return url.URL{Scheme: public.Scheme, Host: public.Host}
	}
	return u
}

func (a deviceAPI) self(c *call, _, _ none) (deviceReply, error) {
	c.w.Header().Set("Cache-Control", "no-store")
	if c.cookie != nil { // keep the cookie for another while
		if err := c.setCookie(c.cookie.Name, c.cookie.Value); err != nil {
			return deviceReply{}, err
		}
	}
	return deviceReply{c.device.ID, c.device.Name, c.right}, nil
}

func (a deviceAPI) list(c *call, _, _ none) (out []deviceEntry, err error) {
	if a.Devices == nil {
		return nil, nil
	}
	all, err := a.Devices.List()
	for _, d := range all {
		if c.right == device.Full || d.ID == c.device.ID {
			out = append(out, deviceEntry{d.ID, d.Name, d.Right, d.Created, d.Seen, d.Push != nil, d.ID == c.device.ID})
		}
	}
	return out, err
}

func (a deviceAPI) revoke(c *call, _, _ none) (bool, error) {
	id := c.PathValue("deviceID")
	if a.Devices == nil {
		return false, errNoPairing
	}
	if c.right < device.Full && id != c.device.ID {
		return false, forbidden("This device has the right %q; it can revoke only itself", c.right)
	}
	err := a.Devices.Revoke(context.WithoutCancel(c.Context()), id)
	if err == nil && id == c.device.ID {
		name := c.cookie.Name
		c.device = device.Device{} // this request ends well
		err = c.setCookie(name, "")
	}
	return err == nil, err
}
