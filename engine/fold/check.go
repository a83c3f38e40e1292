package fold

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
)

// noted is what checks say about a call that is about to settle. Refusals and cancels stay as
// they are.
func (f *Fold) noted(c *Call, settled *lathe.ToolCall) []check.Issue {
	if f.Watch == nil || c.Tool == nil {
		return nil
	}
	now := check.ReadAction(settled)
	if now.Stopped || history.HasMark(history.MetadataOf(settled.State), history.InterruptedMark) {
		return nil
	}
	return f.Watch.Look(now, f.settled())
}

// settled are the calls of the step that have ended.
func (f *Fold) settled() (step []*check.Action) {
	if f.Watch == nil {
		return nil
	}
	for _, c := range f.Order {
		if c.Body().Settled() {
			step = append(step, check.ReadAction(c.Body()))
		}
	}
	return step
}
