package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/model"
)

// Checks of an answer by itself: it was cut off, it is empty, it announces what it does not do.

// cutOff finds an answer that is as long as it may be.
func (t *turnView) cutOff(Input) (Issue, bool) {
	last := t.answers[len(t.answers)-1]
	a := last.Data.(*lathe.Assistant)
	if a.Finish != model.FinishLength {
		return Issue{}, false
	}
	words := "Your answer was cut off because it reached its greatest length"
	if a.Tokens.Output > 0 {
		words += fmt.Sprintf(" (%d tokens)", a.Tokens.Output+a.Tokens.Reasoning)
	}
	for _, c := range history.Calls([]*history.Message{last}) {
		if history.HasMark(history.MetadataOf(c.State), history.InterruptedMark) {
			return Issue{CutOff, 0, fmt.Sprintf("%s, in the middle of a call of %s, which was not run.", words, c.Tool), "Make the call again with less in it: several small ones."}, true
		}
	}
	return Issue{CutOff, 0, words + ".", "Continue exactly where it ends, without repeating it, in smaller pieces."}, true
}

// isEmpty reports whether an answer has neither words nor calls.
func isEmpty(h *history.Message) bool {
	return wordsOf(h) == "" && len(history.Calls([]*history.Message{h})) == 0 && h.Data.(*lathe.Assistant).Finish != model.FinishLength
}

// checkEmpty asks once more without a word, then with one. An answer that holds thoughts would
// be the end of the next request, which providers refuse, so it is followed by words at once.
func (s Input) checkEmpty(t *turnView, answers []*history.Message, say bool) (out Result) {
	if s.Checks[EmptyReply] != Act || t.fired[EmptyReply] {
		return out
	}
	if n := len(answers); !hasThoughts(answers[n-1]) && (n == 1 || !isEmpty(answers[n-2])) && !t.wasRetried() {
		return Result{Retry: true}
	}
	if !say {
		return out
	}
	return Result{ToModel: []Issue{{EmptyReply, 0, fmt.Sprintf("You have answered with nothing %s.", times(t.empty())), "Continue the task; if it is done, say in words what came of it."}}}
}

// wasRetried reports whether an empty answer was followed by another attempt.
func (t *turnView) wasRetried() bool {
	n := len(t.answers)
	return n > 1 && slices.ContainsFunc(t.answers[:n-1], isEmpty)
}

func (t *turnView) empty() (n int) {
	for _, h := range t.answers {
		if isEmpty(h) {
			n++
		}
	}
	return n
}

func hasThoughts(h *history.Message) bool {
	return slices.ContainsFunc(h.Parts, func(p lathe.Part) bool {
		_, ok := p.Body.(*lathe.Reasoning)
		return ok
	})
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	default:
		return fmt.Sprintf("%d times", n)
	}
}

// announces is a last sentence that says what comes next.
var announces = phrase.Regexp(`(?i)^(?:(?:ok(?:ay)?|good|great|right|alright|perfect|now|next|first|then|so)[,.!:;]?\s+)*(?:let me|let's|i'll|i’ll|i will|i'm going to|i’m going to|i am going to)\s+(?:now\s+|first\s+|next\s+|also\s+|then\s+|start by\s+|begin by\s+|go ahead and\s+|quickly\s+)*(\p{L}+)`)

// saidNotDone finds an answer that ends by announcing a call.
func (t *turnView) saidNotDone(Input) (Issue, bool) {
	last := t.answers[len(t.answers)-1]
	if last.Data.(*lathe.Assistant).Finish != model.FinishStop || len(history.Calls([]*history.Message{last})) > 0 {
		return Issue{}, false
	}
	sentence := lastSentence(wordsOf(last))
	m := announces().FindStringSubmatch(sentence)
	if m == nil || !inList("work", strings.ToLower(m[1])) || strings.HasSuffix(sentence, "?") || conditional().MatchString(sentence) {
		return Issue{}, false
	}
	return Issue{SaidNotDone, 0, fmt.Sprintf("You said %q and called no tool.", clip(sentence, 80)), "Do it now; if nothing is left to do, say so."}, true
}

// conditional marks offers and things for later, which wait for the user.
var conditional = phrase.Regexp(`(?i)\b(?:if|once|when|unless|until|after) you\b|\byou(?:'d| would)? (?:like|want|prefer|confirm|approve)\b|\bif (?:needed|necessary|so)\b`)

// lastSentence is the end of the last paragraph that is no code.
func lastSentence(text string) string {
	if strings.HasSuffix(strings.TrimSpace(text), "```") {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := strings.Trim(strings.TrimSpace(lines[len(lines)-1]), "*_ ")
	for i := len(line) - 2; i > 0; i-- {
		if (line[i-1] == '.' || line[i-1] == '!' || line[i-1] == '?') && line[i] == ' ' {
			return strings.TrimSpace(line[i:])
		}
	}
	return line
}

// clip shortens a text to one line of at most so many characters.
func clip(text string, most int) string {
	return clippedText(strings.Join(strings.Fields(text), " "), most)
}
