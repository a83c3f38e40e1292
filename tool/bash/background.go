package bash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

const (
	// settleBackground is how long a command that starts in the background is watched: one that fails at once is an
	// ordinary result, and the port of a server is known.
	settleBackground = 3 * time.Second
	// lookEvery is how often its ports are looked for meanwhile.
	lookEvery = 150 * time.Millisecond
	// endLines and endBytes limit the output in the message about the end of a command.
	endLines = 30
	endBytes = 2 << 10
)

// execution is a command that runs for a call, or after it.
type execution struct {
	bash    *bash
	call    *tool.Call
	in      bashInput
	dir     string
	timeout time.Duration
	profile sandbox.Profile
	line    Line

	printed   *printed
	stop      context.CancelFunc
	unlimited chan struct{} // closed when it moves to the background
	started   chan struct{} // closed when list is set
	list      func() []sandbox.Process
	done      chan struct{} // closed when it has ended; then what follows is set
	res       sandbox.Result
	err       error
}

// checkBackground refuses a command in the background before the user is asked about it.
func checkBackground(ctx context.Context, c *tool.Call) error {
	bg := c.Host.Background()
	if bg == nil {
		return tool.Failf("Commands cannot run in the background here. Call bash without background.")
	}
	return bg.Check(ctx)
}

// run runs the command and returns its result, or while it runs if it belongs to the background. The command has a
// context of its own, since it may outlive the call.
func (x *execution) run(ctx context.Context, cmd sandbox.Command) (tool.Result, error) {
	bg := x.call.Host.Background()
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	x.stop, x.unlimited, x.started, x.done = stop, make(chan struct{}), make(chan struct{}), make(chan struct{})
	x.printed = x.bash.newPrinted(x.call.Session, func(meta json.RawMessage) { x.call.Host.Progress("", meta) })
	cmd.Unlimited, cmd.Timeout = x.unlimited, x.timeout
	if x.in.Background {
		cmd.Timeout = time.Duration(min(x.in.Timeout, longestTimeout)) * time.Millisecond
	}
	cmd.Started = func(list func() []sandbox.Process) {
		x.list = list
		close(x.started)
	}
	go func() { // ends with the command: the call waits for it, or the task that the command becomes
		x.res, x.err = x.bash.Runner.Run(own, cmd, x.printed.write)
		x.printed.end()
		close(x.done)
	}()
	move, settled := x.watch(ctx, bg)
	if !move {
		if ctx.Err() != nil {
			stop()
		}
		<-x.done
		defer stop()
		return x.foreground()
	}
	res, err := x.background(ctx, bg, settled)
	if err != nil {
		stop()
		<-x.done
		x.printed.finish()
	}
	return res, err
}

// watch waits until the command has ended or was canceled, or moves to the background. settled says that the user did
// not ask for that.
func (x *execution) watch(ctx context.Context, bg tool.Background) (move, settled bool) {
	var moved <-chan struct{}
	if bg != nil {
		moved = bg.Moved()
	}
	var look <-chan time.Time
	var limit <-chan time.Time
	if x.in.Background {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		timer := time.NewTimer(settleBackground)
		defer timer.Stop()
		look, limit = tick.C, timer.C
	}
	for {
		select {
		case <-x.done:
			return false, false
		case <-ctx.Done():
			return false, false
		case <-moved:
			return true, false
		case <-limit:
			return true, true
		case <-look:
			if len(x.ports()) > 0 {
				return true, true
			}
		}
	}
}

// foreground is the result of a command that has ended.
func (x *execution) foreground() (tool.Result, error) {
	if x.err != nil {
		x.printed.spool.finish(false)
		return tool.Result{}, tool.Failf("The command could not be run: %w", x.err)
	}
	return x.bash.result(x.in.Command, x.dir, x.timeout, x.profile, x.line, x.res, x.printed), nil
}

// background makes the running command a task of the session.
func (x *execution) background(ctx context.Context, bg tool.Background, settled bool) (tool.Result, error) {
	if err := bg.Check(ctx); err != nil {
		return tool.Result{}, err
	}
	x.printed.hide()
	path, err := x.printed.moveToLog(x.bash.Output.ForSession(x.call.Session))
	if err != nil {
		return tool.Result{}, tool.Failf("The command was stopped: its output could not be saved (%w).", err)
	}
	close(x.unlimited)
	id, err := bg.Add(ctx, tool.Work{
		Title: x.in.Command, Log: path, Stop: x.stop, Done: x.done, End: x.end, Ports: x.ports,
	})
	if err != nil {
		return tool.Result{}, err
	}
	return x.running(id, path, settled), nil
}

