package serve

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/server/device"
)

// NewDevice returns `lathe device`.
func NewDevice(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "device",
		Short: "List and revoke paired devices",
		Long: `List and revoke the browsers that can use your servers without the password. lathe serve --pair, lathe
web and the page itself pair devices. Each has a right: read sees sessions, answer also allows requests
once or rejects them and stops turns, full can do everything.`,
		Example: "  lathe device list\n  lathe device revoke dev_4f1c\n  lathe device revoke --all",
		RunE:    cli.RequireSubcommand,
	}
	list := a.JSONFlag(&cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List paired devices", Example: "  lathe device list --json", Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := listDevices(a)
			if err != nil {
				return err
			}
			return printDevices(a, all)
		},
	})
	everything := false
	revoke := a.JSONFlag(&cobra.Command{
		Use: "revoke [ID]", Short: "Revoke a device, so that its browser needs a new link", Example: "  lathe device revoke dev_4f1c\n  lathe device revoke --all",
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if everything == (len(args) == 1) {
				return cli.Usagef("give a device, or --all")
			}
			return revokeDevices(c.Context(), a, args)
		},
	})
	revoke.Flags().BoolVar(&everything, "all", false, "revoke all devices")
	cmd.AddCommand(list, revoke)
	return cmd
}

// deviceJSON is a device in the output of --json.
type deviceJSON struct {
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	Right   device.Right `json:"right"`
	Created string       `json:"created"`
	Seen    string       `json:"seen"`
	Push    bool         `json:"push"`
}

func toJSON(d device.Device) deviceJSON {
	return deviceJSON{d.ID, d.Name, d.Right, d.Created.ISO(), d.Seen.ISO(), d.Push != nil}
}

func listDevices(a *cli.App) ([]device.Device, error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil, err
	}
	return device.Open(at.Devices(), a.Now).List()
}

func printDevices(a *cli.App, all []device.Device) error {
	t, list := layout.Table{Head: []string{"Device", "Name", "Right", "Paired", "Last seen", "Push"}, Flexible: []int{1}, Paths: -1}, []deviceJSON{}
	for _, d := range all {
		push := "off"
		if d.Push != nil {
			push = "on"
		}
		day := func(t lathe.Time) string { return t.Std().Local().Format("2 Jan 2006 15:04") }
		t.Rows = append(t.Rows, []string{termtext.Plain(d.ID), termtext.Plain(d.Name), d.Right.String(), day(d.Created), day(d.Seen), push})
		list = append(list, toJSON(d))
	}
	return a.PrintList(list, t, "No paired devices.")
}

// revokeDevices revokes the device whose ID begins with a name, or all.
func revokeDevices(ctx context.Context, a *cli.App, names []string) error {
	all, err := listDevices(a)
	if err != nil {
		return err
	}
	if len(names) == 1 {
		d, err := findDevice(all, names[0])
		if err != nil {
			return err
		}
		all = []device.Device{d}
	}
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	s, gone := device.Open(at.Devices(), a.Now), []deviceJSON{}
	for _, d := range all {
		if err := s.Revoke(ctx, d.ID); err != nil {
			return err
		}
		gone = append(gone, toJSON(d))
		if !a.JSON {
			a.Printf("Revoked: %s  %s\n", termtext.Plain(d.ID), termtext.Plain(d.Name))
		}
	}
	if a.JSON {
		return a.PrintJSON(gone)
	}
	if len(all) == 0 {
		a.Notify("No paired devices.")
	}
	return nil
}

// findDevice finds a device by its ID, the beginning of it, or its name.
func findDevice(all []device.Device, name string) (found device.Device, err error) {
	for _, d := range all {
		if d.ID == name {
			return d, nil
		}
		if d.Name == name || len(name) >= 6 && strings.HasPrefix(d.ID, name) {
			if found.ID != "" {
				return found, lathe.Errorf(lathe.Invalid, "%q names several devices; give the whole ID", termtext.Plain(name))
			}
			found = d
		}
	}
	if found.ID == "" {
		return found, lathe.Errorf(lathe.NotFound, "device %q not found; `lathe device list` lists devices", termtext.Plain(name))
	}
	return found, nil
}
