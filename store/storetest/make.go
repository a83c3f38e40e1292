package storetest

import (
	"encoding/json"
	"fmt"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// This file makes minimal sessions, messages and parts for tests.

const home = "/home/u/app"

// session creates a session; change, if given, alters the record first.
func (r *env) session(change ...func(*lathe.Session)) lathe.SessionID {
	r.Helper()
	rec := r.record()
	for _, f := range change {
		f(&rec)
	}
	r.ok(r.Create(ctx(), rec))
	return rec.ID
}

// record makes a session record that is not stored yet.
func (r *env) record() lathe.Session {
	now := r.clock.tick()
	return lathe.Session{
		ID: r.ids.Session(), Slug: "calm-lathe", Project: "prj", Directory: home, Title: "A title", Version: "0.1.0",
		Created: now, Updated: now,
	}
}

// held creates a session and takes its lease.
func (r *env) held(change ...func(*lathe.Session)) store.Lease {
	r.Helper()
	return r.lease(r.session(change...))
}

func (r *env) lease(id lathe.SessionID) store.Lease {
	r.Helper()
	return must(r.Acquire(ctx(), id))(r)
}

// commit writes facts and returns the published events.
func (r *env) commit(l store.Lease, facts ...lathe.Fact) []lathe.Event {
	r.Helper()
	return must(r.Commit(ctx(), l, facts...))(r)
}

// user makes a user message without parts.
func (r *env) user(session lathe.SessionID) lathe.Message {
	return lathe.Message{
		ID: r.ids.Message(), Session: session, Created: r.clock.tick(),
		Data: &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}},
	}
}

// answer makes an answer to a message, not completed.
func (r *env) answer(to lathe.Message) lathe.Message {
	return lathe.Message{
		ID: r.ids.Message(), Session: to.Session, Created: r.clock.tick(),
		Data: &lathe.Assistant{Parent: to.ID, Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}, Agent: "build", Mode: "build"},
	}
}

// part makes a part of a message.
func (r *env) part(of lathe.Message, b lathe.Body) lathe.Part {
	return lathe.Part{ID: r.ids.Part(), Session: of.Session, Message: of.ID, Body: b}
}

// text makes a settled text part.
func (r *env) text(of lathe.Message, words string) lathe.Part {
	now := r.clock.tick()
	return r.part(of, &lathe.Text{Text: words, Time: &lathe.Span{Start: now, End: now + 1}})
}

// growing makes an open text part.
func (r *env) growing(of lathe.Message, words string) lathe.Part {
	return r.part(of, &lathe.Text{Text: words, Time: &lathe.Span{Start: r.clock.tick()}})
}

// ended is the growing part with its last text.
func ended(p lathe.Part, words string) lathe.Part {
	t := *p.Body.(*lathe.Text)
	t.Text, t.Time = words, &lathe.Span{Start: t.Time.Start, End: t.Time.Start + 10}
	p.Body = &t
	return p
}

// finish makes a step-finish part that used so many tokens of each kind.
func (r *env) finish(of lathe.Message, cost float64, n int64) lathe.Part {
	return r.part(of, &lathe.StepFinish{Reason: "stop", Cost: lathe.Dollars(cost), Tokens: used(n)})
}

func used(n int64) lathe.Tokens {
	return lathe.Tokens{Input: n, Output: 2 * n, Reasoning: 3 * n, Cache: lathe.CacheTokens{Read: 4 * n, Write: 5 * n}}
}

// said commits an exchange: a user message with a text, and a completed answer with one.
func (r *env) said(l store.Lease, words string) (user, answer lathe.Message) {
	r.Helper()
	user = r.user(l.Session)
	answer = r.answer(user)
	answer.Data.(*lathe.Assistant).Completed = answer.Created + 5
	user.Parts = []lathe.Part{r.text(user, words)}
	answer.Parts = []lathe.Part{r.text(answer, "You said: "+words)}
	r.commit(l, wrote(user)...)
	r.commit(l, wrote(answer)...)
	return user, answer
}

// wrote is a message with its parts as the facts that write it.
func wrote(m lathe.Message) []lathe.Fact {
	info := m
	info.Parts = nil
	out := []lathe.Fact{&lathe.MessageChanged{Info: info}}
	for _, p := range m.Parts {
		out = append(out, &lathe.PartChanged{Part: p})
	}
	return out
}

func changed(p lathe.Part) lathe.Fact { return &lathe.PartChanged{Part: p} }

// prompt makes a prompt with one text part.
func (r *env) prompt(session lathe.SessionID, words string) lathe.Submission {
	m := r.user(session)
	m.Parts = []lathe.Part{r.part(m, &lathe.Text{Text: words})}
	return lathe.Submission{Message: m, Digest: "digest of " + words}
}

func (r *env) admit(id lathe.SessionID, in lathe.Input) []lathe.Event {
	r.Helper()
	return must(r.Admit(ctx(), id, in))(r)
}

// ask makes a permission request of a session.
func (r *env) ask(session lathe.SessionID) *lathe.PermissionAsked {
	return &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{
		ID: lathe.AskID(r.ids.New(lathe.PrefixPermission)), Session: session, Permission: "bash",
		Patterns: []string{"make"}, Always: []string{"make *"}, Metadata: json.RawMessage(`{}`),
	}}
}

// question makes a question of a session.
func (r *env) question(session lathe.SessionID) *lathe.QuestionAsked {
	return &lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{
		ID: lathe.AskID(r.ids.New(lathe.PrefixQuestion)), Session: session,
		Questions: []lathe.Question{{Question: "Which?", Header: "Choice", Options: []lathe.Option{{Label: "One"}, {Label: "Two"}}}},
	}}
}

func status(session lathe.SessionID, kind string) *lathe.StatusChanged {
	return &lathe.StatusChanged{Session: session, Status: lathe.Status{Type: kind}}
}

// history reads all messages of a session.
func (r *env) history(id lathe.SessionID) []lathe.Message {
	r.Helper()
	return must(r.History(ctx(), id, lathe.Position{}, 0))(r).Messages
}

// counter is the last number given.
func (r *env) counter() int64 {
	r.Helper()
	return must(r.Stats(ctx()))(r).Counter
}

// since reads what changed after a number.
func (r *env) since(n int64, scope lathe.Scope) []lathe.Event {
	r.Helper()
	out, res := r.resume(lathe.Cursor{Seq: n}, scope)
	if res.Resync {
		r.Fatalf("number %d cannot be resumed from", n)
	}
	return out
}

func (r *env) resume(after lathe.Cursor, scope lathe.Scope) (out []lathe.Event, res store.ResumeResult) {
	r.Helper()
	res, err := r.Since(ctx(), after, scope, func(e lathe.Event) error {
		out = append(out, e)
		return nil
	})
	r.ok(err)
	return out, res
}

// texts writes a history as the text of each part, by message.
func texts(messages []lathe.Message) [][]string {
	out := [][]string{}
	for _, m := range messages {
		one := []string{}
		for _, p := range m.Parts {
			one = append(one, p.GrowingText())
		}
		out = append(out, one)
	}
	return out
}

func messageIDs(messages []lathe.Message) []lathe.MessageID {
	out := []lathe.MessageID{}
	for _, m := range messages {
		out = append(out, m.ID)
	}
	return out
}

func sessionIDs(sessions []lathe.Session) []lathe.SessionID {
	out := []lathe.SessionID{}
	for _, s := range sessions {
		out = append(out, s.ID)
	}
	return out
}

func numbered(prefix string, n int) string { return fmt.Sprintf("%s%04d", prefix, n) }
