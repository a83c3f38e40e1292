package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/cli/turn"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
)

type (
	runArgs struct {
		Prompt    string `json:"prompt" jsonschema:"the task"`
		Session   string `json:"session,omitempty" jsonschema:"session to continue: its ID, or last for the latest; default a new one"`
		Agent     string `json:"agent,omitempty" jsonschema:"the agent, such as build or plan; default from the config"`
		Model     string `json:"model,omitempty" jsonschema:"the model as provider/model; default from the config"`
		Directory string `json:"directory,omitempty" jsonschema:"directory of a new session, inside the project"`
		Title     string `json:"title,omitempty" jsonschema:"title of a new session; default generated"`
	}
	RunReply struct {
		Session string   `json:"session" jsonschema:"session ID; pass it as session to continue"`
		Status  string   `json:"status" jsonschema:"done, refused (a permission was refused; the text says what is left to do), or failed"`
		Text    string   `json:"text" jsonschema:"the answer of the agent"`
		Error   string   `json:"error,omitempty"`
		Refused []string `json:"refused,omitempty" jsonschema:"refused permission requests"`
		Tools   int      `json:"tools" jsonschema:"number of tool calls"`
		Tokens  int64    `json:"tokens"`
		Cost    string   `json:"cost,omitempty"`
	}
)

// run sends a prompt and waits for the result.
func (h *host) run(ctx context.Context, req *mcp.CallToolRequest, in runArgs) (*mcp.CallToolResult, RunReply, error) {
	prompt, err := in.prompt()
	if err != nil {
		return nil, RunReply{}, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(h.life, func() { stop(context.Cause(h.life)) })()
	s, fresh, err := h.resolve(ctx, in)
	if err != nil {
		return nil, RunReply{}, err
	}
	if err := h.reserve(s.ID); err != nil {
		return nil, RunReply{}, err
	}
	defer h.leave(s.ID)
	e, done, err := h.worker(s.Directory)
	if err != nil {
		return nil, RunReply{}, err
	}
	defer done()
	t := &callTurn{Turn: turn.Turn{Engine: e, Session: s, Fresh: fresh}, host: h, told: newProgress(ctx, req)}
	defer t.told.end()
	if err := t.follow(ctx, prompt); err != nil {
		return nil, RunReply{}, err
	}
	out := t.reply()
	result := textResult(t.words(out))
	result.IsError = out.Status != "done"
	return result, out, nil
}

// prompt checks the arguments before a session is created for them.
func (in runArgs) prompt() (lathe.Prompt, error) {
	p := lathe.Prompt{Agent: in.Agent, Parts: []lathe.Part{{Body: &lathe.Text{Text: in.Prompt}}}}
	switch {
	case strings.TrimSpace(in.Prompt) == "":
		return p, lathe.Errorf(lathe.Invalid, "prompt is empty; describe the task")
	case in.Session != "" && in.Directory != "":
		return p, lathe.Errorf(lathe.Invalid, "a session keeps its directory; leave out directory or session")
	case in.Model != "":
		vendor, name, err := catalog.Split(in.Model)
		if err != nil {
			return p, lathe.Errorf(lathe.Invalid, "model %s: %w", termtext.Plain(in.Model), err)
		}
		p.Model = &lathe.ModelRef{Provider: vendor, Model: name}
	}
	return p, nil
}

// resolve returns the session of the call, or a new one whose rules deny questions to the user.
func (h *host) resolve(ctx context.Context, in runArgs) (s lathe.Session, fresh bool, err error) {
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
	s, err = e.Create(ctx, dir, lathe.NewSession{Title: in.Title, Rules: turn.UnattendedRules()})
	return s, true, err
}

// callTurn is the turn of one call. It is its own sink and reports events as progress.
type callTurn struct {
	turn.Turn
	host    *host
	told    *progress
	refused []string
}

// follow sends the prompt and waits until the session is idle. A canceled call stops the turn before it returns.
func (t *callTurn) follow(ctx context.Context, p lathe.Prompt) error {
	t.Log, t.Now, t.MissedHint = t.host.Log, t.host.Now, "`session` shows the result"
	t.Sink, t.Permit = t, t.permit
	t.Send = func(ctx context.Context, _ func(error)) error {
		if !t.Fresh { // background tasks of a process that died
			if err := t.CollectTasks(ctx, false); err != nil {
				return err
			}
		}
		_, err := t.Engine.Submit(ctx, t.Session.ID, p)
		if err != nil {
			t.DeleteEmpty(ctx)
		}
		t.Accepted.Store(err == nil)
		return err
	}
	err := t.Run(ctx)
	if cause := context.Cause(ctx); cause != nil && !errors.As(err, new(turn.NotSent)) {
		return t.end(ctx, cause)
	}
	return err
}

// end stops a turn after its call was canceled, or leaves it to the shutdown of the program.
func (t *callTurn) end(ctx context.Context, why error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cli.CancelTimeout)
	defer stop()
	if t.host.life.Err() != nil {
		return errors.Join(why, cli.CancelTurn(ctx, t.Engine, t.Session.ID))
	}
	return errors.Join(why, t.Engine.Cancel(ctx, t.Session.ID))
}

