package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
)

// calledTool reports whether an answer called a tool instead of writing a summary.
func calledTool(err error) bool { return errors.Is(err, fold.ErrUnexpectedCall) }

// continueFacts let the turn continue after an automatic compaction: they repeat the refused
// prompt, or add a prompt that says to continue. With an unanswered prompt in the history, nothing
// is needed.
func (c *compactRun) continueFacts(ctx context.Context, at lathe.Time) ([]lathe.Fact, error) {
	place := slices.Index(c.state.messages, c.request)
	switch {
	case !c.compaction.Auto:
		return nil, nil
	case c.replay != nil:
		return c.repeatPrompt(at), nil
	case history.UnansweredPrompt(c.tail) >= 0, slices.ContainsFunc(c.state.messages[place+1:], history.IsUserPrompt):
		return nil, nil
	}
	if hook := c.settings.Hooks.Continue; hook != nil {
		on, err := hook(ctx, c.requestInfo(), c.compaction.Overflow.On())
		if err != nil || !on {
			return nil, err
		}
	}
	text := strings.TrimSpace(compact.ContinuePrompt) + " If you are not sure what to do next, stop and ask."
	if c.settings.Headless || c.state.session.Parent != "" { // no user would answer
		text = strings.TrimSpace(compact.ContinuePrompt) + " If nothing is left to do, give your final answer."
	}
	if c.compaction.Overflow.On() && slices.ContainsFunc(c.head, compact.HasMedia) {
		text = "The attachments were too large for the model and were left out; if you need them, say so. " + text
	}
	user := history.LastUser(c.state.messages).Data.(*lathe.User)
	return c.log.message(at, samePrompt(user), &lathe.Text{
		Text: text, Synthetic: lathe.Yes, Time: &lathe.Span{Start: at, End: at}, Metadata: history.WithMark(nil, history.ContinueMark),
	}), nil
}

// repeatPrompt repeats the prompt that was refused, with its media named instead of attached.
func (c *compactRun) repeatPrompt(at lathe.Time) []lathe.Fact {
	var bodies []lathe.Body
	for _, p := range c.replay.Parts {
		switch b := p.Body.(type) {
		case *lathe.Compaction:
		case *lathe.File:
			if compact.IsMedia(b) {
				bodies = append(bodies, &lathe.Text{Text: compact.FileLabel(b)})
				continue
			}
			bodies = append(bodies, b)
		default:
			bodies = append(bodies, b)
		}
	}
	return c.log.message(at, samePrompt(c.replay.Data.(*lathe.User)), bodies...)
}

// compactAgain is the request to repeat when a process ended before the summary was complete;
// nil when that is not how the history ends.
func compactAgain(messages []lathe.Message) *lathe.Message {
	if len(messages) == 0 {
		return nil
	}
	last := messages[len(messages)-1]
	if a, ok := last.Data.(*lathe.Assistant); !ok || !a.Summary.On() {
		return nil
	}
	i := slices.IndexFunc(messages, func(m lathe.Message) bool { return m.ID == last.Parent() })
	if i < 0 {
		return nil
	}
	m := messages[i]
	for _, p := range m.Parts {
		if c, ok := p.Body.(*lathe.Compaction); ok {
			m.Parts = []lathe.Part{{Body: &lathe.Compaction{Auto: c.Auto, Overflow: c.Overflow}}}
			return &m
		}
	}
	return nil
}
