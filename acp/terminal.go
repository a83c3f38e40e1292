package acp

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

const (
	terminalTime  = 10 * time.Second // for an answer of the client
	terminalBytes = 1 << 20          // of output that the client keeps
	// EndSuffix is added to the name of an output file for the file that says that the output has ended.
	EndSuffix = ".end"
)

// terminals shows the output of commands in terminals of the client. A command still runs in our sandbox: the
// terminal runs a program that prints the file with its output. Fields belong to the loop.
type terminals struct {
	dir   string // with the output files; "" until one is needed
	calls map[lathe.PartID]*terminal
}

// terminal is the terminal of one call.
type terminal struct {
	file  string
	id    wire.TerminalID // "" until the client has answered
	shown string          // the end of what was written to the file
	ended bool
	done  chan struct{} // closed when the command has ended
}

// attach shows the output of a running command in a terminal instead of a text.
func (t *terminals) attach(v *view, b *lathe.ToolCall, u *wire.ToolCallUpdate) {
	id := lathe.PartID(u.ToolCallID)
	one := t.calls[id]
	if one == nil {
		if _, running := b.State.(*lathe.Running); !running || b.Tool != "bash" || v.isQuiet || !v.loop.hasTerminals() {
			return
		}
		if one = t.begin(v, id, u.Title); one == nil {
			return
		}
	}
	switch s := b.State.(type) {
	case *lathe.Running:
		one.show(newCall(v.dir, b.Tool, "", s.Input, s.Metadata).meta.Output)
	case *lathe.Completed:
		c := newCall(v.dir, b.Tool, "", s.Input, s.Metadata)
		one.show(c.meta.Output)
		one.end(c.meta.Exit)
	case *lathe.Failed:
		one.show(s.Error)
		one.end(nil)
	default:
	}
	if one.id != "" {
		u.Content = []wire.ToolCallContent{{Terminal: &wire.Terminal{TerminalID: one.id}}}
	}
}

// hasTerminals reports whether the client can run the program that prints output.
func (l *loop) hasTerminals() bool {
	return len(l.server.Terminal) > 0 && l.server.capabilities().Terminal
}

// begin makes the output file of a call and asks the client for a terminal.
func (t *terminals) begin(v *view, id lathe.PartID, title string) *terminal {
	l := v.loop
	if t.dir == "" {
		dir, err := os.MkdirTemp(l.server.Temp, "lathe-acp-")
		if err != nil {
			l.server.Log.Warn("acp: no folder for terminals", "error", err)
			return nil
		}
		t.dir, t.calls = dir, map[lathe.PartID]*terminal{}
	}
	one := &terminal{file: filepath.Join(t.dir, string(id)), done: make(chan struct{})}
	if err := os.WriteFile(one.file, []byte("$ "+title+"\n"), 0o600); err != nil {
		l.server.Log.Warn("acp: no output file", "error", err)
		return nil
	}
	t.calls[id] = one
	limit := int64(terminalBytes)
	req := wire.CreateTerminalRequest{
		SessionID: wire.SessionID(v.out), Command: l.server.Terminal[0], Args: append(append([]string{}, l.server.Terminal[1:]...), one.file), Cwd: v.dir, OutputByteLimit: &limit,
	}
	l.work.Go(func() { l.runTerminal(v, id, one, req) })
	return one
}

// runTerminal follows a terminal from its creation to its release.
func (l *loop) runTerminal(v *view, id lathe.PartID, one *terminal, req wire.CreateTerminalRequest) {
	var created wire.CreateTerminalResponse
	if err := l.callSoon("terminal/create", req, &created); err != nil || created.TerminalID == "" {
		l.server.Log.Debug("acp: no terminal", "error", err)
		return
	}
	err := l.run(l.ctx, func() {
		one.id = created.TerminalID
		v.send(wire.SessionUpdate{ToolCallUpdate: &wire.ToolCallUpdate{
			ToolCallID: wire.ToolCallID(id), Content: []wire.ToolCallContent{{Terminal: &wire.Terminal{TerminalID: one.id}}},
		}})
	})
	if err != nil {
		return
	}
	select {
	case <-one.done:
	case <-l.ctx.Done():
		return // the client ends its terminals itself
	}
	var exit wire.WaitForTerminalExitResponse
	if err := l.callSoon("terminal/wait_for_exit", wire.WaitForTerminalExitRequest{SessionID: req.SessionID, TerminalID: created.TerminalID}, &exit); err != nil {
		var out wire.TerminalOutputResponse
		_ = l.callSoon("terminal/output", wire.TerminalOutputRequest{SessionID: req.SessionID, TerminalID: created.TerminalID}, &out)
		l.server.Log.Debug("acp: terminal did not end", "error", err, "output", oneLine(out.Output, maxTitle))
		_ = l.callSoon("terminal/kill", wire.KillTerminalRequest{SessionID: req.SessionID, TerminalID: created.TerminalID}, nil)
	}
	_ = l.callSoon("terminal/release", wire.ReleaseTerminalRequest{SessionID: req.SessionID, TerminalID: created.TerminalID}, nil)
	_ = l.run(l.ctx, func() {
		_ = os.Remove(one.file)
		_ = os.Remove(one.file + EndSuffix)
	})
}

// callSoon asks the client for something that it does at once.
func (l *loop) callSoon(name string, params, result any) error {
	ctx, stop := context.WithTimeout(l.ctx, terminalTime)
	defer stop()
	return l.server.call(ctx, name, params, result)
}

// show appends the output that is new. Tools report the end of a long output, which may have moved.
func (t *terminal) show(output string) {
	if t.ended || output == "" {
		return
	}
	rest, ok := strings.CutPrefix(output, t.shown)
	if !ok {
		rest = afterOverlap(t.shown, output)
	}
	t.shown = output
	if rest == "" {
		return
	}
	f, err := os.OpenFile(t.file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return // the output is in the result too
	}
	_, _ = f.WriteString(rest)
	_ = f.Close()
}

// afterOverlap is the part of a text that follows the longest end of an earlier text that it begins with.
func afterOverlap(before, now string) string {
	const most = 4 << 10
	for n := min(most, len(before), len(now)); n > 0; n-- {
		if strings.HasSuffix(before, now[:n]) {
			return now[n:]
		}
	}
	return now
}

// end says that the command has ended.
func (t *terminal) end(exit *int64) {
	if t.ended {
		return
	}
	t.ended, t.shown = true, ""
	code := int64(1)
	if exit != nil {
		code = *exit
	}
	_ = os.WriteFile(t.file+EndSuffix, []byte(strconv.FormatInt(code, 10)), 0o600) // without it the terminal is killed
	close(t.done)
}

// close removes the output files.
func (t *terminals) close() {
	if t.dir != "" {
		_ = os.RemoveAll(t.dir)
	}
}