// Show sends an event to the client as progress.
func (t *callTurn) Show(_ context.Context, ev lathe.Event) {
	if ev.Session != t.Session.ID {
		return
	}
	switch f := ev.Fact.(type) {
	case *lathe.PartChanged:
		switch b := f.Part.Body.(type) {
		case *lathe.Text:
			if text := strings.TrimSpace(termtext.PlainText(b.Text)); text != "" && t.Record.IsAnswer(f.Part) {
				t.told.say("%s", text)
			}
		case *lathe.ToolCall:
			t.call(b)
		default:
		}
	case *lathe.StatusChanged:
		if f.Status.Type == lathe.Retrying {
			t.told.say("waiting: %s", termtext.OneLine(termtext.Plain(f.Status.Message)))
		}
	default:
	}
}

// Note does nothing, because notices are for users.
func (t *callTurn) Note(string) {}

// permit approves a request if --yes is set, and refuses it otherwise.
func (t *callTurn) permit(ctx context.Context, q lathe.PermissionRequest) {
	what := strings.TrimSpace(termtext.Plain(q.Permission + " " + q.Summary()))
	switch {
	case t.host.yes && q.Permission != "sandbox":
		t.Report(t.Engine.Reply(ctx, q.ID, lathe.Once, ""))
		return
	case q.Permission == "doom_loop":
		t.Report(t.Engine.Reply(ctx, q.ID, lathe.Unattended, ""))
		return
	}
	t.Report(t.Engine.Reply(ctx, q.ID, lathe.Unattended, turn.ParseSandboxRequest(q).ModelMessage()))
	t.refused = append(t.refused, what)
	t.told.say("refused: %s", what)
}

func (t *callTurn) call(c *lathe.ToolCall) {
	switch s := c.State.(type) {
	case *lathe.Running:
		t.told.say("%s %s", turn.Icon(c.Tool), termtext.OneLine(termtext.Plain(c.Tool+" "+phrase.Hint(s.Input))))
	case *lathe.Failed:
		t.told.say("✗ %s failed: %s", termtext.Plain(c.Tool), termtext.OneLine(termtext.Plain(s.Error)))
	default:
	}
}

// reply returns the structured result of the turn.
func (t *callTurn) reply() RunReply {
	r, texts := &t.Record, []string{}
	for _, said := range r.Texts {
		if said.Text != "" {
			texts = append(texts, strings.TrimSpace(termtext.PlainText(said.Text)))
		}
	}
	text, _ := lastOf(strings.Join(texts, "\n\n"), mostBytes)
	out := RunReply{
		Session: string(t.Session.ID), Status: "done", Text: text, Refused: t.refused, Tools: r.Tools,
		Tokens: r.Tokens.Input + r.Tokens.Output + r.Tokens.Reasoning + r.Tokens.Cache.Read + r.Tokens.Cache.Write, Cost: session.FormatCost(r.Cost),
	}
	switch {
	case r.Failed != nil:
		out.Status, out.Error = "failed", termtext.OneLine(termtext.Plain(r.Failed.Error()))
	case len(t.refused) > 0:
		out.Status = "refused"
	}
	return out
}

// words returns the result of the turn as text for a model.
func (t *callTurn) words(r RunReply) string {
	parts := []string{}
	if r.Text != "" {
		parts = append(parts, r.Text)
	}
	if r.Error != "" {
		parts = append(parts, "The turn failed: "+r.Error)
	}
	if len(r.Refused) > 0 {
		parts = append(parts, "Refused, because no user can be asked: "+strings.Join(r.Refused, "; ")+
			". Allow it with a rule in the config, or with `lathe mcp serve --yes`.")
	}
	return strings.Join(append(parts, "(session "+r.Session+"; pass it as session to continue)"), "\n\n")
}

// progress sends progress to a client that asked for it. During a silent turn it sends a heartbeat, so that the
// client does not time out.
type progress struct {
	token   any
	session *mcp.ServerSession
	ctx     context.Context // of the call
	beating sync.WaitGroup
	stop    context.CancelFunc

	mu   sync.Mutex // guards the number and keeps the order
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

// beat reports that a silent turn is alive.
func (p *progress) beat() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.say("still working")
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *progress) end() {
	p.stop()
	p.beating.Wait()
}

// say notifies the client, if it asked for progress. Long texts are cut.
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
	// A failed notification means that the client is gone, which the end of its input reports.
	_ = p.session.NotifyProgress(p.ctx, &mcp.ProgressNotificationParams{ProgressToken: p.token, Progress: p.said, Message: text})
}
