// Package confine chooses the sandbox for the commands of models, MCP servers and plugins. It
// turns the config, the project, the caches of tools, the files of git, and the user's
// credentials into a profile of package sandbox.
package confine

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/tool/bash"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/secret"
)

// Host describes the program and its user.
type Host struct {
	Env     func(string) string // a variable
	Environ func() []string     // all of them, for the user's helpers of git
	Home    string              // the user's folder
	UserDir string              // the folder of the user's config files
	Now     func() time.Time
	Log     *slog.Logger
	Notify  func(format string, args ...any) // prints a note for the user
}

// Policy decides the sandbox profile of model commands. It looks at the machine when the first command runs.
type Policy struct {
	host   Host
	Kernel func() sandbox.Kernel
	caches func() []foundCache
	// secrets are the places of the user's credentials.
	secrets func() secret.Locations
	store   overlayStore
	// gitPasswords answers git in the sandbox.
	gitPasswords credentials
	git          gitProjects
	canMount     func() bool
	Scratch      bool        // commands run in the sandbox and write nowhere but there, whatever the config says
	NoNetwork    bool        // commands reach no network, whatever the config says
	NoCommands   bool        // nothing is run for a model: no folder is made for tools
	Warn         func(error) // that commands are not confined, once
	Hidden       []string    // real paths that no command sees and no tool reads: the cases and tests of an eval
	locks        locks
}

// New returns the policy for a machine with the given kernel support.
func New(h Host, kernel func() sandbox.Kernel) *Policy {
	var once sync.Once
	f := &Policy{host: h, Kernel: kernel, gitPasswords: credentials{log: h.Log, environ: h.Environ}, Warn: func(why error) { once.Do(func() { h.warnUnconfined(why) }) }}
	f.caches = sync.OnceValue(func() []foundCache {
		found, missing := toolCaches(h.Env, h.Home)
		for _, c := range missing {
			if !f.NoCommands && os.MkdirAll(c.path, 0o755) == nil {
				found = append(found, c)
			}
		}
		return found
	})
	f.canMount = sync.OnceValue(sandbox.CanMount)
	f.secrets = sync.OnceValue(func() secret.Locations { return secret.Find(h.Home, h.Env) })
	return f
}

