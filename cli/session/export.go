package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/server/webpage"
	"github.com/lathe-agent/lathe/tui/chat"
)

type exportFlags struct {
	file     string
	format   string
	sanitize bool
}

// NewExport returns `lathe export`.
func NewExport(a *cli.App) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export [ID]",
		Short: "Export a session as JSON, Markdown or HTML",
		Long: `Export a session as JSON: {"info", "messages": [{"info", "parts"}]}. OpenCode and lathe can import
it. Without an ID, choose one on a terminal; otherwise the latest session of the project is used.

--format md writes Markdown. --format html writes one page for any browser, light or dark, that loads
nothing else and runs no script. Without --format, the ending of the -o file decides: .md or .html.

--sanitize replaces all text, paths, URLs and hashes by placeholders. IDs, times, models, tool names
and counts stay. Fields unknown to this version are removed.

-o writes the file atomically, readable only by you.`,
		Example: `  lathe export > session.json
  lathe export 4mKq -o session.json
  lathe export last -o session.html             # a page to read or send
  lathe export last --format md | less
  lathe export last --sanitize -o for-a-bug-report.json`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := cli.IDArg(args)
			if err != nil {
				return err
			}
			if f.file == "" {
				return cli.Usagef("-o needs a file name, or - for standard output")
			}
			if err := f.checkFormat(); err != nil {
				return err
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
	cmd.Flags().StringVarP(&f.file, "output", "o", "-", "output `FILE` instead of standard output")
	cmd.Flags().StringVar(&f.format, "format", "", "output `FORMAT`: json, md or html; default json, or by the ending of -o")
	a.AttachFlag(cmd)
	cmd.Flags().BoolVar(&f.sanitize, "sanitize", false, "replace text, paths and URLs by placeholders")
	return cmd
}

// checkFormat completes the format by the name of the file.
func (f *exportFlags) checkFormat() error {
	byEnding := map[string]string{".md": "md", ".markdown": "md", ".html": "html", ".htm": "html"}
	f.format = cmp.Or(f.format, byEnding[strings.ToLower(filepath.Ext(f.file))], "json")
	if f.format == "markdown" {
		f.format = "md"
	}
	if !slices.Contains([]string{"json", "md", "html"}, f.format) {
		return cli.Usagef("--format %s: want json, md or html", termtext.Quote(f.format))
	}
	return nil
}

// write writes a session in the chosen format.
func (f exportFlags) write(ctx context.Context, e api.Engine, s lathe.Session, out io.Writer) error {
	var change func(*lathe.Session, *lathe.Message)
	if f.sanitize {
		change = sanitize
	}
	if f.format == "json" {
		return e.Export(ctx, s.ID, layout.JSONTo(out), change)
	}
	if f.sanitize {
		sanitize(&s, nil)
	}
	var messages func([]lathe.Message) error
	end := func() error { return nil }
	if f.format == "html" {
		p := webpage.Write(out, s, time.Local)
		messages, end = p.Messages, p.End
	} else {
		in := chat.Include{Thinking: true, Tools: true, Metadata: true, Location: time.Local}
		head := chat.Markdown(s, nil, in)
		if _, err := io.WriteString(out, termtext.PlainText(head)); err != nil {
			return err
		}
		messages = func(all []lathe.Message) error {
			_, err := io.WriteString(out, termtext.PlainText(strings.TrimPrefix(chat.Markdown(s, all, in), head)))
			return err
		}
	}
	err := history(ctx, e, s.ID, func(all []lathe.Message) error {
		for i := range all {
			if f.sanitize {
				sanitize(nil, &all[i])
			}
		}
		return messages(all)
	})
	return cmp.Or(err, end())
}

// exportSession writes a session to standard output or a file.
func exportSession(ctx context.Context, a *cli.App, e api.Engine, arg string, f exportFlags) error {
	s, err := a.Find(ctx, e, arg)
	if err != nil {
		return err
	}
	if f.file == "-" {
		if arg == cli.Last || cli.IsTerminal(a.Stderr) && !cli.IsTerminal(a.Stdout.File) { // print the ID unless the user gave it
			a.Notify("Exporting session: %s", s.ID)
		}
		return f.write(ctx, e, s, a.Out)
	}
	size, err := WriteFile(f.file, func(w *cli.CountingFile) error { return f.write(ctx, e, s, w) })
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

// WriteFile writes a file atomically through a temporary file. It writes directly to a device or pipe.
func WriteFile(path string, write func(*cli.CountingFile) error) (size int64, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return 0, lathe.Errorf(lathe.Invalid, "%s is a folder; give a file", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return 0, cannotWrite(path, err)
		}
		to := &cli.CountingFile{File: f}
		return to.Written, cli.CloseAfter(f, write(to))
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".lathe-*.tmp") // readable only by the user
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

// cannotWrite explains a file error and passes on others.
func cannotWrite(path string, err error) error {
	var file *os.PathError
	var link *os.LinkError
	if !errors.As(err, &file) && !errors.As(err, &link) {
		return err
	}
	return fmt.Errorf("cannot write %s: %w; use another file", termtext.Plain(path), err)
}
