package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace"
)

// attachFlag lets a command, and those below it, work on the sessions of a server.
func (a *app) attachFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&a.attach, "attach", "", "use the server at this `URL`: http://127.0.0.1:4096, https://…, unix:///path")
}

// remote is a server, as the commands want it.
type remote struct{ *client.Client }

// dial prepares the connection to the server that --attach names. The password is that of the
// environment; a server of this machine is also sent the one that servers of this user keep,
// which no other one must see.
func (a *app) dial() (*remote, error) {
	o := client.Options{Username: cmp.Or(a.username, a.variable("SERVER_USERNAME")), Password: cmp.Or(a.password, a.variable("SERVER_PASSWORD"))}
	c, err := client.New(a.attach, o)
	if err != nil {
		return nil, err
	}
	if !c.IsLocal() {
		o.Proxy = http.ProxyFromEnvironment
		if a.dir != "." { // a path on that machine
			o.Directory = a.dir
		}
	} else if o.Directory, err = filepath.Abs(a.dir); err != nil {
		return nil, err
	}
	if c.IsLocal() && o.Password == "" {
		at, err := datadir.Find(a.env)
		if err != nil {
			return nil, err
		}
		if o.Password, err = datadir.ReadPassword(at.ServerPasswordFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if c, err = client.New(a.attach, o); err != nil {
		return nil, err
	}
	a.attach = c.Address() // what people are told to type has no password
	return &remote{c}, nil
}

// Locate tells where the directory of the command belongs on the server.
func (r *remote) Locate(ctx context.Context, _ string) (workspace.Place, error) {
	at, err := r.Client.Locate(ctx, "")
	if lathe.CodeOf(err) == lathe.Invalid {
		err = lathe.Errorf(lathe.Invalid, "%w; -C names a directory of the server", err)
	}
	return workspace.Place{
		Directory: at.Directory, Worktree: at.Worktree, ProjectID: at.Project,
		Path: strings.Trim(filepath.ToSlash(strings.TrimPrefix(at.Directory, filepath.VolumeName(at.Directory))), "/"),
	}, err
}

// Create begins a session in the directory of the command.
func (r *remote) Create(ctx context.Context, _ string, in lathe.NewSession) (lathe.Session, error) {
	return r.Client.Create(ctx, "", client.NewSession{Parent: in.Parent, Title: in.Title, Rules: in.Rules, Agent: in.Agent, Model: in.Model, Metadata: in.Metadata})
}

// Fork copies a session where it is: the server knows no other place for it.
func (r *remote) Fork(ctx context.Context, _ string, id lathe.SessionID, before lathe.MessageID) (lathe.Session, error) {
	return r.Client.Fork(ctx, id, before)
}

// Messages returns a page. What leads to the next one is the server's own business; it travels
// as the id of a place.
func (r *remote) Messages(ctx context.Context, id lathe.SessionID, before lathe.Place, limit int) (store.Page, error) {
	p, err := r.Client.Messages(ctx, id, before.ID, limit)
	return store.Page{Messages: p.Messages, More: p.Next != "", Next: lathe.Place{ID: p.Next}}, err
}

// Export writes a session as the engine does, but holds all of it in memory.
func (r *remote) Export(ctx context.Context, id lathe.SessionID, to io.Writer, change func(*lathe.Session, *lathe.Message)) error {
	s, err := r.Get(ctx, id)
	if err != nil {
		return err
	}
	if change == nil {
		change = func(*lathe.Session, *lathe.Message) {}
	}
	change(&s, nil)
	x := lathe.Export{Info: s, Messages: []lathe.Message{}}
	seen := map[lathe.MessageID]bool{} // a prompt that waited moves to the end
	err = history(ctx, r, id, func(messages []lathe.Message) error {
		for _, m := range messages {
			if !seen[m.ID] {
				seen[m.ID] = true
				change(nil, &m)
				x.Messages = append(x.Messages, m)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	data, _ := x.MarshalJSON() // it never fails
	if err := lathe.WriteIndented(to, data, ""); err != nil {
		return err
	}
	_, err = io.WriteString(to, "\n")
	return err
}

// Undo takes back the last exchange that stands, or from the point that is named on.
func (r *remote) Undo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	out, err := r.Client.Undo(ctx, id, client.Undo(u))
	return undoneFrom(out), err
}

// Redo brings back what was undone.
func (r *remote) Redo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	out, err := r.Client.Redo(ctx, id, client.Undo(u))
	return undoneFrom(out), err
}

func undoneFrom(u client.Undone) lathe.Undone {
	out := lathe.Undone{Message: u.Message, Session: u.Session, Files: []lathe.UndoneFile{}}
	for _, f := range u.Files {
		out.Files = append(out.Files, lathe.UndoneFile(f))
	}
	return out
}

// accounts are kept by the server, which tells nobody.
func (r *remote) accounts(context.Context, lathe.Session) ([]lathe.Account, error) { return nil, nil }

// Submit sends a prompt.
func (r *remote) Submit(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Message, error) {
	m, err := r.Client.Submit(ctx, id, client.Prompt{
		ID: p.ID, Agent: p.Agent, Model: p.Model, Variant: p.Variant, System: p.System, Tools: p.Tools, Format: p.Format, NoReply: p.NoReply, Parts: p.Parts,
	})
	return m, asNoModel(err)
}

func (r *remote) wasCut(ctx context.Context, id lathe.SessionID) (bool, error) {
	all, err := r.Interrupted(ctx)
	return slices.Contains(all, id), err
}

// Drain has nothing to wait for: the server lives on.
func (r *remote) Drain(context.Context) error { return nil }

// quitTime is how long a server has to settle a turn that the user wants no more of.
const quitTime = 5 * time.Second

// quit ends the turn: nobody looks at it any more.
func (r *remote) quit(ctx context.Context, id lathe.SessionID) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), quitTime)
	defer stop()
	return r.Cancel(ctx, id)
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
func (r *remote) carried(p lathe.Prompt) (lathe.Prompt, error) {
	if r.IsLocal() {
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
