package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
)

type exportFlags struct {
	file     string
	sanitize bool
}

func NewExport(a *cli.App) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export [ID]",
		Short: "Write a session as JSON",
		Long: `Writes a whole session as JSON: {"info", "messages": [{"info", "parts"}]}. Without an ID you
choose one on a terminal; elsewhere it is the newest of the project. OpenCode and lathe can import the result.

--sanitize replaces everything a person or a model wrote, and all paths, addresses and
hashes, by placeholders; ids, times, models, tool names and counts stay. Members this
version does not know are left out.

-o writes the file whole or not at all, readable by you alone.`,
		Example: `  lathe export > session.json
  lathe export 4mKq -o session.json
  lathe export last --sanitize -o for-a-bug-report.json`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := cli.IDArg(args)
			if err != nil {
				return err
			}
			if f.file == "" {
				return cli.Usagef("-o needs the name of a file, or - for standard output")
			}
			return a.WithSessions(c.Context(), func(e api.Engine) error {
				if len(args) == 0 {
					if id, err = cli.ChooseSession(c.Context(), a, e); err != nil {
						return err
					}
				}
				return exportSession(c.Context(), a, e, id, f)
			})
		},
	}
	cmd.Flags().StringVarP(&f.file, "output", "o", "-", "write to this `FILE` instead of standard output")
	a.AttachFlag(cmd)
	cmd.Flags().BoolVar(&f.sanitize, "sanitize", false, "leave out what was said, paths and addresses")
	return cmd
}

func exportSession(ctx context.Context, a *cli.App, e api.Engine, arg string, f exportFlags) error {
	s, err := a.Find(ctx, e, arg)
	if err != nil {
		return err
	}
	var change func(*lathe.Session, *lathe.Message)
	if f.sanitize {
		change = sanitize
	}
	if f.file == "-" {
		if arg == cli.Last || cli.IsTerminal(a.Stderr) && !cli.IsTerminal(a.Stdout.File) { // say which, when that is not plain to see
			a.Notify("Exporting session: %s", s.ID)
		}
		return e.Export(ctx, s.ID, layout.JSONTo(a.Out), change)
	}
	size, err := WriteFile(f.file, func(w *cli.CountingFile) error { return e.Export(ctx, s.ID, layout.JSONTo(w), change) })
	if err != nil {
		return err
	}
	a.Notify("Exported session: %s to %s (%s)", s.ID, termtext.Plain(f.file), termtext.ByteSize(size))
	return nil
}

func sanitize(s *lathe.Session, m *lathe.Message) {
	if s != nil {
		*s = s.Sanitized()
	}
	if m != nil {
		*m = m.Sanitized()
	}
}

// WriteFile writes a file whole or not at all: beside its place first, then into it. What is
// there and is no regular file (a device, a pipe) is written to as it is.
func WriteFile(path string, write func(*cli.CountingFile) error) (size int64, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return 0, lathe.Errorf(lathe.Invalid, "%s is a folder; name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return 0, cannotWrite(path, err)
		}
		to := &cli.CountingFile{File: f}
		return to.Written, cli.CloseAfter(f, write(to))
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".lathe-*.tmp") // only the user may read it
	if err != nil {
		return 0, cannotWrite(path, err)
	}
	to := &cli.CountingFile{File: f}
	if err = write(to); err == nil {
		err = f.Sync()
	}
	if err = cli.CloseAfter(f, err); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, cannotWrite(path, errors.Join(err, os.Remove(f.Name())))
	}
	return to.Written, nil
}

// cannotWrite explains an error of the file; others pass.
func cannotWrite(path string, err error) error {
	var file *os.PathError
	var link *os.LinkError
	if !errors.As(err, &file) && !errors.As(err, &link) {
		return err
	}
	return fmt.Errorf("cannot write %s: %w; name another file", termtext.Plain(path), err)
}
