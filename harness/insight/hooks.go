package insight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/claudecode"
	"github.com/lathe-agent/lathe/workspace"
)

// hasUntrustedHooks reports whether the project has hooks that do not run, because it is not trusted.
func hasUntrustedHooks(l *config.Loaded) bool {
	return l.Untrusted != nil && slices.ContainsFunc(l.Untrusted.Risks, func(r config.Risk) bool { return len(r.Key) > 0 && r.Key[0] == "hooks" })
}

// checkHooks counts the hooks in effect by event.
func (r *Reports) checkHooks(ctx context.Context, at workspace.Place) api.Check {
	l, err := r.Source.Config(ctx, at)
	if err != nil {
		return fail("the config cannot be read", "See the check of the config.")
	}
	var parts []string
	for _, event := range claudecode.HookEvents() {
		n := 0
		for _, g := range l.Config.Hooks[event] {
			n += len(g.Hooks)
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", event, n))
		}
	}
	detail := strings.Join(parts, ", ")
	switch {
	case l.Config.DisableHooks:
		return off("disabled by disable_hooks")
	case hasUntrustedHooks(l):
		return warn(strings.TrimPrefix(detail+"; hooks of this project do not run, because it is not trusted", "; "), "Read them with `lathe trust --show`, then run `lathe trust`.")
	default:
		return ok(detail)
	}
}
