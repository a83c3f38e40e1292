package harness

import (
	"maps"
	"path/filepath"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/harness/language"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/format"
	"github.com/lathe-agent/lathe/workspace/lsp"
)

// Languages has the language servers and formatters of the process, for all directories. Nothing is looked for or
// started until a file changes: most turns only read.
type Languages struct {
	harness *Harness
	// State creates the servers and formatters on its first call.
	State func() *language.State

	mu   sync.Mutex                 // guards the field below
	dirs map[string]workspace.Place // directories whose clients hear of servers
}

// newLanguages returns the languages of a harness, without servers.
func newLanguages(s *Harness) *Languages {
	v := &Languages{harness: s, dirs: map[string]workspace.Place{}}
	v.State = sync.OnceValue(v.open)
	return v
}

// open returns the language servers and formatters of the process. Nothing is looked for or started yet.
func (v *Languages) open() *language.State {
	s := v.harness
	env := s.app.ServiceEnv()
	place := func(dir, worktree string) workspace.Place { return workspace.Place{Directory: dir, Worktree: worktree} }
	servers := lsp.Open(lsp.Options{
		Runner: s.Runner, Env: env, Installed: s.Folders.Languages(), Log: s.app.Log,
		Confine: func(l lsp.Launch, p lsp.Project) (sandbox.Profile, error) {
			return s.Confine.Helper(v.configAt(p.Directory), place(p.Directory, p.Worktree), sandbox.ReadOnly, l.Command)
		},
		Updated: func(dir string) { v.publishTo(dir, &lathe.LSPUpdated{}) },
		Diagnosed: func(dir, server string, paths []string) {
			for _, path := range paths {
				v.publishTo(dir, &lathe.LSPDiagnosed{Server: server, Path: path})
			}
		},
		Notice: func(title, text string) {
			v.publishTo("", &lathe.TUIToast{Title: title, Message: text, Variant: "warning"})
		},
	})
	formatters := format.Open(format.Options{
		Runner: s.Runner, Env: env,
		Confine: func(p format.Project, command []string) (sandbox.Profile, error) {
			return s.Confine.Helper(v.configAt(p.Directory), place(p.Directory, p.Worktree), sandbox.Workspace, command)
		},
	})
	return language.NewState(servers, formatters, s.app.Log)
}

// configAt returns the config of a directory by its real path, the empty one if it is not known.
func (v *Languages) configAt(dir string) config.Config {
	v.mu.Lock()
	var at workspace.Place
	for _, place := range v.dirs {
		if realPath(place.Directory) == dir {
			at = place
		}
	}
	v.mu.Unlock()
	if at.Directory == "" {
		return config.Config{}
	}
	k, err := v.harness.ConfigFor(at)
	if err != nil {
		return config.Config{}
	}
	return k.loaded.Config
}

// publishTo sends an event to the clients of a directory, or of all that were used if dir is "".
func (v *Languages) publishTo(dir string, f lathe.Fact) {
	e := v.harness.Engine
	if e == nil {
		return
	}
	v.mu.Lock()
	places := maps.Clone(v.dirs)
	v.mu.Unlock()
	for _, at := range places {
		if dir == "" || realPath(at.Directory) == dir {
			e.Publish(lathe.Event{Directory: at.Directory, Project: at.ProjectID, Fact: f})
		}
	}
}

// realPath resolves symlinks, since language servers know files by their real paths.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// Project describes a directory to language servers.
func (v *Languages) Project(k *DirConfig, at workspace.Place) lsp.Project {
	v.mu.Lock()
	v.dirs[at.Directory] = at
	v.mu.Unlock()
	c := k.loaded.Config.LSP
	out := lsp.Config{Off: c.Off, Install: c.Install, Memory: int64(c.Memory) << 20, Settings: map[string]lsp.Setting{}}
	for id, one := range c.Servers {
		out.Settings[id] = lsp.Setting{Command: one.Command, Extensions: one.Extensions, Env: one.Env, Initialization: one.Initialization, Disabled: one.Disabled}
	}
	return lsp.Project{Directory: realPath(at.Directory), Worktree: realPath(at.Worktree), Trusted: v.trustsCode(k, at), Config: out}
}

// FormatProject describes a directory to formatters.
func (v *Languages) FormatProject(k *DirConfig, at workspace.Place) format.Project {
	c := k.loaded.Config.Formatter
	out := format.Config{Off: c.Off, WholeFile: c.Scope == "file", Settings: map[string]format.Setting{}}
	for name, one := range c.ByName {
		out.Settings[name] = format.Setting{Disabled: one.Disabled, Command: one.Command, Environment: one.Environment, Extensions: one.Extensions}
	}
	return format.Project{Directory: realPath(at.Directory), Worktree: realPath(at.Worktree), Trusted: v.trustsCode(k, at), Config: out}
}

// trustsCode reports whether the code of a project may be executed: the user trusts its config, or the project itself.
func (v *Languages) trustsCode(k *DirConfig, at workspace.Place) bool {
	if k.loaded.IsTrusted() {
		return true
	}
	o, err := v.harness.app.WithDir(at.Directory).ConfigOptions()
	if err != nil || k.loaded.Untrusted != nil {
		return false
	}
	root := o.Worktree
	if root == filepath.Dir(root) {
		root = o.Directory
	}
	return o.Trusted(realPath(root), config.CodeDigest)
}

// observe lets language servers and formatters look at the edits of a directory. The directory is described when the
// first file changes.
func (v *Languages) observe(k *DirConfig, at workspace.Place, out *engine.StepSettings) {
	if k.loaded.Config.LSP.Off && k.loaded.Config.Formatter.Off {
		return
	}
	out.Edits = &language.Observer{
		State: v.State(), Seen: builtin.WithSeen,
		Project:       sync.OnceValue(func() lsp.Project { return v.Project(k, at) }),
		FormatProject: sync.OnceValue(func() format.Project { return v.FormatProject(k, at) }),
	}
}

// Offer adds the tool that asks language servers, if one fits the project. It is decided once for a config, when the
// first turn needs its tools: another list of tools would cost the provider's cache.
func (v *Languages) Offer(k *DirConfig, at workspace.Place) {
	k.offer.Do(func() {
		if k.loaded.Config.LSP.Off {
			return
		}
		p := v.Project(k, at)
		if !v.State().Servers.Fits(p) {
			return
		}
		s := v.harness
		lspTool := builtin.LSP(builtin.LSPConfig{
			Servers: v.State().Servers, Project: func() lsp.Project { return p },
			Edit: builtin.EditConfig{Tracker: s.seen, Buffers: s.buffers, Guard: confine.GuardList(s.app.ConfineHost())},
		})
		k.Settings.Tools = tool.NewSet(append(k.Settings.Tools.All(), lspTool)...)
	})
}
