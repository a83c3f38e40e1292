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
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/transfer"
)

// NewImport returns `lathe import`.
func NewImport(a *cli.App) *cobra.Command {
	var f fromFlags
	cmd := &cobra.Command{
		Use:   "import [FILE | LINK]",
		Short: "Import sessions and settings",
		Long: `Import a session exported by any version of lathe or OpenCode, or a shared session: from a file, a
link, or standard input ("-" or no argument). It then belongs to the current directory (or that of
-C). IDs and times stay the same.

The import is atomic. If the session exists, missing messages are added and nothing is overwritten.

--from imports what you have in another coding agent: Claude Code, Codex, crush, Gemini CLI or
OpenCode. Sessions keep their directory, their times, tool calls and costs, and you can continue
them here. Settings (permissions, MCP servers, hooks, commands, agents, skills, models) are added to
lathe's config; a setting that is there already stays. Instruction files such as CLAUDE.md and
GEMINI.md are read in place. The files of the other program do not change. --dry-run shows what an
import would do.

Run it again at any time: it imports new sessions and updates old ones. A session that you continued
in lathe does not change any more. Keys and logins: lathe auth import.`,
		Example: `  lathe import session.json
  ssh build lathe export last | lathe import
  lathe import https://share.example/s/abc
  lathe import --from claude --dry-run
  lathe import --from codex --only sessions
  lathe import --from claude ~/backup/transcript.jsonl`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error { return runImport(c, a, f, args) },
	}
	s := cmd.Flags()
	s.StringVar(&f.tool, "from", "", "import from a `PROGRAM`: claude, codex, crush, gemini or opencode")
	s.BoolVar(&f.dryRun, "dry-run", false, "with --from, show the result and write nothing")
	s.StringVar(&f.only, "only", "", "with --from, import only `PART`: sessions or settings")
	return a.JSONFlag(cmd)
}

// runImport tells a file from another program.
func runImport(c *cobra.Command, a *cli.App, f fromFlags, args []string) error {
	if c.Flags().Changed("from") {
		m, err := newMigration(a, f, args)
		if err != nil {
			return err
		}
		return m.run(c.Context(), f.only)
	}
	for _, name := range []string{"dry-run", "only"} {
		if c.Flags().Changed(name) {
			return cli.Usagef("--%s needs --from, as in `lathe import --from claude --%s`", name, name)
		}
	}
	name := "-"
	if len(args) > 0 {
		name = args[0]
	} else if cli.IsTerminal(a.Stdin) { // a terminal would wait for typed input
		return cli.Usagef("give a file to import, or pipe it in: `lathe import session.json`; for another program use --from")
	}
	return importFrom(c.Context(), a, name)
}

// importFrom reads a file, a share link or standard input message by message, and stores the session in one
// transaction.
func importFrom(ctx context.Context, a *cli.App, name string) error {
	defer limitMemory()()
	in, err := openExport(ctx, a, name)
	if err != nil {
		return notImported(name, err)
	}
	defer func() { _ = in.Close() }() // only read
	if err := in.checkFirst(ctx, a); err != nil {
		return notImported(name, err)
	}
	e, err := a.Open(ctx)
	if err != nil {
		return err
	}
	shown := startProgress(a, in.size)
	var id lathe.SessionID
	s, err := e.ImportFrom(ctx, a.Dir, func(add func(lathe.Message) error) (lathe.Session, error) {
		s, err := transfer.Read(shown.reader(cli.CancelableReader(ctx, in)), add)
		if err == nil {
			err = checkLeft(ctx)
		}
		id = s.ID
		return s, fileError(err)
	})
	shown.end()
	if err == nil && !a.JSON {
		importRemarks(a, s, func(id lathe.SessionID) bool {
			_, err := e.Get(ctx, id)
			return err == nil
		})
	}
	if err = cli.CloseAfter(e, err); err != nil {
		if _, ended := cli.Interrupted(ctx); ended && id != "" { // a started import completes
			a.Notify("Interrupted. Run `lathe session show %s` to see whether the session was imported.", id)
		}
		return notImported(name, err)
	}
	return printChanged(a, "Imported session: %s\n", s, nil)
}

