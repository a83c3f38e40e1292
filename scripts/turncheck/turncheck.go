// Package turncheck has what the campaigns of make torture and make cluster-torture share: choices that depend on a
// seed only, the place of a scripted model in a conversation, a reader that follows the feed, and the checks of prompts.
//
// It has no state of its own. A Reader is for one goroutine. Start with Dice and Ends.
package turncheck

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// The words by which a scripted model knows where a conversation is.
const (
	DoneWord      = "done: " // begins a final answer, before the tokens of the prompts it answers
	EndWord       = "END"    // ends it
	ContinueWords = "The program ended before your last answer"
)

// Dice returns a number that depends on its arguments only.
func Dice(seed uint64, what string, a, b int) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, seed, what, a, b)
	x := h.Sum64()
	x ^= x >> 32 // its low bits alone know little of what came first
	return x * 0x9E3779B97F4A7C15 >> 16
}

// Token returns the word by which a prompt is found again.
func Token(slot, n int) string { return fmt.Sprintf("prompt-%d-%d;", slot, n) }

// Tokens finds the prompts in a text.
func Tokens(text string) []string {
	return regexp.MustCompile(`prompt-\d+-\d+;`).FindAllString(text, -1)
}

// TextOf returns the text of a message.
func TextOf(m lathe.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		if t, ok := p.Body.(*lathe.Text); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// Position is the place of a scripted model in a conversation.
type Position struct {
	Pending []string // tokens of prompts without an answer
	Steps   int      // with calls, since the last prompt
}

// PositionIn reads a conversation. An answer that the engine reports as cut off is no answer, even if all its words
// arrived.
func PositionIn(messages []model.Message) (at Position) {
	var before []string
	for _, m := range messages {
		called := false
		for _, c := range m.Content {
			switch c := c.(type) {
			case model.TextContent:
				switch {
				case m.Role == model.AssistantRole && strings.Contains(c.Text, EndWord):
					before, at.Pending = at.Pending, nil
				case m.Role == model.UserRole:
					if strings.Contains(c.Text, ContinueWords) && len(at.Pending) == 0 {
						at.Pending = before
					}
					if found := Tokens(c.Text); len(found) > 0 {
						at.Pending, at.Steps = append(at.Pending, found...), 0
					}
				}
			case model.CallContent:
				called = true
			case model.ReasoningContent, model.FileContent, model.ResultContent:
			}
		}
		if called {
			at.Steps++
		}
	}
	return at
}
