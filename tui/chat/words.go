package chat

import (
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// path writes a path as short as it can be said here.
func (pt *painter) path(p string) string {
	if r, ok := below(pt.env.Dir, p); ok {
		return r
	}
	if r, ok := below(pt.env.Home, p); ok {
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

func (pt *painter) agentColor(agent string) style.Color {
	if pt.env.AgentColor != nil {
		return pt.env.AgentColor(agent).Or(pt.env.Theme.Primary)
	}
	return pt.env.Theme.Primary
}

func (pt *painter) modelName(ref lathe.ModelRef) string {
	if pt.env.ModelName != nil {
		if n := pt.env.ModelName(ref); n != "" {
			return n
		}
	}
	return ref.Model
}
