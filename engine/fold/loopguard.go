package fold

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

// repeatLimit identical calls in a row, the last one is asked about before it runs.
const repeatLimit = 3

// IsRepeated reports whether a call is one too many: the calls before it, back to the last
// word of the user, end in as many like it as may pass. Calls are given oldest first.
func IsRepeated(before []*lathe.ToolCall, tool string, input json.RawMessage) bool {
	passed := countSame(before, tool, input, func(meta json.RawMessage) bool { return !history.HasMark(meta, history.DoomLoop) })
	return passed+1 >= repeatLimit
}

// refusedRepeats counts the calls like this one, right before it, that were refused because they
// repeated themselves.
func refusedRepeats(before []*lathe.ToolCall, tool string, input json.RawMessage) int {
	return countSame(before, tool, input, func(meta json.RawMessage) bool { return history.HasMark(meta, history.RepeatedMark) })
}

// countSame counts the calls like this one, right before it, whose metadata count.
func countSame(before []*lathe.ToolCall, tool string, input json.RawMessage, counts func(meta json.RawMessage) bool) (n int) {
	want := history.Canonical(input)
	for _, c := range slices.Backward(before) {
		if _, pending := c.State.(*lathe.Pending); pending {
			continue // its arguments are not known yet
		}
		if c.Tool != tool || !bytes.Equal(history.Canonical(history.InputOf(c.State)), want) || !counts(history.MetadataOf(c.State)) {
			break
		}
		n++
	}
	return n
}
