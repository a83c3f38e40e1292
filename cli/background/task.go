// Package background has the commands that look after work beside the terminal: `lathe task` for background tasks, and
// `lathe agents` for the sessions of all projects.
//
// Commands use an api.Engine, so they work on the local database and with --attach. They own no state.
//
// Start reading at NewTask and NewAgents.
package background

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// NewTask returns `lathe task`.
func NewTask(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "task",
		Short: "List, follow and stop background tasks",
		Long: `List, follow and stop background tasks: commands that the model or you moved to the background, subagents
that report later, and sessions at work, of all lathe processes on this machine.

A background command ends with the lathe process that started it. Its output stays for a week.`,
		Example: "  lathe task list\n  lathe task tail job_4fc0 -f\n  lathe task stop job_4fc0",
		Args:    cobra.ArbitraryArgs,
		RunE:    cli.RequireSubcommand,
	}
	a.AttachFlag(cmd)
	cmd.AddCommand(newTaskList(a), newTaskTail(a), newTaskForeground(a), newTaskStop(a))
	return cmd
}

func newTaskList(a *cli.App) *cobra.Command {
	session, running := "", false
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List background tasks, newest first",
		Long:    "List background tasks of all sessions, newest first, also commands that have ended.",
		Example: "  lathe task list\n  lathe task list --running\n  lathe task list -s last --json",
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var all []lathe.BackgroundTask
			err := a.WithSessions(c.Context(), func(e api.Engine) (err error) {
				all, err = tasksOf(c.Context(), a, e, session, running)
				return err
			})
			if errors.As(err, new(cli.NoDatabase)) {
				all, err = []lathe.BackgroundTask{}, nil
			}
			if err != nil {
				return err
			}
			return a.PrintList(all, taskTable(a, all), "No background tasks.")
		},
	}
	cmd.Flags().StringVarP(&session, "session", "s", "", "list only tasks of this `SESSION` and its subagents")
	cmd.Flags().BoolVar(&running, "running", false, "list only running tasks")
	return a.JSONFlag(cmd)
}

// tasksOf lists the tasks that the flags select.
func tasksOf(ctx context.Context, a *cli.App, e api.Engine, session string, running bool) ([]lathe.BackgroundTask, error) {
	var id lathe.SessionID
	if session != "" {
		s, err := a.Find(ctx, e, session)
		if err != nil {
			return nil, err
		}
		id = s.ID
	}
	all, err := e.Tasks(ctx, id)
	out := []lathe.BackgroundTask{}
	for _, t := range all {
		if !running || t.State == lathe.TaskRunning {
			out = append(out, t)
		}
	}
	return out, err
}

func taskTable(a *cli.App, all []lathe.BackgroundTask) layout.Table {
	t := layout.Table{Head: []string{"Task", "Kind", "State", "Started", "Ports", "Title"}, Flexible: []int{5}, Paths: -1}
	for _, x := range all {
		var ports []string
		for _, p := range x.Ports {
			ports = append(ports, strconv.Itoa(p))
		}
		title, _, _ := strings.Cut(x.Title, "\n")
		t.Rows = append(t.Rows, []string{
			string(x.ID), string(x.Kind), stateText(x), layout.FormatAge(x.Started, a.Now()), strings.Join(ports, " "), termtext.Plain(title),
		})
	}
	return t
}

// stateText is the state of a task, with the exit code of a failed command.
func stateText(t lathe.BackgroundTask) string {
	if t.State == lathe.TaskFailed && t.Exit != nil {
		return "failed (" + strconv.Itoa(*t.Exit) + ")"
	}
	return string(t.State)
}

// followEvery is how often tail -f looks for new output.
const followEvery = 500 * time.Millisecond

