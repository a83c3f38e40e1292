package client

import (
	"context"
	"net/url"

	"github.com/lathe-agent/lathe"
)

// Asks returns the open requests of a directory: permissions first, then questions, each oldest first. A scope without
// a directory means that of the options.
func (c *Client) Asks(ctx context.Context, scope lathe.Scope) (all []lathe.Fact, err error) {
	var permissions []lathe.PermissionRequest
	if err := c.call(ctx, request{method: "GET", path: "/permission", directory: scope.Directory, to: &permissions}); err != nil {
		return nil, err
	}
	var questions []lathe.QuestionRequest
	if err := c.call(ctx, request{method: "GET", path: "/question", directory: scope.Directory, to: &questions}); err != nil {
		return nil, err
	}
	for _, p := range permissions {
		if scope.Session == "" || scope.Session == p.Session {
			all = append(all, &lathe.PermissionAsked{PermissionRequest: p})
		}
	}
	for _, q := range questions {
		if scope.Session == "" || scope.Session == q.Session {
			all = append(all, &lathe.QuestionAsked{QuestionRequest: q})
		}
	}
	return all, nil
}

// Reply answers a permission request. The message of a rejection goes to the model.
func (c *Client) Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error {
	body := struct {
		Reply   lathe.Reply `json:"reply"`
		Message string      `json:"message,omitempty"`
	}{reply, message}
	r := request{method: "POST", path: "/permission/" + url.PathEscape(string(id)) + "/reply"}
	if reply == lathe.Unattended {
		body.Reply, r.unattended = lathe.Reject, true
	}
	r.body = body
	return c.call(ctx, r)
}

// Answer answers questions, a list of choices or words for each.
func (c *Client) Answer(ctx context.Context, id lathe.AskID, answers [][]string) error {
	body := struct {
		Answers [][]string `json:"answers"`
	}{answers}
	return c.call(ctx, request{method: "POST", path: "/question/" + url.PathEscape(string(id)) + "/reply", body: body})
}

// Dismiss refuses to answer questions.
func (c *Client) Dismiss(ctx context.Context, id lathe.AskID) error {
	return c.call(ctx, request{method: "POST", path: "/question/" + url.PathEscape(string(id)) + "/reject"})
}
