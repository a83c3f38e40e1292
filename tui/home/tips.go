package home

import (
	_ "embed"
	"strings"

	"github.com/lathe-agent/lathe/tui/key"
)

// tips has one tip per line, after the key name that replaces the %, or - for none.
// Text between backticks is input to type or press.
//
//go:embed tips.txt
var tips string

// Placeholder is the text of an empty prompt: an example, whatever the number.
func Placeholder(n int) string {
	examples := [...]string{"Fix the failing test in store", "What does this project do?", "Add a --json flag to the list command", "Review my uncommitted changes"}
	return `Ask anything … "` + examples[max(n, 0)%len(examples)] + `"`
}

// Tip returns one of the tips, whatever the number; label gives the keys of a name, "" for none. A tip about a name without
// keys is skipped.
func Tip(n int, label func(key.Name) string) string {
	all := strings.Split(strings.TrimSpace(tips), "\n")
	for i := range all {
		name, text, _ := strings.Cut(all[(max(n, 0)+i)%len(all)], " ")
		if name == "-" {
			return text
		}
		if l := label(key.Name(name)); l != "" {
			return strings.ReplaceAll(text, "%", l)
		}
	}
	return ""
}
