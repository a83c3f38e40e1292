package serve

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/server/device"
)

// NewWeb returns `lathe web`.
func NewWeb(a *cli.App) *cobra.Command {
	f := serveFlags{mdnsDomain: defaultDomain}
	onlyPrint := false
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Open the sessions in a browser",
		Long: `Open the page of a running server in your browser, or start a server for it. The browser is admitted
by a link that works once, and stays admitted: lathe device list shows it. Without a
browser, as in an SSH session, the command prints the link. Forward the port then: ssh -L 4096:127.0.0.1:4096 HOST.

A server that this command started runs until Ctrl-C. For a phone, see lathe serve --pair.`,
		Example: "  lathe web\n  lathe web --print",
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := datadir.Find(a.Env)
			if err != nil {
				return err
			}
			if r, ok := findRunning(at.Servers()); ok {
				devices := device.Open(at.Devices(), a.Now)
				defer devices.Close()
				return openPage(c.Context(), a, devices, r, onlyPrint)
			}
			f.ready = func(ctx context.Context, devices *device.Store) error {
				r, _ := findRunning(at.Servers()) // this one
				return openPage(ctx, a, devices, r, onlyPrint)
			}
			return serveHTTP(c.Context(), a, f, c.Flags().Changed)
		},
	}
	s := cmd.Flags()
	s.StringVar(&f.hostname, "hostname", "127.0.0.1", "`ADDRESS` to listen on")
	s.IntVar(&f.port, "port", 0, "`PORT` to listen on; 0 means 4096 or any free port")
	s.BoolVar(&onlyPrint, "print", false, "print the link, and open no browser")
	return cmd
}

// openPage opens the page of a server in the browser, by a link that pairs it, or prints the link.
func openPage(ctx context.Context, a *cli.App, devices *device.Store, r runningServer, onlyPrint bool) error {
	page := r.Address + "/"
	if !r.Open {
		token, _, err := devices.NewLink(ctx, device.Full, "")
		if err != nil {
			return err
		}
		page = server.PairingURL(r.Address, token)
	}
	if !onlyPrint && hasBrowser(a) {
		err := a.Browse(page)
		if err == nil {
			a.Notify("Opened %s in your browser.", termtext.Plain(r.Address))
			return nil
		}
		a.Log.Debug("could not open a browser", "error", err)
	}
	a.Notify("Open this link on this machine. It works once, within two minutes:")
	a.Printf("%s\n", termtext.Plain(page))
	return a.Out.Flush()
}

// hasBrowser reports whether a browser on this machine can show a page to the user.
func hasBrowser(a *cli.App) bool {
	if a.Env("SSH_CONNECTION") != "" || a.Env("SSH_TTY") != "" || !cli.IsTerminal(a.Stderr) {
		return false
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows" || a.Env("DISPLAY") != "" || a.Env("WAYLAND_DISPLAY") != ""
}
