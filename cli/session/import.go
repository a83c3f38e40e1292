package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

func NewImport(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:   "import [FILE | LINK]",
		Short: "Take in an exported session",
		Long: `Takes in a session that lathe or OpenCode exported, of any version of it, or the data of a
share link: from a file, from the link, or from standard input ("-" or nothing). It belongs to
the current directory (or that of -C) from then on. Ids and times stay as they are.

The session comes in whole or not at all. If it is here already, what is missing is added
and nothing is overwritten.`,
		Example: `  lathe import session.json
  ssh build lathe export last | lathe import
  lathe import https://share.example/s/abc`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			name := "-"
			if len(args) > 0 {
				name = args[0]
			} else if cli.IsTerminal(a.Stdin) { // nothing will come unless someone types it
				return cli.Usagef("name a file to import, or pipe one in: `lathe import session.json`")
			}
			return importFrom(c.Context(), a, name)
		},
	})
}

func importFrom(ctx context.Context, a *cli.App, name string) error {
	data, err := readExport(ctx, a, name)
	if err != nil {
		return err
	}
	x, err := lathe.ParseExport(data)
	if err != nil {
		return notImported(name, err)
	}
	e, err := a.Open(ctx)
	if err != nil {
		return err
	}
	s, err := e.Import(ctx, a.Dir, x)
	if err == nil && !a.JSON {
		importRemarks(a, s, func(id lathe.SessionID) bool {
			_, err := e.Get(ctx, id)
			return err == nil
		})
	}
	if err = cli.CloseAfter(e, err); err != nil {
		if _, ended := cli.Interrupted(ctx); ended { // what has begun is not given up half way
			a.Notify("Interrupted. The session came in whole or not at all: `lathe session show %s` tells.", x.Info.ID)
		}
		return notImported(name, err)
	}
	return printChanged(a, "Imported session: %s\n", s, nil)
}

// importRemarks says why a session that is here now is not on the list.
func importRemarks(a *cli.App, s lathe.Session, exists func(lathe.SessionID) bool) {
	if s.Archived != nil {
		a.Notify("The session is archived: `lathe session list --archived` shows it.")
	}
	if s.Parent != "" && !exists(s.Parent) {
		a.Notify("The session belongs below %s, which is not here: it is not listed, but its id finds it.", s.Parent)
	}
}

// notImported wraps an error with the file's name and the assurance that matters.
func notImported(name string, err error) error {
	if lathe.CodeOf(err) == lathe.Canceled {
		return err
	}
	from := termtext.Plain(name)
	switch name {
	case "-":
		from = "standard input"
	case "":
		from = "a file without a name"
	}
	says := strings.TrimSuffix(err.Error(), "; nothing was imported")
	return &lathe.Error{Code: lathe.CodeOf(err), Message: fmt.Sprintf("cannot import %s: %s; nothing was imported", from, says), Err: err}
}

// readExport reads the whole file, as much of it as is ever accepted.
func readExport(ctx context.Context, a *cli.App, name string) ([]byte, error) {
	if link, err := url.Parse(name); err == nil && (link.Scheme == "http" || link.Scheme == "https") {
		data, err := fetchShare(ctx, link)
		if err != nil {
			return nil, notImported(link.Redacted(), err)
		}
		return data, nil
	}
	data, err := cli.ReadOrCancel(ctx, func() ([]byte, error) {
		if name == "-" {
			return readWhole(a.Stdin)
		}
		f, err := os.Open(name) // which waits for a writer if it is a pipe
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		return readWhole(f)
	})
	if err != nil {
		return nil, notImported(name, fileError(err))
	}
	return data, nil
}

// readWhole reads a file into memory of just its size where that is known.
func readWhole(f *os.File) ([]byte, error) {
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if info.Size() > lathe.MaxExport {
			return nil, lathe.Errorf(lathe.Invalid, "the file is larger than %s", termtext.ByteSize(lathe.MaxExport))
		}
		b.Grow(int(info.Size()) + bytes.MinRead)
	}
	_, err := b.ReadFrom(io.LimitReader(f, lathe.MaxExport+1))
	return b.Bytes(), err
}

// fileError says in plain words why a file cannot be read.
func fileError(err error) error {
	var cause *fs.PathError
	if !errors.As(err, &cause) {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return lathe.Errorf(lathe.NotFound, "there is no such file")
	case errors.Is(err, fs.ErrPermission):
		return lathe.Errorf(lathe.Denied, "you may not read the file")
	default:
		return lathe.Errorf(lathe.Invalid, "%w", cause.Err)
	}
}

// shareTime is how long the data of a link may take.
const shareTime = time.Minute

// fetchShare fetches the data behind the link of a shared session, or the link itself if it is the
// data's.
func fetchShare(ctx context.Context, link *url.URL) ([]byte, error) {
	from := *link
	if !strings.HasSuffix(from.Path, "/data") {
		from.Path = "/api/shares/" + path.Base(link.Path) + "/data"
	}
	from.RawQuery, from.Fragment = "", ""
	ctx, stop := context.WithTimeout(ctx, shareTime)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "%w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); errors.As(cause, new(cli.Interrupt)) {
			return nil, cause
		}
		return nil, lathe.Errorf(lathe.Unavailable, "%w; look at the address, or fetch the file and import that", err)
	}
	defer func() { _ = res.Body.Close() }() // it has been read, or is not wanted
	if res.StatusCode != http.StatusOK {
		return nil, lathe.Errorf(lathe.NotFound, "%s answers %s; the link may be wrong, or no longer shared", termtext.Plain(from.Host), res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, lathe.MaxExport+1))
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "%w", err)
	}
	return data, nil
}
