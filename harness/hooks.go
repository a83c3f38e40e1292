package harness

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/claudecode"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/extension/hook"
	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace"
)

// hookSets makes the hooks of directories, and has the sessions that they know.
type hookSets struct {
	harness *Harness

	mu   sync.Mutex // guards the fields below
	dirs map[string]*hook.Sessions
	// trusted are the directories whose project had hooks that ran.
	trusted map[string]bool
}

// newHookSets starts nothing: a directory without hooks costs nothing.
func newHookSets(h *Harness) *hookSets {
	return &hookSets{harness: h, dirs: map[string]*hook.Sessions{}, trusted: map[string]bool{}}
}

// add gives turns the hooks of the config. Without hooks it does nothing.
func (s *hookSets) add(k *DirConfig, place workspace.Place, out *engine.StepSettings) {
	c, h := k.loaded.Config, s.harness
	sessions, lost := s.sessions(k.loaded, place.Directory)
	if lost {
		out.Hooks.ToolGate = refuseLostHooks
	}
	if sessions == nil {
		return
	}
	set := hook.New(hook.Options{
		Groups: hookGroups(c.Hooks), Dir: place.Directory, Root: projectRoot(place), Servers: serverNames(c), Runner: h.Runner, Sessions: sessions,
		Env:     sync.OnceValue(func() []string { return bash.Scrub(environ.With(h.commandEnv(), c.Env), k.secretNames(), nil) }),
		Confine: h.Confine.Hook(c, place), Mode: claudeMode(func() config.Config { return h.withMode(place, c) }), Log: h.app.Log,
		Notify: func(text string) {
			h.Engine.Publish(lathe.Event{Directory: place.Directory, Project: place.ProjectID, Fact: &lathe.TUIToast{Title: "Hook", Message: text, Variant: "warning"}})
		},
	})
	out.Hooks = set.Hooks(out.Hooks)
}

// sessions returns the sessions of a directory with hooks, nil if it has none. lost reports whether the project had hooks
// in this process that no longer count, because a file of theirs changed. A model must not be able to get rid of
// hooks that way.
func (s *hookSets) sessions(l *config.Loaded, dir string) (out *hook.Sessions, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trusted[dir] && l.Untrusted != nil {
		isHook := func(r config.Risk) bool { return len(r.Key) > 0 && r.Key[0] == "hooks" }
		if slices.ContainsFunc(l.Untrusted.Risks, isHook) {
			return nil, true
		}
	}
	if len(l.Config.Hooks) == 0 || l.Config.DisableHooks {
		return nil, false
	}
	if l.HasProjectHooks() {
		s.trusted[dir] = true
	}
	if s.dirs[dir] == nil {
		s.dirs[dir] = hook.NewSessions(hookSource{s.harness}, s.transcriptDir, s.harness.app.Version)
		s.dirs[dir].Interactive = !s.harness.headless && !s.harness.serves
	}
	return s.dirs[dir], false
}

// refuseLostHooks refuses all calls until the user trusts the project again.
func refuseLostHooks(context.Context, string, *tool.Call) (engine.ToolDecision, error) {
	return engine.ToolDecision{Action: lathe.Deny, Stop: true, Reason: "The hooks of this project, or the files they run, have changed, so lathe no longer trusts them. " +
		"No tool runs without them. The user must review the change and run `lathe trust`."}, nil
}

// projectRoot is the top of the checkout, or the directory without one.
func projectRoot(place workspace.Place) string {
	if place.Worktree == "" || place.Worktree == filepath.Dir(place.Worktree) {
		return place.Directory
	}
	return place.Worktree
}

// hookGroups gives the hooks of the config their types.
func hookGroups(all map[string][]claudecode.HookGroup) map[string][]hook.Group {
	out := map[string][]hook.Group{}
	for event, groups := range all {
		for _, g := range groups {
			group := hook.Group{Matcher: g.Matcher}
			for _, h := range g.Hooks {
				group.Commands = append(group.Commands, hook.Command{
					Command: h.Command, Args: h.Args, Timeout: time.Duration(h.Timeout * float64(time.Second)), Dir: h.Dir,
				})
			}
			out[event] = append(out[event], group)
		}
	}
	return out
}

// serverNames are the MCP servers, by which the names of their tools begin.
func serverNames(c config.Config) (out []string) {
	for _, server := range ServersOf(c) {
		out = append(out, server.Name)
	}
	return out
}

// secretNames are the variables with keys of providers.
func (k *DirConfig) secretNames() (names []string) {
	for _, p := range k.Providers.Catalog.Providers() {
		names = append(names, p.Env...)
	}
	return names
}

// claudeMode returns the permission mode in the words of hooks.
func claudeMode(now func() config.Config) func(agent string) string {
	return func(agent string) string {
		switch mode := lathe.Mode(now().PermissionMode); {
		case agent == prompt.PlanAgent || mode == lathe.ReadOnlyMode:
			return "plan"
		case mode == lathe.AskMode:
			return "default"
		default:
			return "acceptEdits"
		}
	}
}

// transcriptDir is the private folder for the transcript of a session. It is removed like those for temporary files.
func (s *hookSets) transcriptDir(id lathe.SessionID) string {
	if s.harness.Folders.Data == "" {
		return ""
	}
	return filepath.Join(s.harness.Folders.Data, "tmp", "hooks-"+string(id))
}

// end tells hooks that a session was deleted.
func (s *hookSets) end(id lathe.SessionID) {
	for _, sessions := range s.all() {
		sessions.End(id)
	}
	_ = os.RemoveAll(s.transcriptDir(id)) // old ones are removed later
}

// close ends all hooks, after those for the end of sessions.
func (s *hookSets) close() {
	for _, sessions := range s.all() {
		sessions.Close()
	}
}

func (s *hookSets) all() []*hook.Sessions {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.dirs))
}

// hookSource reads sessions of the engine, which is opened after the config.
type hookSource struct{ s *Harness }

// Session returns a session.
func (h hookSource) Session(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return h.s.Engine.Get(ctx, id)
}

// Messages returns the newest messages of a session.
func (h hookSource) Messages(ctx context.Context, id lathe.SessionID, before lathe.Position, limit int) (lathe.Page, error) {
	return h.s.Engine.Messages(ctx, id, before, limit)
}

// toolLimits denies all tools but those of a list. An allow among limits lifts the limit and gives nothing.
func toolLimits(allowed []string) lathe.Ruleset {
	out := lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Deny}}
	for _, name := range append([]string{"external_directory", "doom_loop", permission.Sandbox}, allowed...) {
		out = append(out, lathe.Rule{Permission: permissionName(name), Pattern: "*", Action: lathe.Allow})
	}
	return out
}

// hiddenTools are the rules by which the model is not shown the other tools, as far as their names are known.
func hiddenTools(allowed []string, c config.Config) (out lathe.Ruleset) {
	names := []string{"bash", "edit", "read", "glob", "grep", "list", "webfetch", "websearch", "task", "todowrite", "skill", "question"}
	for _, server := range serverNames(c) {
		names = append(names, server+"_*")
	}
	for _, name := range names {
		keeps := func(a string) bool {
			return lathe.Wildcard(permissionName(a), name) || lathe.Wildcard(name, permissionName(a))
		}
		if !slices.ContainsFunc(allowed, keeps) {
			out = append(out, lathe.Rule{Permission: name, Pattern: "*", Action: lathe.Deny})
		}
	}
	return out
}

// permissionName is the permission that a tool asks for.
func permissionName(tool string) string {
	switch tool {
	case "write", "apply_patch":
		return "edit"
	default:
		return tool
	}
}
