package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine/rewind"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/harness/trees"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// rewindFlags select the steps to list, or what to rewind.
type rewindFlags struct {
	code, conversation, redo, dry, fork bool
	limit, before                       int
	worktree                            string
}

// newRewind lists the steps of a session, or rewinds it to one of them.
func newRewind(a *cli.App) *cobra.Command {
	var f rewindFlags
	cmd := &cobra.Command{
		Use:   "rewind [ID] [STEP] [--code | --conversation] [--dry-run]",
		Short: "List the steps of a session, or rewind to one of them",
		Long: `List the steps of a session with their files, commands, tests and cost. With STEP, rewind to the end
of that step: restore the files that later steps changed, by shell commands and subagents too, and hide
the later messages. Step 0 is the beginning.

--code rewinds only the files, --conversation only the messages. --redo brings everything back until the
next prompt, which deletes the hidden messages. Start with --dry-run. --fork leaves the session as it is and
copies it up to STEP, with --worktree into an isolated copy of the checkout with the files of STEP.

A file that you changed since is a conflict: it is listed and left alone, and the exit code is 1,
although everything else is rewound.`,
		Example: `  lathe session rewind last
  lathe session rewind last 12 --dry-run
  lathe session rewind last 12
  lathe session rewind last 12 --fork
  lathe session rewind last --redo`,
		Args: cli.RangeArgs(0, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.RejectEmpty(c.Flags(), "worktree"); err != nil { // without a name it would rewind the checkout
				return err
			}
			id, step, err := f.parse(args)
			if err != nil {
				return err
			}
			if f.worktree != "" {
				return f.forkTree(c.Context(), a, id, step)
			}
			return onSession(c.Context(), a, id, func(e api.Engine, s lathe.Session) error { return f.run(c.Context(), a, e, s, step) })
		},
	}
	cmd.Flags().BoolVar(&f.code, "code", false, "rewind only the files")
	cmd.Flags().BoolVar(&f.conversation, "conversation", false, "rewind only the messages")
	cmd.Flags().BoolVar(&f.redo, "redo", false, "bring back everything that was rewound")
	cmd.Flags().BoolVar(&f.fork, "fork", false, "copy the messages up to STEP to a new session instead")
	cmd.Flags().StringVar(&f.worktree, "worktree", "", "fork into a new worktree `NAME` with the files of STEP")
	cmd.Flags().BoolVarP(&f.dry, "dry-run", "n", false, "show the changes without making them")
	cmd.Flags().IntVar(&f.limit, "limit", lathe.DefaultSteps, "list at most `N` steps, the newest ones")
	cmd.Flags().IntVar(&f.before, "before", 0, "list only steps before step `N`")
	return a.JSONFlag(cmd)
}

// noStep means that no step was named.
const noStep = -1

// parse splits the arguments. A number alone is a step.
func (f *rewindFlags) parse(args []string) (id []string, step int, err error) {
	step = noStep
	f.fork = f.fork || f.worktree != ""
	text := ""
	switch {
	case len(args) == 2:
		id, text = args[:1], args[1]
	case len(args) == 1 && strings.Trim(args[0], "0123456789") == "" && args[0] != "":
		text = args[0]
	default:
		id = args
	}
	if text != "" || len(args) == 2 { // in a script an empty STEP is an unset variable
		if step, err = strconv.Atoi(text); err != nil || step < 0 {
			return nil, 0, cli.Usagef("STEP must be a number from the list of `lathe session rewind`, not %q", text)
		}
	}
	switch {
	case f.code && f.conversation:
		return nil, 0, cli.Usagef("--code and --conversation cannot be combined; without them both are rewound")
	case f.redo && (step != noStep || f.code || f.conversation || f.fork):
		return nil, 0, cli.Usagef("--redo brings everything back; use it without STEP, --code, --conversation and --fork")
	case f.fork && (f.code || f.conversation || f.dry):
		return nil, 0, cli.Usagef("--fork changes no files and no messages of the session; use it without --code, --conversation and --dry-run")
	case step == noStep && (f.code || f.conversation || f.dry && !f.redo || f.fork):
		return nil, 0, cli.Usagef("name a STEP; `lathe session rewind` lists them")
	case f.limit < 1 || f.limit > lathe.MaxSteps:
		return nil, 0, cli.Usagef("--limit must be from 1 to %d", lathe.MaxSteps)
	case f.before < 0:
		return nil, 0, cli.Usagef("--before must be the number of a step")
	}
	return id, step, nil
}

// run lists steps, forks or rewinds. An error of the engine says what to do instead.
func (f *rewindFlags) run(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session, step int) error {
	switch {
	case f.fork:
		copied, err := e.ForkStep(ctx, forkDir(a, s), s.ID, step)
		return printChanged(a, "Forked session: %s\n", copied, err)
	case step == noStep && !f.redo:
		list, err := e.Steps(ctx, s.ID, lathe.StepQuery{Before: f.before, Limit: f.limit})
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(list)
		}
		printSteps(a, s, list)
		return nil
	}
	in := lathe.Rewind{Step: max(step, 0), Redo: f.redo, DryRun: f.dry, Scope: lathe.RewindBoth}
	switch {
	case f.code:
		in.Scope = lathe.RewindCode
	case f.conversation:
		in.Scope = lathe.RewindConversation
	}
	done, err := e.Rewind(ctx, s.ID, in)
	if err != nil {
		return err
	}
	return printRewound(a, done, f.redo)
}

