package server

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// latheAPI answers for the routes under /lathe.
type latheAPI struct {
	engine Engine
}

func (a latheAPI) routes() []row {
	missing, busy := []failure{failsBad, failsMissing}, []failure{failsBad, failsMissing, failsBusy}
	return []row{
		answer(route("POST /lathe/session/{sessionID}/undo", "lathe.session.undo", "lathe", mayAll,
			"Undo the last exchange, or everything from a message on, and report the result for each file", busy), a.undo),
		answer(route("POST /lathe/session/{sessionID}/redo", "lathe.session.redo", "lathe", mayAll,
			"Redo one undone exchange, up to a message, or everything", busy), a.redo),
		answer(route("GET /lathe/session/{sessionID}/steps", "lathe.session.steps", "lathe", mayRead,
			"List the steps of a session with their files, commands, tests and cost", missing, in(anywhere)), a.steps),
		answer(route("POST /lathe/session/{sessionID}/rewind", "lathe.session.rewind", "lathe", mayAll,
			"Rewind files, conversation or both to the end of a step, and report the result for each file", busy), a.rewind),
		answer(route("POST /lathe/session/{sessionID}/fork", "lathe.session.fork", "lathe", mayAll,
			"Copy the messages up to the end of a step to a new session", missing), a.fork),
		answer(route("POST /lathe/session/{sessionID}/prompt", "lathe.session.prompt", "lathe", mayAll,
			"Send a prompt; responds once the prompt is stored, or with the reason for a refusal", busy, withoutCompression, in(atPlaceOr)), a.submit),
		answer(route("POST /lathe/session/{sessionID}/wait", "lathe.session.wait", "lathe", mayRead,
			"Wait until the session is idle and get its latest answer", missing, withoutCompression, in(anywhere)), ofSession(a.wait)),
		answer(route("POST /lathe/session/{sessionID}/resume", "lathe.session.resume", "lathe", mayAll,
			"Resume an interrupted turn", busy, in(atPlaceOr)), ofSession(a.resume)),
		answer(route("POST /lathe/session/{sessionID}/unarchive", "lathe.session.unarchive", "lathe", mayAll,
			"Unarchive a session", missing, in(anywhere)), ofSession(a.unarchive)),
		answer(route("GET /lathe/search", "lathe.search", "lathe", mayRead,
			"Search the text of all sessions: prompts, answers, tool inputs and outputs, file names", []failure{failsBad}, withoutDirectory), a.search),
		answer(route("GET /lathe/interrupted", "lathe.interrupted", "lathe", mayRead,
			"List the sessions with an interrupted turn", nil, withoutDirectory), func(c *call, _, _ none) ([]lathe.SessionID, error) { return a.engine.Interrupted(c.Context()) }),
	}
}

// searchQuery is a [lathe.SearchQuery].
type searchQuery struct {
	Text    string `query:"q"`
	Typing  bool   `query:"typing"`
	Session string `query:"session"`
	Project string `query:"project"`
	Path    string `query:"path"`
	Model   string `query:"model"`
	Tool    string `query:"tool"`
	Since   int    `query:"since"` // milliseconds
	Limit   int    `query:"limit"`
	Cursor  string `query:"cursor"`
}

func (a latheAPI) search(c *call, q searchQuery, _ none) (lathe.SearchResult, error) {
	return a.engine.Search(c.Context(), lathe.SearchQuery{
		Text: q.Text, Typing: q.Typing, Session: lathe.SessionID(q.Session), Project: q.Project, Path: q.Path, Model: q.Model, Tool: q.Tool,
		Since: lathe.Time(q.Since), Limit: q.Limit, Cursor: q.Cursor,
	})
}

func (a latheAPI) undo(c *call, _ none, in lathe.Undo) (lathe.Undone, error) {
	return c.undoing(in, a.engine.Undo)
}

