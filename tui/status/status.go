// Package status owns the row above the prompt, which shows the activity, and the line below it: agent, model, usage and
// key hints; and the footer in the session of a subagent.
//
// Everything is a pure function of values; the time and the number of the animation's frame are given. Start
// with Values, Activity and Line.
package status

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// Values are the content of the lines.
type Values struct {
	Agent      string
	AgentColor style.Color // none takes the theme's
	// Model is the display name. Without a model the line says that one is missing.
	Model, Provider, Variant string
	Shell                    bool // shell mode
	// Editor is the mode of vi and its pending keys; "" without vi.
	Editor string

	Busy         bool
	Frame        int  // of the animation, counted by the caller; below 0 nothing moves
	Interrupting bool // the key was pressed once
	Interrupt    string
	Retry        *Retry
	Silence      string // how long the model sends nothing; "" while it does
	Queued       int    // prompts that wait for the end of the turn
	Steering     int    // prompts that wait for its next step
	MoreBelow    bool   // the conversation is scrolled up
	Lost         bool   // the connection is lost

	Tokens  int64
	Percent int // of the model's window; below 0 is not known
	Cost    float64
	Auto    bool // auto-approve is on
	// Mode is the permission mode; "" is not shown. Confined says that commands run in a kernel sandbox.
	Mode     lathe.Mode
	Edits    bool // edits are accepted in this session
	Confined bool

	Hints []Hint // most important first
}

// Retry is an attempt that failed and the time of the next.
type Retry struct {
	Attempt int
	Of      int // the number of attempts; 0 is not known
	Message string
	At      time.Time
}

// Hint is a key and its label.
type Hint struct{ Key, Label string }

// Line draws the line below the prompt. On a narrow screen it drops the key hints first, then the less important values.
func Line(th *style.Theme, v Values, width int) style.Line {
	r := row{between: style.Of(" · ", style.Fg(th.TextMuted)), left: v.identity(th, max(10, width*3/10))}
	if v.Lost {
		r.right = append(r.right, item{line: style.Of("connection lost, reconnecting …", style.Bold(th.Error))})
	} else {
		for i, h := range v.Hints {
			if h.Key != "" { // else the action has no key
				r.right = append(r.right, item{line: th.Hint(h.Key, h.Label), rank: 10 + i, hint: true})
			}
		}
	}
	if v.Auto {
		r.right = append(r.right, item{line: style.Of("auto-approve", style.Bold(th.Error))})
	}
	r.right = append(r.right, v.mode(th)...)
	r.right = append(r.right, usageItems(th, v.Tokens, v.Percent, v.Cost)...)
	return r.draw(width)
}

// Search is a search in the prompt history, for SearchLine.
type Search struct {
	Query string
	Found bool
	Older string // label of the key
}

// SearchLine draws the line below the prompt during a search in the history, and returns the column of the cursor.
func SearchLine(th *style.Theme, s Search, width int) (line style.Line, cursor int) {
	margin := marginOf(width)
	title := style.Of("Search earlier prompts: ", style.Fg(th.TextMuted))
	if width < 60 {
		title = style.Of("Search: ", style.Fg(th.TextMuted))
	}
	query := style.Of(s.Query, style.Fg(th.Text))
	if room := max(0, width-2*margin-title.Width()-1); query.Width() > room { // its end is where the user types
		query = query.Cut(query.Width()-room, query.Width())
	}
	r := row{between: style.Plain("  ")}
	if !s.Found {
		r.right = append(r.right, item{line: style.Of("no match", style.Fg(th.Error)), rank: 1})
	}
	for i, h := range []Hint{{Key: s.Older, Label: "older"}, {Key: "enter", Label: "use"}, {Key: "esc", Label: "cancel"}} {
		r.right = append(r.right, item{line: th.Hint(h.Key, h.Label), rank: 4 - i, hint: true})
	}
	typed := append(title, query...)
	r.left = []item{{line: append(typed, style.Span{Text: " "})}} // the cursor is on it
	return r.draw(width), min(margin+typed.Width(), width-1)
}

// identity shows the agent and the model, whose name takes so many cells at most.
func (v *Values) identity(th *style.Theme, most int) (out []item) {
	muted := style.Fg(th.TextMuted)
	add := func(text string, look style.Attr, rank int) {
		if line := style.Of(text, look); line.Width() > 0 {
			out = append(out, item{line: line, rank: rank})
		}
	}
	add(v.Editor, style.Bold(th.Text), 0)
	if v.Shell {
		add("Shell", style.Bold(th.Warning), 0)
		add("esc exits", muted, 2)
		return out
	}
	add(v.Agent, style.Bold(v.AgentColor.Or(th.Primary)), 0)
	if v.Model == "" {
		add("no model yet: /connect", style.Fg(th.Warning), 1)
		return out
	}
	out = append(out, item{line: style.Of(v.Model, style.Fg(th.Text)).Truncate(most), rank: 1})
	add(v.Provider, muted, 6)
	add(v.Variant, style.Fg(th.Warning), 3)
	return out
}

