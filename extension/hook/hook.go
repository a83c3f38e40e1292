// Package hook runs the hooks of the config: commands that see what a turn does, and may refuse it, change it
// or add to it. Input, output and exit codes are those of Claude Code, so that its hooks work unchanged.
//
// It owns the meaning of hooks and their processes. [config/claudecode] has the names of tools and
// arguments in both programs, and package engine the points of a turn where hooks run. A [Set] is made
// from the config of one directory. It is safe for use by many goroutines, starts nothing before the first
// event, and [Sessions.Close] ends what it started.
//
// Start reading at [Set.Hooks]; run.go runs one event, output.go reads the answers and merges them.
package hook

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/claudecode"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

// The events, by their names in the config.
const (
	preToolUse       = "PreToolUse"
	postToolUse      = "PostToolUse"
	userPromptSubmit = "UserPromptSubmit"
	stop             = "Stop"
	subagentStop     = "SubagentStop"
	sessionStart     = "SessionStart"
	sessionEnd       = "SessionEnd"
	preCompact       = "PreCompact"
	notification     = "Notification"
)

// Command is one hook. With Args, even empty, Command is a program and no shell runs it.
type Command struct {
	Command string
	Args    []string
	Timeout time.Duration // 0 is the default of the event
	Dir     string        // CLAUDE_PROJECT_DIR; "" is the project's root
}

// Group is a list of hooks with one condition.
type Group struct {
	Matcher  string
	Commands []Command
}

// Options are the hooks of a directory and what they need.
type Options struct {
	Groups  map[string][]Group // by event
	Dir     string             // of the sessions; hooks run there
	Root    string             // of the project
	Servers []string           // the names of MCP servers
	Env     func() []string    // of the commands, all of it
	Runner  *sandbox.Runner
	// Confine returns the sandbox of a hook of a session, which sees the file show too.
	Confine func(id lathe.SessionID, show string) (sandbox.Profile, error)
	// Mode is the permission mode for an agent, as Claude Code calls it.
	Mode     func(agent string) string
	Sessions *Sessions
	// Notify shows a text to the user.
	Notify func(text string)
	Log    *slog.Logger
}

// Set runs the hooks of one config.
type Set struct{ Options }

// New returns a set. It starts nothing.
func New(o Options) *Set { return &Set{o} }

// has reports whether the config has hooks for an event.
func (s *Set) has(events ...string) bool {
	return slices.ContainsFunc(events, func(e string) bool { return len(s.Groups[e]) > 0 })
}

// Hooks adds the points of the engine that the config has hooks for. The others stay nil, so that they cost
// nothing.
func (s *Set) Hooks(h engine.Hooks) engine.Hooks {
	if s.has(userPromptSubmit, sessionStart, sessionEnd, notification) {
		h.ChatMessage = s.prompt
	}
	if s.has(preToolUse) {
		h.ToolGate = s.before
	}
	if s.has(postToolUse) {
		h.ToolAfter = s.after
	}
	if s.has(stop, subagentStop, notification) {
		h.TurnEnd = s.turnEnd
	}
	if s.has(preCompact, sessionStart) {
		h.Compaction = s.compaction
	}
	if s.has(notification) {
		h.Waiting = s.waiting
	}
	s.Sessions.use(s)
	return h
}

// before runs PreToolUse.
func (s *Set) before(ctx context.Context, name string, c *tool.Call) (engine.ToolDecision, error) {
	got := s.runEach(ctx, s.callEvents(ctx, preToolUse, name, c))
	if err := ctx.Err(); err != nil {
		return engine.ToolDecision{}, context.Cause(ctx)
	}
	if name == "apply_patch" && got.input != nil && got.action != lathe.Deny { // the hook saw one file of it, and an allow was for other arguments
		got.action, got.reason = lathe.Deny, "It wants to change the arguments of a patch, which is not possible. Use another tool for this file."
	}
	d := engine.ToolDecision{Action: got.action, Reason: got.reason, Context: got.contextText()}
	if got.halt {
		d.Action, d.Stop = lathe.Deny, true
		d.Reason = "A hook ended the turn before this call. It was not run. " + got.haltReason
	}
	switch {
	case d.Action == lathe.Deny && !got.halt:
		d.Reason = "A hook of the user refused this call. It was not run. " + d.Reason
	case d.Action == lathe.Ask && d.Reason != "":
		s.Notify("A hook wants you to decide about " + name + ": " + phrase.Shorten(d.Reason, 300))
	}
	if got.input != nil && got.action != lathe.Deny {
		d.Input = claudecode.LatheInput(name, got.input)
	}
	return d, nil
}

