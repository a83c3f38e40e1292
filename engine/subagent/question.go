package subagent

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
)

// WordsHead begins a message of a parent to a child at work, so that the child's model knows the sender, and its report
// covers the whole task.
const WordsHead = "The agent that gave you this task says:\n\n"

// Words is a message of a parent to a child at work.
func Words(text string) *lathe.Text { return &lathe.Text{Text: WordsHead + text} }

// isWords reports whether a message is from the parent of a child that was at work.
func isWords(parts []lathe.Part) bool {
	if len(parts) == 0 {
		return false
	}
	t, ok := parts[0].Body.(*lathe.Text)
	return ok && strings.HasPrefix(t.Text, WordsHead)
}

// Question is an open question of a child to its parent.
type Question struct {
	Parent, Child lathe.SessionID
	Changed       chan struct{} // holds one when a message for the child came, or the parent became idle
	delivered     bool          // the parent knows it
	unanswered    bool          // the parent became idle since
}

// OpenQuestion makes a question of a child known until close. A child has one at a time: ok is false while it has another.
func (c *Registry) OpenQuestion(parent, child lathe.SessionID) (q *Question, closeIt func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.questions[child] != nil {
		return nil, nil, false
	}
	if c.questions == nil {
		c.questions = map[lathe.SessionID]*Question{}
	}
	q = &Question{Parent: parent, Child: child, Changed: make(chan struct{}, 1)}
	c.questions[child] = q
	return q, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.questions, child)
	}, true
}

// HandOver gives a question to the call that waits for the child, and reports whether there was one that took it.
func (c *Registry) HandOver(ctx context.Context, child lathe.SessionID, question string) bool {
	c.mu.Lock()
	var to *Delegation
	if calls := c.calls[child]; len(calls) > 0 {
		to = calls[0]
	}
	c.mu.Unlock()
	if to == nil {
		return false
	}
	select {
	case to.Asked <- question:
		return true
	case <-to.left:
	case <-ctx.Done():
	}
	return false
}

// MarkDelivered notes that the parent knows a question: its turn may answer it from now on.
func (c *Registry) MarkDelivered(q *Question) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q.delivered = true
}

// IsUnanswered reports whether the turn of the parent ended without an answer.
func (c *Registry) IsUnanswered(q *Question) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return q.unanswered
}

// BecomeIdle tells the children of a session that its turn has ended: none of them gets an answer any more.
func (c *Registry) BecomeIdle(parent lathe.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.questions {
		if q.Parent == parent && q.delivered {
			q.unanswered = true
			q.signal()
		}
	}
}

// signal lets the child look. The mutex is held.
func (q *Question) signal() {
	select {
	case q.Changed <- struct{}{}:
	default:
	}
}

// Yield gives the place of a child back while it waits for its parent, who may want to start another task first. The
// child has its place again after back, whether there is one or not.
func (c *Registry) Yield(parent lathe.SessionID, writes bool) (back func()) {
	p := &slot{writes: writes}
	c.release(parent, p)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.siblingsOf(parent).add(p, 1)
		c.drop(parent)
	}
}
