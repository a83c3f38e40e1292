package background

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/subagent"
)

// tailBytes is the most output of a task that one call returns.
const tailBytes = 256 << 10

// Tasks lists the background tasks of a session and of those below it, newest first: commands, also ended ones, and
// subagents that have yet to report. With "" it lists those of all sessions, and the sessions at work.
func (b *Registry) Tasks(ctx context.Context, session lathe.SessionID) ([]lathe.BackgroundTask, error) {
	out := []lathe.BackgroundTask{}
	shells, err := b.o.Store.Shells().List(ctx, session)
	if err != nil {
		return nil, err
	}
	for _, s := range shells {
		out = append(out, b.withPorts(s.Task))
	}
	agents, err := b.agentTasks(ctx, session)
	if err != nil {
		return nil, err
	}
	out = append(out, agents...)
	if session == "" {
		busy, err := b.busySessions(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, busy...)
	}
	slices.SortStableFunc(out, func(x, y lathe.BackgroundTask) int {
		return cmp.Or(cmp.Compare(y.Started, x.Started), strings.Compare(string(y.ID), string(x.ID)))
	})
	return out, nil
}

// withPorts adds the ports of a command that this process runs.
func (b *Registry) withPorts(task lathe.BackgroundTask) lathe.BackgroundTask {
	b.mu.Lock()
	t := b.shells[task.ID]
	b.mu.Unlock()
	if t != nil && task.State == lathe.TaskRunning {
		task.Ports = t.work.Ports()
	}
	return task
}

// agentTasks are the subagents in the background that have yet to report.
func (b *Registry) agentTasks(ctx context.Context, parent lathe.SessionID) (out []lathe.BackgroundTask, err error) {
	children, err := b.o.Store.BackgroundTasks(ctx, parent)
	if err != nil || len(children) == 0 {
		return nil, err
	}
	leases, err := b.o.Store.Leases(ctx)
	if err != nil {
		return nil, err
	}
	alive := map[lathe.SessionID]bool{}
	for _, l := range leases {
		alive[l.Session] = l.Alive
	}
	for _, c := range children {
		t := lathe.BackgroundTask{
			ID: lathe.TaskID(c.ID), Kind: lathe.AgentTask, State: lathe.TaskRunning, Session: c.Parent, Title: c.Title, Directory: c.Directory, Started: c.Created,
		}
		if !alive[c.ID] && !b.o.IsAwake(c.ID) {
			t.State = lathe.TaskEnded
		}
		out = append(out, t)
	}
	return out, nil
}

// busySessions are the sessions at work that are no subagents.
func (b *Registry) busySessions(ctx context.Context) (out []lathe.BackgroundTask, err error) {
	busy, err := b.o.Store.Statuses(ctx, lathe.Scope{})
	if err != nil {
		return nil, err
	}
	for id := range busy {
		s, err := b.o.Store.Session(ctx, id)
		if lathe.CodeOf(err) == lathe.NotFound || err == nil && s.Parent != "" {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, lathe.BackgroundTask{
			ID: lathe.TaskID(id), Kind: lathe.SessionTask, State: lathe.TaskRunning, Session: id, Title: s.Title, Directory: s.Directory, Started: s.Created,
		})
	}
	return out, nil
}

// findTask finds a task by its ID, or by the beginning of it if only one task fits.
func (b *Registry) findTask(ctx context.Context, id lathe.TaskID) (lathe.BackgroundTask, error) {
	all, err := b.Tasks(ctx, "")
	if err != nil {
		return lathe.BackgroundTask{}, err
	}
	var found []lathe.BackgroundTask
	for _, t := range all {
		if t.ID == id {
			return t, nil
		}
		if id != "" && strings.HasPrefix(string(t.ID), string(id)) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return lathe.BackgroundTask{}, lathe.Errorf(lathe.NotFound, "no background task %s", id)
	}
	return lathe.BackgroundTask{}, lathe.Errorf(lathe.Invalid, "%s is the beginning of %d task IDs; give more of it", id, len(found))
}

