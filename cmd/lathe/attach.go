package main

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// runAttached gives a prompt to a server.
func runAttached(ctx context.Context, a *cli.App, f runFlags, text string) error {
	switch {
	case f.record != "" || f.replay != "":
		return cli.Usagef("--record and --replay are for turns of this process; leave out --attach")
	case f.maxCost != 0 || !f.limits.IsZero():
		return cli.Usagef("--budget, --max-cost and their like are for turns of this process; budget in the settings of the server does the same")
	case len(sessionRules(f.rules)) > 0 && (f.next || f.session != "" || f.resume):
		return cli.Usagef("--deny is for new sessions with --attach: a server keeps the rules of a session for good; its settings can deny it")
	case hasExceptions(sessionRules(f.rules)):
		return cli.Usagef("--allow behind --deny is for turns of this process: what the settings of a server deny is not known here")
	}
	r, err := a.Dial()
	if err != nil {
		return err
	}
	return cli.Closing(r, runWith(ctx, a, r, f, text))
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
			return p, cli.Usagef("-f %s: a folder cannot be sent to a server elsewhere; name its files", termtext.Plain(f.Filename))
		case info.Size() > mostCarried:
			return p, cli.Usagef("-f %s: at most %s are sent to a server", termtext.Plain(f.Filename), termtext.ByteSize(mostCarried))
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
