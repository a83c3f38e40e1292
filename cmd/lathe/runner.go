package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/inline"
	"github.com/lathe-agent/lathe/tui/style"
)

// runner follows one turn and shows it.
type runner struct {
	*cli.App
	flags runFlags
	// arguments are those of a slash command.
	arguments string
	engine    api.Engine
	session   lathe.Session
	fresh     bool // it was made for this prompt
	began     time.Time
	stood     map[lathe.PartID][]lathe.Wait // how calls that have ended waited for a person

	reasoning map[lathe.PartID]bool // open ones
	printed   map[lathe.PartID]bool // texts that are on the screen
	summary   lathe.MessageID       // the newest one of a compaction: for the model, not for people
	midLine   bool                  // the screen is in the middle of a line
	tokens    lathe.Tokens
	cost      lathe.Money
	busy      bool        // the turn has begun
	given     atomic.Bool // the prompt was taken
	refused   bool        // a permission was
	failed    error
	below     map[lathe.SessionID]bool // whether other sessions work for this one

	view       *inline.View // on a terminal; nil prints plain text
	plainly    bool         // also there, for one who writes between the lines
	titles     map[lathe.SessionID]string
	agent      string            // who answers
	prompts    []lathe.MessageID // that were answered
	said       []string          // texts of the newest answer
	saidIn     lathe.MessageID
	held       string // an answer that is printed when nothing follows it
	structured json.RawMessage
}

// turn sends the prompt and shows what happens until the session rests.
func (r *runner) turn(ctx context.Context, p lathe.Prompt) error {
	r.reasoning, r.printed, r.stood = map[lathe.PartID]bool{}, map[lathe.PartID]bool{}, map[lathe.PartID][]lathe.Wait{}
	listening, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer r.release()
	sent := false
	defer context.AfterFunc(ctx, func() { stop(nil) })()
	for ev, err := range r.engine.Events(listening, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) { // children may be anywhere
		if err != nil {
			if listening.Err() == nil { // else it was ended here
				r.lost(err)
			}
			break
		}
		if !sent { // only now is nothing missed
			sent = true
			if err := r.send(ctx, p, stop); err != nil {
				return r.refusedJSON(err)
			}
			continue
		}
		r.dropView()
		r.streamed(ctx, ev)
		if ev.Session != r.session.ID {
			r.child(ctx, ev)
			continue
		}
		if r.show(ctx, ev) && !r.waits(ctx) {
			break
		}
	}
	if err := context.Cause(ctx); err != nil {
		r.tell(cli.Quit(ctx, r.engine, r.session.ID))
		return r.leave(err)
	}
	var refused notSent
	if errors.As(context.Cause(listening), &refused) {
		if r.isJSON() && r.failed != nil { // an event has told it
			return refused.error
		}
		return r.refusedJSON(refused.error)
	}
	r.release()
	r.whole(ctx)
	r.linger(ctx)
	return r.end(ctx)
}

// notSent is why nothing will come.
type notSent struct{ error }

// lost notes why nothing more is heard of the turn.
func (r *runner) lost(err error) {
	if lathe.CodeOf(err) != lathe.Canceled {
		r.failed = err
	}
}

// whole looks whether a turn of a server that is idle now has come to its end: the server may
// have died, and another begun in its place.
func (r *runner) whole(ctx context.Context) {
	if r.Attach == "" || r.failed != nil {
		return
	}
	if cut, err := cli.WasCut(ctx, r.engine, r.session.ID); err == nil && cut {
		r.failed = lathe.Errorf(lathe.Unavailable, "the server ended before the turn did; `lathe run --attach %s --resume -s %s` goes on", termtext.Plain(r.Attach), r.session.ID)
	}
}

// linger lets the title come, if it takes no time.
func (r *runner) linger(ctx context.Context) {
	own, ok := r.engine.(api.Local)
	if !ok { // the server lives on
		return
	}
	ctx, stop := context.WithTimeout(ctx, titleTime)
	defer stop()
	_ = own.Drain(ctx) // without one the session has the title of its day
}

// titleTime is how long a program whose answer is printed waits for the title.
const titleTime = 2 * time.Second

// leave tells what an interrupt means. The turn is settled when the engine closes, and can
// be taken up again.
func (r *runner) leave(why error) error {
	r.newLine()
	if !r.isJSON() {
		if r.Attach != "" {
			r.remark("Interrupted, and ended on the server. `lathe run --attach %s -s %s WORDS` goes on.", termtext.Plain(r.Attach), r.session.ID)
			return why
		}
		r.remark("Interrupted. `lathe run --resume -s %s` goes on.", r.session.ID)
	}
	return why
}

// isJSON reports whether standard output is for programs alone.
func (r *runner) isJSON() bool { return r.flags.format == "json" || r.streams() }

// begin says who answers.
func (r *runner) begin(m lathe.Message) {
	if r.isJSON() {
		return
	}
	if u, ok := m.Said.(*lathe.User); ok {
		r.note("> %s · %s · %s", termtext.Plain(u.Agent), termtext.Plain(u.Model.Provider+"/"+u.Model.Model), r.session.ID)
		r.checkLevel(u.Model)
	}
}

