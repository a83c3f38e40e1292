// Package status owns the lines under the prompt: agent, model, usage, progress and key hints;
// and the footer in the session of a subagent.
//
// Everything is a pure function of values; the time and the number of the animation's frame are given. Start
// with Values and View.
package status

import (
	"cmp"
	"strconv"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// Height is the number of rows of View and Footer. It is constant, so that nothing above them moves.
const Height = 2

// Values are the content of the lines.
type Values struct {
	Agent      string
	AgentColor style.Color // none takes the theme's
	// Model is the display name. Without a model the line says that one is missing.
	Model, Provider, Variant string
	Shell                    bool // shell mode

	Busy         bool
	Frame        int  // of the animation, counted by the caller; below 0 nothing moves
	Interrupting bool // the key was pressed once
	Interrupt    string
	Retry        *Retry
	Queued       int  // prompts in the queue
	Lost         bool // the connection is lost

	Tokens  int64
	Percent int // of the model's window; below 0 is not known
	Cost    float64
	Auto    bool // auto-approve is on
	// Mode is the permission mode; "" is not shown. Confined says that commands run in a kernel sandbox.
	Mode     lathe.Mode
	Confined bool

	Hints []Hint // most important first
}

// Retry is an attempt that failed and the time of the next.
type Retry struct {
	Attempt int
	Message string
	At      time.Time
}

// Hint is a key and its label.
type Hint struct{ Key, Label string }

// View draws the lines.
func View(th *style.Theme, v Values, width int, now time.Time) []style.Line {
	return []style.Line{v.upperLine(th).draw(width), v.lowerLine(th, now).draw(width)}
}

// upperLine is the upper line: agent, model and usage.
func (v *Values) upperLine(th *style.Theme) row {
	muted := style.Fg(th.TextMuted)
	r := row{between: style.Of(" · ", muted)}
	color := v.AgentColor.Or(th.Primary)
	add := func(line style.Line, rank int) {
		if line.Width() > 0 {
			r.left = append(r.left, item{line: line, rank: rank})
		}
	}
	switch {
	case v.Shell:
		add(style.Of("Shell", style.Bold(th.Warning)), 0)
		add(style.Of("esc exits", muted), 2)
	case v.Model == "":
		add(style.Of(v.Agent, style.Bold(color)), 0)
		add(style.Of("no model yet: /connect", style.Fg(th.Warning)), 1)
	default:
		add(style.Of(v.Agent, style.Bold(color)), 0)
		add(style.Of(v.Model, style.Fg(th.Text)), 1)
		if v.Provider != "" {
			add(style.Of(v.Provider, muted), 6)
		}
		if v.Variant != "" {
			add(style.Of(v.Variant, style.Fg(th.Warning)), 3)
		}
	}
	if v.Auto {
		r.right = append(r.right, item{line: style.Of("auto-approve", style.Bold(th.Error))})
	}
	r.right = append(r.right, v.mode(th)...)
	r.right = append(r.right, usageItems(th, v.Tokens, v.Percent, v.Cost)...)
	return r
}

// mode shows the permission mode. The default one is dropped first on a narrow screen.
func (v *Values) mode(th *style.Theme) []item {
	switch {
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

// lowerLine is the lower line: progress and key hints.
func (v *Values) lowerLine(th *style.Theme, now time.Time) row {
	r := row{between: style.Plain("  ")}
	if v.Lost {
		r.left = append(r.left, item{line: style.Of("connection lost, reconnecting …", style.Bold(th.Error))})
	} else if v.Busy {
		r.left = append(r.left, item{line: bar(th, v.AgentColor.Or(th.Primary), v.Frame)})
		if v.Retry != nil {
			r.left = append(r.left, v.Retry.items(th, now)...)
		}
		r.left = append(r.left, item{line: interruptHint(th, cmp.Or(v.Interrupt, "esc"), v.Interrupting), rank: 1})
	}
	if v.Queued > 0 {
		r.right = append(r.right, item{line: style.Of(strconv.Itoa(v.Queued)+" queued", style.Fg(th.Warning)), rank: 3})
	}
	for i, h := range v.Hints {
		if h.Key == "" { // the action has no key
			continue
		}
		r.right = append(r.right, item{line: th.Hint(h.Key, h.Label), rank: 10 + i})
	}
	return r
}

// maxReason is how much of a failure's message the line shows, in cells.
const maxReason = 50

// items show the reason and the time of a retry.
func (r *Retry) items(th *style.Theme, now time.Time) (out []item) {
	if r.Message != "" {
		out = append(out, item{line: style.Of(style.FirstLine(r.Message), style.Fg(th.Error)).Truncate(maxReason), rank: 5})
	}
	when := "retrying"
	if left := r.At.Sub(now); left > 0 {
		when = "retrying in " + countdown(left)
	}
	out = append(out, item{line: style.Of(when, style.Fg(th.Warning)), rank: 2})
	if r.Attempt > 0 {
		out = append(out, item{line: style.Of("attempt "+strconv.Itoa(r.Attempt), style.Fg(th.TextMuted)), rank: 6})
	}
	return out
}

// countdown writes a time in whole seconds, the one that has begun included: one that shows 0 looks stuck.
func countdown(left time.Duration) string {
	left = (left + time.Second - 1).Truncate(time.Second)
	if left < time.Minute {
		return strconv.Itoa(int(left/time.Second)) + "s"
	}
	return style.Duration(left)
}
