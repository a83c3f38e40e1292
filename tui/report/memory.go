package report

import (
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/style"
)

// Memory renders the instruction files that apply. home is shortened to ~ in their paths.
func Memory(files []api.MemoryFile, home string, width int) []Row {
	width = max(width, 20)
	var out []Row
	for _, f := range files {
		detail, tone := "not created yet", Muted
		if f.Exists {
			detail, tone = style.Plural(f.Lines, "line")+", "+style.Count(int64(f.Tokens))+" tokens", Normal
		}
		out = append(out, pair(Row{{Tilde(f.Path, home), tone}}, Span{clean(f.Owner) + ", " + detail, Muted}, width))
	}
	return append(append(out, nil), wrap("A prompt that begins with # adds its line to the project's file.", "", Muted, width)...)
}

// Tilde shortens the home folder of a path.
func Tilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
		return clean("~/" + rest)
	}
	return clean(path)
}
