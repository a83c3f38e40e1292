// Package keyhelp draws a short list of the keys that work in one place of the screen, from the user's keybinds.
//
// Start with View; the functions named after places make its groups.
package keyhelp

import (
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Group is keys with a heading.
type Group struct {
	Title string
	Items []Item
}

// Item is a line: the keys of its names, or a literal key, and their effect.
type Item struct {
	Names   []key.Name
	Literal string // instead of names, or "twice" after them
	Does    string
}

func item(does string, names ...key.Name) Item { return Item{Names: names, Does: does} }

func literal(keys, does string) Item { return Item{Literal: keys, Does: does} }

// Twice marks a key that is pressed two times.
const Twice = "twice"

// Prompt are the keys worth knowing of an empty prompt, at home or in a session.
func Prompt(inSession bool) []Group {
	prompt := Group{"Prompt", []Item{
		item("send", key.InputSubmit), item("start a new line", key.InputNewline), item("earlier prompts", key.HistoryPrevious, key.HistoryNext),
		item("search earlier prompts", key.HistorySearch), literal("@", "mention a file or agent"), literal("/", "run a command"),
		literal("!", "run a shell command"), item("open your editor", key.EditorOpen),
	}}
	work := Group{"Work", []Item{
		item("all commands", key.CommandList), item("open a session", key.SessionList), item("choose a model", key.ModelList),
		item("reasoning level", key.VariantCycle), item("next agent", key.AgentCycle), item("permission mode", key.PermissionModeCycle),
	}}
	leave := Group{"Terminal", []Item{item("clear the prompt, exit", key.AppExit), item("suspend", key.TerminalSuspend)}}
	if !inSession {
		return []Group{prompt, work, leave}
	}
	work.Items = slices.Insert(work.Items, 2, item("new session", key.SessionNew))
	return []Group{prompt, {"Conversation", []Item{
		item("search, select, copy", key.ScrollMode), item("scroll", key.MessagesPageUp, key.MessagesPageDown),
		{Names: []key.Name{key.SessionInterrupt}, Literal: Twice, Does: "interrupt, edit earlier"},
		item("undo a prompt", key.MessagesUndo), item("copy the last answer", key.MessagesCopy),
	}}, work, leave}
}

// Child are the keys in the session of a subagent.
func Child() []Group {
	return []Group{{"Subagent", []Item{
		item("main session", key.SessionInterrupt, key.SessionParent), item("previous, next subagent", key.SessionChildCycleReverse, key.SessionChildCycle),
		item("search, select, copy", key.ScrollMode), item("scroll", key.MessagesPageUp, key.MessagesPageDown), item("all commands", key.CommandList),
	}}}
}

// Scroll are the keys of the scroll mode.
func Scroll() []Group {
	return []Group{
		{"Move", []Item{
			item("one line", key.ScrollUp, key.ScrollDown), item("half a page", key.ScrollHalfPageUp, key.ScrollHalfPageDown),
			item("one page", key.ScrollPageUp, key.ScrollPageDown), item("first, last message", key.ScrollFirst, key.ScrollLast),
			item("previous, next prompt", key.ScrollPreviousPrompt, key.ScrollNextPrompt),
		}},
		{"Search", []Item{
			item("search", key.ScrollSearch), item("next, previous match", key.ScrollNextMatch, key.ScrollPreviousMatch),
		}},
		{"Copy", []Item{
			item("select lines", key.ScrollSelect), item("copy", key.ScrollCopy), item("unfold or fold", key.ScrollUnfold),
		}},
		{"Leave", []Item{item("back to the prompt", key.ScrollClose)}},
	}
}

// Dialog are the keys of a list or a form; extras are those of its own.
func Dialog(extras []dialog.Extra) []Group {
	out := []Group{{"Dialog", []Item{
		item("move", key.DialogSelectPrev, key.DialogSelectNext), item("move by a page", key.DialogSelectPageUp, key.DialogSelectPageDown),
		item("choose", key.DialogSelectSubmit), literal("type", "filter"), literal("esc", "close"),
	}}}
	if len(extras) > 0 {
		own := Group{Title: "Here"}
		for _, x := range extras {
			own.Items = append(own.Items, item(x.Label, x.Name))
		}
		out = append(out, own)
	}
	return out
}

// Request are the keys of a permission request or a question.
func Request(permission bool) []Group {
	g := Group{"Request", []Item{
		literal("1 2 3 …", "select an answer"), literal("← → ↑ ↓", "select an answer"), item("confirm", key.DialogSelectSubmit),
	}}
	if permission {
		g.Items = append(g.Items, literal("type", "reject with a reason"), literal("esc", "reject"), item("full screen", key.PermissionPromptFullscreen))
	} else {
		g.Items = append(g.Items, literal("esc", "dismiss"))
	}
	g.Items = append(g.Items, item("scroll the conversation", key.MessagesPageUp, key.MessagesPageDown))
	return []Group{g}
}

// labelWidth is the number of cells for keys, columnWidth that for keys and their effect. Two columns fit 80 cells.
const (
	labelWidth  = 12
	columnWidth = 38
)

// View draws the list in as many columns as fit, up to three.
func View(th *style.Theme, m *key.Map, groups []Group, width, height int) []style.Line {
	var blocks [][]style.Line
	rows := 0
	for _, g := range groups {
		b := []style.Line{style.Of(" "+g.Title, style.Bold(th.Accent))}
		for _, it := range g.Items {
			if label := it.label(m); label != "" {
				row := style.Of(" "+label, style.Fg(th.Primary)).Fit(labelWidth+1, style.Attr{})
				b = append(b, row.Add(" "+it.Does, style.Fg(th.Text)).Truncate(columnWidth))
			}
		}
		if len(b) > 1 {
			blocks, rows = append(blocks, b), rows+len(b)+1
		}
	}
	columns := min(3, len(blocks), max(1, (width-4)/columnWidth))
	body := inColumns(blocks, columns, (rows+columns-1)/columns)
	if most := max(1, height-2); len(body) > most {
		body = body[:most]
	}
	return dialog.Frame(th, "Keys", body, min(width, columns*columnWidth+2))
}

// inColumns puts blocks below each other, and beside each other where a column has its share.
func inColumns(blocks [][]style.Line, columns, share int) (out []style.Line) {
	at, y := 0, 0
	for _, b := range blocks {
		if y > 0 && y+len(b)/2 > share && at+1 < columns {
			at, y = at+1, 0
		}
		if y > 0 {
			y++
		}
		for _, row := range b {
			for len(out) <= y {
				out = append(out, nil)
			}
			out[y] = append(out[y].Fit(at*columnWidth, style.Attr{}), row...)
			y++
		}
	}
	return out
}

// label writes the keys of a line: one of each name, or the first and the last of a single one, or its shortest.
func (it Item) label(m *key.Map) string {
	var all []string
	for _, n := range it.Names {
		labels := m.Labels(n)
		switch {
		case len(labels) == 0:
		case len(it.Names) > 1 || len(labels) == 1 || it.Literal != "":
			all = append(all, labels[0])
		default:
			short := slices.MinFunc(labels, func(a, b string) int { return len(a) - len(b) })
			if both := labels[0] + " " + labels[len(labels)-1]; style.Width(both) <= labelWidth {
				short = both
			}
			all = append(all, short)
		}
	}
	if len(it.Names) > 0 && len(all) == 0 {
		return ""
	}
	if it.Literal == Twice {
		return strings.Join(append(all, all...), " ")
	}
	return strings.Join(append(all, strings.Fields(it.Literal)...), " ")
}
