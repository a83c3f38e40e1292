package home

import (
	"strings"

	"github.com/lathe-agent/lathe/tui/key"
)

// tip is a sentence about something one can do. A % stands for the keys of name; without keys it is not told.
type tip struct {
	text string
	name key.Name
}

// tips are all there are. What is between backticks is to be typed or pressed.
func tips() []tip {
	return []tip{
		{"Write `@` and part of a file's name to show the file to the model.", ""},
		{"`@main.go#12-40` attaches only these lines of a file.", ""},
		{"Begin with `!` to run a command of your shell; the model sees what it printed.", ""},
		{"Type `/` to see all commands; type on to narrow them down.", ""},
		{"`%` shows everything you can do, with its keys.", key.CommandList},
		{"`%` switches between agents: one plans, one builds.", key.AgentCycle},
		{"`%` changes how long the model thinks before it answers.", key.VariantCycle},
		{"`%` chooses another model, also in the middle of a session.", key.ModelList},
		{"`%` goes through the models you used last.", key.ModelCycleRecent},
		{"`%` takes back your last prompt and the changes it made to files.", key.MessagesUndo},
		{"`%` brings back what you have undone.", key.MessagesRedo},
		{"You can go on writing while the model works: it hears you before its next step. `/queue` waits for the end.", ""},
		{"`%` twice stops the model at once; what it has done so far stays.", key.SessionInterrupt},
		{"`%` writes a line break into the prompt.", key.InputNewline},
		{"`%` opens the prompt in your own editor.", key.EditorOpen},
		{"`%` lists your sessions; type to search in them.", key.SessionList},
		{"`%` shows what the session is about at the side: window, cost, changed files.", key.SidebarToggle},
		{"`%` sums a long session up, so that there is room again.", key.SessionCompact},
		{"`%` jumps to an earlier prompt; from there you can go another way.", key.SessionTimeline},
		{"`%` looks through themes and shows each as you move.", key.ThemeList},
		{"`/init` writes an AGENTS.md, so that the model knows the ways of your project.", ""},
		{"`/review` looks over what you have not committed yet.", ""},
		{"`/diff` shows all changes, side by side where there is room.", ""},
		{"`/fork` tries something in a copy of the session.", ""},
		{"`%` writes the session to a file you can read or send.", key.SessionExport},
		{"Paste or drop a picture into the prompt: models that can see will look at it.", ""},
		{"`lathe -c` continues where you stopped last time.", ""},
		{"`lathe run \"…\"` asks without this screen, for scripts.", ""},
		{"Before “Allow always” counts, you see the exact patterns that it allows.", ""},
		{"`@` and the name of an agent gives it a part of the work.", ""},
	}
}

// Tip returns one of the tips, whatever the number; label gives the keys of a name, "" for none.
func Tip(n int, label func(key.Name) string) string {
	all := tips()
	for i := range all {
		t := all[(max(n, 0)+i)%len(all)]
		if t.name == "" {
			return t.text
		}
		if l := label(t.name); l != "" {
			return strings.ReplaceAll(t.text, "%", l)
		}
	}
	return ""
}
