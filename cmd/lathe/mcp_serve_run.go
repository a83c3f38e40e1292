package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/tui/inline"
)

type (
	mcpRunArgs struct {
		Prompt    string `json:"prompt" jsonschema:"what to do, in words"`
		Session   string `json:"session,omitempty" jsonschema:"go on with this session: its id, or last for the newest; a new one if left out"`
		Agent     string `json:"agent,omitempty" jsonschema:"the agent, such as build or plan; that of the settings if left out"`
		Model     string `json:"model,omitempty" jsonschema:"the model as provider/model; that of the settings if left out"`
		Directory string `json:"directory,omitempty" jsonschema:"where a new session works: a folder of the project"`
		Title     string `json:"title,omitempty" jsonschema:"of a new session; it is given one if left out"`
	}
	mcpRunReply struct {
		Session string   `json:"session" jsonschema:"its id; pass it as session to go on"`
		Status  string   `json:"status" jsonschema:"done, refused (something needed a permission that nobody could give; the text says what is left), or failed"`
		Text    string   `json:"text" jsonschema:"what the agent said"`
		Error   string   `json:"error,omitempty"`
		Refused []string `json:"refused,omitempty" jsonschema:"what needed a permission that nobody could give"`
		Tools   int      `json:"tools" jsonschema:"how many tools were called"`
		Tokens  int64    `json:"tokens"`
		Cost    string   `json:"cost,omitempty"`
	}
)

