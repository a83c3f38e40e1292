package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// untils lets turns on a server follow each other until a command passes.
type untils struct{ client *Client }

var _ api.Untils = (*Client)(nil)

// untilRequest begins a run, or continues that of a session.
type untilRequest struct {
	Command string          `json:"command,omitempty"`
	Tries   int             `json:"tries,omitempty"`
	Parts   []lathe.Part    `json:"parts,omitempty"`
	Session lathe.SessionID `json:"sessionID,omitempty"`
}

// BeginUntil marks a prompt, and lets the server protect the files that decide the result until release is called or
// the connection is lost. The server reports later changes of them anyway.
func (u untils) BeginUntil(ctx context.Context, dir string, spec api.UntilSpec, p *lathe.Prompt) (release func(), err error) {
	parts, release, err := u.hold(ctx, dir, untilRequest{Command: spec.Command, Tries: spec.Tries, Parts: p.Parts})
	if err == nil {
		p.Parts = parts
	}
	return release, err
}

// ResumeUntil protects the files of a session's run again.
func (u untils) ResumeUntil(ctx context.Context, id lathe.SessionID) (release func(), err error) {
	_, release, err = u.hold(ctx, "", untilRequest{Session: id})
	return release, err
}

// CheckUntil runs the command of a session on the server.
func (u untils) CheckUntil(ctx context.Context, id lathe.SessionID) (out api.UntilRound, err error) {
	return out, u.client.call(ctx, request{method: "POST", path: own(id, "/until"), to: &out, endless: true})
}

// RunUntil sends a prompt and further ones until the command passes or no progress is made.
func (u untils) RunUntil(ctx context.Context, id lathe.SessionID, spec api.UntilSpec, p lathe.Prompt, report func(api.UntilRound)) (api.UntilRound, error) {
	return spec.Run(ctx, u.client, u, id, p, report)
}

// hold opens a request that stays open until release, and reads its first line.
func (u untils) hold(ctx context.Context, dir string, in untilRequest) (parts []lathe.Part, release func(), err error) {
	c := u.client
	held, done, err := c.tasks.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	held, cancel := context.WithCancelCause(held)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) }) // while we wait for the line
	late := time.AfterFunc(c.options.Timeout, func() { cancel(errSlow) })
	parts, body, err := u.open(held, request{method: "POST", path: "/lathe/until", directory: dir, body: in})
	if timely := late.Stop(); err == nil && !(timely && stop()) {
		err = errors.Join(c.unreachable(held, context.Cause(held)), body.Close())
	}
	if err != nil {
		cancel(nil)
		done()
		return nil, nil, err
	}
	go func() {
		defer done()
		_, _ = io.Copy(io.Discard, body) // until it is released or lost
		_ = body.Close()
	}()
	return parts, func() { cancel(nil) }, nil
}

// open sends the request and reads the first line of its answer.
func (u untils) open(ctx context.Context, r request) ([]lathe.Part, io.ReadCloser, error) {
	c := u.client
	req, err := c.prepare(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, nil, c.unreachable(ctx, err)
	}
	in := bufio.NewReader(io.LimitReader(res.Body, c.options.MaxBody))
	var first struct{ Parts []lathe.Part }
	var line []byte
	if res.StatusCode != http.StatusOK {
		line, _ = io.ReadAll(in) // as much as arrived
		err = c.readError(res, line)
	} else if line, err = in.ReadBytes('\n'); err != nil {
		err = c.unreachable(ctx, err)
	} else if err = json.Unmarshal(line, &first); err != nil {
		err = lathe.Errorf(lathe.Invalid, "%s %s: %s did not respond like a lathe server (%w); check the address", r.method, r.path, c.where, err)
	}
	if err != nil {
		return nil, nil, errors.Join(err, res.Body.Close())
	}
	return first.Parts, res.Body, nil
}
