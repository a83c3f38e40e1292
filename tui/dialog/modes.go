package dialog

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/key"
)

// ModeTitle is what people call a permission mode.
func ModeTitle(m lathe.Mode) string {
	switch m {
	case lathe.AskMode:
		return "Ask before edits and commands"
	case lathe.SandboxMode:
		return "Allow inside the sandbox"
	case lathe.ReadOnlyMode:
		return "Read only"
	default:
		return string(m)
	}
}

// NewModes picks a permission mode: Chosen has it as its id. confined says that a kernel sandbox holds commands.
func NewModes(m *key.Map, current lathe.Mode, confined bool) *List {
	items := marked(modeItems(confined), string(current))
	return NewList(m, Options{Title: "Permission mode", Items: items, Selected: string(current), Wide: true})
}

// NewFirstMode is NewModes for somebody who has not chosen one yet.
func NewFirstMode(m *key.Map, usual lathe.Mode, confined bool) *List {
	items := modeItems(confined)
	for i := range items {
		if items[i].ID == string(usual) {
			items[i].Right = "recommended"
		}
	}
	return NewList(m, Options{
		Title: "What may lathe do without asking?", Placeholder: "You can change it with /permissions or " + m.Label(key.PermissionModeCycle),
		Items: items, Selected: string(usual), Wide: true,
	})
}

func modeItems(confined bool) []Item {
	sandbox := "commands are confined to the project"
	reads := "nothing is changed, commands can only read"
	if !confined {
		sandbox, reads = "without one here: commands are asked about", "nothing is changed, commands are asked about"
	}
	return []Item{
		{ID: string(lathe.AskMode), Title: ModeTitle(lathe.AskMode), Detail: "reading and searching are allowed"},
		{ID: string(lathe.SandboxMode), Title: ModeTitle(lathe.SandboxMode), Detail: sandbox},
		{ID: string(lathe.ReadOnlyMode), Title: ModeTitle(lathe.ReadOnlyMode), Detail: reads},
	}
}
