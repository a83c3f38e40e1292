package fold

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

// doomAfter identical calls in a row, the last one is asked about before it runs.
const doomAfter = 3

// IsRepeated reports whether a call is one too many: the calls before it, back to the last
// word of the user, end in as many like it as may pass. Calls are given oldest first.
func IsRepeated(before []*lathe.ToolCall, tool string, input json.RawMessage) bool {
	want := history.Canonical(input)
	same := 1
	for i := len(before) - 1; i >= 0; i-- {
		c := before[i]
		if _, pending := c.State.(*lathe.Pending); pending {
			continue // its arguments are not known yet
		}
		if c.Tool != tool || !bytes.Equal(history.Canonical(history.InputOf(c.State)), want) {
			break
		}
		if history.HasMark(history.MetadataOf(c.State), history.DoomLoop) {
			break
		}
		same++
	}
	return same >= doomAfter
}

// refusedRepeats counts the calls like this one, right before it, that were refused because they
// repeated themselves.
func refusedRepeats(before []*lathe.ToolCall, tool string, input json.RawMessage) (n int) {
	want := history.Canonical(input)
	for _, c := range slices.Backward(before) {
		if _, pending := c.State.(*lathe.Pending); pending {
			continue // its arguments are not known yet
		}
		if c.Tool != tool || !bytes.Equal(history.Canonical(history.InputOf(c.State)), want) || !history.HasMark(history.MetadataOf(c.State), history.RepeatedMark) {
			break
		}
		n++
	}
	return n
}