// running is the result of a command that continues.
func (x *execution) running(id lathe.TaskID, path string, settled bool) tool.Result {
	var out strings.Builder
	head := "The command runs in the background as task " + string(id) + "."
	if !settled {
		head = "The user moved the command to the background, where it continues as task " + string(id) + "."
	}
	out.WriteString(head + "\n")
	job := 0
	for i, p := range x.processes() {
		if i == 0 {
			job = p.Job
		}
		out.WriteString(jobLine(p, i == 0) + "\n")
	}
	ports := x.ports()
	for _, port := range ports {
		fmt.Fprintf(&out, "It listens on port %d.\n", port)
	}
	fmt.Fprintf(&out, "Its output goes to %s: search it with grep or read it. A message will tell you when it ends, so do not wait or poll.", path)
	if job > 0 {
		fmt.Fprintf(&out, " kill %%%d ends it.", job)
	}
	if text := strings.TrimSpace(x.printed.last()); text != "" {
		out.WriteString("\n\nOutput so far:\n" + shortened(text))
	}
	meta := lathe.AppendJSONString([]byte(`{"output":`), x.printed.last())
	meta = lathe.AppendJSONString(append(meta, `,"exit":null,"truncated":false,"background":true,"jobId":`...), string(id))
	meta = lathe.AppendJSONString(append(meta, `,"outputPath":`...), path)
	if text, err := json.Marshal(ports); err == nil && len(ports) > 0 {
		meta = append(append(meta, `,"ports":`...), text...)
	}
	meta = append(meta, '}')
	if x.bash.Confine != nil {
		meta = withSandbox(meta, x.profile, nil)
	}
	return tool.Result{Title: x.in.Command, Output: out.String(), Metadata: meta}
}

// processes lists the running processes, the first of them the one that has started the others.
func (x *execution) processes() []sandbox.Process {
	select {
	case <-x.done:
		return nil
	case <-x.started:
	default:
		return nil
	}
	all := x.list()
	slices.SortStableFunc(all, func(p, q sandbox.Process) int { return p.Job - q.Job })
	return all
}

func (x *execution) ports() (out []int) {
	for _, p := range x.processes() {
		for _, port := range p.Ports {
			if !slices.Contains(out, int(port)) {
				out = append(out, int(port))
			}
		}
	}
	slices.Sort(out)
	return out
}

// end is how a command in the background ended. Its processes end with it, as with every command that is stopped.
func (x *execution) end() tool.WorkEnd {
	x.printed.finish()
	if x.err != nil {
		return tool.WorkEnd{Exit: -1, Text: x.err.Error()}
	}
	text := strings.TrimSpace(x.printed.last())
	if notes := x.bash.refusals(x.profile, x.dir, x.res, text); len(notes) > 0 {
		return tool.WorkEnd{Exit: x.res.Exit, Signal: x.res.Signal, Text: shortened(text) + "\n\n" + strings.Join(notes, "\n")}
	}
	return tool.WorkEnd{Exit: x.res.Exit, Signal: x.res.Signal, Text: shortened(text)}
}

// shortened is the end of an output, without the colors of a terminal.
func shortened(text string) string {
	var plain ends
	plain.limits = tool.Limits{Lines: 1 << 20, Bytes: shownChars * 4}
	var c cleaner
	c.to = plain.write
	c.write([]byte(text))
	c.end()
	shown, _, cut := tool.Limits{Lines: endLines, Bytes: endBytes}.Truncate(strings.TrimSpace(string(plain.tail)), true)
	if cut {
		return "...\n" + shown
	}
	return shown
}

// moveToLog sends the output so far, and all that follows, to a log file.
func (p *printed) moveToLog(o tool.Output) (path string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, err := newLog(o)
	if err != nil {
		return "", err
	}
	err = p.spool.drainTo(l)
	if err = errors.Join(err, l.err); err != nil {
		l.discard()
		return "", err
	}
	p.log = l
	return l.path, nil
}

// finish closes the log, or removes what a command without one has spooled. The command has ended.
func (p *printed) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log == nil {
		p.spool.finish(false)
		return
	}
	p.log.close()
}
