package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/claudecode"
	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
)

const (
	hookTime = 60 * time.Second
	endTime  = 5 * time.Second // of SessionEnd, because the user waits for the program to exit
	// longestTime bounds timeouts of the config.
	longestTime = time.Hour
	// maxOutput is how much of an output is read, maxPrinted what a hook may print before it is ended.
	maxOutput  = 1 << 20
	maxPrinted = 16 << 20
	maxStderr  = 64 << 10
	// parallel is how many hooks of an event run at once.
	parallel = 16
)

// event is the input of hooks, as JSON on their standard input. The embedded parts belong to some events only.
type event struct {
	subject string // for matchers

	Session    lathe.SessionID `json:"session_id"`
	Transcript string          `json:"transcript_path"`
	Dir        string          `json:"cwd"`
	Mode       string          `json:"permission_mode,omitempty"`
	Name       string          `json:"hook_event_name"`
	Prompt     *string         `json:"prompt,omitempty"`
	callInput
	agentInput
	sessionInput
	notificationInput
}

// callInput is of PreToolUse and PostToolUse.
type callInput struct {
	Tool     string          `json:"tool_name,omitempty"`
	Input    json.RawMessage `json:"tool_input,omitempty"`
	Response map[string]any  `json:"tool_response,omitempty"`
	Call     string          `json:"tool_use_id,omitempty"`
}

// agentInput is of Stop and SubagentStop, and of the calls of subagents.
type agentInput struct {
	StopActive      *bool           `json:"stop_hook_active,omitempty"`
	LastAnswer      string          `json:"last_assistant_message,omitempty"`
	AgentID         lathe.SessionID `json:"agent_id,omitempty"`
	AgentType       string          `json:"agent_type,omitempty"`
	AgentTranscript string          `json:"agent_transcript_path,omitempty"`
}

// sessionInput is of SessionStart, SessionEnd and PreCompact.
type sessionInput struct {
	Source       string  `json:"source,omitempty"`
	Model        string  `json:"model,omitempty"`
	Reason       string  `json:"reason,omitempty"`
	Trigger      string  `json:"trigger,omitempty"`
	Instructions *string `json:"custom_instructions,omitempty"`
}

// notificationInput is of Notification.
type notificationInput struct {
	Message          string `json:"message,omitempty"`
	Title            string `json:"title,omitempty"`
	NotificationType string `json:"notification_type,omitempty"`
}

// newEvent makes the members that every event has.
func (s *Set) newEvent(name string, id lathe.SessionID, subject string) *event {
	return &event{subject: subject, Session: id, Dir: s.Dir, Name: name}
}

// run runs all matching hooks of an event at the same time and merges their answers in the order of the config.
func (s *Set) run(ctx context.Context, e *event) outcome {
	commands := s.matching(e)
	if len(commands) == 0 {
		return outcome{}
	}
	e.Transcript = s.Sessions.transcript(ctx, e.Session, s.Dir)
	input, err := json.Marshal(e)
	if err != nil { // arguments of a call that are not JSON
		e.Input = nil
		input, err = json.Marshal(e)
	}
	if err != nil {
		s.Log.Warn("hooks not run", "event", e.Name, "error", err)
		return outcome{}
	}
	answers := make([]answer, len(commands))
	slots := make(chan struct{}, parallel)
	var group sync.WaitGroup
	for i, c := range commands {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			answers[i] = s.runOne(ctx, e, c, input)
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return outcome{}
	}
	got := merge(e.Name, answers)
	for _, text := range got.notes {
		s.Sessions.notifyOnce(e.Session, text, s.Notify)
	}
	for _, text := range got.messages {
		s.Notify(text)
	}
	return got
}

// matching lists the hooks for an event, each once.
func (s *Set) matching(e *event) (out []Command) {
	for _, g := range s.Groups[e.Name] {
		if !claudecode.Matches(g.Matcher, e.subject) {
			continue
		}
		for _, c := range g.Commands {
			same := func(o Command) bool { return o.Command == c.Command && slices.Equal(o.Args, c.Args) && o.Dir == c.Dir }
			if !slices.ContainsFunc(out, same) {
				out = append(out, c)
			}
		}
	}
	return out
}

