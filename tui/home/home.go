// Package home owns the screen before a session: the logo, the prompt, a tip and a footer; and the setup
// panel for a user without a provider.
//
// Views are pure functions of their input. Start with View, then Setup.
package home

import (
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// Values are the content of the screen.
type Values struct {
	Tip string // "" shows none; see Tip
	// Note replaces the tip: progress, or an error.
	Note    string
	Failed  bool // the note is an error
	Dir     string
	Branch  string
	Servers int // connected MCP servers
	Broken  int // failed MCP servers
	Version string
}

// PromptWidth is how wide the prompt should be on a screen: most is the setting, 0 for the usual width, below 0
// for a share of the screen.
func PromptWidth(width, most int) int {
	room := max(1, width-4)
	switch {
	case width < 30:
		return max(1, width)
	case most > 0:
		return min(room, most)
	case most < 0:
		return min(room, max(40, width*7/10))
	default:
		return min(room, 75)
	}
}

// View draws the screen, exactly as wide and as high as asked, and returns the position of the prompt.
// On a small screen it drops first the tip, then the logo, then the footer.
func View(th *style.Theme, v Values, width, height int, prompt []style.Line, promptWidth int) (lines []style.Line, x, y int) {
	if width < 1 || height < 1 {
		return nil, 0, 0
	}
	promptWidth = min(promptWidth, width)
	x = (width - promptWidth) / 2
	var foot []style.Line
	if height >= len(prompt)+3 {
		foot = []style.Line{footer(th, &v, width)}
	}
	room := height - len(foot)
	above := logoRows(th, width, room-len(prompt))
	below := v.below(th, promptWidth, room-len(prompt)-len(above))
	all := len(above) + len(prompt) + len(below)
	top := max(0, (room-all)*2/5) // a little above the middle looks like the middle
	lines = make([]style.Line, top, height)
	lines = append(lines, above...)
	y = len(lines)
	for _, l := range prompt {
		lines = append(lines, shift(l.Truncate(promptWidth), x))
	}
	for _, l := range below {
		lines = append(lines, shift(l, x))
	}
	lines = append(lines[:min(len(lines), room)], make([]style.Line, max(0, room-len(lines)))...)
	return style.Block(append(lines, foot...), width, height, th.Background), x, y
}

// shift indents a line by x cells.
func shift(l style.Line, x int) style.Line {
	return append(style.Plain(strings.Repeat(" ", x)), l...)
}

// logoRows is the logo with a margin, in the largest size that fits.
func logoRows(th *style.Theme, width, room int) (out []style.Line) {
	for _, small := range []bool{width < smallBelow, true} {
		rows := logo(th, small)
		if len(rows)+2 > room {
			continue
		}
		for _, l := range rows {
			out = append(out, shift(l, max(0, (width-l.Width())/2)))
		}
		out = append(out, nil)
		if !small {
			out = append(out, nil)
		}
		return out
	}
	return nil
}

// below renders the note or the tip under the prompt.
func (v *Values) below(th *style.Theme, width, room int) []style.Line {
	var rows []style.Line
	switch {
	case v.Note != "":
		color := th.TextMuted
		if v.Failed {
			color = th.Error
		}
		rows = style.WrapAll(style.Lines(style.Prefix(v.Note, maxNote), style.Fg(color)), width)
		rows = rows[:min(len(rows), max(0, room-1))]
	case v.Tip != "":
		rows = tipLine(th, v.Tip).Wrap(width, style.Plain("  "))
	}
	if len(rows) == 0 || len(rows)+1 > room {
		return nil
	}
	return append([]style.Line{nil}, rows...)
}

// maxNote limits the length of a note, in bytes.
const maxNote = 2000

// tipLine highlights text between backticks: input to type or press.
func tipLine(th *style.Theme, tip string) style.Line {
	out := style.Of("● ", style.Fg(th.Warning)).Add("Tip ", style.Fg(th.Warning))
	for i, piece := range strings.Split(tip, "`") {
		a := style.Fg(th.TextMuted)
		if i%2 == 1 {
			a = style.Fg(th.Text)
		}
		out = out.Add(piece, a)
	}
	return out
}

// footer shows the directory, branch, MCP servers and version.
func footer(th *style.Theme, v *Values, width int) style.Line {
	muted := style.Fg(th.TextMuted)
	pad := 2
	if width < 40 {
		pad = 0
	}
	inner := width - 2*pad
	right := style.Of(v.Version, muted)
	var servers style.Line
	if v.Servers+v.Broken > 0 {
		color := th.Success
		if v.Broken > 0 {
			color = th.Error
		}
		count := strconv.Itoa(v.Servers) + " MCP"
		if v.Broken > 0 {
			count += ", " + strconv.Itoa(v.Broken) + " failed"
		}
		servers = style.Of("⊙ ", style.Fg(color)).Add(count, style.Fg(th.Text)).Add(" /status", muted)
	}
	place := v.Dir
	if v.Branch != "" {
		place += ":" + v.Branch
	}
	room := inner - right.Width() - 2
	if len(servers) > 0 {
		if servers.Width() > room-10 { // the hint is the first to go
			servers = servers[:2]
		}
		if v.Broken > 0 && servers.Width() > room-10 { // the color shows it
			servers = style.Of("⊙ ", style.Fg(th.Error)).Add(strconv.Itoa(v.Servers)+" MCP", style.Fg(th.Text))
		}
		room -= servers.Width() + 2
	}
	var left style.Line
	if room >= 2 {
		left = style.Of(style.ShortPath(place, room), muted)
	}
	if len(servers) > 0 {
		if len(left) > 0 {
			left = left.Add("  ", muted)
		}
		left = append(left, servers...)
	}
	return shift(append(left.Fit(max(0, inner-right.Width()), style.Attr{}), right...).Truncate(inner), pad)
}
