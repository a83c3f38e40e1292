package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/style"
)

// The exit codes besides those of signals.
const (
	exitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// usageError is a command line that makes no sense.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

func Usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// NotImplemented refuses what is not built yet, and says what there is instead.
func NotImplemented(what, instead string) error {
	return lathe.Errorf(lathe.Unavailable, "%s comes later. %s", what, instead)
}

// Reported is an error that has been told already; only the exit code remains.
type Reported struct{ Code int }

func (Reported) Error() string { return "failed" }

// details is an error with lines that help to act on it.
type details interface {
	error
	Details() []string
}

// exitCoder is an error with an exit code of its kind.
type exitCoder interface {
	error
	ExitStatus() int
}

// Finish writes what is left of the output, tells what went wrong and returns the exit code.
func (a *App) Finish(ctx context.Context, err error, args []string) int {
	untold := a.Stdout.Written == 0
	if err != nil && untold && !errors.As(err, new(Reported)) {
		a.Out.Reset(a.Stdout) // half a result is worse than none
	}
	err = cmp.Or(err, a.Out.Flush())
	signal, ended := Interrupted(ctx)
	var told Reported
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // who reads has seen enough
		return exitDone
	case errors.As(err, &told):
		return told.Code
	case ended && lathe.CodeOf(err) == lathe.Canceled, errors.As(err, new(Interrupt)):
		if IsTerminal(a.Stderr) {
			a.Notify("") // the prompt of the shell goes below ^C
		}
		return signal.ExitCode()
	}
	if untold && (a.JSON || slices.Contains(args, "--json")) {
		a.failJSON(err)
	}
	a.Fail(err)
	if status, ok := errors.AsType[exitCoder](err); ok {
		return status.ExitStatus()
	}
	if errors.As(err, new(usageError)) {
		return ExitUsage
	}
	return ExitFailed
}

// Fail prints one line that says what happened and what to do next, and below it the place it speaks of.
func (a *App) Fail(err error) {
	word := a.Paint(a.Stderr, "Error:", style.Fg(style.Palette(1)))
	said, excerpt := SplitExcerpt(err.Error())
	a.Notify("%s %s", word, said)
	for _, line := range excerpt {
		a.Notify("%s", line)
	}
	if more, ok := errors.AsType[details](err); ok {
		for _, line := range more.Details() {
			a.Notify("  %s", line)
		}
	}
}

type errorJSON struct {
	Error struct {
		Code    lathe.Code `json:"code"`
		Message string     `json:"message"`
	} `json:"error"`
}

// failJSON prints the error where programs look for the result.
func (a *App) failJSON(err error) {
	var e errorJSON
	e.Error.Code = lathe.CodeOf(err)
	e.Error.Message, _ = SplitExcerpt(err.Error())
	if errors.As(err, new(usageError)) {
		e.Error.Code = lathe.Invalid
	}
	_ = a.PrintJSON(e)
	_ = a.Out.Flush()
}

// SplitExcerpt joins the lines of several errors, and gives the lines of a file that they show, which are indented.
func SplitExcerpt(s string) (said string, excerpt []string) {
	var words []string
	for l := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if strings.HasPrefix(l, "  ") {
			excerpt = append(excerpt, strings.Map(termtext.Visible, strings.ToValidUTF8(l, "\uFFFD")))
		} else {
			words = append(words, l)
		}
	}
	return termtext.OneLine(strings.Join(words, "\n")), excerpt
}

// ConfigureRoot makes a tree of commands fail and help in our way.
func ConfigureRoot(a *App, root *cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(a.Out)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 {
			return UnknownCommand(c, args[0])
		}
		says, _, _ := strings.Cut(err.Error(), ": strconv.") // how Go read it helps nobody
		return Usagef("%s; `%s --help` shows how", says, c.CommandPath())
	})
	root.SetHelpCommand(newHelp(root))
	root.SetUsageFunc(usage)
	return root
}

// VersionAnnotation is the annotation of the root command that holds the version of the program.
const VersionAnnotation = "version"

// RequireSubcommand is the command of a word that needs another one behind it.
func RequireSubcommand(c *cobra.Command, args []string) error {
	if asked, err := c.Flags().GetBool("version"); err == nil && asked {
		c.Println(c.Root().Annotations[VersionAnnotation])
		return nil
	}
	if len(args) > 0 {
		return UnknownCommand(c, args[0])
	}
	c.SetOut(os.Stderr)
	if err := c.Help(); err != nil {
		return err
	}
	return Reported{ExitUsage}
}

// KnownElsewhere are what people try who know other programs, with what does it here. The nearest
// name would lead them elsewhere.
var KnownElsewhere = map[string]string{
	"lathe login":          "`lathe auth login` keeps the key of a provider",
	"lathe logout":         "`lathe auth logout` forgets a key",
	"lathe ls":             "`lathe session list` lists the sessions of this project",
	"lathe list":           "`lathe session list` lists the sessions of this project",
	"lathe tui":            "`lathe` alone is the terminal program",
	"lathe chat":           "`lathe` alone is the terminal program",
	"lathe resume":         "`lathe -c` goes on with the newest session, `lathe run --resume` with a turn that was cut off",
	"lathe continue":       "`lathe -c` goes on with the newest session, `lathe run -c WORDS` with one prompt",
	"lathe init":           "`lathe run --command init` writes an AGENTS.md",
	"lathe undo":           "`lathe session undo` takes back what the last exchange changed",
	"lathe session resume": "`lathe run --resume -s ID` goes on with a turn that was cut off, `lathe -s ID` with any session",
	"lathe config set":     "edit the file that `lathe config path` names; `lathe config check` looks for mistakes",
	"lathe config edit":    "edit the file that `lathe config path` names; `lathe config check` looks for mistakes",
	"lathe config get":     "`lathe config show` prints the settings that count here, as JSON",
}

func UnknownCommand(c *cobra.Command, name string) error {
	path := c.CommandPath()
	if name == "" {
		return Usagef("the command is empty; `%s --help` lists the commands", path)
	}
	if instead := KnownElsewhere[path+" "+name]; instead != "" {
		return Usagef("there is no command `%s %s`: %s", path, name, instead)
	}
	most := min(2, len(name)/2) // two letters are within two of any other two
	for c.SuggestionsMinimumDistance = 1; c.SuggestionsMinimumDistance <= max(most, 1); c.SuggestionsMinimumDistance++ {
		near := c.SuggestionsFor(name)
		if slices.Contains(near, name) { // behind --, where nothing is a command
			return Usagef("%s must come before --: `%s %s`", name, path, name)
		}
		if len(near) > 0 {
			return Usagef("there is no command `%s %s`; did you mean `%s %s`?", path, termtext.Plain(name), path, strings.Join(near, "` or `"+path+" "))
		}
	}
	return Usagef("there is no command `%s %s`; `%s --help` lists the commands", path, termtext.Plain(name), path)
}

func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		Short:   "Help about a command",
		Example: "  lathe help session list",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return UnknownCommand(c, rest[0])
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

func NoArgs(c *cobra.Command, args []string) error { return RangeArgs(0, 0)(c, args) }

// RangeArgs checks how many arguments there are; a maximum below 0 is none.
func RangeArgs(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			_, wants, _ := strings.Cut(c.Use, " ")
			return Usagef("`%s` needs more: %s; `%s --help` shows how", c.CommandPath(), wants, c.CommandPath())
		case most >= 0 && len(args) > most:
			return Usagef("`%s` does not know what to do with %s; `%s --help` shows how", c.CommandPath(), termtext.Quote(args[most]), c.CommandPath())
		default:
			return nil
		}
	}
}
