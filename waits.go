package lathe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Wait is a time at which a call stood still because a person was asked. The metadata of the call hold its
// waits as [from, to].
type Wait [2]Time

// Waits are those of a call, and of what worked for it.
func (t *ToolCall) Waits() []Wait {
	var raw json.RawMessage
	switch s := t.State.(type) {
	case *Completed:
		raw = s.Metadata
	case *Failed:
		raw = s.Metadata
	default: // an unfinished one has reported none
	}
	var meta struct{ Waits []Wait }
	if !bytes.Contains(raw, []byte(`"waits"`)) || json.Unmarshal(raw, &meta) != nil {
		return nil
	}
	return meta.Waits
}

// ActiveTime is the time from one moment to another without waits, which may overlap.
func ActiveTime(from, to Time, waits []Wait) time.Duration {
	waits = slices.SortedFunc(slices.Values(waits), func(a, b Wait) int { return cmp.Compare(a[0], b[0]) })
	left, seen := to-from, from
	for _, w := range waits {
		begin, end := max(w[0], seen), min(w[1], to)
		if end > begin {
			left -= end - begin
			seen = end
		}
	}
	return time.Duration(max(left, 0)) * time.Millisecond
}
