package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// attachFlag lets a command, and those below it, work on the sessions of a server.
func (a *app) attachFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&a.attach, "attach", "", "use the server at this `URL`: http://127.0.0.1:4096, https://…, unix:///path")
}

// dial prepares the connection to the server that --attach names. The password is that of the
// environment; a server of this machine is also sent the one that servers of this user keep,
// which no other one must see.
func (a *app) dial(change ...func(*client.Options)) (*client.Client, error) {
	o := client.Options{Username: cmp.Or(a.username, a.Variable("SERVER_USERNAME")), Password: cmp.Or(a.password, a.Variable("SERVER_PASSWORD"))}
	c, err := client.New(a.attach, o)
	if err != nil {
		return nil, err
	}
	if !c.IsLocal() {
		o.Proxy = http.ProxyFromEnvironment
		if a.Dir != "." { // a path on that machine
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
	if c, err = client.New(a.attach, o); err != nil {
		return nil, err
	}
	a.attach = c.Address() // what people are told to type has no password
	return c, nil
}

// runAttached gives a prompt to a server.
func (a *app) runAttached(ctx context.Context, f runFlags, text string) error {
	switch {
	case f.record != "" || f.replay != "":
		return usagef("--record and --replay are for turns of this process; leave out --attach")
	case f.maxCost != 0 || !f.limits.IsZero():
		return usagef("--budget, --max-cost and their like are for turns of this process; budget in the settings of the server does the same")
	case len(sessionRules(f.rules)) > 0 && (f.next || f.session != "" || f.resume):
		return usagef("--deny is for new sessions with --attach: a server keeps the rules of a session for good; its settings can deny it")
	case hasExceptions(sessionRules(f.rules)):
		return usagef("--allow behind --deny is for turns of this process: what the settings of a server deny is not known here")
	}
	r, err := a.dial()
	if err != nil {
		return err
	}
	return closing(r, a.runWith(ctx, r, f, text))
}

// mostCarried is how large a file may be that is sent along with a prompt, in bytes.
const mostCarried = 16 << 20

// carried makes the files of a prompt travel with it, for a server that cannot read them where
// they are.
func carried(c *client.Client, p lathe.Prompt) (lathe.Prompt, error) {
	if c.IsLocal() {
		return p, nil
	}
	for i, one := range p.Parts {
		f, ok := one.Body.(*lathe.File)
		if !ok {
			continue
		}
		path := filepath.FromSlash(strings.TrimPrefix(f.URL, "file://"))
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return p, err
		case info.IsDir():
			return p, usagef("-f %s: a folder cannot be sent to a server elsewhere; name its files", termtext.Plain(f.Filename))
		case info.Size() > mostCarried:
			return p, usagef("-f %s: at most %s are sent to a server", termtext.Plain(f.Filename), termtext.ByteSize(mostCarried))
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return p, err
		}
		own := *f
		own.URL = "data:" + f.Mime + ";base64," + base64.StdEncoding.EncodeToString(data)
		p.Parts[i].Body = &own
	}
	return p, nil
}
