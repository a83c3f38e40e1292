package engine

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

const (
	// charsPerToken is the guess for what is stored; budgets guess from above instead.
	charsPerToken = 4
	// What stays of the newest exchanges when a history is compressed, in tokens.
	tailLeast, tailMost = 2000, 15_000
)

// tokensIn guesses how many tokens a text is.
func tokensIn(s string) int { return (len(s) + charsPerToken/2) / charsPerToken }

// tailBudget is how many tokens may stay as they are, for a window of that size.
func (c Compaction) tailBudget(usable int) int {
	switch {
	case c.Recent > 0:
		return c.Recent
	case c.Recent < 0:
		return 0
	}
	return min(tailMost, max(tailLeast, usable/4))
}

// tailStart is where the part of a history begins that stays as it is: whole exchanges from
// the end, and the end of one more if that fits. At most so many exchanges are looked at, 0
// is all. Its length says that nothing stays.
func tailStart(history []*held, sizes []int, budget, exchanges int) int {
	none := len(history)
	if exchanges < 0 || budget <= 0 {
		return none
	}
	start, left, seen := none, budget, 0
	for end := none; end > 0 && (exchanges == 0 || seen < exchanges); seen++ {
		begin, size := end-1, sizes[end-1]
		for begin > 0 && history[begin].Said.Role() != "user" {
			begin--
			size += sizes[begin]
		}
		if history[begin].Said.Role() != "user" {
			break // the rest of an exchange that was cut before
		}
		if size > left {
			for at := end - 1; at > begin && sizes[at] <= left; at-- {
				left -= sizes[at]
				start = at
			}
			break
		}
		start, end, left = begin, begin, left-size
	}
	if start == 0 {
		return none // then nothing would be compressed
	}
	return start
}

// sizes guesses how many tokens each message is for a model.
func (m *memory) sizes(messages []*held, to model.Target) []int {
	out := make([]int, len(messages))
	for i := range messages {
		size, media := lengthOf(m.convert(messages[i:i+1], to))
		out[i] = size/charsPerToken + media
	}
	return out
}

func sum(sizes []int) (n int) {
	for _, s := range sizes {
		n += s
	}
	return n
}

// usable is how many tokens of a model's window a conversation may fill: what is kept free is
// for the answer. It is 0 where the window is not known. However large the answers of a
// model with a small window may be, a quarter of it stays for the conversation.
func (c Compaction) usable(m *Model) int {
	if m == nil || m.Context <= 0 {
		return 0
	}
	answer := maxOutput
	if m.Output > 0 {
		answer = min(m.Output, maxOutput)
	}
	if m.Input <= 0 {
		return max(m.Context-answer, m.Context/4)
	}
	reserved := min(20_000, answer)
	switch {
	case c.Reserved > 0:
		reserved = c.Reserved
	case c.Reserved < 0:
		reserved = 0
	}
	return max(m.Input-reserved, m.Input/4)
}

// used is how many tokens the request and the answer of a step were.
func used(a *lathe.Assistant) int64 {
	if a.Tokens.Total != 0 {
		return a.Tokens.Total
	}
	return a.Tokens.Input + a.Tokens.Output + a.Tokens.Cache.Read + a.Tokens.Cache.Write
}