// run gives a prompt and waits for what comes of it.
func (h *mcpHost) run(ctx context.Context, req *mcp.CallToolRequest, in mcpRunArgs) (*mcp.CallToolResult, mcpRunReply, error) {
	prompt, err := in.prompt()
	if err != nil {
		return nil, mcpRunReply{}, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(h.life, func() { stop(context.Cause(h.life)) })()
	s, fresh, err := h.meant(ctx, in)
	if err != nil {
		return nil, mcpRunReply{}, err
	}
	if err := h.occupy(s.ID); err != nil {
		return nil, mcpRunReply{}, err
	}
	defer h.leave(s.ID)
	e, done, err := h.worker(s.Directory)
	if err != nil {
		return nil, mcpRunReply{}, err
	}
	defer done()
	t := &mcpTurn{host: h, engine: e, session: s, fresh: fresh, told: newProgress(ctx, req)}
	defer t.told.end()
	if err := t.follow(ctx, prompt); err != nil {
		return nil, mcpRunReply{}, err
	}
	out := t.reply()
	result := mcpText(t.words(out))
	result.IsError = out.Status != "done"
	return result, out, nil
}

func (in mcpRunArgs) prompt() (lathe.Prompt, error) {
	p := lathe.Prompt{Agent: in.Agent, Parts: []lathe.Part{{Body: &lathe.Text{Text: in.Prompt}}}}
	switch {
	case strings.TrimSpace(in.Prompt) == "":
		return p, lathe.Errorf(lathe.Invalid, "prompt is empty; say what to do")
	case in.Session != "" && in.Directory != "":
		return p, lathe.Errorf(lathe.Invalid, "a session works where it was begun; leave out directory, or session")
	case in.Model != "":
		vendor, name, err := catalog.Split(in.Model)
		if err != nil {
			return p, lathe.Errorf(lathe.Invalid, "model %s: %w", termtext.Plain(in.Model), err)
		}
		p.Model = &lathe.ModelRef{Provider: vendor, Model: name}
	}
	return p, nil
}

// meant is the session of the call, or a new one. It may not ask the user things: nobody is there.
func (h *mcpHost) meant(ctx context.Context, in mcpRunArgs) (s lathe.Session, fresh bool, err error) {
	e, err := h.open()
	if err != nil {
		return s, false, err
	}
	if in.Session != "" {
		s, err = h.ours(ctx, e, in.Session)
		return s, false, err
	}
	dir, err := h.inside(ctx, e, in.Directory)
	if err != nil {
		return s, false, err
	}
	e, done, err := h.worker(dir)
	if err != nil {
		return s, false, err
	}
	defer done()
	var rules lathe.Ruleset
	for _, name := range []string{"question", "plan_enter", "plan_exit"} {
		rules = append(rules, lathe.Rule{Permission: name, Pattern: "*", Action: lathe.Deny})
	}
	s, err = e.Create(ctx, dir, lathe.NewSession{Title: in.Title, Rules: rules})
	return s, true, err
}

// mcpTurn follows one turn. Its fields belong to the goroutine of the call.
type mcpTurn struct {
	host    *mcpHost
	engine  api.Engine
	session lathe.Session
	fresh   bool // it was made for this prompt
	told    *progress

	texts   []string
	refused []string
	tools   int
	tokens  lathe.Tokens
	cost    lathe.Money
	summary lathe.MessageID // of a compaction: for the model
	busy    bool
	failed  error
	below   map[lathe.SessionID]bool
}

// follow sends the prompt and listens until the session rests. A call that is cancelled ends the
// turn before it returns.
func (t *mcpTurn) follow(ctx context.Context, p lathe.Prompt) error {
	listening, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	sent := false
	for ev, err := range t.engine.Events(listening, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) { // children may be anywhere
		if err != nil {
			if listening.Err() == nil {
				t.failed = err
			}
			break
		}
		if !sent { // only now is nothing missed
			sent = true
			if err := t.send(ctx, p); err != nil {
				return err
			}
			continue
		}
		if ev.Session != t.session.ID {
			t.child(ctx, ev)
		} else if t.hear(ctx, ev) && !t.waits(ctx) {
			break
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return t.end(ctx, cause)
	}
	return nil
}

func (t *mcpTurn) send(ctx context.Context, p lathe.Prompt) error {
	if own, ok := t.engine.(api.Local); ok && !t.fresh { // what worked for it in a process that has died
		if err := own.Collect(ctx, t.session.ID, false); err != nil {
			return err
		}
	}
	_, err := t.engine.Submit(ctx, t.session.ID, p)
	if err != nil && t.fresh { // nothing was said in it
		_ = t.engine.Remove(context.WithoutCancel(ctx), t.session.ID) // an empty session harms nobody
	}
	return err
}

// end ends a turn that nobody waits for: at once if it was cancelled, and as the program does if
// that ends.
func (t *mcpTurn) end(ctx context.Context, why error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cli.QuitTime)
	defer stop()
	if t.host.life.Err() != nil {
		return errors.Join(why, cli.Quit(ctx, t.engine, t.session.ID))
	}
	return errors.Join(why, t.engine.Cancel(ctx, t.session.ID))
}

// waits reports whether tasks in the background have yet to report.
func (t *mcpTurn) waits(ctx context.Context) bool {
	own, ok := t.engine.(api.Local)
	if !ok {
		return false
	}
	tasks, err := own.Backgrounds(ctx, t.session.ID)
	if err != nil || len(tasks) > 0 {
		return err == nil
	}
	if t.failed != nil {
		return false // the store may have stopped it, and then it cannot say that it rests
	}
	more, err := own.GoesOn(ctx, t.session.ID) // the last may have reported just now
	return err == nil && more
}

// hear takes one event of the session, and reports whether the turn has ended.
func (t *mcpTurn) hear(ctx context.Context, ev lathe.Event) bool {
	switch f := ev.Fact.(type) {
	case *lathe.PartChanged:
		t.part(f.Part)
	case *lathe.MessageChanged:
		if a, ok := f.Info.Said.(*lathe.Assistant); ok && a.Summary.On() {
			t.summary = f.Info.ID
		}
	case *lathe.SessionFailed:
		t.failed = lathe.Errorf(lathe.Internal, "%s", lathe.FaultMessage(f.Error))
	case *lathe.ServerResync:
		t.failed = lathe.Errorf(lathe.Unavailable, "too much happened while the server could not be heard; `session` shows what was done")
		return true
	case *lathe.PermissionAsked:
		t.permission(ctx, f.PermissionRequest)
	case *lathe.QuestionAsked:
		t.tell(t.engine.Dismiss(ctx, f.ID))
	case *lathe.StatusChanged:
		switch f.Status.Type {
		case lathe.Idle:
			return t.busy || t.failed != nil // before, it is that of a turn that was cut off
		case lathe.Busy:
			t.busy = true
		case lathe.Retrying:
			t.told.say("waiting: %s", termtext.OneLine(termtext.Plain(f.Status.Message)))
		}
	default:
	}
	return false
}

// child answers what a task asks: nobody else will.
func (t *mcpTurn) child(ctx context.Context, ev lathe.Event) {
	switch f := ev.Fact.(type) {
	case *lathe.PermissionAsked:
		if t.isBelow(ctx, ev.Session) {
			t.permission(ctx, f.PermissionRequest)
		}
	case *lathe.QuestionAsked:
		if t.isBelow(ctx, ev.Session) {
			t.tell(t.engine.Dismiss(ctx, f.ID))
		}
	default:
	}
}

// isBelow reports whether a session works for the one of the call.
func (t *mcpTurn) isBelow(ctx context.Context, id lathe.SessionID) bool {
	r := runner{App: t.host.App, engine: t.engine, session: t.session, below: t.below}
	is := r.isBelow(ctx, id)
	t.below = r.below
	return is
}

// permission answers a request by the flag, else with no.
func (t *mcpTurn) permission(ctx context.Context, q lathe.PermissionRequest) {
	what := strings.TrimSpace(termtext.Plain(q.Permission + " " + q.Wanted()))
	switch {
	case t.host.flags.yes && q.Permission != "sandbox":
		t.tell(t.engine.Reply(ctx, q.ID, lathe.Once, ""))
		return
	case q.Permission == "doom_loop":
		t.tell(t.engine.Reply(ctx, q.ID, lathe.Unattended, ""))
		return
	}
	t.tell(t.engine.Reply(ctx, q.ID, lathe.Unattended, sandboxAskOf(q).words()))
	t.refused = append(t.refused, what)
	t.told.say("refused: %s", what)
}

func (t *mcpTurn) tell(err error) {
	if err != nil && lathe.CodeOf(err) != lathe.NotFound { // someone else was faster
		t.host.Log.Warn("the answer was not taken", "error", err)
	}
}

// part takes a part that changed.
func (t *mcpTurn) part(p lathe.Part) {
	switch b := p.Body.(type) {
	case *lathe.Text:
		if b.Synthetic.On() || b.Ignored.On() || b.Time == nil || b.Time.End == 0 || p.Message == t.summary || strings.TrimSpace(b.Text) == "" {
			return
		}
		text := strings.TrimSpace(termtext.PlainText(b.Text))
		t.texts = append(t.texts, text)
		t.told.say("%s", text)
	case *lathe.ToolCall:
		t.call(b)
	case *lathe.StepFinish:
		t.tokens, t.cost = t.tokens.Add(b.Tokens), t.cost.Add(b.Cost)
	default:
	}
}

func (t *mcpTurn) call(c *lathe.ToolCall) {
	switch s := c.State.(type) {
	case *lathe.Running:
		t.told.say("%s %s", icon(c.Tool), termtext.OneLine(termtext.Plain(c.Tool+" "+inline.Hint(s.Input))))
	case *lathe.Completed:
		if s.Compacted == 0 { // else an old one that is no longer sent
			t.tools++
		}
	case *lathe.Failed:
		t.tools++
		t.told.say("✗ %s failed: %s", termtext.Plain(c.Tool), termtext.OneLine(termtext.Plain(s.Error)))
	default:
	}
}

// reply is the turn as a program reads it.
func (t *mcpTurn) reply() mcpRunReply {
	text, _ := lastOf(strings.Join(t.texts, "\n\n"), mcpMostBytes)
	out := mcpRunReply{
		Session: string(t.session.ID), Status: "done", Text: text, Refused: t.refused, Tools: t.tools,
		Tokens: t.tokens.Input + t.tokens.Output + t.tokens.Reasoning + t.tokens.Cache.Read + t.tokens.Cache.Write, Cost: session.CostOf(t.cost),
	}
	switch {
	case t.failed != nil:
		out.Status, out.Error = "failed", termtext.OneLine(termtext.Plain(t.failed.Error()))
	case len(t.refused) > 0:
		out.Status = "refused"
	}
	return out
}

// words is the turn as a model reads it.
func (t *mcpTurn) words(r mcpRunReply) string {
	parts := []string{}
	if r.Text != "" {
		parts = append(parts, r.Text)
	}
	if r.Error != "" {
		parts = append(parts, "The turn failed: "+r.Error)
	}
	if len(r.Refused) > 0 {
		parts = append(parts, "Refused, since nobody is there to give permission: "+strings.Join(r.Refused, "; ")+
			". A rule in the settings allows it, or `lathe mcp serve --yes`.")
	}
	return strings.Join(append(parts, "(session "+r.Session+"; pass it as session to go on)"), "\n\n")
}

// progress tells the client what happens, if it wants to know. A turn that says nothing for a while
// is told to be alive, or the client would give up on it.
type progress struct {
	token   any
	session *mcp.ServerSession
	ctx     context.Context // of the call
	beating sync.WaitGroup
	stop    context.CancelFunc

	mu   sync.Mutex // guards the number, and keeps the order
	said float64
}

const (
	progressEvery = 10 * time.Second
	progressBytes = 2000
)

func newProgress(ctx context.Context, req *mcp.CallToolRequest) *progress {
	p := &progress{token: req.Params.GetProgressToken(), session: req.Session}
	p.ctx, p.stop = context.WithCancel(ctx)
	if p.token != nil {
		p.beating.Go(p.beat)
	}
	return p
}

func (p *progress) beat() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.say("still at work")
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *progress) end() {
	p.stop()
	p.beating.Wait()
}

func (p *progress) say(format string, args ...any) {
	if p.token == nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if len(text) > progressBytes {
		text = strings.ToValidUTF8(text[:progressBytes], "") + "…"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said++
	// A client that cannot be told is gone, which its input will say.
	_ = p.session.NotifyProgress(p.ctx, &mcp.ProgressNotificationParams{ProgressToken: p.token, Progress: p.said, Message: text})
}