// checkLevel tells whoever asked for a level of reasoning that the model has none of that name:
// it answers all the same, as any client of a server is answered.
func (r *runner) checkLevel(ref lathe.ModelRef) {
	if r.flags.variant == "" || r.Attach != "" {
		return
	}
	p, err := quietProviders(r.App)
	if err != nil {
		return
	}
	m, err := p.Catalog.Model(ref.Provider, ref.Model)
	if err != nil {
		return // the answer says why
	}
	if _, ok := m.Variant(r.flags.variant); !ok {
		r.note("! %v", noVariant(m, r.flags.variant))
	}
}

// show shows one event, and reports whether the turn has ended.
func (r *runner) show(ctx context.Context, ev lathe.Event) bool {
	r.watch(ev.Fact)
	switch f := ev.Fact.(type) {
	case *lathe.PartDelta:
		r.delta(f)
	case *lathe.PartChanged:
		r.part(f.Part)
	case *lathe.MessageChanged:
		r.noted(f.Info)
		if a, ok := f.Info.Said.(*lathe.Assistant); ok && a.Summary.On() && r.summary != f.Info.ID {
			r.summary = f.Info.ID
			r.note("… the conversation is being compressed")
		}
	case *lathe.PartRemoved:
		if r.printed[f.Part] && r.view == nil {
			r.note("(the connection broke; what stands above is said again)")
		}
	case *lathe.SessionFailed:
		r.fault(f.Error)
	case *lathe.ServerResync:
		r.failed = lathe.Errorf(lathe.Unavailable, "too much happened while the server could not be heard; `lathe session show --attach %s %s` shows it", termtext.Plain(r.Attach), r.session.ID)
		return true
	case *lathe.PermissionAsked:
		r.permission(ctx, f.PermissionRequest)
	case *lathe.QuestionAsked:
		r.note("The model asks: %s (nobody is here to answer)", termtext.Plain(f.Questions[0].Question))
		r.tell(r.engine.Dismiss(ctx, f.ID))
	case *lathe.StatusChanged:
		switch f.Status.Type {
		case lathe.Idle:
			return r.busy || r.failed != nil && r.given.Load() // before, it is that of a turn that was cut off
		case lathe.Busy:
			r.busy = true
		case lathe.Retrying:
			wait := time.Duration(float64(f.Status.Next)-float64(r.Now().UnixMilli())) * time.Millisecond
			r.note("… %s; attempt %d in %s", termtext.OneLine(termtext.Plain(f.Status.Message)), f.Status.Attempt+1, wait.Round(time.Second))
		}
	default:
	}
	return false
}

// delta prints words as they come, on a screen; elsewhere whole texts are printed, so that an
// attempt that is taken back leaves nothing behind.
func (r *runner) delta(d *lathe.PartDelta) {
	switch {
	case r.isJSON() || r.flags.schema != "" || !cli.IsTerminal(r.Stdout.File) || d.Message == r.summary:
	case r.view != nil:
		r.grow(d)
	case !r.reasoning[d.Part]:
		r.printed[d.Part] = true
		r.say(termtext.PlainText(d.Delta))
	case r.flags.thinking:
		r.say(r.dim(termtext.PlainText(d.Delta)))
	}
}

func (r *runner) say(text string) {
	if text != "" {
		r.Printf("%s", text)
		r.midLine = !strings.HasSuffix(text, "\n")
		_ = r.Out.Flush() // its error comes again when the program ends
	}
}

// newLine ends a line that is begun.
func (r *runner) newLine() {
	if r.midLine {
		r.say("\n")
	}
}

// note tells something beside the answer.
func (r *runner) note(format string, args ...any) {
	if !r.isJSON() {
		r.newLine()
		r.remark("%s", r.dim(fmt.Sprintf(format, args...)))
	}
}

func (r *runner) dim(text string) string {
	if r.view != nil {
		return text
	}
	return r.Paint(r.Stderr, text, style.Attr{Faint: true})
}

// part shows a part that came to its end.
func (r *runner) part(p lathe.Part) {
	switch b := p.Body.(type) {
	case *lathe.StepStart:
		r.object("step_start", p)
	case *lathe.Text:
		if b.Ignored.On() && (b.Time != nil || b.Synthetic.On()) { // a note of the engine, not the answer
			r.object("note", p)
			r.note("! %s", termtext.Plain(b.Text))
			return
		}
		if b.Synthetic.On() {
			r.checked(p)
			return
		}
		if b.Time == nil || b.Time.End == 0 || p.Message == r.summary {
			return
		}
		r.object("text", p)
		r.answered(p.Message, b.Text)
		r.text(p.ID, b.Text)
	case *lathe.Reasoning:
		r.reasoning[p.ID] = b.Time.End == 0
		r.grown(p.ID, b.Time.End != 0)
		if b.Time.End != 0 && r.flags.thinking {
			r.object("reasoning", p)
			switch {
			case r.view != nil || r.isJSON():
			case cli.IsTerminal(r.Stdout.File):
				r.newLine()
			case b.Text != "":
				r.note("Thinking: %s", termtext.PlainText(b.Text))
			}
		}
	case *lathe.ToolCall:
		if done, ok := b.State.(*lathe.Completed); ok && done.Compacted != 0 {
			return // an old one that is no longer sent
		}
		r.release()
		if b.Settled() {
			if w := b.Waits(); len(w) > 0 {
				r.stood[p.ID] = w
			}
			r.object("tool_use", p)
			r.tool(b)
		}
	case *lathe.StepFinish:
		r.tokens, r.cost = r.tokens.Add(b.Tokens), r.cost.Add(b.Cost)
		r.object("step_finish", p)
	default:
	}
}

