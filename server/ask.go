package server

import (
	"context"
	"net/http"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server/device"
)

// askAPI answers for permissions and questions.
type askAPI struct{ engine Engine }

func (a askAPI) routes() []row {
	bad, fails := []failure{failsBad}, []failure{failsBad, failsAsk}
	return []row{
		answer(route("GET /permission", "permission.list", "permission", mayRead,
			"List the pending permission requests of the directory", bad), a.listPermissions),
		answer(route("POST /permission/{requestID}/reply", "permission.reply", "permission", mayAnswer,
			"Answer a permission request", fails), a.replyPermission),
		answer(route("POST /session/{sessionID}/permissions/{permissionID}", "permission.respond", "session", mayAnswer,
			"Answer a permission request; same as /permission/{requestID}/reply", fails), a.respondPermission),
		answer(route("GET /question", "question.list", "question", mayRead,
			"List the pending questions of the directory", bad), a.listQuestions),
		answer(route("POST /question/{requestID}/reply", "question.reply", "question", mayAnswer,
			"Answer questions, with a list of choices or texts for each", fails), a.replyQuestion),
		answer(route("POST /question/{requestID}/reject", "question.reject", "question", mayAnswer,
			"Decline to answer questions", fails), a.rejectQuestion),
	}
}

// list returns the pending requests of the directory.
func (a askAPI) list(c *call) ([]lathe.Fact, error) {
	at, _, err := c.place()
	if err != nil {
		return nil, err
	}
	return a.engine.Asks(c.Context(), lathe.Scope{Directory: at.Directory})
}

func (a askAPI) listPermissions(c *call, _, _ none) (out []lathe.PermissionRequest, err error) {
	all, err := a.list(c)
	for _, f := range all {
		if p, ok := f.(*lathe.PermissionAsked); ok {
			out = append(out, p.PermissionRequest)
		}
	}
	return out, err
}

func (a askAPI) listQuestions(c *call, _, _ none) (out []lathe.QuestionRequest, err error) {
	all, err := a.list(c)
	for _, f := range all {
		if q, ok := f.(*lathe.QuestionAsked); ok {
			out = append(out, q.QuestionRequest)
		}
	}
	return out, err
}

type replyBody struct {
	Reply   lathe.Reply `json:"reply" enum:"once,always,reject"`
	Message string      `json:"message,omitempty" doc:"what to tell the model with a rejection"`
}

func (a askAPI) replyPermission(c *call, _ none, in replyBody) (bool, error) {
	return a.permit(c, "requestID", in.Reply, in.Message)
}

type respondBody struct {
	Response lathe.Reply `json:"response" enum:"once,always,reject"`
}

func (a askAPI) respondPermission(c *call, _ none, in respondBody) (bool, error) {
	if _, err := c.sessionID(); err != nil {
		return false, err
	}
	return a.permit(c, "permissionID", in.Response, "")
}

func (a askAPI) permit(c *call, where string, reply lathe.Reply, message string) (bool, error) {
	id, err := c.pathID(where, lathe.PrefixPermission)
	if err != nil {
		return false, err
	}
	if c.right < device.Full && reply != lathe.Once && reply != lathe.Reject {
		return false, forbidden("This device has the right %q; it can allow a request once or reject it", c.right)
	}
	if reply == lathe.Reject && c.Header.Get(lathe.UnattendedHeader) != "" {
		reply = lathe.Unattended
	}
	err = a.engine.Reply(context.WithoutCancel(c.Context()), lathe.AskID(id), reply, message)
	return settled(err, "PermissionNotFoundError", "Permission request not found: ", id)
}

type answersBody struct {
	Answers [][]string `json:"answers"`
}

func (a askAPI) replyQuestion(c *call, _ none, in answersBody) (bool, error) {
	id, err := c.pathID("requestID", lathe.PrefixQuestion)
	if err != nil {
		return false, err
	}
	err = a.engine.Answer(context.WithoutCancel(c.Context()), lathe.AskID(id), in.Answers)
	return settled(err, "QuestionNotFoundError", "Question request not found: ", id)
}

func (a askAPI) rejectQuestion(c *call, _, _ none) (bool, error) {
	id, err := c.pathID("requestID", lathe.PrefixQuestion)
	if err != nil {
		return false, err
	}
	err = a.engine.Dismiss(context.WithoutCancel(c.Context()), lathe.AskID(id))
	return settled(err, "QuestionNotFoundError", "Question request not found: ", id)
}

// settled returns true, or an error if no request waits for the answer.
func settled(err error, tag, words, id string) (bool, error) {
	if lathe.CodeOf(err) == lathe.NotFound {
		return false, &problem{status: http.StatusNotFound, body: taggedBody{Tag: tag, Request: id, Message: words + id}, cause: err}
	}
	return err == nil, err
}