// after runs PostToolUse.
func (s *Set) after(ctx context.Context, name string, c *tool.Call, r tool.Result) (tool.Result, error) {
	events := s.callEvents(ctx, postToolUse, name, c)
	for _, e := range events {
		e.Response = response(name, e.Input, r)
	}
	got := s.runEach(ctx, events)
	if got.action == lathe.Deny {
		r.Output += "\n\nA hook of the user reports a problem with this call: " + got.reason
	}
	if text := got.contextText(); text != "" {
		r.Output += "\n\n" + text
	}
	if got.halt {
		s.Notify("A hook ended the turn: " + got.haltReason)
		r = engine.StopAfter(r)
	}
	return r, nil
}

// callEvents describe a call: a patch as a change of each of its files, so that hooks for Edit and Write see them all.
func (s *Set) callEvents(ctx context.Context, point, name string, c *tool.Call) []*event {
	one := s.callEvent(ctx, point, name, c)
	if name != "apply_patch" {
		return []*event{one}
	}
	changes := patchedFiles(c)
	if len(changes) == 0 { // the tool says what is wrong with it
		one.subject, one.Tool = "Edit", "Edit"
		return []*event{one}
	}
	var out []*event
	for _, change := range changes {
		e := *one
		e.subject, e.Tool, e.Input = change.tool, change.tool, change.input
		out = append(out, &e)
	}
	return out
}

// callEvent describes a call. One of a subagent belongs to the session of its parent, as in Claude Code.
func (s *Set) callEvent(ctx context.Context, point, name string, c *tool.Call) *event {
	claude := claudecode.ClaudeTool(name, s.Servers)
	e := s.newEvent(point, c.Session, claude)
	e.Mode = s.Mode(c.Agent)
	e.Tool, e.Input, e.Call = claude, claudecode.ClaudeInput(name, c.Dir, c.Input), c.ID
	if session, err := s.Sessions.Session(ctx, c.Session); err == nil && session.Parent != "" {
		e.Session, e.AgentID, e.AgentType = session.Parent, c.Session, c.Agent
	}
	return e
}

// response describes a result in the members that hooks of Claude Code look at.
func response(name string, input json.RawMessage, r tool.Result) map[string]any {
	out := map[string]any{"output": r.Output, "title": r.Title, "success": true}
	var in struct {
		FilePath string `json:"file_path"`
	}
	if json.Unmarshal(input, &in) == nil && in.FilePath != "" {
		out["filePath"], out["file_path"] = in.FilePath, in.FilePath
	}
	if name == "bash" {
		out["stdout"], out["stderr"], out["interrupted"] = r.Output, "", false
	}
	return out
}

// prompt runs SessionStart before the first prompt of a session, then UserPromptSubmit.
func (s *Set) prompt(ctx context.Context, m *lathe.Message) error {
	text, ok := promptText(m)
	if !ok {
		return nil
	}
	session, err := s.Sessions.Session(ctx, m.Session)
	if err != nil || session.Parent != "" { // the prompt of a subagent is not the user's
		return err
	}
	s.Sessions.active(m.Session)
	agent := m.Data.(*lathe.User).Agent
	add := func(got outcome) {
		if text := got.contextText(); text != "" {
			m.Parts = append(m.Parts, lathe.Part{Body: &lathe.Text{Text: text, Synthetic: lathe.Yes}})
		}
	}
	if source := s.Sessions.start(ctx, m.Session); source != "" {
		e := s.newEvent(sessionStart, m.Session, source)
		e.Mode, e.Source, e.Model = s.Mode(agent), source, m.Data.(*lathe.User).Model.Model
		add(s.run(ctx, e))
	}
	e := s.newEvent(userPromptSubmit, m.Session, "")
	e.Mode, e.Prompt = s.Mode(agent), &text
	got := s.run(ctx, e)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case got.action == lathe.Deny:
		return lathe.Errorf(lathe.Denied, "A hook rejected this prompt: %s", got.reason)
	case got.halt:
		return lathe.Errorf(lathe.Denied, "A hook rejected this prompt: %s", got.haltReason)
	}
	add(got)
	return nil
}

