package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/diff"
	"github.com/lathe-agent/lathe/tui/style"
)

// newDiff shows the changes of the agent only, unlike git diff.
func newDiff(a *cli.App) *cobra.Command {
	var message string
	var stat bool
	context := 3
	cmd := &cobra.Command{
		Use:   "diff [ID] [--message MESSAGE]",
		Short: "Show the file changes of a session",
		Long: `Show the changes that the session and its subagents made, per file, without your own edits or those
of other sessions. With --message, show only the exchange of that prompt. For an undone session,
show the undone changes.`,
		Example: `  lathe session diff last
  lathe session diff last --stat
  lathe session diff 4mKq --message msg_f4ddc1a2e001Vd0Rk3XbT7uQ9p | less -R`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if context < 0 {
				return cli.Usagef("-U %d: want 0 or more", context)
			}
			return onSession(c.Context(), a, args, func(e api.Engine, s lathe.Session) error {
				return PrintDiff(c.Context(), a, e, s, lathe.MessageID(message), DiffStyle{context, stat, a.HasColor(a.Stdout.File)})
			})
		},
	}
	cmd.Flags().StringVar(&message, "message", "", "show only the exchange of this `MESSAGE`")
	cmd.Flags().BoolVar(&stat, "stat", false, "show only the number of changed lines per file")
	cmd.Flags().IntVarP(&context, "unified", "U", context, "`N` lines of context")
	return a.JSONFlag(cmd)
}

// PrintDiff prints the file changes of a session, or of the exchange of one message.
func PrintDiff(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session, message lathe.MessageID, style DiffStyle) error {
	diffs, err := e.Diff(ctx, s.ID, message)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(diffs)
	}
	if len(diffs) == 0 {
		a.Printf("No files changed.\n")
		return nil
	}
	if s.Revert != nil && message == "" {
		a.Notify("These changes are undone. Restore them with `lathe session redo %s`.", s.ID)
	}
	for _, d := range diffs {
		a.Printf("%s", style.show(d))
	}
	return nil
}

// DiffStyle sets how PrintDiff shows changes.
type DiffStyle struct {
	Context int
	stat    bool
	Colour  bool
}

// The terminal's palette, as in git diff.
var (
	red, green, cyan = style.Fg(style.Palette(1)), style.Fg(style.Palette(2)), style.Fg(style.Palette(6))
	bold             = style.Attr{Bold: true}
)

func (st DiffStyle) paint(look style.Attr, text string) string {
	if !st.Colour {
		return text
	}
	return style.Paint(text, look)
}

// show formats the diff of one file.
func (st DiffStyle) show(d lathe.FileDiff) string {
	counts := st.paint(green, "+"+termtext.Count(d.Additions)) + " " + st.paint(red, "-"+termtext.Count(d.Deletions))
	head := st.paint(bold, termtext.Plain(d.File))
	if st.stat {
		return fmt.Sprintf("%s %s %s\n", termtext.Pad(d.Status, 8), counts, head)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\n", head, d.Status, counts)
	if d.Patch == "" {
		why := "too large to store, or not text"
		if d.Additions+d.Deletions == 0 {
			why = "not text, or only its mode changed"
		}
		fmt.Fprintf(&b, "  (%s)\n", why)
	}
	for _, line := range diff.Narrow(d.Patch, st.Context) {
		text := termtext.PlainText(line)
		switch {
		case strings.HasPrefix(line, "@@"):
			text = st.paint(cyan, text)
		case strings.HasPrefix(line, "+"):
			text = st.paint(green, text)
		case strings.HasPrefix(line, "-"):
			text = st.paint(red, text)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	return b.String()
}
