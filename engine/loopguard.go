package engine

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
)

// doomAfter identical calls in a row, the last one is asked about before it runs.
const doomAfter = 3

// doomLoop is the permission for a repeated call, and the mark of one that was allowed
// once: counting begins anew behind it.
const doomLoop = "doom_loop"

// isRepeated reports whether a call is one too many: the calls before it, back to the last
// word of the user, end in as many like it as may pass. Calls are given oldest first.
func isRepeated(before []*lathe.ToolCall, tool string, input json.RawMessage) bool {
	want := canonical(input)
	same := 1
	for i := len(before) - 1; i >= 0; i-- {
		c := before[i]
		if _, pending := c.State.(*lathe.Pending); pending {
			continue // its arguments are not known yet
		}
		if c.Tool != tool || !bytes.Equal(canonical(inputOf(c.State)), want) {
			break
		}
		if hasMark(metadataOf(c.State), doomLoop) {
			break
		}
		same++
	}
	return same >= doomAfter
}

// refusedRepeats counts the calls like this one, right before it, that were refused because they
// repeated themselves.
func refusedRepeats(before []*lathe.ToolCall, tool string, input json.RawMessage) (n int) {
	want := canonical(input)
	for _, c := range slices.Backward(before) {
		if _, pending := c.State.(*lathe.Pending); pending {
			continue // its arguments are not known yet
		}
		if c.Tool != tool || !bytes.Equal(canonical(inputOf(c.State)), want) || !hasMark(metadataOf(c.State), repeatedMark) {
			break
		}
		n++
	}
	return n
}

// callsOf lists the calls of messages, oldest first.
func callsOf(messages []*held) (calls []*lathe.ToolCall) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if c, ok := p.Body.(*lathe.ToolCall); ok {
				calls = append(calls, c)
			}
		}
	}
	return calls
}

// canonical writes JSON with its keys sorted and no space, so that inputs that mean the
// same are equal. What is not JSON stays as it is.
func canonical(raw json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

func inputOf(s lathe.ToolState) json.RawMessage {
	switch s := s.(type) {
	case *lathe.Pending:
		return s.Input
	case *lathe.Running:
		return s.Input
	case *lathe.Completed:
		return s.Input
	case *lathe.Failed:
		return s.Input
	}
	return nil
}

func metadataOf(s lathe.ToolState) json.RawMessage {
	switch s := s.(type) {
	case *lathe.Running:
		return s.Metadata
	case *lathe.Completed:
		return s.Metadata
	case *lathe.Failed:
		return s.Metadata
	default:
		return nil
	}
}

// hasMark reports whether metadata has a member that is true.
func hasMark(meta json.RawMessage, key string) bool {
	var m map[string]json.RawMessage
	return len(meta) > 0 && json.Unmarshal(meta, &m) == nil && string(m[key]) == "true"
}

// withMark adds a member to metadata.
func withMark(meta json.RawMessage, key string) json.RawMessage {
	return withMember(meta, key, json.RawMessage("true"))
}

func withMember(meta json.RawMessage, key string, val json.RawMessage) json.RawMessage {
	m := map[string]json.RawMessage{}
	if len(meta) > 0 {
		_ = json.Unmarshal(meta, &m) // what is no object says nothing worth keeping
	}
	m[key] = val
	out, err := json.Marshal(m)
	if err != nil {
		return meta
	}
	return out
}