func (a latheAPI) redo(c *call, _ none, in lathe.Undo) (lathe.Undone, error) {
	return c.undoing(in, a.engine.Redo)
}

func (c *call) undoing(in lathe.Undo, do func(context.Context, lathe.SessionID, lathe.Undo) (lathe.Undone, error)) (lathe.Undone, error) {
	rec, err := c.session()
	if err != nil {
		return lathe.Undone{}, err
	}
	if err := checkMessage(in.Message); err != nil {
		return lathe.Undone{}, err
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

// stepQuery is a [lathe.StepQuery].
type stepQuery struct {
	Before int `query:"before"`
	Limit  int `query:"limit"`
}

// steps reads a page, because a long session has many thousands of them.
func (a latheAPI) steps(c *call, q stepQuery, _ none) (lathe.StepList, error) {
	rec, err := c.session()
	if err != nil {
		return lathe.StepList{}, err
	}
	return a.engine.Steps(c.Context(), rec.ID, lathe.StepQuery{Before: q.Before, Limit: q.Limit})
}

// rewindBody is a [lathe.Rewind] that must name its step: one that is left out is not the beginning.
type rewindBody struct {
	Step   *int              `json:"step,omitempty" doc:"everything after this step is undone; 0 undoes all"`
	Scope  lathe.RewindScope `json:"scope,omitempty" enum:"both,code,conversation" doc:"both without it"`
	Redo   bool              `json:"redo,omitempty" doc:"bring back everything that was undone; needs no step"`
	DryRun bool              `json:"dryRun,omitempty" doc:"say what would be done, and do nothing"`
}

func (a latheAPI) rewind(c *call, _ none, in rewindBody) (lathe.Rewound, error) {
	rec, err := c.session()
	if err != nil {
		return lathe.Rewound{}, err
	}
	if in.Step == nil && !in.Redo {
		return lathe.Rewound{}, badRequest("Body", "step is missing; GET /lathe/session/{sessionID}/steps lists them")
	}
	to := lathe.Rewind{Scope: in.Scope, Redo: in.Redo, DryRun: in.DryRun}
	if in.Step != nil {
		to.Step = *in.Step
	}
	out, err := a.engine.Rewind(context.WithoutCancel(c.Context()), rec.ID, to)
	if out.Files == nil {
		out.Files = []lathe.UndoneFile{}
	}
	return out, err
}

// forkStepBody names the last step of a copy.
type forkStepBody struct {
	Step *int `json:"step,omitempty" doc:"last step of the copy; 0 copies nothing"`
}

func (a latheAPI) fork(c *call, _ none, in forkStepBody) (lathe.Session, error) {
	rec, err := c.session()
	if err != nil {
		return lathe.Session{}, err
	}
	if in.Step == nil {
		return lathe.Session{}, badRequest("Body", "step is missing")
	}
	return a.engine.ForkStep(c.Context(), rec.Directory, rec.ID, *in.Step)
}

// submit responds when the prompt is stored. Unlike prompt_async it returns the reason of a failure.
func (a latheAPI) submit(c *call, _ none, in promptBody) (lathe.Message, error) {
	id, p, err := c.readPrompt(in)
	if err != nil {
		return lathe.Message{}, err
	}
	return a.engine.Submit(context.WithoutCancel(c.Context()), id, p)
}

func (a latheAPI) wait(c *call, rec lathe.Session, _, _ none) (lathe.Message, error) {
	return c.waitIdle(a.engine, rec.ID)
}

func (a latheAPI) resume(c *call, rec lathe.Session, _, _ none) (none, error) {
	return none{}, a.engine.Resume(context.WithoutCancel(c.Context()), rec.ID)
}

func (a latheAPI) unarchive(c *call, rec lathe.Session, _, _ none) (lathe.Session, error) {
	return a.engine.Update(c.Context(), rec.ID, lathe.Edit{Archived: lathe.Some[*lathe.Time](nil)})
}
