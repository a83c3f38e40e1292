package record

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/directory"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/store"
)

// Requests are permissions and questions that wait for a person, and what users have approved
// for good.
type Requests struct {
	Store *store.Store
	Grants
}

// NewRequests returns the requests of a store. dirs finds the project of a directory.
func NewRequests(s *store.Store, dirs *directory.Directories) Requests {
	return Requests{s, Grants{store.Grants{Store: s}, dirs}}
}

// Asks returns the requests in scope that wait for a person, oldest first.
func (r Requests) Asks(ctx context.Context, scope lathe.Scope) ([]lathe.Fact, error) {
	return r.Store.Asks(ctx, scope)
}

// Reply answers a permission request. The message of a rejection goes to the model.
func (r Requests) Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error {
	unattended := reply == lathe.Unattended
	if unattended {
		reply = lathe.Reject
	}
	switch reply {
	case lathe.Once, lathe.Always, lathe.Reject:
	default:
		return lathe.Errorf(lathe.Invalid, "a reply is once, always or reject, not %q", reply)
	}
	return r.settle(ctx, id, lathe.PermissionAnswer{Ask: id, Reply: reply, Message: message, Unattended: unattended})
}

// Answer answers questions, a list of choices or words for each.
func (r Requests) Answer(ctx context.Context, id lathe.AskID, answers [][]string) error {
	return r.settle(ctx, id, lathe.QuestionAnswer{Ask: id, Answers: answers})
}

// Dismiss refuses to answer questions.
func (r Requests) Dismiss(ctx context.Context, id lathe.AskID) error {
	return r.settle(ctx, id, lathe.QuestionAnswer{Ask: id, Reject: true})
}

// Grant answers a permission request and saves patterns, so that lathe does not ask again: those given, or without any
// those that the request proposes. Clients see the reply once, for a session, or always.
func (r Requests) Grant(ctx context.Context, id lathe.AskID, scope grant.Scope, patterns []string) error {
	f, err := r.find(ctx, id)
	if err != nil {
		return err
	}
	asked, ok := f.(*lathe.PermissionAsked)
	if !ok {
		return notWaiting(id)
	}
	if err := grant.CheckAnswer(asked.PermissionRequest, patterns); err != nil {
		return err
	}
	if len(patterns) == 0 {
		patterns = nil
	}
	in := lathe.PermissionAnswer{Ask: id, Reply: lathe.Always, Patterns: patterns}
	switch scope {
	case grant.Session:
		in.Reply, in.ForSession = lathe.Once, true
	case grant.Project:
	default:
		return lathe.Errorf(lathe.Invalid, "the scope of a grant is session or project, not %q", scope)
	}
	_, err = r.Store.Admit(ctx, asked.Session, in)
	return err
}

// settle finds the session of a request and answers it there. A permission is not
// answered like a question, nor the other way round.
func (r Requests) settle(ctx context.Context, id lathe.AskID, in lathe.Input) error {
	f, err := r.find(ctx, id)
	if err != nil {
		return err
	}
	_, permission := in.(lathe.PermissionAnswer)
	if _, asked := f.(*lathe.PermissionAsked); asked != permission {
		return notWaiting(id)
	}
	_, err = r.Store.Admit(ctx, lathe.SessionOf(f), in) // the waiting call receives the answer
	return err
}

// find returns an open request.
func (r Requests) find(ctx context.Context, id lathe.AskID) (lathe.Fact, error) {
	asks, err := r.Store.Asks(ctx, lathe.Scope{})
	if err != nil {
		return nil, err
	}
	for _, f := range asks {
		if lathe.AskOf(f) == id {
			return f, nil
		}
	}
	return nil, notWaiting(id)
}

func notWaiting(id lathe.AskID) error {
	return lathe.Errorf(lathe.NotFound, "request %s is not waiting for an answer", id)
}
