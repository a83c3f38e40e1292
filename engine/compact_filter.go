package engine

import (
	"slices"

	"github.com/lathe-agent/lathe"
)

// compactionOf is the request to compress in a prompt; nil if it holds none.
func compactionOf(h *held) *lathe.Compaction {
	if _, ok := h.Said.(*lathe.User); !ok {
		return nil
	}
	for _, p := range h.Parts {
		if c, ok := p.Body.(*lathe.Compaction); ok {
			return c
		}
	}
	return nil
}

func isSummary(h *held) bool {
	a, ok := h.Said.(*lathe.Assistant)
	return ok && a.Summary.On()
}

// isWord reports whether a message is a person's own: not an answer, not written by the
// engine, not a request to compress.
func isWord(h *held) bool {
	_, ok := h.Said.(*lathe.User)
	return ok && !IsSynthetic(h.Parts) && compactionOf(h) == nil
}

// lastCompaction is where the newest request to compress stands that was done, and where its
// summary does; -1 if there is none. A summary that failed or has no end hides nothing.
func lastCompaction(messages []*held) (request, summary int) {
	done := map[lathe.MessageID]int{}
	for i, h := range slices.Backward(messages) {
		if isSummary(h) {
			if a := h.Said.(*lathe.Assistant); a.Error == nil && a.Finish != "" {
				done[a.Parent] = i
			}
		} else if k, ok := done[h.ID]; ok && compactionOf(h) != nil {
			return i, k
		}
	}
	return -1, -1
}

// visible is what of a history a model is told: the newest summary under its request, then
// what was kept as it is, then all that came later. So it is not in the order of time. Other
// requests to compress and their summaries, also those that failed, are left out.
func visible(messages []*held) []*held {
	request, summary := lastCompaction(messages)
	out := make([]*held, 0, len(messages)-request)
	if request >= 0 {
		out = append(out, messages[request], messages[summary])
		out = appendSaid(out, keptTail(messages, request))
	}
	return appendSaid(out, messages[request+1:])
}

// keptTail is what a request to compress has left as it was. A prompt that is said again behind
// the summary is not part of it.
func keptTail(messages []*held, request int) []*held {
	c := compactionOf(messages[request])
	start := -1
	if c.TailStart != "" {
		start = slices.IndexFunc(messages[:request], func(h *held) bool { return h.ID == c.TailStart })
	}
	if start < 0 {
		return nil
	}
	end := request
	if again := replayed(messages[:request], c); again >= 0 {
		end = max(start, again)
	}
	return messages[start:end]
}

// appendSaid adds what was said, without compactions.
func appendSaid(out, messages []*held) []*held {
	for _, h := range messages {
		if !isSummary(h) && compactionOf(h) == nil {
			out = append(out, h)
		}
	}
	return out
}

// replayed is where the prompt stands that a provider refused for its length, and that is said
// again when the history before it is compressed: nothing has answered it, and something
// other than it can be made shorter. Otherwise it is -1.
func replayed(before []*held, c *lathe.Compaction) int {
	if !c.Overflow.On() {
		return -1
	}
	at := unanswered(before)
	if at < 0 || !slices.ContainsFunc(before[:at], isWord) {
		return -1
	}
	return at
}

// unanswered is where the newest prompt stands if nothing was said to it, else -1.
func unanswered(messages []*held) int {
	for i, h := range slices.Backward(messages) {
		switch {
		case compactionOf(h) != nil || isSummary(h):
		case h.Said.Role() == "user":
			return i
		case len(h.Parts) > 0 && h.Said.(*lathe.Assistant).Error == nil:
			return -1
		}
	}
	return -1
}
