package report

import (
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/api"
)

// Terminal checks the abilities of a terminal by the variables of its environment and its size.
func Terminal(env func(name string) string, width, height int) []api.Check {
	term, tmux := clean(env("TERM")), env("TMUX") != ""
	about := api.Check{Name: "Terminal", Status: api.CheckOK, Detail: term}
	if width > 0 {
		about.Detail += fmt.Sprintf(", %d×%d", width, height)
	}
	if tmux {
		about.Detail += ", in tmux"
	}
	switch {
	case term == "" || term == "dumb":
		about.Status, about.Detail, about.Fix = api.CheckWarn, "TERM is "+quote(term), "Set TERM to the name of your terminal, such as xterm-256color."
	case width > 0 && (width < 60 || height < 16):
		about.Status, about.Fix = api.CheckWarn, "Enlarge the window to 60×16 or more."
	}
	out := []api.Check{about, colors(env, term)}
	locale := env("LC_ALL") + env("LC_CTYPE") + env("LANG")
	text := api.Check{Name: "Characters", Status: api.CheckOK, Detail: "UTF-8"}
	if low := strings.ToLower(locale); locale != "" && !strings.Contains(low, "utf-8") && !strings.Contains(low, "utf8") {
		text.Status, text.Detail, text.Fix = api.CheckWarn, "the locale is "+quote(clean(locale)), "Set LANG to a UTF-8 locale, such as en_US.UTF-8."
	}
	out = append(out, text)
	clip := api.Check{Name: "Clipboard", Status: api.CheckOK, Detail: "through the terminal (OSC 52)"}
	if tmux {
		clip.Detail += "; tmux needs `set -g set-clipboard on`"
	}
	return append(out, clip)
}

// colors says how many colors the terminal shows.
func colors(env func(string) string, term string) api.Check {
	out := api.Check{Name: "Colors", Status: api.CheckOK, Detail: "24-bit"}
	switch depth := env("COLORTERM"); {
	case env("NO_COLOR") != "":
		out.Detail = "off, because NO_COLOR is set"
	case depth == "truecolor" || depth == "24bit":
	case strings.Contains(term, "256color"):
		out.Detail = "256; set COLORTERM=truecolor if your terminal shows more"
	default:
		out.Status, out.Detail, out.Fix = api.CheckWarn, "16 or fewer", "Use a terminal with 256 colors, or set COLORTERM=truecolor."
	}
	return out
}

// quote marks a value that may be empty.
func quote(s string) string {
	if s == "" {
		return "not set"
	}
	return "\"" + s + "\""
}
