// Package background runs tasks beside the turns of sessions: commands that outlive their calls, and calls that the user
// moves to the background. It also has the board, the overview of all sessions.
//
// The store has the records. A command that runs belongs to the process that started it and ends with it. Its session is
// told the end once: by that process, or by the next one that finds the record.
//
// Start reading at Registry and its method Add.
package background

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/tool"
)

const (
	// maxShells is how many commands may run in the background of one session.
	maxShells = 16
	// stopEvery is how often a running command is checked for a request of another process to stop it.
	stopEvery = time.Second
	// portsEvery is how often its ports are looked for, in multiples of stopEvery.
	portsEvery = 3
	// settleTime bounds the report of an end while the engine closes.
	settleTime = 20 * time.Second
	// titleBytes limits the command line in lists.
	titleBytes = 1000
)

// Head is the first line of the report of a background task to its session.
const Head = "A task that ran in the background has ended."

// Options are the surroundings of tasks: the engine that they belong to.
type Options struct {
	Store   *store.Store
	IDs     *lathe.IDs
	Now     func() lathe.Time
	Log     *slog.Logger
	Outputs string          // the folder of logs
	Context context.Context // ends with the engine
	Work    *sync.WaitGroup // that the engine waits for
	// Compose makes an input of a prompt, Wake starts the turn of a session, IsAwake reports whether this process runs
	// one, and Cancel ends it.
	Compose func(context.Context, lathe.SessionID, lathe.Prompt) (lathe.Submission, error)
	Wake    func(lathe.SessionID) error
	IsAwake func(lathe.SessionID) bool
	Away    func(ctx context.Context, directory string) string // why no node runs its sessions; "" if one does
	Cancel  func(context.Context, lathe.SessionID) error
}

// New returns the tasks of an engine: none yet.
func New(o Options) *Registry { return &Registry{o: o} }

// Registry has the commands that outlive their calls, and the calls that the user can move to the background. It is safe for
// use by many goroutines.
type Registry struct {
	o Options

	mu     sync.Mutex // guards the fields below
	shells map[lathe.TaskID]*shellTask
	calls  map[lathe.SessionID]map[string]chan struct{} // by the ID of the call
}

// shellTask is a command of this process.
type shellTask struct {
	task    lathe.BackgroundTask
	work    tool.Work
	stopped bool // a person wants it to end
}

// Movable returns the channel that moves a call to the background.
func (b *Registry) Movable(session lathe.SessionID, call string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls == nil {
		b.calls = map[lathe.SessionID]map[string]chan struct{}{}
	}
	if b.calls[session] == nil {
		b.calls[session] = map[string]chan struct{}{}
	}
	ch := b.calls[session][call]
	if ch == nil {
		ch = make(chan struct{})
		b.calls[session][call] = ch
	}
	return ch
}

// Forget drops a call that has ended.
func (b *Registry) Forget(session lathe.SessionID, call string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if delete(b.calls[session], call); len(b.calls[session]) == 0 {
		delete(b.calls, session)
	}
}

