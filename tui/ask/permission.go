package ask

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Options are additional inputs of a permission region.
type Options struct {
	// Diff draws a patch. Without it the patch is shown as it is.
	Diff func(patch string, width int) []style.Line
	From string // the subagent that asks; "" is the session itself
	// Also are further requests of the same call, such as to leave the project. One answer is for all.
	Also []lathe.PermissionRequest
}

// Permission asks whether a tool call may run. Make one with NewPermission.
type Permission struct {
	keys    *key.Map
	asked   lathe.PermissionRequest
	meta    meta
	o       Options
	waiting int

	guard  guard
	stage  stage
	at     int // the choice under the cursor; -1 is none, and enter confirms nothing
	full   bool
	typed  bool // the rejection began with words: only esc goes back
	reason dialog.Field
	top    int

	save   saving
	seen   seen
	choice []choice
}

// stage is the step of the dialog.
type stage uint8

const (
	choosing   stage = iota
	confirming       // whether to save patterns
	editing          // a pattern to save
	explaining       // the reason for a rejection
)

// choice is a button.
type choice struct {
	action      buttonAction
	long, short string
}

type buttonAction uint8

const (
	allowOnce buttonAction = iota
	allowSession
	allowAlways
	reject
	confirm
	change
	cancel
)

// seen holds the positions of the last drawing.
type seen struct {
	body             body
	shown, all       int // rows of the body
	noted            int // the choice whose whole note was drawn, or -1
	cursorX, cursorY int
	buttons          []place
}

// place is a button on the screen.
type place struct {
	y, from, to int
	action      buttonAction
}

// NewPermission makes the region for a request.
func NewPermission(m *key.Map, asked *lathe.PermissionAsked, o Options) *Permission {
	p := &Permission{keys: m, asked: asked.PermissionRequest, o: o}
	// Ignore members of an unexpected type.
	_ = json.Unmarshal(p.asked.Metadata, &p.meta)
	p.enter(choosing)
	return p
}

// StartGuard says when the region appeared on the screen.
func (p *Permission) StartGuard(at time.Time) { p.guard.start(at) }

// SetWaiting says how many more wait behind this one.
func (p *Permission) SetWaiting(n int) { p.waiting = n }

// Fullscreen reports whether the region wants all of the screen.
func (p *Permission) Fullscreen() bool { return p.full }

// enter goes to a stage.
func (p *Permission) enter(s stage) {
	p.stage, p.at, p.top, p.typed = s, 0, 0, false
	p.seen.body = body{}
	switch s {
	case choosing:
		p.choice = []choice{{allowOnce, "Allow once", "Once"}}
		if slices.ContainsFunc(p.requests(), grant.CanSave) {
			p.choice = append(p.choice, choice{allowSession, "For this session", "Session"}, choice{allowAlways, "Always", "Always"})
		}
		p.choice = append(p.choice, choice{reject, "Reject", "Reject"})
	case confirming:
		p.choice = []choice{{confirm, "Save", "Save"}, {change, "Edit pattern", "Edit"}, {cancel, "Cancel", "Cancel"}}
	case editing, explaining:
		p.choice = nil
	}
}

// Key handles a key. Digits and arrows select, enter confirms. Any other printable key starts the
// reason of a rejection: typing a sentence never allows anything.
func (p *Permission) Key(k tea.KeyPressMsg, now time.Time) Result {
	typed := key.IsTyped(k) || key.IsComposed(k)
	if p.guard.blocks(now) {
		if typed {
			p.Deselect()
		}
		return None{}
	}
	switch p.stage {
	case explaining:
		return p.explain(k)
	case editing:
		return p.editKey(k, now)
	}
	s := k.String()
	switch {
	case k.IsRepeat && !isScroll(k):
		return None{} // a repeated key was pressed for something else
	case p.keys.Match(k, key.PermissionPromptFullscreen):
		p.full = !p.full
	case p.isChoice(s):
		p.at = int(s[0] - '1')
	case typed:
		p.enter(explaining)
		p.typed = true
		p.reason.Key(p.keys, k)
	case p.keys.Match(k, key.DialogSelectSubmit):
		if p.at >= 0 {
			return p.do(p.choice[p.at].action, now)
		}
	case dialog.Closes(k) && p.stage == confirming:
		return p.do(cancel, now)
	case dialog.Closes(k):
		return p.do(reject, now)
	case s == "left" || s == "shift+tab":
		p.at = (max(p.at, 0) + len(p.choice) - 1) % len(p.choice)
	case s == "right" || s == "tab":
		p.at = (p.at + 1) % len(p.choice)
	default:
		return p.scrollKey(s)
	}
	return None{}
}

