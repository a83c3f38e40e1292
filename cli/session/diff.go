package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

func newDiff(a *cli.App) *cobra.Command {
	var message string
	var stat bool
	context := 3
	cmd := &cobra.Command{
		Use:   "diff [ID] [--message MESSAGE]",
		Short: "Show what a session changed in the files",
		Long: `Shows the changes that the session's own steps and its sub-agents made, summed up for each
file: not what you or other sessions did in between. With --message, only those of the
exchange that this prompt began. While a session is undone, what was undone.`,
		Example: `  lathe session diff last
  lathe session diff last --stat
  lathe session diff 4mKq --message msg_f4ddc1a2e001Vd0Rk3XbT7uQ9p | less -R`,
		Args: cli.WantArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if context < 0 {
				return cli.Usagef("-U %d: want 0 or more", context)
			}
			return onSession(c.Context(), a, args, func(e api.Engine, s lathe.Session) error {
				return PrintDiff(c.Context(), a, e, s, lathe.MessageID(message), DiffStyle{context, stat, a.Color(a.Stdout.File)})
			})
		},
	}
	cmd.Flags().StringVar(&message, "message", "", "of the exchange that this `MESSAGE` began")
	cmd.Flags().BoolVar(&stat, "stat", false, "only how many lines, by file")
	cmd.Flags().IntVarP(&context, "unified", "U", context, "`N` lines around each change")
	a.JSONFlag(cmd)
	return cmd
}

func PrintDiff(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session, message lathe.MessageID, style DiffStyle) error {
	diffs, err := e.Diff(ctx, s.ID, message)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(diffs)
	}
	if len(diffs) == 0 {
		a.Printf("No file was changed.\n")
		return nil
	}
	if s.Revert != nil && message == "" {
		a.Remark("These changes are undone; `lathe session redo %s` brings them back.", s.ID)
	}
	for _, d := range diffs {
		a.Printf("%s", style.show(d))
	}
	return nil
}

// DiffStyle is how changes are shown.
type DiffStyle struct {
	Context int
	stat    bool
	Colour  bool
}

func (st DiffStyle) paint(code, text string) string {
	if !st.Colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (st DiffStyle) show(d lathe.FileDiff) string {
	counts := st.paint("32", "+"+termtext.Count(d.Additions)) + " " + st.paint("31", "-"+termtext.Count(d.Deletions))
	head := st.paint("1", termtext.Plain(d.File))
	if st.stat {
		return fmt.Sprintf("%s %s %s\n", termtext.Pad(d.Status, 8), counts, head)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\n", head, d.Status, counts)
	if d.Patch == "" {
		why := "too long to be kept, or not text"
		if d.Additions+d.Deletions == 0 {
			why = "not text, or only its mode changed"
		}
		fmt.Fprintf(&b, "  (%s)\n", why)
	}
	for _, line := range Narrowed(d.Patch, st.Context) {
		text := termtext.PlainText(line)
		switch {
		case strings.HasPrefix(line, "@@"):
			text = st.paint("36", text)
		case strings.HasPrefix(line, "+"):
			text = st.paint("32", text)
		case strings.HasPrefix(line, "-"):
			text = st.paint("31", text)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	return b.String()
}

// hunkLine is a line of a hunk and where it stands in both files.
type hunkLine struct {
	text     string
	old, now int
}

func (l hunkLine) changes() bool { return l.text != "" && (l.text[0] == '+' || l.text[0] == '-') }

// Narrowed cuts patches that hold whole files down to the lines around each change.
func Narrowed(patch string, context int) (out []string) {
	var hunk []hunkLine
	var old, now, oldLeft, newLeft int
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		if oldLeft <= 0 && newLeft <= 0 && !strings.HasPrefix(line, `\`) {
			out = append(out, regrouped(hunk, context)...)
			hunk = hunk[:0]
			if n, _ := fmt.Sscanf(HunkHead(line), "@@ -%d,%d +%d,%d", &old, &oldLeft, &now, &newLeft); n < 4 {
				oldLeft, newLeft = 0, 0 // what stands between hunks
			}
			continue
		}
		hunk = append(hunk, hunkLine{line, old, now})
		kind := byte(' ')
		if line != "" {
			kind = line[0]
		}
		if kind == ' ' || kind == '-' {
			old, oldLeft = old+1, oldLeft-1
		}
		if kind == ' ' || kind == '+' {
			now, newLeft = now+1, newLeft-1
		}
	}
	return append(out, regrouped(hunk, context)...)
}

// HunkHead writes out the counts that a head leaves out when they are one.
func HunkHead(line string) string {
	f := strings.Fields(line)
	if len(f) < 3 || f[0] != "@@" {
		return ""
	}
	for i := 1; i < 3; i++ {
		if !strings.Contains(f[i], ",") {
			f[i] += ",1"
		}
	}
	return strings.Join(f[:3], " ")
}

// regrouped makes hunks of the lines around the changes of one.
func regrouped(lines []hunkLine, context int) (out []string) {
	for from := 0; from < len(lines); {
		first := slices.IndexFunc(lines[from:], hunkLine.changes)
		if first < 0 {
			return out
		}
		begin := max(from, from+first-context)
		end, last := from+first, from+first
		for end < len(lines) && end-last <= 2*context {
			if lines[end].changes() {
				last = end
			}
			end++
		}
		end = min(len(lines), last+1+context)
		group := lines[begin:end]
		old, now := 0, 0
		var texts []string
		for _, l := range group {
			texts = append(texts, l.text)
			if strings.HasPrefix(l.text, `\`) {
				continue
			}
			if !strings.HasPrefix(l.text, "+") {
				old++
			}
			if !strings.HasPrefix(l.text, "-") {
				now++
			}
		}
		out = append(out, fmt.Sprintf("@@ -%d,%d +%d,%d @@", group[0].old, old, group[0].now, now))
		out = append(out, texts...)
		from = end
	}
	return out
}
