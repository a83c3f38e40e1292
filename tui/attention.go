package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/style"
)

// attract tells of something while nobody looks at the terminal, where the user wants that.
func (p *program) attract(text string) tea.Cmd {
	if !p.blurred {
		return nil
	}
	bell := ""
	if p.o.Look.Bell {
		bell = "\a"
	}
	if !p.o.Look.Attention {
		if bell == "" {
			return nil
		}
		return tea.Raw(bell)
	}
	if s, ok := p.state.Session(p.state.Current); ok && s.Title != "" {
		text += ": " + s.Title
	}
	text = strings.ReplaceAll(style.Plain(text).Truncate(120).Text(), ";", ",")
	// Terminals understand one of these and ignore the others.
	return tea.Raw(bell + "\x1b]9;" + text + "\x07\x1b]777;notify;lathe;" + text + "\x07")
}