// forkDir is where a copy works: where the session does, or if that directory is gone, in the current one. A server knows
// its own directories.
func forkDir(a *cli.App, s lathe.Session) string {
	if _, err := os.Stat(s.Directory); a.Attach == "" && errors.Is(err, fs.ErrNotExist) {
		return a.Dir
	}
	return s.Directory
}

// checkPlace reports that the project of a session is gone, for commands that need its files.
func checkPlace(s lathe.Session) error {
	if _, err := os.Stat(s.Directory); errors.Is(err, fs.ErrNotExist) {
		return lathe.Errorf(lathe.Unavailable, "the project is no longer at %s; move it back there, or copy only the conversation: `lathe session fork %s`", termtext.Plain(s.Directory), s.ID)
	}
	return nil
}

// forkTree copies a session and its checkout at a step. It needs the whole config, for the setup of the worktree.
func (f *rewindFlags) forkTree(ctx context.Context, a *cli.App, args []string, step int) error {
	if a.Attach != "" {
		return cli.Usagef("--worktree cannot be combined with --attach; run it where the project is")
	}
	id, err := cli.IDArg(args)
	if err != nil {
		return err
	}
	if _, err := a.ExistingFolders(); err != nil {
		return err
	}
	h, err := harness.Open(ctx, &a.Host, harness.Options{Headless: true})
	if err != nil {
		return err
	}
	run := func() error {
		s, err := a.Find(ctx, h.Engine, id)
		if err == nil {
			err = checkPlace(s)
		}
		if err != nil {
			return err
		}
		t, err := trees.Trees{Engine: h.Engine}.ForkWorktree(ctx, s.ID, step, f.worktree)
		switch {
		case err != nil:
			return err
		case a.JSON:
			return a.PrintJSON(t)
		}
		a.Printf("Forked session: %s\nWorktree: %s\n", t.Session, t.Path)
		for _, f := range t.Left {
			a.Printf("✗ conflict %s — %s\n", termtext.Plain(relativeTo(t.Origin, f.File)), f.Conflict)
		}
		return nil
	}
	return cli.CloseAfter(h, run())
}

// printRewound prints the file changes. Conflicts make the command fail.
func printRewound(a *cli.App, done lathe.Rewound, redo bool) error {
	if a.JSON {
		if err := a.PrintJSON(done); err != nil {
			return err
		}
		return failOnRewind(a, done)
	}
	if done.Problem != "" {
		return failOnRewind(a, done)
	}
	what := map[lathe.RewindScope]string{
		lathe.RewindBoth: "files and conversation", lathe.RewindCode: "files", lathe.RewindConversation: "conversation",
	}[done.Scope]
	did, would := fmt.Sprintf("Rewound %s to step %d", what, done.Step), fmt.Sprintf("Would rewind %s to step %d", what, done.Step)
	if redo {
		did, would = "Redid everything", "Would redo everything"
	}
	if len(done.CutOff) > 0 {
		a.Notify("lathe ended during a command of %s. What it changed is not known, and stays as it is.", rewind.Ranges(done.CutOff))
	}
	printUndone(a, undoneJSON{DryRun: done.DryRun, Session: done.Session, Files: done.Files}, did, would)
	return failOnRewind(a, done)
}

// failOnRewind fails a rewind that was not, or would not be, complete.
func failOnRewind(a *cli.App, done lathe.Rewound) error {
	if done.Problem != "" {
		return lathe.Errorf(lathe.Unavailable, "%s (use --conversation)", done.Problem)
	}
	return failOnConflicts(a, done.Files, done.DryRun)
}

// printSteps lists steps, each in one line, under the prompts that they answer.
func printSteps(a *cli.App, s lathe.Session, list lathe.StepList) {
	if list.Total == 0 {
		a.Printf("This session has no steps yet.\n")
		return
	}
	for _, st := range list.Steps {
		if st.Prompt != "" {
			a.Printf("> %s\n", termtext.Plain(st.Prompt))
		}
		mark := " "
		if st.Undone {
			mark = "↶"
		}
		a.Printf("%s%5d  %s\n", mark, st.Number, termtext.Plain(st.Summary(s.Directory)))
	}
	if len(list.Steps) == 0 {
		a.Printf("No earlier steps.\n")
	}
	if n := len(list.Steps); n > 0 && list.Steps[0].Number > 1 {
		a.Printf("Earlier steps: --before %d\n", list.Steps[0].Number)
	}
	if list.At < list.Total {
		a.Printf("The conversation is at step %d of %d. Redo: lathe session rewind %s --redo\n", list.At, list.Total, s.ID)
	} else if list.Rewound > 0 {
		a.Printf("%s at an earlier step. Redo: lathe session rewind %s --redo\n", termtext.Plural(list.Rewound, "file"), s.ID)
	}
}

// relativeTo shortens a path below a directory.
func relativeTo(dir, file string) string {
	if rel, err := filepath.Rel(dir, filepath.FromSlash(file)); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}
