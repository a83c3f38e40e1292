package mini

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/style"
)

// spokenAsk is a request in words, answered with a number or a sentence.
type spokenAsk struct {
	since   time.Time
	replies []ask.Result         // by number
	asked   *lathe.QuestionAsked // nil for a permission
	at      int                  // the question that is open
	answers [][]string
	say     func(string)
}

func newSpokenAsk(p *program, group []lathe.Fact, from string, say func(string)) *spokenAsk {
	q := &spokenAsk{since: p.o.Now(), say: say}
	switch f := group[0].(type) {
	case *lathe.PermissionAsked:
		q.permission(f, others(group), from, p)
	case *lathe.QuestionAsked:
		q.asked = f
		q.next()
	default: // no other fact is a request
	}
	return q
}

// permission prints a permission request with everything that the region of the terminal UI shows.
func (q *spokenAsk) permission(f *lathe.PermissionAsked, also []lathe.PermissionRequest, from string, p *program) {
	head := "Permission needed: " + f.Permission + " " + f.Summary()
	if from != "" {
		head = "Permission needed by the subagent " + from + ": " + f.Permission + " " + f.Summary()
	}
	q.say(termtext.OneLine(head))
	view := ask.NewPermission(p.keys, f, ask.Options{From: from, Also: also})
	for _, row := range view.Body(style.Default(true), 120) {
		if text := strings.TrimSpace(row.Text()); text != "" && text != f.Summary() { // which the head has said
			q.say(text)
		}
	}
	// Numbers only: a word that was meant for the prompt must never allow anything.
	words := []string{"1 to allow it once"}
	q.replies = []ask.Result{ask.Reply{Reply: lathe.Once}}
	requests := append([]lathe.PermissionRequest{f.PermissionRequest}, also...)
	for _, scope := range []grant.Scope{grant.Session, grant.Project} {
		if out, patterns := proposal(requests, scope); patterns != "" {
			q.replies = append(q.replies, out)
			end := " in this session"
			if scope == grant.Project {
				end = " always in this project"
			}
			words = append(words, fmt.Sprintf("%d to allow %s%s", len(q.replies), patterns, end))
		}
	}
	q.replies = append(q.replies, ask.Reply{Reply: lathe.Reject})
	words = append(words, fmt.Sprintf("%d to reject it and end the turn", len(q.replies)))
	q.say("Type " + strings.Join(words, ", ") + ", or type a reason to reject it.")
}

// proposal is the answer that saves the usual patterns of all requests, and the patterns in words.
func proposal(requests []lathe.PermissionRequest, scope grant.Scope) (out ask.Grant, words string) {
	out = ask.Grant{Scope: scope, Patterns: make([][]string, len(requests))}
	var all []string
	for i, r := range requests {
		texts := grant.ForSession(r)
		if some := grant.Proposals(r); scope == grant.Project && len(some) > 0 {
			texts = some[0]
		}
		out.Patterns[i] = texts
		for _, text := range texts {
			all = append(all, r.Permission+" "+text)
		}
	}
	return out, strings.Join(all, " and ")
}

// next prints the open question.
func (q *spokenAsk) next() {
	x := q.asked.Questions[q.at]
	q.say("Question: " + x.Question)
	for i, o := range x.Options {
		q.say(strings.TrimSuffix(fmt.Sprintf("%d: %s, %s", i+1, o.Label, o.Description), ", "))
	}
	hint := "Type a number"
	if x.Multiple.On() {
		hint = "Type numbers separated by commas"
	}
	if x.Custom != lathe.No {
		hint += ", or your own answer"
	}
	q.say(hint + ". Press Enter alone to dismiss the question.")
}

// answer takes a line. One that was typed before the request could be heard answers nothing.
func (q *spokenAsk) answer(text string, now time.Time) ask.Result {
	if now.Sub(q.since) < ask.Quiet {
		q.say("That line came too early to be an answer, and was not used. Please answer now.")
		return ask.None{}
	}
	text = strings.TrimSpace(text)
	if q.asked != nil {
		return q.answerQuestion(text)
	}
	if n, err := strconv.Atoi(text); err == nil {
		if n >= 1 && n <= len(q.replies) {
			return q.replies[n-1]
		}
		q.say(fmt.Sprintf("Type a number from 1 to %d, or a reason.", len(q.replies)))
		return ask.None{}
	}
	switch strings.ToLower(text) {
	case "", "y", "yes", "a", "always", "ok": // only a number allows anything
		q.say(fmt.Sprintf("Type a number from 1 to %d, or a reason.", len(q.replies)))
		return ask.None{}
	}
	return ask.Reply{Reply: lathe.Reject, Message: text}
}

func (q *spokenAsk) answerQuestion(text string) ask.Result {
	x := q.asked.Questions[q.at]
	if text == "" {
		return ask.Dismiss{}
	}
	// Numbers are choices, anything else is an answer of its own.
	chosen := []string{}
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > len(x.Options) || len(chosen) > 0 && !x.Multiple.On() {
			chosen = nil
			break
		}
		chosen = append(chosen, x.Options[n-1].Label)
	}
	switch {
	case chosen != nil:
	case x.Custom == lathe.No:
		q.say("That is none of the choices.")
		return ask.None{}
	default:
		chosen = []string{text}
	}
	q.answers = append(q.answers, chosen)
	if q.at++; q.at < len(q.asked.Questions) {
		q.next()
		return ask.None{}
	}
	return ask.Answer{Answers: q.answers}
}
