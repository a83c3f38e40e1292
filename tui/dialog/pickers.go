package dialog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// NewThemes picks a theme: Moved previews a theme, Closed restores the old one.
func NewThemes(m *key.Map, names []string, current string) *List {
	var items []Item
	for _, n := range names {
		items = append(items, Item{ID: n, Title: n})
	}
	return NewList(m, Options{Title: "Themes", Placeholder: "Search themes", Items: markCurrent(items, current), Selected: current, Live: true, Empty: "No themes."})
}

// NewToolServers toggles MCP servers: Chosen has a name, for any key.
func NewToolServers(m *key.Map, servers []lathe.ToolServer) *List {
	return NewList(m, Options{
		Title: "MCP servers", Placeholder: "Search servers", Items: ToolServerItems(servers), Wide: true,
		Empty:  "No MCP servers configured. Add them under \"mcp\" in the config file.",
		Extras: []Extra{{Name: key.DialogMCPToggle, Label: "toggle"}},
	})
}

// ToolServerItems are the entries of NewToolServers, for SetItems after one was switched.
func ToolServerItems(servers []lathe.ToolServer) []Item {
	var out []Item
	for _, s := range servers {
		it := Item{ID: s.Name, Title: s.Name, Right: strings.ReplaceAll(s.Status, "_", " "), Detail: s.Error}
		switch s.Status {
		case "connected":
			it.Mark = Done
			if s.Tools > 0 {
				it.Detail = style.Plural(s.Tools, "tool")
			}
		case "failed":
			it.Mark = Failed
		case "needs_auth", "needs_client_registration":
			it.Mark, it.Right = Failed, "login needed"
			it.Detail = cmp.Or(it.Detail, "lathe mcp auth "+s.Name)
		case "connecting":
			it.Mark = Running
		case "disabled":
			it.Right = "off"
		}
		out = append(out, it)
	}
	return out
}

// NewSkills picks a skill: Chosen has its name.
func NewSkills(m *key.Map, skills []lathe.Skill) *List {
	var items []Item
	for _, s := range skills {
		items = append(items, Item{ID: s.Name, Title: s.Name, Detail: s.Description})
	}
	return NewList(m, Options{
		Title: "Skills", Placeholder: "Search skills", Items: items, Wide: true,
		Empty: "No skills. Add one at .lathe/skills/NAME/SKILL.md.",
	})
}

// Action is an entry of the palette.
type Action struct {
	ID        string   // returned in Chosen
	Key       key.Name // to show its keybind; may be empty
	Title     string
	Group     string
	Slash     string      // slash command, such as "/new"
	Suggested bool        // listed first
	IsOn      func() bool // the state of a toggle, which is shown; nil if it is none
}

// NewPalette picks something to do: Chosen has the id of an action. Each action is listed once.
func NewPalette(m *key.Map, actions []Action) *List {
	var items []Item
	add := func(a Action, group string) {
		it := Item{ID: a.ID, Title: a.Title, Detail: a.Slash, Group: group, Search: string(a.Key)}
		if a.Key != "" {
			it.Right = m.Label(a.Key)
		}
		if a.IsOn != nil {
			it.Title += map[bool]string{true: ": on", false: ": off"}[a.IsOn()]
		}
		items = append(items, it)
	}
	for _, a := range actions {
		if a.Suggested {
			add(a, "Suggested")
		}
	}
	var groups []string // in the order they first appear
	for _, a := range actions {
		if !slices.Contains(groups, a.Group) {
			groups = append(groups, a.Group)
		}
	}
	for _, group := range groups {
		for _, a := range actions {
			if a.Group == group && !a.Suggested {
				add(a, group)
			}
		}
	}
	return NewList(m, Options{Title: "Commands", Placeholder: "Search commands", Items: items})
}

// ModeTitle is the display name of a permission mode.
func ModeTitle(m lathe.Mode) string {
	return cmp.Or(map[lathe.Mode]string{
		lathe.AskMode: "Ask before edits and commands", lathe.SandboxMode: "Allow inside the sandbox", lathe.ReadOnlyMode: "Read only",
	}[m], string(m))
}

// ModeItems are the permission modes, with the current one marked. confined says that commands run in a kernel sandbox.
func ModeItems(current lathe.Mode, confined bool) []Item {
	return markCurrent(modeItems(confined), string(current))
}

// NewFirstMode picks a permission mode at the first start: Chosen has it as its id.
func NewFirstMode(m *key.Map, usual lathe.Mode, confined bool) *List {
	items := modeItems(confined)
	for i := range items {
		if items[i].ID == string(usual) {
			items[i].Right = "recommended"
		}
	}
	return NewList(m, Options{
		Title: "What can lathe do without asking?", Placeholder: "Change it later with /permissions or " + m.Label(key.PermissionModeCycle),
		Items: items, Selected: string(usual), Wide: true,
	})
}

// modeItems describes each mode by its effect here: without a sandbox commands need approval.
func modeItems(confined bool) []Item {
	sandbox := "commands are confined to the project"
	reads := "no changes, commands can only read"
	if !confined {
		sandbox, reads = "no sandbox here: asks before commands", "no changes, asks before commands"
	}
	return []Item{
		{ID: string(lathe.AskMode), Title: ModeTitle(lathe.AskMode), Detail: "reading and searching are allowed"},
		{ID: string(lathe.SandboxMode), Title: ModeTitle(lathe.SandboxMode), Detail: sandbox},
		{ID: string(lathe.ReadOnlyMode), Title: ModeTitle(lathe.ReadOnlyMode), Detail: reads},
	}
}
