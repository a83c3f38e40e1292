package ask

import (
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Rules are the contents of the permissions dialog.
type Rules struct {
	Session lathe.SessionID // "" without one
	Grants  []grant.Grant
	Agent   string // whose rules are listed
	Config  lathe.Ruleset
	Modes   []dialog.Item // the permission modes
}

// The ids of entries that are neither a mode nor a rule.
const (
	AddForSession = "add session"
	AddForProject = "add project"
)

const (
	modePrefix  = "mode "
	grantPrefix = "grant "
)

// NewRules lists the permission modes, the saved rules and those of the agent. Saved rules can be revoked with a key.
func NewRules(m *key.Map, r Rules) *dialog.List {
	label, selected := m.Label(key.SessionDelete), ""
	for _, mode := range r.Modes {
		if mode.Mark == dialog.Current {
			selected = modePrefix + mode.ID
		}
	}
	return dialog.NewList(m, dialog.Options{
		Title: "Permissions", Placeholder: "Search rules", Items: RuleItems(r), Wide: true, Selected: selected,
		Extras: []dialog.Extra{{Name: key.SessionDelete, Label: "revoke", Confirm: "Press " + label + " again to revoke"}},
	})
}

// RuleItems are the entries of NewRules, for SetItems after a change.
func RuleItems(r Rules) []dialog.Item {
	var items []dialog.Item
	for _, mode := range r.Modes {
		mode.ID, mode.Group = modePrefix+mode.ID, "Mode"
		items = append(items, mode)
	}
	const forSession, forProject = "This session", "Always, in this project"
	if r.Session != "" {
		items = append(items, dialog.Item{ID: AddForSession, Title: "Allow something for this session…", Group: forSession})
		items = append(items, grantItems(r.Grants, grant.Session, forSession)...)
	}
	items = append(items, dialog.Item{ID: AddForProject, Title: "Allow something in this project…", Group: forProject})
	items = append(items, grantItems(r.Grants, grant.Project, forProject)...)
	for _, rule := range slices.Backward(r.Config) {
		items = append(items, dialog.Item{
			Title: plain(rule.Permission + "  " + rule.Pattern), Right: string(rule.Action), Group: "Rules of " + r.Agent + ", from config and defaults; the first that matches counts",
		})
	}
	return items
}

func grantItems(all []grant.Grant, scope grant.Scope, group string) (items []dialog.Item) {
	for _, g := range all {
		if g.Scope() == scope {
			items = append(items, dialog.Item{
				ID: grantPrefix + g.Permission + "\n" + g.Pattern + "\n" + string(g.Session), Title: plain(g.Permission + "  " + g.Pattern),
				Detail: plain(grant.Describe(g.Permission, g.Pattern)), Right: "allow", Group: group,
			})
		}
	}
	return items
}

// plain makes hidden characters visible.
func plain(text string) string {
	line, _ := visibleLine(strings.ReplaceAll(text, "\n", "↵"), style.Attr{}, style.Attr{})
	return line.Text()
}

// ChosenMode is the permission mode of an entry, "" for another.
func ChosenMode(id string) lathe.Mode {
	mode, ok := strings.CutPrefix(id, modePrefix)
	if !ok {
		return ""
	}
	return lathe.Mode(mode)
}

// ChosenGrant is the saved rule of an entry.
func ChosenGrant(id string) (grant.Grant, bool) {
	rest, ok := strings.CutPrefix(id, grantPrefix)
	permission, rest, _ := strings.Cut(rest, "\n")
	at := strings.LastIndex(rest, "\n") // a pattern may have several lines
	if !ok || at < 0 {
		return grant.Grant{}, false
	}
	return grant.Grant{Permission: permission, Pattern: rest[:at], Session: lathe.SessionID(rest[at+1:])}, true
}

// ParseRule reads a permission and a pattern, as a user writes them: bash git push *.
func ParseRule(text string) (grant.Grant, error) {
	permission, pattern, _ := strings.Cut(strings.TrimSpace(text), " ")
	g := grant.Grant{Permission: permission, Pattern: strings.TrimSpace(pattern)}
	return g, grant.Check(g.Permission, g.Pattern)
}
