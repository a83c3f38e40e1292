package whichkey

import (
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// columnWidth is the least width of a column.
const columnWidth = 38

// entry is a line of the panel: a heading, or keys and their label.
type entry struct {
	group      key.Group
	name       key.Name // "" for a heading and for a line of several names
	keys, does string
}

// View draws the panel, at most as high as asked: a title, and the keys in columns.
func (p *Panel) View(th *style.Theme, m *key.Map, now Context, width, height int) []style.Line {
	p.hits = p.hits[:0]
	if width < 1 || height < 2 {
		return nil
	}
	all, groups := collect(m, now, p.list)
	p.groups = len(groups)
	if p.group > p.groups {
		p.Reset()
	}
	items := arrange(all, groups, p.group)
	p.columns = max(1, (width-2)/columnWidth)
	if p.list {
		p.columns = 1
	}
	p.rows = min(height-1, max(1, (len(items)+p.columns-1)/p.columns))
	p.total = len(items)
	p.scroll(0)
	out := []style.Line{p.title(th, m, now, groups, width)}
	if len(items) == 0 {
		out = append(out, style.Of(" no keys here", style.Fg(th.TextMuted)))
	} else {
		out = append(out, p.body(th, items[p.top:], width)...)
	}
	return style.Block(out, width, len(out), th.BackgroundPanel)
}

// collect finds the available actions and their groups; with all keys of each, or the first.
func collect(m *key.Map, now Context, every bool) (all []entry, groups []key.Group) {
	wanted := make(map[key.Name]bool, len(now.Names))
	for _, n := range now.Names {
		wanted[n] = true
	}
	for _, e := range key.All() {
		if !wanted[e.Name] {
			continue
		}
		labels := m.Labels
		if now.AfterLeader {
			labels = m.NextLabels
		}
		set := labels(e.Name)
		if len(set) == 0 {
			continue
		}
		if !every {
			set = set[:1]
		}
		keys := strings.Join(set, ", ")
		if n := len(all); n > 0 && isSwitch(e.Name) && isSwitch(all[n-1].name) {
			all[n-1].keys, all[n-1].does = from(all[n-1].keys)+" – "+keys, "Open a pinned session"
			continue // nine lines that say the same would hide the others
		}
		if len(groups) == 0 || groups[len(groups)-1] != e.Group {
			groups = append(groups, e.Group)
		}
		all = append(all, entry{e.Group, e.Name, keys, e.Does})
	}
	for i := range all {
		if strings.Contains(all[i].keys, " – ") {
			all[i].name = "" // which one is not said
		}
	}
	return all, groups
}

// isSwitch reports whether a name is one of those that open a pinned session.
func isSwitch(n key.Name) bool { return strings.HasPrefix(string(n), "session_quick_switch_") }

// from is the beginning of a range of keys.
func from(keys string) string {
	first, _, _ := strings.Cut(keys, " – ")
	return first
}

// arrange puts headings between groups, or takes one group alone.
func arrange(all []entry, groups []key.Group, group int) []entry {
	out := make([]entry, 0, len(all)+len(groups))
	for i, e := range all {
		if group > 0 && e.group != groups[group-1] {
			continue
		}
		if group == 0 && len(groups) > 1 && (i == 0 || all[i-1].group != e.group) {
			out = append(out, entry{group: e.group})
		}
		out = append(out, e)
	}
	return out
}

// title shows the title, the groups and the scroll position.
func (p *Panel) title(th *style.Theme, m *key.Map, now Context, groups []key.Group, width int) style.Line {
	l := style.Of(" "+now.Title+" ", style.Bold(th.Primary))
	right := p.where(th, m)
	tabs := append([]key.Group{"All"}, groups...)
	room := width - l.Width() - right.Width() - 1
	need := 0
	for _, g := range tabs {
		need += style.Width(string(g)) + 2
	}
	if need > room { // only the one that is chosen
		tabs = tabs[p.group : p.group+1]
	}
	for i, g := range tabs {
		a := style.Fg(th.TextMuted)
		if len(tabs) == 1 || i == p.group {
			a = style.Attr{FG: th.Text, Underline: true}
		}
		if len(tabs) > 1 {
			p.hits = append(p.hits, hit{x: l.Width() + 1, width: style.Width(string(g)), group: i})
		}
		l = l.Add(" ", style.Attr{}).Add(string(g), a).Add(" ", style.Attr{})
	}
	if l.Width()+right.Width() > width {
		return l.Truncate(width)
	}
	return append(l.Fit(width-right.Width(), style.Attr{}), right...)
}

// where tells which part of the entries is shown, and how to get to the others.
func (p *Panel) where(th *style.Theme, m *key.Map) style.Line {
	page := p.rows * p.columns
	if p.total <= page {
		return nil
	}
	text := strconv.Itoa(min(p.total, p.top+page)) + "/" + strconv.Itoa(p.total)
	if l := m.Label(key.WhichKeyPageDown); l != "" {
		text = l + "  " + text
	}
	return style.Of(text+" ", style.Fg(th.TextMuted))
}

// body draws the entries from top to bottom and then from left to right.
func (p *Panel) body(th *style.Theme, items []entry, width int) []style.Line {
	out := make([]style.Line, p.rows)
	w := (width - 2) / p.columns
	for c := range p.columns {
		column := items[min(c*p.rows, len(items)):min((c+1)*p.rows, len(items))]
		keys := 0
		for _, e := range column {
			keys = max(keys, style.Width(e.keys))
		}
		keys = min(keys, max(6, w/2-1))
		for y, e := range column {
			x := 1 + c*w
			out[y] = append(out[y].Fit(x, style.Attr{}), e.line(th, w-2, keys)...)
			if e.name != "" {
				p.hits = append(p.hits, hit{x: x, y: y + 1, width: w - 2, name: e.name})
			}
		}
	}
	return out
}

// line draws an entry with its keys in a column of their own.
func (e entry) line(th *style.Theme, width, keys int) style.Line {
	if e.keys == "" {
		return style.Of(string(e.group), style.Bold(th.Secondary)).Truncate(width)
	}
	l := style.Of(e.keys, style.Fg(th.Text)).Fit(keys, style.Attr{})
	return l.Add("  "+e.does, style.Fg(th.TextMuted)).Truncate(width)
}