// promptText returns the words of a prompt, false if the user wrote none.
func promptText(m *lathe.Message) (string, bool) {
	if _, ok := m.Data.(*lathe.User); !ok {
		return "", false
	}
	var words []string
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if !b.Synthetic.On() {
				words = append(words, b.Text)
			}
		case *lathe.Subtask:
			words = append(words, b.Prompt)
		default: // files and mentions have no words
		}
	}
	return strings.Join(words, "\n"), len(words) > 0
}

// turnEnd runs Stop, or SubagentStop for the session of a task.
func (s *Set) turnEnd(ctx context.Context, t engine.TurnEnd) string {
	id, name, subject := t.Session.ID, stop, ""
	if t.Session.Parent != "" {
		id, name, subject = t.Session.Parent, subagentStop, t.Agent
	}
	e := s.newEvent(name, id, subject)
	active := t.Continued > 0
	e.Mode, e.StopActive = s.Mode(t.Agent), &active
	e.LastAnswer = s.Sessions.lastAnswer(ctx, t.Session.ID)
	if t.Session.Parent != "" {
		e.AgentID, e.AgentType = t.Session.ID, t.Agent
		e.AgentTranscript = s.Sessions.transcript(ctx, t.Session.ID, s.Dir)
	}
	got := s.run(ctx, e)
	if got.action != lathe.Deny || got.halt {
		if t.Session.Parent == "" && s.has(notification) {
			s.Sessions.idle(id, func(ctx context.Context) { s.notify(ctx, id, "idle_prompt", "lathe is waiting for your input") })
		}
		return ""
	}
	return "A hook of the user does not let this turn end yet: " + got.reason
}

// compaction runs PreCompact, and SessionStart behind it.
func (s *Set) compaction(ctx context.Context, id lathe.SessionID, at engine.CompactionPoint) string {
	if at == engine.AfterCompaction {
		e := s.newEvent(sessionStart, id, "compact")
		e.Source = "compact"
		return s.run(ctx, e).contextText()
	}
	trigger := "manual"
	if at == engine.BeforeAuto {
		trigger = "auto"
	}
	e := s.newEvent(preCompact, id, trigger)
	none := ""
	e.Trigger, e.Instructions = trigger, &none
	if got := s.run(ctx, e); got.action == lathe.Deny {
		s.Notify("PreCompact hook: " + got.reason)
	}
	return ""
}

// waiting runs Notification while a call waits for the user.
func (s *Set) waiting(id lathe.SessionID, w engine.Waiting) {
	kind, text := "permission_prompt", "lathe needs your permission to use "+claudecode.ClaudeTool(w.Tool, s.Servers)
	if w.Question {
		kind, text = "elicitation_dialog", "lathe is waiting for your answer"
	}
	s.Sessions.background(func(ctx context.Context) { s.notify(ctx, id, kind, text) })
}

// notify runs Notification. Its hooks decide nothing, so that a refusal is only shown.
func (s *Set) notify(ctx context.Context, id lathe.SessionID, kind, text string) {
	e := s.newEvent(notification, id, kind)
	e.Message, e.NotificationType, e.Title = text, kind, "lathe"
	if got := s.run(ctx, e); got.action == lathe.Deny {
		s.Notify("Notification hook: " + got.reason)
	}
}

// end runs SessionEnd.
func (s *Set) end(ctx context.Context, id lathe.SessionID, reason string) {
	e := s.newEvent(sessionEnd, id, reason)
	e.Reason = reason
	if got := s.run(ctx, e); got.action == lathe.Deny {
		s.Notify("SessionEnd hook: " + got.reason)
	}
}
