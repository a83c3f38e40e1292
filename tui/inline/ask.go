package inline

import (
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// Ask shows a question, with the cursor behind it.
func (s *Screen) Ask(about []string, choices string) {
	s.EndText("")
	s.asking = s.live(4)
	if len(s.asking) > 0 {
		s.asking = append(s.asking, nil)
	}
	indent := style.Plain("  ")
	for i, line := range about {
		look := style.Attr{Bold: i == len(about)-1}
		s.asking = append(s.asking, style.Of(line, look).Wrap(s.Width()-1, indent)...)
	}
	s.asking = append(s.asking, style.Plain("  ").Add(choices, faint).Wrap(s.Width()-1, indent)...)
	last := &s.asking[len(s.asking)-1]
	*last = last.Add(" ", style.Attr{})
	s.Draw()
}

// EndQuestion ends the question. What was typed stands on the screen too, with the end of its line.
func (s *Screen) EndQuestion(typed string) {
	if n := len(s.widths); n > 0 {
		s.widths[n-1] += style.Width(style.Clean(strings.TrimRight(typed, "\r\n")))
		if strings.HasSuffix(typed, "\n") {
			s.widths = append(s.widths, 0)
		}
		s.caret = caret{len(s.widths) - 1, s.widths[len(s.widths)-1]}
		s.below += typed
	}
	s.asking = nil
}
