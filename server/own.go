package server

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// ownAPI answers for the routes under /lathe.
type ownAPI struct {
	engine Engine
}

func (a ownAPI) routes() []row {
	missing, busy := []failure{failsBad, failsMissing}, []failure{failsBad, failsMissing, failsBusy}
	return []row{
		answer(row{
			method: "POST", path: "/lathe/session/{sessionID}/undo", name: "lathe.session.undo", tag: "lathe", fails: busy,
			summary: "Take back the last exchange, or all from a message on, and tell what became of each file",
		}, a.undo),
		answer(row{
			method: "POST", path: "/lathe/session/{sessionID}/redo", name: "lathe.session.redo", tag: "lathe", fails: busy,
			summary: "Bring back what was undone, an exchange or up to a message or all of it",
		}, a.redo),
		answer(row{
			method: "POST", path: "/lathe/session/{sessionID}/prompt", name: "lathe.session.prompt", tag: "lathe", fails: busy, plain: true,
			summary: "Send a prompt; answered with the prompt when it is safe, or with why it was refused",
		}, a.submit),
		answer(row{
			method: "POST", path: "/lathe/session/{sessionID}/wait", name: "lathe.session.wait", tag: "lathe", fails: missing, plain: true,
			summary: "Wait until the session rests, and get its newest answer",
		}, ofSession(a.wait)),
		answer(row{
			method: "POST", path: "/lathe/session/{sessionID}/resume", name: "lathe.session.resume", tag: "lathe", fails: busy,
			summary: "Go on with a turn that was cut off",
		}, ofSession(a.resume)),
		answer(row{
			method: "POST", path: "/lathe/session/{sessionID}/unarchive", name: "lathe.session.unarchive", tag: "lathe", fails: missing,
			summary: "Bring a session back to the list",
		}, ofSession(a.unarchive)),
		answer(row{
			method: "GET", path: "/lathe/interrupted", name: "lathe.interrupted", tag: "lathe", global: true,
			summary: "List the sessions whose turn was cut off",
		}, func(c *call, _, _ none) ([]lathe.SessionID, error) { return a.engine.Interrupted(c.Context()) }),
	}
}

func (a ownAPI) undo(c *call, _ none, in lathe.Undo) (lathe.Undone, error) {
	return c.undoing(in, a.engine.Undo)
}

func (a ownAPI) redo(c *call, _ none, in lathe.Undo) (lathe.Undone, error) {
	return c.undoing(in, a.engine.Redo)
}

func (c *call) undoing(in lathe.Undo, do func(context.Context, lathe.SessionID, lathe.Undo) (lathe.Undone, error)) (lathe.Undone, error) {
	rec, err := c.session()
	if err != nil {
		return lathe.Undone{}, err
	}
	if in.Message != "" {
		if err := lathe.CheckID(lathe.PrefixMessage, string(in.Message)); err != nil {
			return lathe.Undone{}, badRequest("Body", "messageID: %v", err)
		}
	}
	if in.Part != "" {
		if err := lathe.CheckID(lathe.PrefixPart, string(in.Part)); err != nil {
			return lathe.Undone{}, badRequest("Body", "partID: %v", err)
		}
	}
	out, err := do(context.WithoutCancel(c.Context()), rec.ID, in)
	if out.Files == nil {
		out.Files = []lathe.UndoneFile{}
	}
	return out, err
}

// submit answers when the prompt is safe, unlike prompt_async with why it is not.
func (a ownAPI) submit(c *call, _ none, in promptBody) (lathe.Message, error) {
	id, p, err := c.prompted(in)
	if err != nil {
		return lathe.Message{}, err
	}
	return a.engine.Submit(context.WithoutCancel(c.Context()), id, p)
}

func (a ownAPI) wait(c *call, rec lathe.Session, _, _ none) (lathe.Message, error) {
	return c.waitIdle(a.engine, rec.ID)
}

func (a ownAPI) resume(c *call, rec lathe.Session, _, _ none) (none, error) {
	return none{}, a.engine.Resume(context.WithoutCancel(c.Context()), rec.ID)
}

func (a ownAPI) unarchive(c *call, rec lathe.Session, _, _ none) (lathe.Session, error) {
	return a.engine.Update(c.Context(), rec.ID, lathe.Edit{Archived: lathe.Some[*lathe.Time](nil)})
}
