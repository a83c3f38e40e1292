package record

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace"
)

// Requests are permissions and questions that wait for a person, and what people have approved for good.
type Requests struct{ Store *store.Store }

// Asks returns the requests in scope that wait for a person, oldest first.
func (r Requests) Asks(ctx context.Context, scope lathe.Scope) ([]lathe.Fact, error) {
	return r.Store.Asks(ctx, scope)
}

// Reply answers a permission request. What is said with a rejection goes to the model.
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

// settle finds the session of a request and answers it there. A permission is not
// answered like a question, nor the other way round.
func (r Requests) settle(ctx context.Context, id lathe.AskID, in lathe.Input) error {
	asks, err := r.Store.Asks(ctx, lathe.Scope{})
	if err != nil {
		return err
	}
	_, permission := in.(lathe.PermissionAnswer)
	session := lathe.SessionID("")
	for _, f := range asks {
		switch f := f.(type) {
		case *lathe.PermissionAsked:
			if f.ID == id && permission {
				session = f.Session
			}
		case *lathe.QuestionAsked:
			if f.ID == id && !permission {
				session = f.Session
			}
		default:
		}
	}
	if session == "" {
		return lathe.Errorf(lathe.NotFound, "request %s is not waiting for an answer", id)
	}
	_, err = r.Store.Admit(ctx, session, in) // the waiting call receives the answer
	return err
}

// Approvals returns what was answered "always" in a project, or in a directory without one.
func (r Requests) Approvals(ctx context.Context, at workspace.Place) (lathe.Ruleset, error) {
	return r.Store.Approvals(ctx, at.ProjectID, at.Directory)
}

// Revoke takes an approval back.
func (r Requests) Revoke(ctx context.Context, at workspace.Place, permission, pattern string) error {
	return r.Store.Revoke(ctx, at.ProjectID, at.Directory, permission, pattern)
}