// warnUnconfined notes that commands run unconfined. It does so once on a machine, because users rarely change their
// kernel.
func (h Host) warnUnconfined(why error) {
	h.Log.Info("commands are not confined", "why", why)
	at, err := datadir.Find(h.Env)
	if err != nil || sandbox.Self() == "" {
		return // other systems have none, and need no notice
	}
	_ = os.MkdirAll(at.State, 0o700) // the marker shows whether it worked
	f, err := os.OpenFile(filepath.Join(at.State, "unconfined"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_ = f.Close() // it is empty
	h.Notify("Note: commands are not confined. %v (This note is shown once; see `lathe debug sandbox`.)", why)
}

// SandboxOf returns the sandbox options of an agent, and whether the user asked for a sandbox, which must then work.
func SandboxOf(c config.Config, agent string) (out config.Sandbox, asked bool) {
	out = c.Sandbox
	own := c.Agents[agent].Sandbox
	asked = out.Mode != "" || own.Mode != ""
	if out.Mode == "" && (agent == "plan" || agent == "explore") || own.Mode != "" {
		out.Mode = cmp.Or(own.Mode, string(sandbox.ReadOnly))
	}
	if own.Commands != nil {
		out.Commands = own.Commands
	}
	if own.Write != nil {
		out.Write = own.Write
	}
	if own.Read != nil {
		out.Read = own.Read
	}
	if own.Credentials != nil {
		out.Credentials = own.Credentials
	}
	out.SSHAgent, out.Network, out.Limits = cmp.Or(own.SSHAgent, out.SSHAgent), cmp.Or(own.Network, out.Network), cmp.Or(own.Limits, out.Limits)
	out.Mode = cmp.Or(out.Mode, string(sandbox.Workspace))
	if c.PermissionMode == string(lathe.ReadOnlyMode) && out.Mode == string(sandbox.Workspace) {
		out.Mode = string(sandbox.ReadOnly)
	}
	return out, asked
}

// RunsUnasked reports whether the commands of an agent may run unasked: they are confined, or
// the user wants them not to be. One that was asked for and cannot be had is its own error. In
// a mode that changes nothing only confined commands are free.
func (f *Policy) RunsUnasked(c config.Config, agent string) bool {
	box, asked := SandboxOf(c, agent)
	if box.Mode == string(sandbox.Off) {
		return c.PermissionMode != string(lathe.ReadOnlyMode)
	}
	return asked || f.Kernel().Available(false) == nil
}

// modeOf is the mode of a command line. Each command has the strictest mode of the patterns that it
// matches, or that of its agent, and the line the strictest of all. What is not known of a line
// makes none weaker, nor does an option that is not known to be harmless, unless the pattern names it,
// and neither does any pattern for an agent that only reads.
func modeOf(box config.Sandbox, line bash.Line) string {
	modes := []string{string(sandbox.Off), string(sandbox.Workspace), string(sandbox.ReadOnly)} // the strictest last
	base := slices.Index(modes, box.Mode)
	if len(box.Commands) == 0 || base < 0 {
		return box.Mode
	}
	level := -1
	if !line.Complete || len(line.Commands) == 0 || box.Mode == string(sandbox.ReadOnly) {
		level = base
	}
	for _, c := range line.Commands {
		own := -1
		for pattern, mode := range box.Commands {
			rank := slices.Index(modes, mode)
			matches := func(s string) bool { return lathe.Wildcard(pattern, s) }
			switch {
			case rank < base && !spellsOut(pattern, c): // its effect is unknown
			case matches(c.Text) || rank > base && slices.ContainsFunc(c.Also, matches):
				own = max(own, rank)
			}
		}
		if own < 0 {
			own = base
		}
		level = max(level, own)
	}
	return modes[level]
}

// spellsOut reports whether a pattern names every part of a command that is not known to be harmless. Its author then
// meant exactly that.
func spellsOut(pattern string, c bash.LineCommand) bool {
	words, options := strings.Fields(pattern), c.Doubts
	return strings.HasPrefix(pattern, c.RequiredPrefix) && !slices.ContainsFunc(options, func(option string) bool { return !slices.Contains(words, option) })
}

// Profile returns the sandbox profile for a command line of a call.
func (f *Policy) Profile(c config.Config, call *tool.Call, line bash.Line) (sandbox.Profile, error) {
	box, asked := SandboxOf(c, call.Agent)
	if mode := modeOf(box, line); mode != box.Mode {
		box.Mode, asked = mode, true
	}
	if f.Scratch || f.NoNetwork {
		box.Mode, asked = string(sandbox.Workspace), true
	}
	if f.Scratch {
		box.Write = nil
	}
	p := sandbox.Profile{
		Mode: sandbox.Mode(box.Mode), Strict: asked, Network: networkOf(box),
		Limits: sandbox.Limits{Memory: uint64(box.Limits.Memory), Processes: uint64(box.Limits.Processes), FileSize: uint64(box.Limits.FileSize)},
	}
	if f.NoNetwork {
		p.Network = sandbox.Network{Limited: true, Private: true}
	}
	if !p.Confined() {
		return sandbox.Profile{Mode: sandbox.Off, Limits: p.Limits}, nil
	}
	if err := f.Kernel().Available(asked); err != nil {
		if asked {
			return p, err
		}
		if p.Network.Limited {
			return p, fmt.Errorf("sandbox.network cannot limit the network of commands: %w", err)
		}
		f.Warn(err)
		if sandbox.Self() == "" {
			p.Limits = sandbox.Limits{} // nothing holds them there
		}
		return sandbox.Profile{Mode: sandbox.Off, Limits: p.Limits}, nil
	}
	at, err := datadir.Find(f.host.Env)
	if err != nil {
		return p, err
	}
	f.fill(&p, call, at, box.Write)
	f.locks.protect(&p)
	if p.Mode == sandbox.Workspace {
		f.keepGit(&p, rootOf(call), at, line.ReadsOnly)
	}
	f.guardHome(&p, call, at, box, line)
	f.hideRuntime(&p) // except the sockets that are allowed by now
	return p, nil
}

// rootOf is the folder that a call may change: the project, or where it runs if that is everything.
func rootOf(call *tool.Call) string {
	if call.Root == "" || call.Root == filepath.Dir(call.Root) {
		return call.Dir
	}
	return call.Root
}

func (f *Policy) fill(p *sandbox.Profile, call *tool.Call, at datadir.Folders, extra []string) {
	root := rootOf(call)
	if p.Mode == sandbox.ReadOnly {
		p.Protect = append(p.Protect, root, call.Dir)
	} else {
		p.Write = append(p.Write, root)
		if call.Dir != root {
			p.Write = append(p.Write, call.Dir)
		}
	}
	for dir := call.Dir; ; dir = filepath.Dir(dir) {
		protectGuarded(p, dir)
		if dir == root || dir == filepath.Dir(dir) {
			break
		}
	}
	p.Write = append(p.Write, extra...)
	p.Write = append(p.Write, temporary(f.host.Env)...)
	f.homeNames(p)
	p.Hide = append(p.Hide, f.Hidden...)
	f.hideOwn(p, at, tool.Output{Dir: at.Outputs()}.ForSession(call.Session).Dir)
	p.QuarantineDir = filepath.Join(at.Data, "refused")
	p.Sockets = slices.Compact(append([]string{root, call.Dir}, extra...))
	if !p.Network.Limited { // they look up names for any program
		p.Sockets = append(p.Sockets, resolvers()...)
	}
	f.private(p, call, at)
	for _, list := range []*[]string{&p.Write, &p.Protect, &p.Files, &p.Watch, &p.Sockets, &p.Hide, &p.Show} {
		*list = slices.DeleteFunc(*list, func(path string) bool { return !filepath.IsAbs(path) })
	}
}

// resolvers are sockets of programs that answer questions about names of hosts and users, and run
// nothing.
func resolvers() []string {
	return []string{"/run/systemd/resolve", "/run/systemd/userdb", "/run/nscd", "/var/lib/sss/pipes"}
}

// temporary returns the system's folders for temporary files.
func temporary(env func(string) string) []string {
	out := []string{"/tmp", "/var/tmp", "/dev/shm"}
	if dir := env("TMPDIR"); filepath.IsAbs(dir) && !slices.Contains(out, filepath.Clean(dir)) {
		out = append(out, filepath.Clean(dir))
	}
	return out
}

func namesIn(dir string, names ...string) (out []string) {
	if dir == "" {
		return nil
	}
	for _, name := range names {
		out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return out
}
