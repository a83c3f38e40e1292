package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// ask is a request that waits for a person: a permission, or questions.
type ask struct {
	id         lathe.AskID
	by         lathe.ToolRef // the call that asks
	permission *tool.Permission
	questions  []lathe.Question
	loop       bool // about a repeated call: it names no call of its own
}

// answer is a person's word.
type answer struct {
	reply     lathe.Reply
	answers   [][]string
	note      string
	dismissed bool // a question, or anything that was withdrawn
	expired   bool // nobody answered in time
	plugin    bool // it is not a person's
	// unattended says that nobody was there to answer: the call fails, and the turn continues.
	unattended bool
}

// asked writes a request down for people to see. What an approval has come to allow
// meanwhile needs no person.
func (s *stepRun) asked(ctx context.Context, h toolAsks) error {
	a := h.ask
	if a.permission != nil {
		if s.judge.AllApproved(*a.permission) {
			h.reply <- answer{reply: lathe.Always}
			return nil
		}
	}
	a.id = lathe.AskID(s.engine.ids.New(a.prefix()))
	s.waiting[a.id] = h
	s.batch.add(s.shown(a))
	return s.batch.flush(ctx)
}

func (a *ask) prefix() lathe.Prefix {
	if a.permission != nil {
		return lathe.PrefixPermission
	}
	return lathe.PrefixQuestion
}

// shown is the fact that shows an ask.
func (s *stepRun) shown(a *ask) lathe.Fact {
	if a.permission != nil {
		return &lathe.PermissionAsked{PermissionRequest: a.request(s.session.ID)}
	}
	return &lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{
		ID: a.id, Session: s.session.ID, Questions: a.questions, Tool: &a.by,
	}}
}

// request is a permission as people and hooks see it.
func (a *ask) request(id lathe.SessionID) lathe.PermissionRequest {
	r := lathe.PermissionRequest{
		ID: a.id, Session: id, Permission: a.permission.Name, Patterns: a.permission.Patterns,
		Always: a.permission.Always, Metadata: a.permission.Metadata,
	}
	if !a.loop {
		r.Tool = &a.by
	}
	return r
}

