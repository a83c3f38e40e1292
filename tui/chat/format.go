package chat

import (
	"cmp"
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
	rest, ok := strings.CutPrefix(p, dir)
	switch {
	case dir == "" || !ok:
		return "", false
	case rest == "":
		return ".", true
	default:
		return rest[1:], rest[0] == '/' || rest[0] == filepath.Separator
	}
}

func (pt *painter) agentColor(agent string) style.Color {
	if pt.env.AgentColor != nil {
		return pt.env.AgentColor(agent).Or(pt.env.Theme.Primary)
	}
	return pt.env.Theme.Primary
}

func (pt *painter) modelName(ref lathe.ModelRef) string {
	if pt.env.ModelName == nil {
		return ref.Model
	}
	return cmp.Or(pt.env.ModelName(ref), ref.Model)
}