// isChoice reports whether a key is the number of a button.
func (p *Permission) isChoice(name string) bool {
	return len(name) == 1 && name[0] >= '1' && int(name[0]-'1') < len(p.choice)
}

// Deselect clears the selection, so that enter confirms nothing: the keys right before
// went to the prompt, and the enter may belong to them.
func (p *Permission) Deselect() {
	if p.stage == choosing || p.stage == confirming {
		p.at = -1
	}
}

// Unsent is the reason of a rejection that is not sent yet.
func (p *Permission) Unsent() string { return strings.TrimSpace(p.reason.Text()) }

func isScroll(k tea.KeyPressMsg) bool {
	return slices.Contains([]string{"up", "down", "pgup", "pgdown"}, k.String())
}

// scrollKey scrolls the body, if it does not fit.
func (p *Permission) scrollKey(name string) Result {
	if p.seen.all <= p.seen.shown {
		return Unused{}
	}
	page := max(1, p.seen.shown-1)
	switch name {
	case "up":
		p.Wheel(-1)
	case "down":
		p.Wheel(1)
	case "pgup", "ctrl+b":
		p.Wheel(-page)
	case "pgdown":
		p.Wheel(page)
	case "home":
		p.top = 0
	case "end":
		p.Wheel(p.seen.all)
	default:
		return Unused{}
	}
	return None{}
}

// do runs a button. The next step is new on the screen, so keys are blocked again before it can allow
// anything permanently.
func (p *Permission) do(w buttonAction, now time.Time) Result {
	switch w {
	case allowOnce:
		return Reply{Reply: lathe.Once}
	case allowSession:
		if p.seen.noted == slices.IndexFunc(p.choice, func(c choice) bool { return c.action == allowSession }) { // the patterns stand above the button
			return p.grant(grant.Session, propose(p.requests(), grant.Session))
		}
		p.startSaving(grant.Session, now)
	case allowAlways:
		p.startSaving(grant.Project, now)
	case confirm:
		return p.grant(p.save.scope, p.save.patterns)
	case change:
		p.edit()
		p.guard.start(now)
	case cancel:
		scope := p.save.scope
		p.enter(choosing)
		p.at = 1 // where it was
		if scope == grant.Project {
			p.at = 2
		}
		p.guard.start(now)
	case reject:
		p.enter(explaining)
	}
	return None{}
}

// explain edits the reason of a rejection: enter rejects with it, or ends the turn if it is empty. Esc goes back to
// the choices and keeps the reason.
func (p *Permission) explain(k tea.KeyPressMsg) Result {
	text := p.Unsent()
	switch {
	case p.keys.Match(k, key.DialogPromptSubmit):
		return Reply{Reply: lathe.Reject, Message: text}
	case dialog.Closes(k) && text == "" && !p.typed:
		return Reply{Reply: lathe.Reject}
	case dialog.Closes(k), text == "" && !p.typed && (k.Code == tea.KeyUp || k.Code == tea.KeyTab):
		p.enter(choosing)
		p.at = len(p.choice) - 1 // still at Reject: the enter that was meant for the words allows nothing
	case !p.reason.Key(p.keys, k):
		return Unused{}
	}
	return None{}
}

// Paste goes into the words of a rejection: nothing is allowed or rejected by pasting.
func (p *Permission) Paste(text string) Result {
	if p.stage == editing {
		p.save.field.Paste(text)
		return None{}
	}
	if p.stage != explaining && strings.TrimSpace(text) != "" {
		p.enter(explaining)
		p.typed = true
	}
	if p.stage == explaining {
		p.reason.Paste(text)
	}
	return None{}
}

// Click presses a button at a time.
func (p *Permission) Click(x, y int, now time.Time) Result {
	for _, b := range p.seen.buttons {
		if y == b.y && x >= b.from && x < b.to {
			if p.guard.blocks(now) {
				return None{}
			}
			return p.do(b.action, now)
		}
	}
	return None{}
}

// Wheel scrolls the body.
func (p *Permission) Wheel(dy int) { p.top = max(0, min(p.top+dy, p.seen.all-p.seen.shown)) }

// Cursor is in the reason or in the pattern.
func (p *Permission) Cursor() (x, y int, ok bool) {
	return p.seen.cursorX, p.seen.cursorY, p.stage == explaining || p.stage == editing
}
