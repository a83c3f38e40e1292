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
	"github.com/spf13/pflag"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/style"
)

// The exit codes besides those of signals.
const (
	exitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// usageError is an invalid command line.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// Usagef returns an error with the exit code of a usage error.
func Usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// NotImplemented is the error of a feature that does not exist yet. It names the alternative.
func NotImplemented(what, instead string) error {
	return lathe.Errorf(lathe.Unavailable, "%s is not available yet. %s", what, instead)
}

// Reported is an error that was already printed; only its exit code is left.
type Reported struct{ Code int }

func (Reported) Error() string { return "failed" }

// details is an error with further lines, such as candidates or commands.
type details interface {
	error
	Details() []string
}

// exitCoder is an error with its own exit code.
type exitCoder interface {
	error
	ExitStatus() int
}

// Finish flushes the output, prints the error and returns the exit code.
func (a *App) Finish(ctx context.Context, err error, args []string) int {
	untold := a.Stdout.Written == 0
	if err != nil && untold && !errors.As(err, new(Reported)) {
		a.Out.Reset(a.Stdout) // half a result is worse than none
	}
	err = cmp.Or(err, a.Out.Flush())
	signal, ended := Interrupted(ctx)
	var told Reported
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader closed the pipe
		return exitDone
	case errors.As(err, &told):
		return told.Code
	case ended && lathe.CodeOf(err) == lathe.Canceled, errors.As(err, new(Interrupt)):
		if IsTerminal(a.Stderr) {
			a.Notify("") // start a new line after ^C
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

// Fail prints an error in one line, followed by the excerpt and the details it has.
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

// errorJSON is the output of a failed command with --json.
type errorJSON struct {
	Error struct {
		Code    lathe.Code `json:"code"`
		Message string     `json:"message"`
	} `json:"error"`
}

// failJSON prints the error to standard output, where programs expect the result.
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

// SplitExcerpt splits an error text into its message, joined to one line, and the indented excerpt of a file.
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

// ConfigureRoot sets the error and help output of all commands.
func ConfigureRoot(a *App, root *cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(a.Out)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 && !strings.Contains(c.Use, " ") { // else they are arguments of its own
			return UnknownCommand(c, args[0])
		}
		return flagError(c, err)
	})
	root.SetHelpCommand(newHelp(root))
	root.SetUsageFunc(usage)
	return root
}

// flagError is the error of a wrong flag. It suggests similar names.
func flagError(c *cobra.Command, err error) error {
	says, _, _ := strings.Cut(err.Error(), ": strconv.") // Go's parse error does not help
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		add := func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		}
		c.Flags().VisitAll(add)
		c.InheritedFlags().VisitAll(add)
		if near := phrase.Similar("--"+unknown.GetSpecifiedName(), names); len(near) > 0 {
			return Usagef("%s; did you mean %s? See `%s --help`", says, near[0], c.CommandPath())
		}
	}
	return Usagef("%s; see `%s --help`", says, c.CommandPath())
}

// VersionAnnotation is the annotation of the root command with the program's version.
const VersionAnnotation = "version"

// RequireSubcommand runs a command that only groups others: it prints help and fails.
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

// KnownElsewhere maps commands of other programs to their equivalent here, where the most similar name would mislead.
var KnownElsewhere = map[string]string{
	"lathe login":          "use `lathe auth login` to save an API key",
	"lathe logout":         "use `lathe auth logout` to remove an API key",
	"lathe ls":             "use `lathe session list` to list the sessions of this project",
	"lathe list":           "use `lathe session list` to list the sessions of this project",
	"lathe tui":            "run `lathe` without a command to open the terminal UI",
	"lathe chat":           "run `lathe` without a command to open the terminal UI",
	"lathe resume":         "use `lathe -c` to continue the latest session, or `lathe run --resume` to resume an interrupted turn",
	"lathe continue":       "use `lathe -c` to continue the latest session, or `lathe run -c PROMPT` to add one prompt",
	"lathe init":           "use `lathe run --command init` to write an AGENTS.md",
	"lathe undo":           "use `lathe session undo` to undo the changes of the last exchange",
	"lathe session resume": "use `lathe run --resume -s ID` to resume an interrupted turn, or `lathe -s ID` to continue any session",
	"lathe config set":     "edit the file that `lathe config path` prints, then run `lathe config check`",
	"lathe config edit":    "edit the file that `lathe config path` prints, then run `lathe config check`",
	"lathe config get":     "use `lathe config show` to print the effective config as JSON",
}

// UnknownCommand is the error for a command that does not exist. It suggests the equivalent or the most similar one.
func UnknownCommand(c *cobra.Command, name string) error {
	path := c.CommandPath()
	if name == "" {
		return Usagef("the command is empty; `%s --help` lists the commands", path)
	}
	if instead := KnownElsewhere[path+" "+name]; instead != "" {
		return Usagef("unknown command `%s %s`: %s", path, name, instead)
	}
	most := min(2, len(name)/2) // any two-letter names are within distance two
	for c.SuggestionsMinimumDistance = 1; c.SuggestionsMinimumDistance <= max(most, 1); c.SuggestionsMinimumDistance++ {
		near := c.SuggestionsFor(name)
		if slices.Contains(near, name) { // after --, where nothing is a command
			return Usagef("%s must come before --: `%s %s`", name, path, name)
		}
		if len(near) > 0 {
			return Usagef("unknown command `%s %s`; did you mean `%s %s`?", path, termtext.Plain(name), path, strings.Join(near, "` or `"+path+" "))
		}
	}
	return Usagef("unknown command `%s %s`; `%s --help` lists the commands", path, termtext.Plain(name), path)
}

// newHelp replaces the help command of cobra, so that an unknown command is an error here too.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		Short:   "Show help for a command",
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

// NoArgs accepts no arguments.
func NoArgs(c *cobra.Command, args []string) error { return RangeArgs(0, 0)(c, args) }

// RangeArgs checks the number of arguments; a negative maximum means no limit.
func RangeArgs(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			_, wants, _ := strings.Cut(c.Use, " ")
			return Usagef("`%s` is missing arguments: %s; see `%s --help`", c.CommandPath(), wants, c.CommandPath())
		case most >= 0 && len(args) > most:
			return Usagef("`%s` got an unexpected argument %s; see `%s --help`", c.CommandPath(), termtext.Quote(args[most]), c.CommandPath())
		default:
			return nil
		}
	}
}

// RejectEmpty refuses flags that are given without a value. A script with an unset variable would otherwise do something else
// than it says.
func RejectEmpty(s *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if flag := s.Lookup(name); flag.Changed && strings.TrimSpace(flag.Value.String()) == "" {
			return Usagef("--%s is empty; give a value or leave it out", name)
		}
	}
	return nil
}