// runOne runs one hook.
func (s *Set) runOne(ctx context.Context, e *event, c Command, input []byte) answer {
	out := answer{command: c.label()}
	cmd, err := s.command(e, c)
	if err != nil {
		out.problem = err.Error()
		return out
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	res, err := s.execute(ctx, cancel, cmd, input, &out)
	switch {
	case errors.Is(context.Cause(ctx), errTooMuch):
		out.problem = fmt.Sprintf("it printed more than %d MB and was ended", maxPrinted>>20)
	case err != nil:
		out.problem = err.Error()
	case res.TimedOut:
		out.problem = fmt.Sprintf("it did not end within %s and was stopped; set \"timeout\" if it needs longer", cmd.Timeout)
	case res.Canceled:
		out.problem = "it was canceled"
	case res.Exit < 0:
		out.problem = "it was ended by " + cmp.Or(res.Signal, "a signal")
	default:
		out.exit = res.Exit
	}
	s.Log.Debug("hook ended", "event", e.Name, "command", out.command, "exit", res.Exit, "took", time.Since(began), "problem", out.problem)
	return out
}

// errTooMuch ends a hook that prints without end: its output could otherwise keep a processor busy until its timeout.
var errTooMuch = errors.New("too much output")

// execute runs the process of a hook, with its input, and collects its outputs.
func (s *Set) execute(ctx context.Context, cancel context.CancelCauseFunc, cmd sandbox.Command, input []byte, out *answer) (sandbox.Result, error) {
	inReader, inWriter, err := os.Pipe()
	if err != nil {
		return sandbox.Result{}, err
	}
	errReader, errWriter, err := os.Pipe()
	if err != nil {
		return sandbox.Result{}, errors.Join(err, inReader.Close(), inWriter.Close())
	}
	cmd.Stdin, cmd.Stderr = inReader, errWriter
	stdout, stderr := bounded{most: maxOutput, cancel: cancel}, bounded{most: maxStderr, cancel: cancel}
	var work sync.WaitGroup
	work.Go(func() {
		_, _ = inWriter.Write(input) // a hook need not read it
		_ = inWriter.Close()
	})
	work.Go(func() {
		_, _ = io.Copy(&stderr, errReader)
		_ = errReader.Close()
	})
	res, err := s.Runner.Run(ctx, cmd, func(piece []byte) { _, _ = stdout.Write(piece) })
	_ = inReader.Close()
	_ = errWriter.Close()
	// A process that left the hook's group may still hold the pipes.
	late := time.AfterFunc(time.Second, func() {
		_ = errReader.SetReadDeadline(time.Now())
		_ = inWriter.SetWriteDeadline(time.Now())
	})
	work.Wait()
	late.Stop()
	out.stdout, out.stderr = stdout.text(), stderr.text()
	return res, err
}

// bounded keeps the beginning of an output, and ends a hook that prints without end.
type bounded struct {
	buf    bytes.Buffer
	most   int
	total  int
	cancel context.CancelCauseFunc
}

// Write never fails, so that the hook does not die of a closed pipe before it is known why.
func (b *bounded) Write(p []byte) (int, error) {
	b.total += len(p)
	if b.total > maxPrinted {
		b.cancel(errTooMuch)
	}
	if room := b.most - b.buf.Len(); room > 0 {
		b.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// text is valid UTF-8, since it becomes JSON.
func (b *bounded) text() string { return strings.ToValidUTF8(b.buf.String(), "\uFFFD") }

// command is the process of a hook.
func (s *Set) command(e *event, c Command) (sandbox.Command, error) {
	dir := cmp.Or(c.Dir, s.Root)
	own := s.Env()
	env := environ.With(own, map[string]string{"CLAUDE_PROJECT_DIR": dir})
	out := sandbox.Command{Dir: s.Dir, Env: env, Timeout: c.limit(e.Name), Leftovers: sandbox.EndLeftovers}
	var err error
	session := e.Session
	if e.Name == sessionEnd {
		session = "" // its processes are being ended
	}
	if out.Profile, err = s.Confine(session, e.Transcript); err != nil {
		return out, err
	}
	if c.Args != nil {
		place := func(word string) string { return strings.ReplaceAll(word, "${CLAUDE_PROJECT_DIR}", dir) }
		name := place(c.Command)
		if out.Path = environ.Find(own, s.Dir, name); out.Path == "" {
			return out, fmt.Errorf("the program %s was not found", phrase.Shorten(name, 200))
		}
		for _, a := range c.Args {
			out.Args = append(out.Args, place(a))
		}
		return out, nil
	}
	for _, name := range []string{"bash", "sh"} {
		if out.Path = environ.Find(own, s.Dir, name); out.Path != "" {
			out.Args = []string{"-c", c.Command}
			return out, nil
		}
	}
	return out, errors.New("no shell was found to run it")
}

// limit is the time a hook may take.
func (c Command) limit(event string) time.Duration {
	switch {
	case c.Timeout > 0:
		return min(c.Timeout, longestTime)
	case event == sessionEnd:
		return endTime
	default:
		return hookTime
	}
}

// label is the command for people.
func (c Command) label() string {
	text := strings.Join(append([]string{c.Command}, c.Args...), " ")
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if len(text) > 80 {
		if base := filepath.Base(strings.Trim(text, `"' `)); len(base) < 80 && base != "." {
			return base
		}
	}
	return phrase.Shorten(text, 80)
}
