package history

import (
	"slices"

	"github.com/lathe-agent/lathe"
)

// CompactionOf is the request to compress in a prompt; nil if it holds none.
func CompactionOf(h *Message) *lathe.Compaction {
	if _, ok := h.Data.(*lathe.User); !ok {
		return nil
	}
	for _, p := range h.Parts {
		if c, ok := p.Body.(*lathe.Compaction); ok {
			return c
		}
	}
	return nil
}

func IsSummary(h *Message) bool {
	a, ok := h.Data.(*lathe.Assistant)
	return ok && a.Summary.On()
}

// IsUserPrompt reports whether a message is a person's own: not an answer, not written by the
// engine, not a request to compress.
func IsUserPrompt(h *Message) bool {
	_, ok := h.Data.(*lathe.User)
	return ok && !IsSynthetic(h.Parts) && CompactionOf(h) == nil
}

// lastCompaction returns the indexes of the newest completed request to compress and of its
// summary; -1 if there is none. A summary that failed or has no end hides nothing.
func lastCompaction(messages []*Message) (request, summary int) {
	done := map[lathe.MessageID]int{}
	for i, h := range slices.Backward(messages) {
		if IsSummary(h) {
			if a := h.Data.(*lathe.Assistant); a.Error == nil && a.Finish != "" {
				done[a.Parent] = i
			}
		} else if k, ok := done[h.ID]; ok && CompactionOf(h) != nil {
			return i, k
		}
	}
	return -1, -1
}

// Visible is the part of a history that a model sees: the newest summary under its request, then
// the verbatim messages, then all later ones. It is therefore not sorted by time. Other
// compaction requests and their summaries, also failed ones, are left out.
func Visible(messages []*Message) []*Message {
	request, summary := lastCompaction(messages)
	out := make([]*Message, 0, len(messages)-request)
	if request >= 0 {
		out = append(out, messages[request], messages[summary])
		out = AppendMessages(out, PreservedTail(messages, request))
	}
	return AppendMessages(out, messages[request+1:])
}

// PreservedTail returns the messages that a request to compress left unchanged. A prompt that
// is repeated after the summary is not part of it.
func PreservedTail(messages []*Message, request int) []*Message {
	c := CompactionOf(messages[request])
	start := -1
	if c.TailStart != "" {
		start = slices.IndexFunc(messages[:request], func(h *Message) bool { return h.ID == c.TailStart })
	}
	if start < 0 {
		return nil
	}
	end := request
	if again := ReplayedPrompt(messages[:request], c); again >= 0 {
		end = max(start, again)
	}
	return messages[start:end]
}

// AppendMessages adds messages, without compactions.
func AppendMessages(out, messages []*Message) []*Message {
	for _, h := range messages {
		if !IsSummary(h) && CompactionOf(h) == nil {
			out = append(out, h)
		}
	}
	return out
}

// ReplayedPrompt is where the prompt is that a provider refused for its length, and that is
// said again when the history before it is compressed: nothing has answered it, and something
// other than it can be made shorter. Otherwise it is -1.
func ReplayedPrompt(before []*Message, c *lathe.Compaction) int {
	if !c.Overflow.On() {
		return -1
	}
	at := UnansweredPrompt(before)
	if at < 0 || !slices.ContainsFunc(before[:at], IsUserPrompt) {
		return -1
	}
	return at
}

// UnansweredPrompt is the index of the newest prompt if it has no answer, else -1.
func UnansweredPrompt(messages []*Message) int {
	for i, h := range slices.Backward(messages) {
		switch {
		case CompactionOf(h) != nil || IsSummary(h):
		case h.Data.Role() == "user":
			return i
		case len(h.Parts) > 0 && h.Data.(*lathe.Assistant).Error == nil:
			return -1
		}
	}
	return -1
}
