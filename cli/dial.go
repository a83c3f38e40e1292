package cli

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/config/datadir"
)

// AttachFlag adds --attach to a command and its subcommands.
func (a *App) AttachFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&a.Attach, "attach", "", "server `URL` to use: http://127.0.0.1:4096, https://…, unix:///path")
}

// Dial prepares the connection to the server of --attach. The password comes from -p or the environment. A local
// server may also get the password that this user's servers share; no other server must see it.
func (a *App) Dial(change ...func(*client.Options)) (*client.Client, error) {
	o := client.Options{Username: cmp.Or(a.Username, a.Variable("SERVER_USERNAME")), Password: cmp.Or(a.Password, a.Variable("SERVER_PASSWORD"))}
	c, err := client.New(a.Attach, o)
	if err != nil {
		return nil, err
	}
	if !c.IsLocal() {
		o.Proxy = http.ProxyFromEnvironment
		if a.Dir != "." { // a path on the remote machine
			o.Directory = a.Dir
		}
	} else if o.Directory, err = filepath.Abs(a.Dir); err != nil {
		return nil, err
	}
	if c.IsLocal() && o.Password == "" {
		at, err := datadir.Find(a.Env)
		if err != nil {
			return nil, err
		}
		if o.Password, err = datadir.ReadPassword(at.ServerPasswordFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, f := range change {
		f(&o)
	}
	if c, err = client.New(a.Attach, o); err != nil {
		return nil, err
	}
	a.Attach = c.Address() // printed commands must not contain a password
	return c, nil
}
