package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/tool"
)

// openAsks are the requests of a step that wait for the user.
type openAsks struct {
	batch     *batch
	evaluator permission.Evaluator // with the approvals as they were last read
	approvals func(ctx context.Context, which approvalScope) (lathe.Ruleset, error)
	waiting   map[lathe.AskID]openAsk
}

// openAsk is a request; the answer goes to reply, which is buffered.
type openAsk struct {
	ask   *ask
	reply chan<- answer
}

// add writes requests down for people to see, together. What an approval has come to allow
// meanwhile needs no person.
func (o *openAsks) add(ctx context.Context, all ...openAsk) error {
	log := o.batch.log
	if err := o.readApprovals(ctx); err != nil {
		return err
	}
	for _, h := range all {
		switch a := h.ask; {
		case a.permission == nil:
			a.id = lathe.AskID(log.ids.New(lathe.PrefixQuestion))
			o.batch.add(&lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{ID: a.id, Session: log.lease.Session, Questions: a.questions, Tool: &a.by}})
		case !a.forced && o.evaluator.AllApproved(*a.permission):
			h.reply <- answer{reply: lathe.Always}
			continue
		default:
			a.id = lathe.AskID(log.ids.New(lathe.PrefixPermission))
			o.batch.add(&lathe.PermissionAsked{PermissionRequest: a.request(log.lease.Session)})
		}
		o.waiting[h.ask.id] = h
	}
	return o.batch.flush(ctx)
}

// receive looks which requests were answered, here or in another process, and lets their
// tools continue.
func (o *openAsks) receive(ctx context.Context) error {
	if len(o.waiting) == 0 {
		return nil
	}
	settled, cancel := settleContext(ctx) // a cancel must not look like a failure of the store
	defer cancel()
	got, err := o.batch.log.store.Answers(settled, slices.Collect(maps.Keys(o.waiting))...)
	if err != nil {
		return writeError{err} // of the store: no reason to ask the model again
	}
	if err := o.readApprovals(settled); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(got)) {
		if h, ok := o.waiting[id]; ok {
			delete(o.waiting, id)
			o.deliver(h, got[id])
			if err := o.batch.flush(ctx); err != nil {
				return err
			}
		}
	}
	if len(o.waiting) == 0 {
		return nil
	}
	tree := o.evaluator
	if tree.Approved, err = o.approvals(settled, treeOnly); err != nil {
		return writeError{err}
	}
	o.settleOthers(tree.AllApproved, lathe.Once) // granted to the session in the request of another agent
	return o.batch.flush(ctx)
}

// readApprovals reads the approvals again: they were given or revoked since, here or in another process.
func (o *openAsks) readApprovals(ctx context.Context) error {
	rules, err := o.approvals(ctx, allApprovals)
	if err != nil {
		return writeError{err}
	}
	o.evaluator.Approved = rules
	return nil
}

// deliver hands an answer to the tool that asked, and settles what else it decides: a
// rejection refuses all other permissions the session waits for, an "always" allows those
// that it covers.
func (o *openAsks) deliver(h openAsk, got store.Answer) {
	switch f := got.Fact.(type) {
	case *lathe.PermissionReplied:
		h.reply <- answer{reply: f.Reply, note: got.Note, unattended: got.Unattended}
		switch {
		case got.Unattended: // it says nothing about other requests
		case f.Reply == lathe.Reject:
			o.settleOthers(func(tool.Permission) bool { return true }, lathe.Reject)
		case f.Reply == lathe.Always:
			o.settleOthers(o.evaluator.AllApproved, lathe.Always)
		}
	case *lathe.QuestionReplied:
		h.reply <- answer{answers: f.Answers}
	default:
		h.reply <- answer{dismissed: true}
	}
}

// settleOthers gives other waiting permissions the same answer.
func (o *openAsks) settleOthers(matches func(tool.Permission) bool, reply lathe.Reply) {
	for _, id := range slices.Sorted(maps.Keys(o.waiting)) {
		h := o.waiting[id]
		if h.ask.permission != nil && (reply == lathe.Reject || !h.ask.forced) && matches(*h.ask.permission) {
			delete(o.waiting, id)
			o.batch.add(&lathe.PermissionReplied{Session: o.batch.log.lease.Session, Request: id, Reply: reply})
			h.reply <- answer{reply: reply}
		}
	}
}

// withdraw closes the requests that meant selects and answers them with a: their calls no longer
// wait for the user.
func (o *openAsks) withdraw(matches func(*ask) bool, a answer) {
	for _, id := range slices.Sorted(maps.Keys(o.waiting)) {
		h := o.waiting[id]
		if !matches(h.ask) {
			continue
		}
		delete(o.waiting, id)
		var f lathe.Fact = &lathe.QuestionRejected{Session: o.batch.log.lease.Session, Request: id}
		if h.ask.permission != nil {
			f = &lathe.PermissionReplied{Session: o.batch.log.lease.Session, Request: id, Reply: lathe.Reject}
		}
		o.batch.add(f)
		h.reply <- a
	}
}

// withdrawAll withdraws every request, at the end of a step.
func (o *openAsks) withdrawAll() {
	o.withdraw(func(*ask) bool { return true }, answer{reply: lathe.Reject, dismissed: true})
}

// withdrawOf withdraws the requests of a call that has ended without waiting for the answer.
func (o *openAsks) withdrawOf(call string) {
	o.withdraw(func(a *ask) bool { return a.by.Call == call }, answer{reply: lathe.Reject, dismissed: true})
}

// expire withdraws a request without an answer in time.
func (o *openAsks) expire(late *ask) {
	o.withdraw(func(a *ask) bool { return a == late }, answer{reply: lathe.Reject, dismissed: true, expired: true})
}