// MoveToBackground lets the running commands and subagents of a session continue in the background: their calls return
// at once. It returns how many there were.
func (b *Registry) MoveToBackground(ctx context.Context, session lathe.SessionID) (int, error) {
	if _, err := b.o.Store.Session(ctx, session); err != nil {
		return 0, err
	}
	b.mu.Lock()
	calls := b.calls[session]
	delete(b.calls, session)
	b.mu.Unlock()
	for _, ch := range calls {
		close(ch)
	}
	if len(calls) > 0 {
		return len(calls), nil
	}
	if !b.o.IsAwake(session) {
		leases, err := b.o.Store.Leases(ctx)
		for _, l := range leases {
			if l.Session == session && l.Alive && !l.Here {
				return 0, lathe.Errorf(lathe.Conflict, "another lathe process runs this session; move its command to the background there")
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, lathe.Errorf(lathe.Conflict, "no command or subagent is running that could continue in the background")
}

// Check refuses one more command than a session may have.
func (b *Registry) Check(id lathe.SessionID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, t := range b.shells {
		if t.task.Session == id {
			n++
		}
	}
	if n >= maxShells {
		return tool.Failf("%d commands already run in the background of this session, the most there may be. End one first (kill %%1 ends job [1]).", n)
	}
	return nil
}

// Add makes a running command a task of a session.
func (b *Registry) Add(ctx context.Context, session lathe.SessionID, dir string, w tool.Work) (lathe.TaskID, error) {
	task := lathe.BackgroundTask{
		ID: lathe.TaskID(b.o.IDs.New(lathe.PrefixJob)), Kind: lathe.ShellTask, State: lathe.TaskRunning, Session: session,
		Title: clipTitle(w.Title), Directory: dir, Log: w.Log, Started: b.o.Now(), Ports: w.Ports(),
	}
	if err := b.o.Store.Shells().Add(ctx, task, maxShells); err != nil {
		return "", tool.Failf("The command was stopped: %w", err)
	}
	t := &shellTask{task: task, work: w}
	b.mu.Lock()
	if b.shells == nil {
		b.shells = map[lathe.TaskID]*shellTask{}
	}
	b.shells[task.ID] = t
	b.mu.Unlock()
	b.o.Work.Go(func() { b.follow(t) })
	return task.ID, nil
}

// clipTitle shortens a command line for lists.
func clipTitle(line string) string {
	if len(line) <= titleBytes {
		return line
	}
	return strings.ToValidUTF8(line[:titleBytes], "") + "…"
}

// follow waits for the end of a command and tells its session. A command ends with the program, too. Nothing is
// written then: the next process finds the record and tells the session.
func (b *Registry) follow(t *shellTask) {
	defer func() {
		b.mu.Lock()
		delete(b.shells, t.task.ID)
		b.mu.Unlock()
	}()
	tick := time.NewTicker(stopEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-t.work.Done:
			if b.o.Context.Err() != nil {
				_ = t.work.End() // closes its log
				return
			}
			b.finish(t)
			return
		case <-tick.C:
			asked, err := b.o.Store.Shells().StopRequested(b.o.Context, []lathe.TaskID{t.task.ID})
			if err == nil && len(asked) > 0 {
				b.stop(t)
			}
			if n%portsEvery == 0 {
				b.notePorts(t)
			}
		case <-b.o.Context.Done():
			t.work.Stop()
			<-t.work.Done
		}
	}
}

// notePorts records new ports of a command: other processes cannot look.
func (b *Registry) notePorts(t *shellTask) {
	ports := t.work.Ports()
	b.mu.Lock()
	task := t.task
	t.task.Ports = ports
	b.mu.Unlock()
	if slices.Equal(ports, task.Ports) {
		return
	}
	task.Ports = ports
	if err := b.o.Store.Shells().SetPorts(b.o.Context, task); err != nil && b.o.Context.Err() == nil {
		b.o.Log.Debug("ports of a background command not saved", "task", task.ID, "error", err)
	}
}

// stop ends a command for a person.
func (b *Registry) stop(t *shellTask) {
	b.mu.Lock()
	t.stopped = true
	b.mu.Unlock()
	t.work.Stop()
}

// finish records how a command ended, and tells its session.
func (b *Registry) finish(t *shellTask) {
	end := t.work.End()
	b.mu.Lock()
	task, stopped := t.task, t.stopped
	b.mu.Unlock()
	task.Ended, task.Signal, task.Ports = b.o.Now(), end.Signal, nil
	if end.Exit >= 0 {
		task.Exit = &end.Exit
	}
	switch {
	case stopped:
		task.State = lathe.TaskStopped
	case end.Exit == 0:
		task.State = lathe.TaskCompleted
	default:
		task.State = lathe.TaskFailed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.o.Context), settleTime)
	defer cancel()
	if err := b.tell(ctx, task, end.Text, true); err != nil && lathe.CodeOf(err) != lathe.NotFound { // else its session was removed
		b.o.Log.Warn("end of a background command not reported", "session", task.Session, "task", task.ID, "error", err)
	}
}

// tell sends a session the end of a command, once in all. A session whose turn is over continues with it, unless nobody
// waits for an answer: a person stopped the command, the session is a subagent's, or the program has just started.
func (b *Registry) tell(ctx context.Context, task lathe.BackgroundTask, output string, live bool) error {
	rec, err := b.o.Store.Session(ctx, task.Session)
	if err != nil {
		return err
	}
	p := PromptFor(rec)
	p.NoReply = !live || task.State == lathe.TaskStopped || rec.Parent != ""
	sum := sha256.Sum256([]byte(task.ID))
	p.ID = lathe.MessageID("msg_" + hex.EncodeToString(sum[:])[:26])
	p.Parts = []lathe.Part{{Body: history.Synthetic(Head + "\n" + shellReport(task, output).Envelope())}}
	in, err := b.o.Compose(ctx, rec.ID, p)
	if err != nil {
		return err
	}
	sent, err := b.o.Store.Shells().End(ctx, task, in)
	if err == nil && sent && !p.NoReply {
		err = b.o.Wake(rec.ID)
	}
	return err
}

// PromptFor is an empty prompt with the agent and model of a session.
func PromptFor(rec lathe.Session) lathe.Prompt {
	p := lathe.Prompt{Agent: rec.Agent}
	if m := rec.Model; m != nil {
		p.Model = &lathe.ModelRef{Provider: m.Provider, Model: m.ID}
		if m.Variant != "default" {
			p.Model.Variant = m.Variant
		}
	}
	return p
}

// shellReport is the end of a command as a model reads it.
func shellReport(task lathe.BackgroundTask, output string) tool.Report {
	r := tool.Report{Session: lathe.SessionID(task.ID), State: tool.TaskCompleted}
	how := "It ended"
	switch task.State {
	case lathe.TaskFailed:
		r.State = tool.TaskFailed
	case lathe.TaskStopped:
		r.State, how = tool.TaskCanceled, "The user stopped it"
	case lathe.TaskEnded:
		r.State, how = tool.TaskInterrupted, "It ended with lathe, which runs no command on after its own end"
	case lathe.TaskRunning, lathe.TaskCompleted:
	}
	if task.Exit != nil && task.State != lathe.TaskStopped {
		how += fmt.Sprintf(" with exit code %d", *task.Exit)
	} else if task.Signal != "" {
		how += " by " + task.Signal
	}
	if task.Ended > task.Started {
		how += fmt.Sprintf(" after %.1f s", float64(task.Ended-task.Started)/1000)
	}
	if strings.TrimSpace(output) == "" {
		output = "(no output)"
	}
	r.Text = fmt.Sprintf("$ %s\n%s. Its output is in %s and ends with:\n\n%s", task.Title, how, task.Log, output)
	return r
}
