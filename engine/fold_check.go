package engine

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
)

// noted is what checks say about a call that is about to settle. Refusals and cancels stay as
// they are.
func (f *fold) noted(c *call, settled *lathe.ToolCall) []check.Issue {
	if f.watch == nil || c.tool == nil {
		return nil
	}
	now := check.ReadAction(settled)
	if now.Stopped || history.HasMark(history.MetadataOf(settled.State), history.InterruptedMark) {
		return nil
	}
	return f.watch.Look(now, f.settled())
}

// settled are the calls of the step that have ended.
func (f *fold) settled() (step []*check.Action) {
	if f.watch == nil {
		return nil
	}
	for _, c := range f.order {
		if c.body().Settled() {
			step = append(step, check.ReadAction(c.body()))
		}
	}
	return step
}
