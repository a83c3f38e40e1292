package compact

import (
	_ "embed"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
)

const (
	// charsPerToken is the guess for what is stored; budgets guess from above instead.
	charsPerToken = 4
	// The tokens of the newest exchanges that a compaction leaves verbatim.
	minTail, MaxTail = 2000, 15_000
)

// TokensIn guesses how many tokens a text is.
func TokensIn(s string) int { return (len(s) + charsPerToken/2) / charsPerToken }

// TailBudget is how many tokens may stay as they are, for a window of that size.
func (c Settings) TailBudget(usable int) int {
	switch {
	case c.TailTokens > 0:
		return c.TailTokens
	case c.TailTokens < 0:
		return 0
	}
	return min(MaxTail, max(minTail, usable/4))
}

// TailStart is where the part of a history begins that stays as it is: whole exchanges from
// the end, and the end of one more if that fits. At most so many exchanges are looked at, 0
// is all. Its length says that nothing stays.
func TailStart(messages []*history.Message, sizes []int, budget, exchanges int) int {
	none := len(messages)
	if exchanges < 0 || budget <= 0 {
		return none
	}
	start, left, seen := none, budget, 0
	for end := none; end > 0 && (exchanges == 0 || seen < exchanges); seen++ {
		begin, size := end-1, sizes[end-1]
		for begin > 0 && messages[begin].Data.Role() != "user" {
			begin--
			size += sizes[begin]
		}
		if messages[begin].Data.Role() != "user" {
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

// Sizes guesses how many tokens each message is for a model.
func Sizes(m *history.Conversation, messages []*history.Message, to model.Target) []int {
	out := make([]int, len(messages))
	for i := range messages {
		size, media := history.Size(m.Convert(messages[i:i+1], to))
		out[i] = size/charsPerToken + media
	}
	return out
}

func Sum(sizes []int) (n int) {
	for _, s := range sizes {
		n += s
	}
	return n
}

// Window is the size of a model's context, in tokens; 0 is not known.
type Window struct{ Context, Input, Output int }

// Usable is how many tokens of a model's window a conversation may fill; the rest is for the answer.
// It is 0 if the window is unknown. At least a quarter of a small window stays for the
// conversation, even if the model's answers can be longer.
func (c Settings) Usable(m Window) int {
	if m.Context <= 0 {
		return 0
	}
	answer := MaxOutput
	if m.Output > 0 {
		answer = min(m.Output, MaxOutput)
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

// Used is how many tokens the request and the answer of a step were.
func Used(a *lathe.Assistant) int64 {
	if a.Tokens.Total != 0 {
		return a.Tokens.Total
	}
	return a.Tokens.Input + a.Tokens.Output + a.Tokens.Cache.Read + a.Tokens.Cache.Write
}

// Settings says how a history that no longer fits is compressed. The zero value does so by
// itself, and leaves old outputs of tools alone.
type Settings struct {
	Off   bool // not by itself; people can still ask for it
	Prune bool // leave old outputs of tools out
	// Reserved stays free of a model's input limit, in tokens. Here and below 0 is the
	// default, and negative is none.
	Reserved int
	// TailTurns and TailTokens limit the newest exchanges that stay verbatim; 0 turns is as many as fit.
	TailTurns, TailTokens int
}

// MaxOutput is how long an answer may be, in tokens, where its model says nothing.
const MaxOutput = 32_000
