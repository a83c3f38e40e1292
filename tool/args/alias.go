package args

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

//go:embed alias.txt
var aliasText string

var aliases = phrase.WordLists(aliasText)

// aliasesOf returns what may be meant by a name, of members or of tools, the likeliest first.
func aliasesOf(kind, name string) []string {
	for key, names := range aliases() {
		if ours, ok := strings.CutPrefix(key, kind+" "); ok && slices.Contains(names, Normalize(name)) {
			return strings.Fields(ours)
		}
	}
	return nil
}

// ToolAliases returns the tools that may be meant by the name another agent has for them, the
// likeliest first.
func ToolAliases(name string) []string { return aliasesOf("tool", name) }

// EditorAliases is ToolAliases for the editors that have one tool for several things and say in
// a member which of them is meant.
func EditorAliases(name string, raw []byte) []string {
	switch Normalize(name) {
	case "strreplaceeditor", "strreplacebasededittool":
		for _, m := range Members(raw) {
			switch {
			case m.Key == "command" && string(m.Val) == `"view"`:
				return []string{"read"}
			case m.Key == "command" && string(m.Val) == `"create"`:
				return []string{"write"}
			}
		}
	}
	return ToolAliases(name)
}

// Normalize is a name without what users and models write differently.
func Normalize(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', ' ', '.':
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// verbatim reports whether a member holds text that is used to the letter, so that nothing
// but a text may be taken for it.
func verbatim(name string) bool {
	return slices.Contains([]string{"content", "oldString", "newString", "patchText", "command"}, name)
}

// isPath reports whether a member holds the path of a file.
func isPath(name string) bool {
	return name == "path" || name == "workdir" || strings.HasSuffix(name, "Path")
}