func newTaskTail(a *cli.App) *cobra.Command {
	follow, lines := false, 0
	cmd := &cobra.Command{
		Use: "tail TASK", Aliases: []string{"logs"}, Short: "Print the end of a task's output",
		Long: `Print the end of a task's output: the log of a command, or the last texts of a subagent or session. TASK is
an ID or its beginning. Control characters are removed, so that no output can change your terminal.`,
		Example: "  lathe task tail job_4fc0\n  lathe task tail job_4fc0 -f\n  lathe task tail job_4fc0 --json",
		Args:    cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if lines < 1 {
				return cli.Usagef("-n %d: want 1 or more", lines)
			}
			return a.WithSessions(c.Context(), func(e api.Engine) error { return tailTask(c.Context(), a, e, lathe.TaskID(args[0]), lines, follow) })
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print new output until the task ends")
	cmd.Flags().IntVarP(&lines, "lines", "n", 50, "print at most `N` lines at first")
	return a.JSONFlag(cmd)
}

// tailTask prints the end of an output and, with follow, what is new until the task ends.
func tailTask(ctx context.Context, a *cli.App, e api.Engine, id lathe.TaskID, lines int, follow bool) error {
	out, err := e.TaskOutput(ctx, id, 0)
	if err != nil {
		return err
	}
	if a.JSON && !follow {
		out.Text = lastLines(out.Text, lines)
		return a.PrintJSON(out)
	}
	a.Printf("%s", plainLines(lastLines(out.Text, lines)))
	for follow && out.Task.State == lathe.TaskRunning {
		a.Flush()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(followEvery):
		}
		next, err := e.TaskOutput(ctx, out.Task.ID, 0)
		if lathe.CodeOf(err) == lathe.NotFound && out.Task.Kind != lathe.ShellTask {
			return nil // a subagent that has reported is no task any more
		}
		if err != nil {
			return err
		}
		a.Printf("%s", plainLines(added(out, next)))
		out = next
	}
	if out.Task.State != lathe.TaskRunning {
		a.Flush()
		a.Notify("Task %s: %s.", out.Task.ID, stateText(out.Task))
	}
	return nil
}

// added is the output since an earlier look. After a log was shortened, or more was printed than one look shows, that is
// all of it.
func added(old, next lathe.TaskOutput) string {
	if grown := next.Size - old.Size; grown >= 0 && grown <= int64(len(next.Text)) {
		return next.Text[len(next.Text)-int(grown):]
	}
	if next.Text == old.Text {
		return ""
	}
	return next.Text
}

// lastLines is the end of a text.
func lastLines(text string, n int) string {
	body, end := strings.CutSuffix(text, "\n")
	all := strings.Split(body, "\n")
	body = strings.Join(all[max(0, len(all)-n):], "\n")
	if end {
		body += "\n"
	}
	return body
}

// plainLines is a text without control characters but line breaks.
func plainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = termtext.Plain(l)
	}
	return strings.Join(lines, "\n")
}

func newTaskForeground(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "foreground TASK", Aliases: []string{"fg"}, Short: "Follow a task until it ends",
		Long: `Follow a task until it ends: print its output so far and all that follows. Ctrl+C leaves the task running.
TASK is an ID or its beginning. To talk to a subagent or session, open it: lathe -s ID.`,
		Example: "  lathe task foreground job_4fc0",
		Args:    cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.WithSessions(c.Context(), func(e api.Engine) error {
				return tailTask(c.Context(), a, e, lathe.TaskID(args[0]), math.MaxInt, true)
			})
		},
	}
}

func newTaskStop(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "stop TASK", Short: "Stop a running task",
		Long:    "Stop a running task: end a command with all its processes, or cancel the turn of a subagent or session.\nTASK is an ID or its beginning. The model gets one message about it.",
		Example: "  lathe task stop job_4fc0",
		Args:    cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.WithSessions(c.Context(), func(e api.Engine) error {
				out, err := e.TaskOutput(c.Context(), lathe.TaskID(args[0]), 1)
				if lathe.CodeOf(err) == lathe.NotFound && strings.Contains(err.Error(), "output is gone") {
					out.Task.ID, err = lathe.TaskID(args[0]), nil
				}
				if err == nil {
					err = e.StopTask(c.Context(), out.Task.ID)
				}
				if err == nil {
					a.Notify("Stopped %s.", out.Task.ID)
				}
				return err
			})
		},
	}
}
