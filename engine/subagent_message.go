package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/background"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/tool"
)

// The limits of messages between a session and its children. Each of them also costs a step of its sender, under the
// budget of both.
const (
	questionBytes = 4 << 10
	wordsBytes    = 32 << 10
	maxQuestions  = 16 // of one child
	maxUnread     = 8  // messages that wait for one child
	// answerTime is how long a child waits for its parent, who may have to ask the user.
	answerTime = 30 * time.Minute
	// parentEvery is how often a child looks whether its parent is still at work, maybe in another process.
	parentEvery = 2 * time.Second
)

// askParentTool is the tool whose calls are counted.
const askParentTool = "ask_parent"

const (
	answeredText   = "Your parent answered. Its message follows."
	unansweredText = "Your parent ended its turn without an answer. Continue with your best judgment, and say in the report what you assumed."
	lateText       = "Your parent has not answered within 30 minutes. Continue with your best judgment, and say in the report what you assumed."
	questionHead   = "A task that runs in the background has a question."
)

// errAsked says that the child of a waiting call has a question for it.
var errAsked = errors.New("the subagent has a question")

// questionReport is a question as the parent's model reads it.
func questionReport(child lathe.SessionID, question string, meta json.RawMessage) tool.Report {
	return tool.Report{
		Session: child, State: tool.TaskAsks, Metadata: meta,
		Text: question + "\n\n(It waits. Answer by task with this task_id, in this turn; ask the user first if you must. Without an answer it decides itself.)",
	}
}

// messages are those of a call to the parent or the children of its session.
type messages struct{ *host }

// AskParent asks the session that delegated the work, and waits for its answer, which comes as a message. The parent
// reads the question as the result of its waiting call, or as a message if none waits.
func (h *host) AskParent(ctx context.Context, question string) (string, error) {
	s, e := h.step, h.step.engine
	if err := (messages{h}).check(ctx, question); err != nil {
		return "", err
	}
	q, closeIt, ok := e.subagents.OpenQuestion(s.session.Parent, s.session.ID)
	if !ok {
		return "", tool.Failf("You already wait for an answer of your parent. Ask everything in one question.")
	}
	defer closeIt()
	defer e.subagents.Yield(q.Parent, s.writes(s.agent))()
	if !e.subagents.HandOver(ctx, q.Child, question) {
		if err := (messages{h}).post(ctx, question); err != nil {
			return "", refusal(err)
		}
	}
	e.subagents.MarkDelivered(q)
	return e.awaitAnswer(ctx, q)
}

// check refuses a question that cannot be asked.
func (h messages) check(ctx context.Context, question string) error {
	s, e := h.step, h.step.engine
	task, err := e.store.Task(ctx, s.session.ID)
	if err != nil {
		return err
	}
	page, err := e.store.History(ctx, s.session.ID, lathe.Position{}, 0)
	if err != nil {
		return err
	}
	switch asked := questionsIn(page.Messages); {
	case s.session.Parent == "" || task == lathe.NoTask:
		return tool.Failf("No agent waits for your report. Put the question into your answer.")
	case len(question) > questionBytes:
		return tool.Failf("The question has %d bytes, and %d are the most. Shorten it, or write the details to a file and name that.", len(question), questionBytes)
	case asked >= maxQuestions:
		return tool.Failf("You have asked your parent %d times, the most there may be. Continue with your best judgment, and say in the report what you assumed.", asked)
	}
	return nil
}

// questionsIn counts the questions of a child to its parent.
func questionsIn(messages []lathe.Message) (n int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if c, ok := p.Body.(*lathe.ToolCall); ok && c.Tool == askParentTool {
				if _, ok := c.State.(*lathe.Completed); ok {
					n++
				}
			}
		}
	}
	return n
}

