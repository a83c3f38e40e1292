package live

import (
	"strings"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// Ask shows a question, with the cursor behind it.
func (s *Screen) Ask(about []string, choices string) {
	s.EndText()
	s.Asking = s.Live(4)
	if len(s.Asking) > 0 {
		s.Asking = append(s.Asking, Row{})
	}
	for i, line := range about {
		look := Style(0)
		if i == len(about)-1 {
			look = Bold
		}
		s.Asking = append(s.Asking, Wrapped(Cells(line, look), nil, Cells("  ", 0), s.Width()-1)...)
	}
	indent := Cells("  ", 0)
	s.Asking = append(s.Asking, Wrapped(Cells(choices, Dim), indent, indent, s.Width()-1)...)
	last := &s.Asking[len(s.Asking)-1]
	last.Text, last.Width = last.Text+" ", last.Width+1
	s.Draw()
}

// Answered goes on. What was typed stands on the screen too, with the end of its line.
func (s *Screen) Answered(typed string) {
	if n := len(s.Below); n > 0 {
		s.Below[n-1].Width += termtext.Columns(strings.TrimRight(typed, "\r\n"))
		if strings.HasSuffix(typed, "\n") {
			s.Below = append(s.Below, Row{})
		}
	}
	s.Asking = nil
}