func (r *runner) text(id lathe.PartID, text string) {
	switch {
	case r.isJSON() || r.flags.schema != "":
	case r.view != nil:
		if !r.printed[id] {
			r.grow(&lathe.PartDelta{Part: id, Delta: text})
		}
		r.grown(id, true)
	case r.printed[id]:
		r.newLine()
	case strings.TrimSpace(text) != "":
		r.held += strings.TrimSpace(termtext.PlainText(text)) + "\n" // a check may want another in its place
	}
}

// release prints the answer that was held.
func (r *runner) release() {
	r.say(r.held)
	r.held = ""
}

// tool shows a call that ended in one line.
func (r *runner) tool(c *lathe.ToolCall) {
	if f, ok := c.State.(*lathe.Failed); ok && isRefused(f.Metadata) {
		r.refused = true
	}
	if r.view != nil { // which has shown it
		return
	}
	switch s := c.State.(type) {
	case *lathe.Completed:
		title := s.Title
		if title == "" {
			title = c.Tool
		}
		r.note("%s %s", icon(c.Tool), termtext.Clip(termtext.OneLine(termtext.Plain(title)), 100))
	case *lathe.Failed:
		r.note("✗ %s failed: %s", termtext.Plain(c.Tool), termtext.Clip(termtext.OneLine(termtext.Plain(s.Error)), 200))
	default:
	}
}

// isRefused reports whether a call was not run because nobody could allow it, or because it
// repeated itself until the turn was ended.
func isRefused(metadata json.RawMessage) bool {
	var m struct{ Unattended, Stopped bool }
	return json.Unmarshal(metadata, &m) == nil && (m.Unattended || m.Stopped)
}

// icon is the sign of a tool, as users of the reference know it.
func icon(tool string) string {
	switch tool {
	case "bash":
		return "$"
	case "read", "skill", "list":
		return "→"
	case "write", "edit":
		return "←"
	case "apply_patch", "webfetch":
		return "%"
	case "glob", "grep":
		return "✱"
	case "websearch":
		return "◈"
	case "todowrite", "task":
		return "#"
	default:
		return "⚙"
	}
}

// line is one object of --format json; its members have this order.
type runLine struct {
	Type      string          `json:"type"`
	Timestamp int64           `json:"timestamp"`
	Session   lathe.SessionID `json:"sessionID"`
	Part      *lathe.Part     `json:"part,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

func (r *runner) object(kind string, p lathe.Part) { r.print(runLine{Type: kind, Part: &p}) }

func (r *runner) print(l runLine) {
	if r.flags.format != "json" {
		return
	}
	l.Timestamp, l.Session = r.Now().UnixMilli(), r.session.ID
	line, err := json.Marshal(l)
	if err == nil {
		r.Printf("%s\n", layout.EscapeJSON(line))
		_ = r.Out.Flush() // its error comes again when the program ends
	}
}

// fault shows an error of the turn.
func (r *runner) fault(f lathe.Fault) {
	r.print(runLine{Type: "error", Error: lathe.EncodeFault(f)})
	r.failed = cli.WithExit(lathe.Errorf(lathe.Internal, "%s", lathe.FaultMessage(f)), cli.CodeOfFault(f))
}

// refusedJSON shows a prompt that could not be sent.
func (r *runner) refusedJSON(err error) error {
	if r.isJSON() {
		r.fault(&lathe.UnknownFault{Message: err.Error()})
	}
	return err
}

func (r *runner) tell(err error) {
	if err != nil && lathe.CodeOf(err) != lathe.NotFound { // someone else was faster
		r.Log.Warn("the answer was not taken", "error", err)
	}
}

// end tells what the turn took, and how it ended.
func (r *runner) end(ctx context.Context) error {
	r.newLine()
	parts := []string{}
	budget := ""
	if accounts, err := session.Accounts(ctx, &r.Host, r.engine, r.session); err == nil {
		budget = session.BudgetLine(accounts)
	}
	for _, s := range []string{session.Tokens(r.tokens), session.CostOf(r.cost), r.changes(ctx), r.lasted(), budget} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	r.note("%s", strings.Join(parts, " · "))
	switch {
	case r.failed != nil && r.isJSON():
		return cli.Failed{Code: cli.CodeOfError(r.failed)} // told in its line
	case r.failed != nil:
		return r.failed
	case r.refused:
		return cli.Failed{Code: cli.ExitRefused}
	case r.flags.schema != "" && (r.structured == nil || !r.isJSON()):
		return r.printStructured()
	}
	return nil
}