// post sends a question to a parent that does not wait for the child. A parent that is idle answers at once.
func (h messages) post(ctx context.Context, question string) error {
	s, e := h.step, h.step.engine
	parent, err := e.store.Session(ctx, s.session.Parent)
	if err != nil {
		return err
	}
	p := background.PromptFor(parent)
	sum := sha256.Sum256([]byte(string(s.session.ID) + " " + string(h.by.Message) + " " + h.by.Call))
	p.ID = lathe.MessageID("msg_" + hex.EncodeToString(sum[:])[:26])
	p.Parts = []lathe.Part{{Body: history.Synthetic(questionHead + "\n" + questionReport(s.session.ID, question, nil).Envelope())}}
	in, err := e.compose(ctx, parent.ID, p)
	if err != nil {
		return err
	}
	return e.Send(ctx, parent.ID, in)
}

// awaitAnswer waits until a message for the child came, or its parent is idle.
func (e *Engine) awaitAnswer(ctx context.Context, q *subagent.Question) (string, error) {
	tick, limit := time.NewTicker(parentEvery), time.NewTimer(answerTime)
	defer tick.Stop()
	defer limit.Stop()
	for idle := 0; ; {
		answered, err := e.hasMessage(ctx, q.Child)
		switch {
		case err != nil:
			return "", err
		case answered:
			return answeredText, nil
		case e.subagents.IsUnanswered(q) || idle > 1: // twice: a prompt may be on its way between two processes
			return unansweredText, nil
		}
		select {
		case <-q.Changed:
		case <-tick.C:
			busy, err := e.isBusy(ctx, q.Parent)
			if err != nil {
				return "", err
			}
			if idle++; busy {
				idle = 0
			}
		case <-limit.C:
			return lateText, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// hasMessage reports whether a message of a person or another session waits for a session. What lathe itself notes, such
// as the end of a command, does not count.
func (e *Engine) hasMessage(ctx context.Context, id lathe.SessionID) (bool, error) {
	queued, _, err := e.store.Inbox(ctx, id)
	for _, w := range queued {
		if w.Queue || w.Paused {
			continue
		}
		m, err := e.store.Message(ctx, id, w.Message)
		if err != nil || !history.IsSynthetic(m.Parts) {
			return err == nil, err
		}
	}
	return false, err
}

// isBusy reports whether a session is at work, in any process, or about to be.
func (e *Engine) isBusy(ctx context.Context, id lathe.SessionID) (bool, error) {
	if e.actors.find(id) != nil {
		return true, nil
	}
	busy, err := e.store.Statuses(ctx, lathe.Scope{Session: id})
	return len(busy) > 0, err
}

// isForRunning reports whether an assignment is a message for a child at work in this process, which keeps its agent.
func (h messages) isForRunning(ctx context.Context, a *tool.Assignment) (bool, error) {
	e := h.step.engine
	if a.Resume == "" || e.actors.find(a.Resume) == nil {
		return false, nil
	}
	child, err := h.taskOf(ctx, a.Resume)
	if err != nil {
		return false, err
	}
	if len(a.Prompt) > wordsBytes {
		return false, tool.Failf("The message has %d bytes, and %d are the most for a running task. Write the details to a file and name that.", len(a.Prompt), wordsBytes)
	}
	unread, _, err := e.store.Inbox(ctx, child.ID)
	if len(unread) >= maxUnread {
		return false, tool.Failf("The task has not read your last %d messages yet. Do something else, or wait for its report.", len(unread))
	}
	a.Agent = child.Agent
	return true, err
}

// send gives a child at work more words: instructions, or the answer to its question. The child has its place
// already. Unless it works in the background, the call waits for its report.
func (h messages) send(ctx context.Context, a tool.Assignment, agent *Agent) (tool.Report, error) {
	t, err := h.newTask(ctx, a, agent)
	if err != nil {
		return tool.Report{}, err
	}
	t.prompt.Parts = []lathe.Part{{Body: subagent.Words(a.Prompt)}}
	if !a.Background {
		return t.await(ctx)
	}
	if _, err := h.step.engine.submit(ctx, t.child.ID, t.prompt, lathe.Background); err != nil {
		return tool.Report{}, refusal(err)
	}
	return t.runningReport("The message was delivered."), nil
}
