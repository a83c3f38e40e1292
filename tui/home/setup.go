package home

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Choice is an option of the setup panel.
type Choice struct {
	ID            string
	Title, Detail string
}

// Setup is the panel that replaces the prompt while there is no provider, with options to
// get started. The zero value has no choices yet and says that it is looking for some.
type Setup struct {
	choices []Choice
	ready   bool
	at      int
	rows    []int // the choice of each row that was drawn last, -1 for others
}

// Result is the outcome of a key or a click.
type Result struct {
	Handled bool
	Chosen  string // the id of a choice
}

// Set gives the choices, best first. What was marked stays marked.
func (s *Setup) Set(choices []Choice) {
	var marked string
	if s.at < len(s.choices) {
		marked = s.choices[s.at].ID
	}
	s.choices, s.ready, s.at = choices, true, 0
	for i, c := range choices {
		if c.ID == marked {
			s.at = i
		}
	}
}

// Key moves the mark or chooses.
func (s *Setup) Key(k tea.KeyPressMsg, m *key.Map) Result {
	n := len(s.choices)
	if n == 0 {
		return Result{}
	}
	if len(k.Text) == 1 && k.Text[0] >= '1' && k.Text[0] <= '9' {
		if i := int(k.Text[0] - '1'); i < n {
			s.at = i
			return Result{Handled: true, Chosen: s.choices[i].ID}
		}
		return Result{Handled: true}
	}
	name, _ := m.First(k, key.DialogSelectPrev, key.DialogSelectNext, key.DialogSelectHome, key.DialogSelectEnd, key.DialogSelectSubmit)
	switch name {
	case key.DialogSelectPrev:
		s.at = (s.at + n - 1) % n
	case key.DialogSelectNext:
		s.at = (s.at + 1) % n
	case key.DialogSelectHome:
		s.at = 0
	case key.DialogSelectEnd:
		s.at = n - 1
	case key.DialogSelectSubmit:
		return Result{Handled: true, Chosen: s.choices[s.at].ID}
	default:
		return Result{}
	}
	return Result{Handled: true}
}

// Click chooses the option at a row of the view.
func (s *Setup) Click(_, y int) Result {
	if y < 0 || y >= len(s.rows) || s.rows[y] < 0 || s.rows[y] >= len(s.choices) {
		return Result{}
	}
	s.at = s.rows[y]
	return Result{Handled: true, Chosen: s.choices[s.at].ID}
}

// View draws the panel on the theme's ground for inputs.
func (s *Setup) View(th *style.Theme, width int) []style.Line {
	s.rows = s.rows[:0]
	if width < 4 {
		return nil
	}
	bar := style.Of("▌ ", style.Fg(th.Warning))
	var out []style.Line
	add := func(choice int, hang string, l style.Line) {
		for _, row := range l.Wrap(width-3, style.Plain(hang)) {
			out = append(out, append(bar[:1:1], row...))
			s.rows = append(s.rows, choice)
		}
	}
	add(-1, "", style.Of("No model connected yet", style.Bold(th.Text)))
	add(-1, "", style.Of("Connect a provider or a local model server. What do you want to do?", style.Fg(th.TextMuted)))
	add(-1, "", nil)
	if !s.ready {
		add(-1, "", style.Of("Looking for local models …", style.Fg(th.TextMuted)))
	}
	for i, c := range s.choices {
		add(i, "     ", s.line(th, i, c))
	}
	switch {
	case !s.ready:
	case len(s.choices) == 0:
		add(-1, "", style.Of("Exit, run ", style.Fg(th.TextMuted)).Add("lathe auth login", style.Fg(th.Text)).Add(", and start again.", style.Fg(th.TextMuted)))
	default:
		add(-1, "", nil)
		add(-1, "", style.Of("↑↓", style.Fg(th.Text)).Add(" move  ", style.Fg(th.TextMuted)).Add("enter", style.Fg(th.Text)).Add(" choose  ", style.Fg(th.TextMuted)).Add("esc", style.Fg(th.Text)).Add(" later", style.Fg(th.TextMuted)))
	}
	return style.Block(out, width, len(out), th.BackgroundElement)
}

// line draws a choice.
func (s *Setup) line(th *style.Theme, i int, c Choice) style.Line {
	const most = 300 // bytes of a text that comes from elsewhere
	mark, number, title, detail := "  ", style.Fg(th.TextMuted), style.Fg(th.Text), style.Fg(th.TextMuted)
	if i == s.at {
		mark, number, title = "› ", style.Bold(th.Primary), style.Bold(th.Primary)
	}
	sign := strconv.Itoa(i+1) + ". "
	if i > 8 {
		sign = "   "
	}
	l := style.Of(mark+sign, number).Add(style.Prefix(c.Title, most), title)
	if c.Detail != "" {
		l = l.Add("  "+style.Prefix(c.Detail, most), detail)
	}
	return l
}