// mode shows the permission mode. The default one is dropped first on a narrow screen.
func (v *Values) mode(th *style.Theme) []item {
	switch {
	case v.Mode == lathe.AskMode && v.Edits:
		return []item{{line: style.Of("accepts edits", style.Fg(th.Warning)), rank: 2}}
	case v.Mode == lathe.AskMode:
		return []item{{line: style.Of("asks first", style.Fg(th.Warning)), rank: 2}}
	case v.Mode == lathe.ReadOnlyMode:
		return []item{{line: style.Of("read only", style.Fg(th.Warning)), rank: 2}}
	case v.Mode == "":
		return nil
	case !v.Confined:
		return []item{{line: style.Of("asks before commands", style.Fg(th.Warning)), rank: 3}}
	}
	return []item{{line: style.Of("sandbox", style.Fg(th.TextMuted)), rank: 7}}
}

// usageItems shows the tokens and the cost of a session.
func usageItems(th *style.Theme, tokens int64, percent int, cost float64) (out []item) {
	if tokens <= 0 && cost <= 0 {
		return nil
	}
	text := style.Count(tokens)
	if percent >= 0 {
		text += " (" + strconv.Itoa(percent) + "%)"
	}
	out = append(out, item{line: style.Of(text, style.Fg(th.UsageColor(percent).Or(th.TextMuted))), rank: 4})
	if cost > 0 {
		out = append(out, item{line: style.Of(style.Money(cost), style.Fg(th.TextMuted)), rank: 5})
	}
	return out
}

// interruptHint is the hint for the interrupt key.
func interruptHint(th *style.Theme, key string, once bool) style.Line {
	if once {
		return style.Of(key+" again to interrupt", style.Bold(th.Error))
	}
	return th.Hint(key, "interrupt")
}

// Activity draws the row above the prompt: progress, queued prompts and whether there is more below. It is empty when
// nothing runs.
func Activity(th *style.Theme, v Values, width int, now time.Time) style.Line {
	r := row{between: style.Plain("  ")}
	if v.Steering > 0 {
		r.right = append(r.right, item{line: style.Of(strconv.Itoa(v.Steering)+" steering", style.Fg(th.Info)), rank: 5})
	}
	if v.Queued > 0 {
		r.right = append(r.right, item{line: style.Of(strconv.Itoa(v.Queued)+" queued", style.Fg(th.Warning)), rank: 5})
	}
	if v.MoreBelow {
		r.right = append(r.right, item{line: style.Of("↓ more below", style.Fg(th.TextMuted)), rank: 4})
	}
	if v.Busy && !v.Lost {
		r.left = []item{{line: bar(th, v.AgentColor.Or(th.Primary), v.Frame)}, {line: interruptHint(th, cmp.Or(v.Interrupt, "esc"), v.Interrupting), rank: 1}}
	}
	if v.Retry != nil && len(r.left) > 0 { // its reason is more important than the animation
		r.left[0].rank = 3
		retry := v.Retry.line(th, now, width-2*marginOf(width)-r.width()-gap)
		r.left = slices.Insert(r.left, 1, item{line: retry})
	}
	if v.Silence != "" && v.Retry == nil && len(r.left) > 0 {
		r.left = slices.Insert(r.left, 1, item{line: style.Of(v.Silence, style.Fg(th.Warning)), rank: 2})
	}
	if len(r.left)+len(r.right) == 0 {
		return nil
	}
	return r.draw(width)
}

// maxReason and minReason are how much of a text in the middle of a row shows, in cells.
const (
	maxReason = 50
	minReason = 36
)

// line shows the time and the reason of a retry, in so many cells but at least minReason.
func (r *Retry) line(th *style.Theme, now time.Time, room int) style.Line {
	when := "Retrying"
	if left := r.At.Sub(now); left > 0 {
		when = "Retrying in " + countdown(left)
	}
	out, reason := style.Of(when, style.Fg(th.Warning)), ""
	if r.Message != "" {
		reason = ": " + style.FirstLine(r.Message)
	}
	attempt := " (attempt " + strconv.Itoa(r.Attempt) + ")"
	if r.Of > 0 {
		attempt = " (" + strconv.Itoa(r.Attempt) + " of " + strconv.Itoa(max(r.Of, r.Attempt)) + ")"
	}
	if r.Attempt > 0 && (r.Of > 0 && room >= minReason+10 || style.Width(when+attempt+reason) <= room) {
		out = out.Add(attempt, style.Fg(th.TextMuted))
	}
	return out.Add(reason, style.Fg(th.Error)).Truncate(max(room, minReason))
}

// countdown writes a time in whole seconds, the one that has begun included: one that shows 0 looks stuck.
func countdown(left time.Duration) string {
	left = (left + time.Second - 1).Truncate(time.Second)
	if left < time.Minute {
		return strconv.Itoa(int(left/time.Second)) + "s"
	}
	return style.Duration(left)
}
