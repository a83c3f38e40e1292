package serve

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/server/device"
	"github.com/lathe-agent/lathe/server/qrcode"
)

// pairing is what to do for devices when the server is ready.
type pairing struct {
	pair  bool
	right string
	ready func(ctx context.Context, devices *device.Store) error // instead of pairing; may be nil
}

// checkPairing checks the flags of pairing.
func (f *serveFlags) checkPairing(o server.Options, gaveRight bool) error {
	_, err := device.ParseRight(f.right)
	switch {
	case f.pair && o.Password == "":
		return cli.Usagef("--pair needs a password: a server without one admits every browser on this machine")
	case f.pair && f.socket != "":
		return cli.Usagef("--pair and --socket cannot be combined: browsers cannot open a socket")
	case gaveRight && !f.pair:
		return cli.Usagef("--right needs --pair")
	case err != nil && f.right != "":
		return cli.Usagef("--right: %v", err)
	}
	return nil
}

// showReady prints the pairing link of a server that listens at where, or opens its page.
func (f *serveFlags) showReady(ctx context.Context, a *cli.App, o server.Options, where string) error {
	if f.ready != nil {
		return f.ready(ctx, o.Pairing.Devices)
	}
	if !f.pair {
		return nil
	}
	right, err := device.ParseRight(f.right)
	if err != nil {
		return err
	}
	token, _, err := o.Pairing.Devices.NewLink(ctx, right, "")
	if err != nil {
		return err
	}
	page := server.PairingURL(o.Pairing.Address, token)
	draw := qrcode.Text
	if a.HasColor(a.Stderr) {
		draw = qrcode.Colored
	}
	code, err := draw(page)
	if err != nil {
		return err
	}
	a.Notify("\nPair a device with the right %q: scan this code, or open the link. It works once, within two minutes.\n\n%s\n  %s\n", right, code, termtext.Plain(page))
	if o.Pairing.Fingerprint != nil {
		a.Notify("The browser does not know the certificate and asks. Compare its SHA-256 fingerprint:\n  %s", strings.ReplaceAll(o.Pairing.Fingerprint(), ":", " "))
	}
	switch {
	case f.isLocal() && len(f.hosts) == 0:
		a.Notify("Only this machine can open the link. For a phone, listen on your network: --hostname 0.0.0.0 --tls auto")
	case f.scheme() == "http" && !f.isLocal():
		a.Notify("Warning: without TLS, others in this network can read the link and all traffic. Add --tls auto, or use a proxy with TLS.")
	}
	return nil
}
