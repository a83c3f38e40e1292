package home

import (
	_ "embed"
	"strings"

	"github.com/lathe-agent/lathe/tui/key"
)

// tips has a sentence in each line about something one can do, after the name whose keys stand for a %, or - where there is
// none. What is between backticks is to be typed or pressed.
//
//go:embed tips.txt
var tips string

// Tip returns one of the tips, whatever the number; label gives the keys of a name, "" for none. A tip about a name without
// keys is not told.
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