// checkLeft is the reason why the command has to end, if there is one.
func checkLeft(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// limitMemory collects garbage early, because an import makes much of it and needs little. The result restores
// the defaults.
func limitMemory() func() {
	percent, limit := debug.SetGCPercent(25), debug.SetMemoryLimit(48<<20)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
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
	if link, lerr := url.Parse(name); lerr == nil && link.User != nil {
		from = termtext.Plain(link.Redacted())
	}
	switch name {
	case "-":
		from = "standard input"
	case "":
		from = "a file without a name"
	}
	says := strings.TrimSuffix(err.Error(), "; nothing was imported")
	return &lathe.Error{Code: lathe.CodeOf(err), Message: fmt.Sprintf("cannot import %s: %s; nothing was imported", from, says), Err: err}
}

// exportFile is an open export and its size in bytes, 0 if unknown.
type exportFile struct {
	io.ReadCloser
	size  int64
	again bool // it can be read twice
}

// checkFirst checks a file before the first database is created, so that a useless one leaves none behind. Of an
// input that can be read only once it checks a short one.
func (f *exportFile) checkFirst(ctx context.Context, a *cli.App) error {
	if _, err := a.ExistingFolders(); err == nil {
		return nil
	}
	const short = 4 << 20
	rest := f.ReadCloser
	start, err := io.ReadAll(io.LimitReader(cli.CancelableReader(ctx, rest), short))
	if err == nil && len(start) < short {
		_, err = transfer.Parse(start)
	}
	in := io.MultiReader(bytes.NewReader(start), rest)
	if file, ok := rest.(*os.File); err == nil && ok && f.again && len(start) == short {
		_, err = transfer.Read(cli.CancelableReader(ctx, in), func(lathe.Message) error { return nil })
		if _, serr := file.Seek(0, io.SeekStart); err == nil {
			err = serr
		}
		in = file
	}
	f.ReadCloser = struct {
		io.Reader
		io.Closer
	}{in, rest}
	return fileError(err)
}

// openExport opens a file, a link or standard input.
func openExport(ctx context.Context, a *cli.App, name string) (exportFile, error) {
	if link, err := url.Parse(name); err == nil && (link.Scheme == "http" || link.Scheme == "https") {
		return fetchShare(ctx, link)
	}
	if name == "-" {
		return sized(io.NopCloser(a.Stdin), a.Stdin)
	}
	var f *os.File
	_, err := cli.ReadOrCancel(ctx, func() (none []byte, err error) {
		f, err = os.Open(name) // opening a pipe waits for its writer
		return nil, err
	})
	if err != nil {
		return exportFile{}, fileError(err)
	}
	return sized(f, f)
}

// sized refuses folders and files above the limit before anything is read.
func sized(r io.ReadCloser, f *os.File) (exportFile, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return exportFile{}, errors.Join(fileError(err), r.Close())
	case info.IsDir():
		return exportFile{}, errors.Join(lathe.Errorf(lathe.Invalid, "is a directory"), r.Close())
	case !info.Mode().IsRegular():
		return exportFile{ReadCloser: r}, nil
	case info.Size() > transfer.MaxSize:
		return exportFile{}, errors.Join(lathe.Errorf(lathe.Invalid, "the file is larger than %s", termtext.ByteSize(transfer.MaxSize)), r.Close())
	}
	return exportFile{ReadCloser: r, size: info.Size(), again: true}, nil
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
func fetchShare(ctx context.Context, link *url.URL) (exportFile, error) {
	from := *link
	if !strings.HasSuffix(from.Path, "/data") {
		from.Path = "/api/shares/" + path.Base(link.Path) + "/data"
	}
	from.RawQuery, from.Fragment = "", ""
	ctx, stop := context.WithTimeout(ctx, shareTime)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		stop()
		return exportFile{}, lathe.Errorf(lathe.Invalid, "%w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		defer stop()
		if cause := context.Cause(ctx); errors.As(cause, new(cli.Interrupt)) {
			return exportFile{}, cause
		}
		return exportFile{}, lathe.Errorf(lathe.Unavailable, "%w; check the URL, or download the file and import it", err)
	}
	body := &download{ReadCloser: res.Body, stop: stop}
	if res.StatusCode != http.StatusOK {
		return exportFile{}, errors.Join(lathe.Errorf(lathe.NotFound, "%s answers %s; the link may be wrong, or no longer shared", termtext.Plain(from.Host), res.Status), body.Close())
	}
	return exportFile{ReadCloser: body, size: max(res.ContentLength, 0)}, nil
}

// download is the body of a response; its errors are those of a connection.
type download struct {
	io.ReadCloser
	stop context.CancelFunc
}

func (d *download) Read(b []byte) (int, error) {
	n, err := d.ReadCloser.Read(b)
	if err != nil && err != io.EOF {
		err = lathe.Errorf(lathe.Unavailable, "%w", err)
	}
	return n, err
}

func (d *download) Close() error {
	d.stop()
	return d.ReadCloser.Close()
}
