package ask

import (
	"encoding/json"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/markdown"
	"github.com/lathe-agent/lathe/tui/style"
)

// The answers to the question about a plan, as the tool plan_exit offers them.
const (
	planYes      = "Yes"
	planYesEdits = "Yes, accept edits"
	planNo       = "No"
)

// EditPlan opens the plan in the user's editor.
type EditPlan struct{}

func (EditPlan) isResult() {}

// Plan asks whether to carry out a plan, and shows it. Make one with NewPlan.
type Plan struct {
	keys       *key.Map
	text, file string
	guard      guard
	at         int // the button under the cursor; -1 is none
	writing    bool
	words      dialog.Field
	top        int
	body       body
	seen       seen
}

// PlanOf returns the plan in the metadata of a running call of plan_exit; ok is false for any other call.
func PlanOf(t *lathe.ToolCall, q *lathe.QuestionAsked) (text, file string, ok bool) {
	r, running := t.State.(*lathe.Running)
	if !running || t.Tool != "plan_exit" || len(q.Questions) != 1 || len(q.Questions[0].Options) != 3 || q.Questions[0].Options[1].Label != planYesEdits {
		return "", "", false
	}
	var meta struct{ Plan, PlanFile string }
	_ = json.Unmarshal(r.Metadata, &meta) // without a plan the question is shown as any other
	return meta.Plan, meta.PlanFile, strings.TrimSpace(meta.Plan) != ""
}

// NewPlan makes the region for a plan.
func NewPlan(m *key.Map, text, file string) *Plan { return &Plan{keys: m, text: text, file: file} }

// Text is the plan, and File its path as the engine says it.
func (p *Plan) Text() string { return p.text }

// File is the path of the plan, relative to the directory of the session or absolute.
func (p *Plan) File() string { return p.file }

// SetText replaces the plan after it was edited.
func (p *Plan) SetText(text string) { p.text, p.body, p.top = text, body{}, 0 }

// StartGuard says when the region appeared on the screen.
func (p *Plan) StartGuard(at time.Time) { p.guard.start(at) }

// Deselect clears the selection, so that enter confirms nothing.
func (p *Plan) Deselect() { p.at = -1 }

func planButtons() []choice {
	return []choice{{long: "Approve", short: "Approve"}, {long: "Approve and accept edits", short: "+ edits"}, {long: "Edit", short: "Edit"}, {long: "Keep planning", short: "Keep"}}
}

// Key handles a key. Digits and arrows select, enter confirms; any other printable key starts what to change in the plan.
func (p *Plan) Key(k tea.KeyPressMsg, now time.Time) Result {
	typed := key.IsTyped(k) || key.IsComposed(k)
	if p.guard.blocks(now) {
		if typed {
			p.Deselect()
		}
		return None{}
	}
	if p.writing {
		return p.write(k)
	}
	n := len(planButtons())
	switch s := k.String(); {
	case k.IsRepeat && !isScroll(k):
	case len(s) == 1 && s[0] >= '1' && int(s[0]-'1') < n:
		p.at = int(s[0] - '1')
	case typed:
		p.writing = true
		p.words.Key(p.keys, k)
	case p.keys.Match(k, key.DialogSelectSubmit):
		return p.press(p.at)
	case dialog.Closes(k):
		p.writing = true
	case s == "left" || s == "shift+tab":
		p.at = (max(p.at, 0) + n - 1) % n
	case s == "right" || s == "tab":
		p.at = (p.at + 1) % n
	case s == "up":
		p.Wheel(-1)
	case s == "down":
		p.Wheel(1)
	case s == "pgup":
		p.Wheel(1 - p.seen.shown)
	case s == "pgdown":
		p.Wheel(p.seen.shown - 1)
	case s == "home":
		p.top = 0
	case s == "end":
		p.Wheel(p.seen.all)
	default:
		return Unused{}
	}
	return None{}
}

// press runs a button.
func (p *Plan) press(i int) Result {
	switch i {
	case 0:
		return Answer{[][]string{{planYes}}}
	case 1:
		return Answer{[][]string{{planYesEdits}}}
	case 2:
		return EditPlan{}
	case 3:
		p.writing = true
	}
	return None{}
}

