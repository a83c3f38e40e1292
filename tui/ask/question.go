package ask

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
)

// Question shows the questions of the model: one tab for each, and one to review the answers before
// they are sent. A single question with a single answer has no tabs. Make one with NewQuestion.
type Question struct {
	keys  *key.Map
	list  []questionState
	tab   int // len(list) is the one that confirms
	guard guard

	editing bool // a custom answer
	text    dialog.Field

	top  int
	rows page
	seen struct {
		first, shown     int // rows of the page
		cursorX, cursorY int
		tabs             [][2]int // columns from and to
		tabsY            int
	}
	scrolledAway bool // scrolled by wheel, so the cursor may be out of view
}

// questionState is a question and its answers so far.
type questionState struct {
	lathe.Question
	at     int
	picked []bool
	custom string // a custom answer; "" is none
}

// allowsCustom reports whether a custom answer is allowed.
func (a *questionState) allowsCustom() bool { return a.Custom != lathe.No }

// choices is how many rows there are to go through.
func (a *questionState) choices() int {
	n := len(a.Options)
	if a.allowsCustom() {
		n++
	}
	return n
}

// answers are the selected labels in order, followed by the custom answer.
func (a *questionState) answers() []string {
	out := []string{}
	for i, on := range a.picked {
		if on {
			out = append(out, a.Options[i].Label)
		}
	}
	if a.custom != "" {
		out = append(out, a.custom)
	}
	return out
}

// NewQuestion makes the region for a request.
func NewQuestion(m *key.Map, q *lathe.QuestionAsked) *Question {
	r := &Question{keys: m}
	for _, x := range q.Questions {
		r.list = append(r.list, questionState{Question: x, picked: make([]bool, len(x.Options))})
	}
	return r
}

// StartGuard says when the region appeared on the screen.
func (q *Question) StartGuard(at time.Time) { q.guard.start(at) }

// isSingleChoice reports whether a single selection answers everything.
func (q *Question) isSingleChoice() bool { return len(q.list) == 1 && !q.list[0].Multiple.On() }

// tabs is how many there are.
func (q *Question) tabs() int {
	if q.isSingleChoice() {
		return 1
	}
	return len(q.list) + 1
}

// here is the question on the screen, nil on the tab that confirms.
func (q *Question) here() *questionState {
	if q.tab < len(q.list) {
		return &q.list[q.tab]
	}
	return nil
}

// Key takes a key at a time.
func (q *Question) Key(k tea.KeyPressMsg, now time.Time) Result {
	if q.guard.blocks(now) {
		return None{}
	}
	if q.editing {
		return q.edit(k)
	}
	q.scrolledAway = false
	switch s := k.String(); {
	case dialog.Closes(k):
		return Dismiss{}
	case k.IsRepeat && !isScroll(k):
		return None{}
	case q.keys.Match(k, key.DialogSelectSubmit):
		return q.submit()
	case s == "tab" || s == "right" || s == "l":
		q.turn(1)
	case s == "shift+tab" || s == "left" || s == "h":
		q.turn(-1)
	case s == "j" || q.keys.Match(k, key.DialogSelectNext):
		q.move(1)
	case s == "k" || q.keys.Match(k, key.DialogSelectPrev):
		q.move(-1)
	case q.keys.Match(k, key.DialogSelectPageDown):
		q.Wheel(max(1, q.seen.shown-1))
	case q.keys.Match(k, key.DialogSelectPageUp):
		q.Wheel(-max(1, q.seen.shown-1))
	case k.Code == tea.KeySpace && q.here() != nil && q.here().Multiple.On():
		return q.pick(q.here().at)
	case len(s) == 1 && s[0] >= '1' && s[0] <= '9' && q.here() != nil:
		return q.pick(int(s[0] - '1'))
	default:
		return Unused{}
	}
	return None{}
}

// turn opens the next tab, and wraps around.
func (q *Question) turn(d int) { q.open((q.tab + d + q.tabs()) % q.tabs()) }

func (q *Question) open(tab int) {
	if tab != q.tab {
		q.tab, q.top, q.editing, q.scrolledAway, q.rows = tab, 0, false, false, page{}
	}
}

func (q *Question) move(d int) {
	a := q.here()
	if a == nil || a.choices() == 0 {
		q.Wheel(d)
		return
	}
	a.at = (a.at + d + a.choices()) % a.choices()
}

func (q *Question) submit() Result {
	a := q.here()
	if a == nil {
		return q.answer()
	}
	if a.choices() == 0 {
		return q.next()
	}
	return q.pick(a.at)
}

// pick selects a row: an option, or the custom answer, which is then edited.
func (q *Question) pick(i int) Result {
	a := q.here()
	if i >= a.choices() {
		return None{}
	}
	a.at = i
	switch {
	case i == len(a.Options):
		q.editing = true
		q.text.Set(a.custom)
		return None{}
	case a.Multiple.On():
		a.picked[i] = !a.picked[i]
		return None{}
	default:
		clear(a.picked)
		a.picked[i], a.custom = true, ""
		return q.next()
	}
}

// next continues after a single-choice answer.
func (q *Question) next() Result {
	if q.isSingleChoice() {
		return q.answer()
	}
	q.turn(1)
	return None{}
}

func (q *Question) answer() Result {
	out := Answer{Answers: make([][]string, len(q.list))}
	for i := range q.list {
		out.Answers[i] = q.list[i].answers()
	}
	return out
}

// edit edits the custom answer. An empty text removes it.
func (q *Question) edit(k tea.KeyPressMsg) Result {
	a := q.here()
	switch {
	case dialog.Closes(k):
		q.editing = false
	case q.keys.Match(k, key.DialogPromptSubmit):
		q.editing = false
		if a.custom = strings.TrimSpace(q.text.Text()); a.custom == "" || a.Multiple.On() {
			return None{}
		}
		clear(a.picked)
		return q.next()
	case !q.text.Key(q.keys, k):
		return Unused{}
	}
	return None{}
}

// Unsent is the custom answer that was not entered yet.
func (q *Question) Unsent() string {
	if !q.editing {
		return ""
	}
	return strings.TrimSpace(q.text.Text())
}

// Paste goes into an answer that is being written, and nowhere else.
func (q *Question) Paste(text string) Result {
	if q.editing {
		q.text.Paste(text)
	}
	return None{}
}

// Click picks an option or opens a tab, at a time.
func (q *Question) Click(x, y int, now time.Time) Result {
	if q.tabs() > 1 && y == q.seen.tabsY {
		for i, t := range q.seen.tabs {
			if x >= t[0] && x < t[1] && !q.guard.blocks(now) {
				q.open(i)
			}
		}
		return None{}
	}
	i := q.top + y - q.seen.first
	if y < q.seen.first || y >= q.seen.first+q.seen.shown || i >= len(q.rows.rows) || q.guard.blocks(now) {
		return None{}
	}
	if q.here() == nil {
		return q.answer()
	}
	if option := q.rows.rows[i].option; option >= 0 {
		if q.editing && option != len(q.here().Options) {
			q.editing = false
		}
		return q.pick(option)
	}
	return None{}
}

// Wheel scrolls a long question.
func (q *Question) Wheel(dy int) {
	q.top = max(0, min(q.top+dy, len(q.rows.rows)-q.seen.shown))
	q.scrolledAway = true
}

// Cursor is in the answer that is being written.
func (q *Question) Cursor() (x, y int, ok bool) {
	return q.seen.cursorX, q.seen.cursorY, q.editing && q.seen.cursorY >= 0
}
