package chat

import (
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

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
