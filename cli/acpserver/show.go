package acpserver

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// showEvery is the time between two looks at a growing file.
const showEvery = 50 * time.Millisecond

// newShow returns the command that runs in terminals of editors: it prints the output of a command that lathe runs.
func newShow(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show FILE", Hidden: true, Short: "Print the output of a running command",
		Long:    "Print a file as it grows, until the command that fills it has ended. Editors run this in their terminals.",
		Example: "  lathe acp show /tmp/lathe-acp-1/prt_1",
		Args:    cli.RangeArgs(1, 1),
		RunE:    func(c *cobra.Command, args []string) error { return show(c.Context(), a, args[0]) },
	}
}

// show copies a file to standard output until it has ended, and exits like the command.
func show(ctx context.Context, a *cli.App, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return lathe.Errorf(lathe.NotFound, "the output at %s cannot be shown: %w", termtext.Plain(path), err)
	}
	defer f.Close()
	tick := time.NewTicker(showEvery)
	defer tick.Stop()
	for {
		// The end is looked for before the copy, so that nothing written before it is missed.
		code, ended := endOf(path)
		if _, err := io.Copy(a.Stdout, f); err != nil {
			return err
		}
		if ended && code != 0 {
			return cli.Reported{Code: code}
		}
		if ended {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// endOf reads the exit code that stands beside the output when it has ended. Without the output there is nothing to wait
// for.
func endOf(path string) (code int, ended bool) {
	data, err := os.ReadFile(path + acp.EndSuffix)
	if err != nil {
		_, gone := os.Stat(path)
		return 0, errors.Is(gone, fs.ErrNotExist)
	}
	code, err = strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || code < 0 || code > 255 {
		code = 1
	}
	return code, true
}
