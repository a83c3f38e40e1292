package status

import (
	"cmp"
	"strconv"

	"github.com/lathe-agent/lathe/tui/style"
)

// Part is something on the footer that can be clicked.
type Part int

// The parts of the footer.
const (
	None Part = iota
	Parent
	Prev
	Next
)

// Child is the session of a subagent, as its footer tells it.
type Child struct {
	Agent, Title string
	Color        style.Color
	Number, Of   int // which of how many sisters it is; 0 does not tell
	Busy         bool
	Frame        int
	Tokens       int64
	Percent      int // below 0 is not known
	Cost         float64

	ParentKey, PrevKey, NextKey string // labels; without one it can still be clicked
}

// Footer draws the footer that replaces the prompt in a subagent's session.
func Footer(th *style.Theme, c Child, width int) []style.Line {
	return []style.Line{c.upperLine(th).draw(width), c.lowerLine(th).draw(width)}
}

// FooterHit finds the clicked part of a footer.
func FooterHit(th *style.Theme, c Child, width, x, y int) Part {
	if y != 1 {
		return None
	}
	return c.lowerLine(th).partAt(x, width)
}

// upperLine shows the subagent, its position among its siblings, its title and usage.
func (c *Child) upperLine(th *style.Theme) row {
	muted := style.Fg(th.TextMuted)
	color := c.Color.Or(th.Secondary)
	r := row{between: style.Of(" · ", muted)}
	r.left = append(r.left, item{line: style.Of(cmp.Or(c.Agent, "subagent"), style.Bold(color))})
	if c.Of > 1 {
		r.left = append(r.left, item{line: style.Of(strconv.Itoa(c.Number)+" of "+strconv.Itoa(c.Of), muted), rank: 3})
	}
	if c.Title != "" {
		r.left = append(r.left, item{line: style.Of(style.FirstLine(c.Title), style.Fg(th.Text)).Truncate(maxReason), rank: 2})
	}
	if c.Busy {
		r.left = append(r.left, item{line: bar(th, color, c.Frame), rank: 1})
	}
	r.right = usageItems(th, c.Tokens, c.Percent, c.Cost)
	return r
}

// lowerLine shows the links to the parent and the siblings.
func (c *Child) lowerLine(th *style.Theme) row {
	r := row{between: style.Plain("  ")}
	add := func(p Part, name, key string, rank int) {
		line := style.Of(name, style.Fg(th.Text))
		if key != "" {
			line = line.Add(" "+key, style.Fg(th.TextMuted))
		}
		r.left = append(r.left, item{line: line, part: p, rank: rank})
	}
	add(Parent, "Parent", c.ParentKey, 0)
	if c.Of != 1 {
		add(Prev, "Prev", c.PrevKey, 2)
		add(Next, "Next", c.NextKey, 1)
	}
	return r
}