// write edits what to change. Enter keeps planning with it; without a text the turn ends.
func (p *Plan) write(k tea.KeyPressMsg) Result {
	switch {
	case p.keys.Match(k, key.DialogPromptSubmit):
		text := p.Unsent()
		for _, label := range []string{"", planYes, planYesEdits} { // typed words approve nothing
			if text == label {
				text = planNo
			}
		}
		return Answer{[][]string{{text}}}
	case dialog.Closes(k):
		p.writing, p.at = false, 3
	case !p.words.Key(p.keys, k):
		return Unused{}
	}
	return None{}
}

// Unsent is the text that is not sent yet.
func (p *Plan) Unsent() string { return strings.TrimSpace(p.words.Text()) }

// Paste goes into the words: nothing is approved by pasting.
func (p *Plan) Paste(text string) Result {
	if p.writing = p.writing || strings.TrimSpace(text) != ""; p.writing {
		p.words.Paste(text)
	}
	return None{}
}

// Click presses a button.
func (p *Plan) Click(x, y int, now time.Time) Result {
	for i, b := range p.seen.buttons {
		if y == b.y && x >= b.from && x < b.to && !p.guard.blocks(now) {
			return p.press(i)
		}
	}
	return None{}
}

// Wheel scrolls the plan.
func (p *Plan) Wheel(dy int) { p.top = max(0, min(p.top+dy, p.seen.all-p.seen.shown)) }

// Cursor is in the words.
func (p *Plan) Cursor() (x, y int, ok bool) { return p.seen.cursorX, p.seen.cursorY, p.writing }

// View draws the region, at most so high.
func (p *Plan) View(th *style.Theme, width, height int) []style.Line {
	width = max(width, 20)
	inner := width - inset
	if p.body.theme != th || p.body.width != inner {
		var doc markdown.Doc
		doc.Set(p.text)
		p.body = body{doc.Lines(markdown.Options{Theme: th, Width: inner, Conceal: true}), inner, th}
	}
	rows := []style.Line{style.Of("● Plan", style.Bold(th.Accent)).Add("  "+oneLine(p.file), style.Fg(th.TextMuted)).Truncate(inner), nil}
	foot := p.foot(th, inner)
	room := max(2, height-len(rows)-len(foot)-1)
	p.seen.all, p.seen.shown = len(p.body.rows), min(len(p.body.rows), room)
	if p.seen.all > room {
		p.seen.shown = room - 1
	}
	p.Wheel(0)
	for _, l := range p.body.rows[p.top : p.top+p.seen.shown] {
		rows = append(rows, l.Truncate(inner))
	}
	if p.seen.all > room {
		rows = append(rows, moreRow(th, p.top, p.seen.all-p.top-p.seen.shown, inner))
	}
	rows = append(rows, nil)
	for i := range p.seen.buttons {
		p.seen.buttons[i].y += len(rows)
	}
	p.seen.cursorY = len(rows) + 1
	return withBar(th, append(rows, foot...), width, th.Accent)
}

// foot draws the buttons and the keys, or the words that are being written.
func (p *Plan) foot(th *style.Theme, width int) []style.Line {
	p.seen.buttons = nil
	if p.writing {
		look := style.Attr{FG: th.Text, BG: th.BackgroundElement}
		line, at := p.words.View(look, width-2)
		p.seen.cursorX = edge + 2 + at
		ask := style.Of("Changes to the plan:", style.Bold(th.Text)).Add("  Leave it empty to end the turn.", style.Fg(th.TextMuted))
		return []style.Line{ask.Truncate(width), append(style.Of("› ", style.Fg(th.Primary)), line...).Fit(width, look), hintLine(th, []string{"enter", "keep planning", "esc", "back"}, width)}
	}
	// The drawing of buttons is that of permissions.
	draw := Permission{choice: planButtons(), at: p.at}
	rows := draw.buttons(th, width)
	p.seen.buttons = draw.seen.buttons
	hints := []string{"enter", "confirm", "↑↓", "scroll", "type", "changes to the plan"}
	if p.at < 0 {
		hints = []string{"1-4 ←→", "select", "type", "changes to the plan"}
	}
	return append(rows, hintLine(th, hints, width))
}