// hear looks which requests were answered, here or in another process, and lets their
// tools go on.
func (s *stepRun) hear(ctx context.Context) error {
	if len(s.waiting) == 0 {
		return nil
	}
	settled, cancel := settle(ctx) // a cancel must not look like a failure of the store
	defer cancel()
	got, err := s.engine.store.Answers(settled, slices.Collect(maps.Keys(s.waiting))...)
	if err != nil {
		return writeError{err} // of the store: no reason to ask the model again
	}
	for _, id := range slices.Sorted(maps.Keys(got)) {
		if h, ok := s.waiting[id]; ok {
			delete(s.waiting, id)
			if err := s.deliver(ctx, h, got[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// deliver hands an answer to the tool that asked, and settles what else it decides: a
// rejection refuses all other permissions the session waits for, an "always" allows those
// that it covers.
func (s *stepRun) deliver(ctx context.Context, h toolAsks, got store.Answer) error {
	switch f := got.Fact.(type) {
	case *lathe.PermissionReplied:
		h.reply <- answer{reply: f.Reply, note: got.Note, unattended: got.Unattended}
		switch {
		case got.Unattended: // it says nothing about other requests
		case f.Reply == lathe.Reject:
			s.settleOthers(func(tool.Permission) bool { return true }, answer{reply: lathe.Reject})
		case f.Reply == lathe.Always:
			for _, pattern := range h.ask.permission.Always {
				s.judge.Approved = append(slices.Clip(s.judge.Approved), lathe.Rule{
					Permission: h.ask.permission.Name, Pattern: pattern, Action: lathe.Allow,
				})
			}
			s.settleOthers(s.judge.AllApproved, answer{reply: lathe.Always})
		}
	case *lathe.QuestionReplied:
		h.reply <- answer{answers: f.Answers}
	default:
		h.reply <- answer{dismissed: true}
	}
	return s.batch.flush(ctx)
}

// settleOthers gives other waiting permissions the same answer.
func (s *stepRun) settleOthers(meant func(tool.Permission) bool, a answer) {
	for _, id := range slices.Sorted(maps.Keys(s.waiting)) {
		h := s.waiting[id]
		if h.ask.permission == nil || !meant(*h.ask.permission) {
			continue
		}
		delete(s.waiting, id)
		s.batch.add(&lathe.PermissionReplied{Session: s.session.ID, Request: id, Reply: a.reply})
		h.reply <- a
	}
}

// withdraw takes back all that waits: nobody is to answer what nobody asks any more.
func (s *stepRun) withdraw() {
	for _, id := range slices.Sorted(maps.Keys(s.waiting)) {
		h := s.waiting[id]
		delete(s.waiting, id)
		s.batch.add(s.withdrawn(id, h.ask))
		h.reply <- answer{reply: lathe.Reject, dismissed: true}
	}
}

// expire withdraws what nobody answered in time.
func (s *stepRun) expire(a *ask) {
	if h, ok := s.waiting[a.id]; ok && h.ask == a {
		delete(s.waiting, a.id)
		s.batch.add(s.withdrawn(a.id, a))
		h.reply <- answer{reply: lathe.Reject, dismissed: true, expired: true}
	}
}

// withdrawOf takes back what a call asked that has ended without waiting for the answer.
func (s *stepRun) withdrawOf(call string) {
	for _, id := range slices.Sorted(maps.Keys(s.waiting)) {
		if h := s.waiting[id]; h.ask.by.Call == call {
			delete(s.waiting, id)
			s.batch.add(s.withdrawn(id, h.ask))
		}
	}
}

func (s *stepRun) withdrawn(id lathe.AskID, a *ask) lathe.Fact {
	if a.permission == nil {
		return &lathe.QuestionRejected{Session: s.session.ID, Request: id}
	}
	return &lathe.PermissionReplied{Session: s.session.ID, Request: id, Reply: lathe.Reject}
}

// host is a call's way back to the engine.
type host struct {
	step    *stepRun
	queue   *stepQueue
	call    *fold.Call
	by      lathe.ToolRef
	judge   permission.Judge // as it was when the call began
	history []lathe.Message
	snap    *snapshot.Step  // nil keeps nothing for an undo
	frame   *snapshot.Frame // of a call that may change any file
	clock   *subagent.Clock // of the call
	gone    <-chan struct{} // closed when nobody waits for the call any more
	model   lathe.ModelRef  // of the answer that makes the call
}

// Ask returns when the call may go on.
func (h *host) Ask(ctx context.Context, p tool.Permission) error {
	_, err := h.ask(ctx, &ask{by: h.by, permission: &p})
	return err
}

// Allowed reports whether the rules allow a request, or an approval does.
func (h *host) Allowed(p tool.Permission) bool {
	action, err := h.judge.Verdict(p)
	return err == nil && action == lathe.Allow
}

// ask judges a request and waits for a person if the rules say so. The reply is "" when
// the rules allow it.
func (h *host) ask(ctx context.Context, a *ask) (lathe.Reply, error) {
	action, err := h.judge.Verdict(*a.permission)
	if err != nil && a.permission.Name == "edit" && h.step.agent.Name == planAgent {
		err = h.planned()
	}
	if err != nil || action == lathe.Allow {
		return "", err
	}
	got, err := h.hook(ctx, a)
	switch {
	case err != nil || got.reply != "":
	case h.step.settings.Unattended && !h.judge.AllApproved(*a.permission):
		got = answer{reply: lathe.Reject, unattended: true}
	default:
		got, err = h.wait(ctx, a)
	}
	if err != nil {
		return "", err
	}
	if got.reply == lathe.Reject {
		return "", h.rejected(*a.permission, got)
	}
	h.begins(ctx)
	return got.reply, nil
}

// planned refuses a change in plan mode.
func (h *host) planned() error {
	where := "changes go into the plan file " + planPath(h.step.session, h.step.place, h.step.settings.Plans)
	if strings.HasSuffix(where, " ") {
		where = "there is no plan file here, so changes go into your answer"
	}
	return &permission.Refusal{Code: lathe.Denied, Text: "plan mode: " + where + ". This call was not run."}
}

// sandboxPermission lets a call out of the sandbox, or write what other programs obey.
const sandboxPermission = "sandbox"

// hook lets a plugin answer what a person would be asked; no reply leaves it to the person.
// It runs beside the runner, so that one that takes its time holds up nothing else.
func (h *host) hook(ctx context.Context, a *ask) (got answer, err error) {
	hook := h.step.settings.Hooks.PermissionAsk
	if hook == nil || h.judge.AllApproved(*a.permission) {
		return got, nil
	}
	action, err := hook(ctx, a.request(h.step.session.ID))
	switch {
	case action == lathe.Allow && a.permission.Name == sandboxPermission: // only a person or a rule gives it
	case action == lathe.Allow:
		got.reply = lathe.Once
	case action == lathe.Deny:
		got.reply, got.plugin = lathe.Reject, true
	}
	return got, err
}

func (h *host) rejected(p tool.Permission, got answer) error {
	if got.unattended {
		return unattendedRefusal(p, got.note)
	}
	if got.expired {
		return &permission.Refusal{Code: lathe.Rejected, Text: h.unanswered("It was not run.")}
	}
	if got.plugin {
		return &permission.Refusal{Code: lathe.Denied, Text: "A plugin of the user forbids this call. It was not run."}
	}
	if got.note != "" {
		return &permission.Refusal{Code: lathe.Rejected, Text: "The user rejected permission for this call and says: " + got.note}
	}
	return &permission.Refusal{
		Code: lathe.Rejected, Mark: history.RejectedMark,
		Text: "The user rejected permission for this call. It was not run.",
	}
}

// unattendedRefusal is a request that nobody can answer. It does not end the turn: the model
// works around it and says what is left.
func unattendedRefusal(p tool.Permission, note string) error {
	what := lathe.PermissionRequest{Permission: p.Name, Patterns: p.Patterns, Metadata: p.Metadata}.Wanted()
	text := fmt.Sprintf("Not allowed here: %s needs the permission %q and nobody is attached to give it. It was not run.", shortened(what, 300), p.Name)
	if note != "" {
		text += " " + note
	}
	return &permission.Refusal{Code: lathe.Denied, Mark: history.UnattendedMark, Text: text + " Work without it, and say at the end what is left."}
}

func (h *host) wait(ctx context.Context, a *ask) (answer, error) {
	select {
	case <-ctx.Done(): // one that was given up asks nobody
		return answer{}, context.Cause(ctx)
	case <-h.gone: // nor one that does not hear it
		return answer{}, errGone
	default:
	}
	// Who waits for this session waits for the person too.
	began := h.step.engine.now()
	for _, c := range append([]*subagent.Clock{h.clock, h.step.ledger.clock}, h.step.engine.company.ClocksAbove(h.step.session.ID)...) {
		c.Pause()
		defer func() {
			c.Resume()
			c.Note(lathe.Wait{began, h.step.engine.now()})
		}()
	}
	reply := make(chan answer, 1)
	h.queue.put(toolAsks{a, reply})
	if limit := h.step.settings.Deadlines.Ask; limit > 0 {
		defer time.AfterFunc(limit, func() { h.queue.put(askExpired{a}) }).Stop()
	}
	select {
	case got := <-reply:
		if ctx.Err() != nil {
			return answer{}, context.Cause(ctx)
		}
		return got, nil
	case <-ctx.Done():
		return answer{}, context.Cause(ctx)
	case <-h.gone:
		return answer{}, errGone
	}
}

// errGone is what a tool is told that asks when its call has ended.
var errGone = lathe.Errorf(lathe.Canceled, "the call has ended")

// unanswered says that nobody was there.
func (h *host) unanswered(rest string) string {
	return fmt.Sprintf("Nobody answered within %s (setting deadline.ask). %s", h.step.settings.Deadlines.Ask, rest)
}

// Question asks the user.
func (h *host) Question(ctx context.Context, qs []lathe.Question) ([][]string, error) {
	got, err := h.wait(ctx, &ask{by: h.by, questions: qs})
	if err != nil {
		return nil, err
	}
	if got.expired {
		return nil, &permission.Refusal{Code: lathe.Rejected, Text: h.unanswered("Go on with your best judgement.")}
	}
	if got.dismissed {
		return nil, &permission.Refusal{
			Code: lathe.Rejected, Mark: history.RejectedMark,
			Text: "The user dismissed the question.",
		}
	}
	h.begins(ctx)
	return got.answers, nil
}

// Progress shows what the call is doing.
func (h *host) Progress(title string, metadata json.RawMessage) {
	h.queue.put(toolProgressed{call: h.call, title: title, meta: metadata})
}

// written is Progress that returns when it is written down.
func (h *host) written(ctx context.Context, title string, metadata json.RawMessage) error {
	reply := make(chan error, 1)
	h.queue.put(toolProgressed{h.call, title, metadata, reply})
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Todos replaces the session's list.
func (h *host) Todos(ctx context.Context, list []lathe.Todo) error {
	reply := make(chan error, 1)
	h.queue.put(toolTells{&lathe.TodosChanged{Session: h.step.session.ID, Todos: list}, reply})
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Tell publishes news.
func (h *host) Tell(f lathe.Fact) { h.queue.put(toolTells{f, nil}) }

// History returns the conversation as this step saw it.
func (h *host) History() []lathe.Message { return h.history }
