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

// NewImport returns `lathe import`.
func NewImport(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:   "import [FILE | LINK]",
		Short: "Import an exported session",
		Long: `Import a session exported by any version of lathe or OpenCode, or a shared session: from a file, a
link, or standard input ("-" or no argument). It then belongs to the current directory (or that of
-C). IDs and times stay the same.

The import is atomic. If the session exists, missing messages are added and nothing is overwritten.`,
		Example: `  lathe import session.json
  ssh build lathe export last | lathe import
  lathe import https://share.example/s/abc`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			name := "-"
			if len(args) > 0 {
				name = args[0]
			} else if cli.IsTerminal(a.Stdin) { // a terminal would wait for typed input
				return cli.Usagef("give a file to import, or pipe it in: `lathe import session.json`")
			}
			return importFrom(c.Context(), a, name)
		},
	})
}

// importFrom reads a file, a share link or standard input, and stores the session in one transaction.
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
		if _, ended := cli.Interrupted(ctx); ended { // a started import completes
			a.Notify("Interrupted. Run `lathe session show %s` to see whether the session was imported.", x.Info.ID)
		}
		return notImported(name, err)
	}
	return printChanged(a, "Imported session: %s\n", s, nil)
}

// importRemarks explains why an imported session is not listed.
func importRemarks(a *cli.App, s lathe.Session, exists func(lathe.SessionID) bool) {
	if s.Archived != nil {
		a.Notify("The session is archived. List it with `lathe session list --archived`.")
	}
	if s.Parent != "" && !exists(s.Parent) {
		a.Notify("The parent session %s is missing, so the session is not listed. Use its ID.", s.Parent)
	}
}

// notImported adds the file name and that nothing was imported.
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

// readExport reads the file up to the size limit.
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
		f, err := os.Open(name) // opening a pipe waits for its writer
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

// readWhole reads a file into a buffer of its size, if known.
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

// fileError explains why a file cannot be read.
func fileError(err error) error {
	var cause *fs.PathError
	if !errors.As(err, &cause) {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return lathe.Errorf(lathe.NotFound, "file not found")
	case errors.Is(err, fs.ErrPermission):
		return lathe.Errorf(lathe.Denied, "permission denied")
	default:
		return lathe.Errorf(lathe.Invalid, "%w", cause.Err)
	}
}

// shareTime is the time limit for downloading a shared session.
const shareTime = time.Minute

// fetchShare downloads the data of a share link, or of a direct link to the data.
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
		return nil, lathe.Errorf(lathe.Unavailable, "%w; check the URL, or download the file and import it", err)
	}
	defer func() { _ = res.Body.Close() }() // only read
	if res.StatusCode != http.StatusOK {
		return nil, lathe.Errorf(lathe.NotFound, "%s answers %s; the link may be wrong, or no longer shared", termtext.Plain(from.Host), res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, lathe.MaxExport+1))
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "%w", err)
	}
	return data, nil
}
