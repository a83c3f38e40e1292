package chat

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// spinner is a character that turns.
func spinner(frame int) string {
	const turning = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	r := []rune(turning)
	return string(r[frame%len(r)])
}

// plural counts things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// took writes a time as people say it.
func took(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh %dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// clock writes when something was: the time of a day, with the date if it was not today.
func clock(at lathe.Time, now time.Time) string {
	t := time.UnixMilli(int64(at)).In(now.Location())
	if y, m, d := now.Date(); t.Year() == y && t.Month() == m && t.Day() == d {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 15:04")
}

// path writes a path as short as it can be said here.
func (w *walk) path(p string) string {
	if r, ok := below(w.env.Dir, p); ok {
		return r
	}
	if r, ok := below(w.env.Home, p); ok {
		return "~/" + r
	}
	return p
}

func below(dir, p string) (string, bool) {
	if dir == "" || !strings.HasPrefix(p, dir) {
		return "", false
	}
	rest := p[len(dir):]
	if rest == "" {
		return ".", true
	}
	if rest[0] != '/' && rest[0] != filepath.Separator {
		return "", false
	}
	return rest[1:], true
}

func (w *walk) agentColor(agent string) style.Color {
	if w.env.AgentColor != nil {
		return w.env.AgentColor(agent).Or(w.env.Theme.Primary)
	}
	return w.env.Theme.Primary
}

func (w *walk) modelName(ref lathe.ModelRef) string {
	if w.env.ModelName != nil {
		if n := w.env.ModelName(ref); n != "" {
			return n
		}
	}
	return ref.Model
}

// name writes the name of an agent or a tool with a capital.
func name(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