// TaskOutput returns the end of a task's output, at most limit bytes: the log of a command, the last texts of a session.
func (b *Registry) TaskOutput(ctx context.Context, id lathe.TaskID, limit int) (lathe.TaskOutput, error) {
	task, err := b.findTask(ctx, id)
	if err != nil {
		return lathe.TaskOutput{}, err
	}
	if limit <= 0 || limit > tailBytes {
		limit = tailBytes
	}
	out := lathe.TaskOutput{Task: task}
	if task.Kind == lathe.ShellTask {
		out.Text, out.Size, err = b.readLog(task.Log, limit)
		return out, err
	}
	page, err := b.o.Store.History(ctx, lathe.SessionID(task.ID), lathe.Position{}, 20)
	if err != nil {
		return out, err
	}
	text := subagent.LastTexts(page.Messages)
	out.Size = int64(len(text))
	out.Text = strings.ToValidUTF8(text[max(0, len(text)-limit):], "")
	return out, nil
}

// readLog reads the end of a log. Only files of our own folder of outputs are logs, whatever a record says.
func (b *Registry) readLog(path string, limit int) (text string, size int64, err error) {
	rel, err := filepath.Rel(b.o.Outputs, path)
	if b.o.Outputs == "" || err != nil || !filepath.IsLocal(rel) {
		return "", 0, lathe.Errorf(lathe.Invalid, "%s is not the output of a background task", path)
	}
	root, err := os.OpenRoot(b.o.Outputs)
	if err != nil {
		return "", 0, noLog(err)
	}
	defer func() { _ = root.Close() }() // it was only read
	f, err := root.Open(rel)
	if err != nil {
		return "", 0, noLog(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", 0, noLog(errors.Join(err, fs.ErrInvalid))
	}
	raw, err := io.ReadAll(io.LimitReader(io.NewSectionReader(f, max(0, info.Size()-int64(limit)), int64(limit)), int64(limit)))
	return strings.ToValidUTF8(string(raw), "\ufffd"), info.Size(), err
}

func noLog(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return lathe.Errorf(lathe.NotFound, "the output is gone: lathe deletes it a week after the last write")
	}
	return lathe.Errorf(lathe.Unavailable, "read the output of the task: %w", err)
}

// StopTask ends a running task. A command of another process ends within seconds.
func (b *Registry) StopTask(ctx context.Context, id lathe.TaskID) error {
	task, err := b.findTask(ctx, id)
	if err != nil {
		return err
	}
	if task.State != lathe.TaskRunning {
		return lathe.Errorf(lathe.Conflict, "task %s is not running: %s", task.ID, task.State)
	}
	if task.Kind != lathe.ShellTask {
		return b.o.Cancel(ctx, lathe.SessionID(task.ID))
	}
	b.mu.Lock()
	t := b.shells[task.ID]
	b.mu.Unlock()
	if t != nil {
		b.stop(t)
		return nil
	}
	return b.o.Store.Shells().Stop(ctx, task.ID)
}

// RecoverShells tells sessions that their commands ended with the process that ran them: all of them, or one with those
// below it.
func (b *Registry) RecoverShells(ctx context.Context, session lathe.SessionID) error {
	shells, err := b.o.Store.Shells().List(ctx, session)
	if err != nil {
		return err
	}
	var failed []error
	for _, s := range shells {
		if s.Told || s.Task.State != lathe.TaskEnded {
			continue
		}
		text, _, err := b.readLog(s.Task.Log, recoveredTail)
		if err != nil {
			text = ""
		}
		if err := b.tell(ctx, s.Task, text, false); lathe.CodeOf(err) != lathe.NotFound { // else its session was removed meanwhile
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// recoveredTail is how much output of a command that ended with lathe its session gets to see.
const recoveredTail = 2000
