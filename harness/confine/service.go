package confine

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe/tool/bash"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// Service returns the sandbox of an MCP server or of plugins: that of commands, plus their own
// files, which may lie in folders of lathe. It is workspace unless the settings say otherwise,
// for this server or for all commands.
func (f *Policy) Service(c config.Config, place workspace.Place, box config.ServerSandbox, command []string) (sandbox.Profile, error) {
	own := config.Sandbox{Mode: box.Mode, Write: box.Write, Read: box.Read, Network: c.Sandbox.Network}
	if own.Mode == "" && c.Sandbox.Mode == string(sandbox.Off) {
		own.Mode = c.Sandbox.Mode
	}
	for _, s := range f.secrets() {
		if s.Tool != "" && slices.Contains(box.Credentials, s.Tool) {
			own.Read = append(own.Read, s.Path)
		}
	}
	p, err := f.Profile(config.Config{Sandbox: own}, &tool.Call{Dir: place.Directory, Root: place.Worktree}, bash.Line{})
	if err != nil || !p.Confined() {
		return p, err
	}
	at, err := datadir.Find(f.host.Env)
	if err != nil {
		return p, err
	}
	f.showService(&p, at, place.Directory, command)
	if !slices.Contains(box.Write, "/tmp") { // one of its own, which all of the project share
		dir := sandbox.SessionTemp(at.Data, "service-"+filepath.Base(at.Overlay(place.Directory)))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return p, err
		}
		p.Temp = dir
		setEnv(&p, "TMPDIR", "/tmp")
	}
	// It lives as long as sessions do. What is put back when a command ends would be the user's own
	// changes here, and nothing may stand in for names that the user is about to use. So names are
	// protected by mounts or not at all.
	if git, ok := p.Monitor.(*gitMonitor); ok {
		p.Monitor = serviceMonitor{git}
	}
	p.Reads, p.Watch = true, nil
	for _, list := range []*[]string{&p.Protect, &p.Files} {
		*list = slices.DeleteFunc(*list, func(name string) bool {
			_, err := os.Lstat(name)
			return err != nil || !f.Kernel().Mounts
		})
	}
	return p, nil
}

// showService shows a program its own files: the host of plugins and their packages, the
// folders of plugins beside the user's config, and the files that its command line names there.
func (f *Policy) showService(p *sandbox.Profile, at datadir.Folders, dir string, command []string) {
	if command == nil {
		p.Show = append(p.Show, filepath.Join(at.Cache, "plugins"))
	}
	for _, word := range command { // a program in the temporary folders, which it has others of
		if slices.ContainsFunc(temporary(f.host.Env), func(t string) bool { return inFolder(t, word) && t != filepath.Dir(word) }) {
			p.Show = append(p.Show, filepath.Dir(word))
		}
	}
	for _, own := range namesIn(f.host.UserDir, "lathe", "opencode") {
		if command == nil {
			p.Show = append(p.Show, namesIn(own, "plugin", "plugins", "tool", "tools", "node_modules", "package.json")...)
		}
		for _, word := range command {
			if !filepath.IsAbs(word) {
				word = filepath.Join(dir, word)
			}
			switch folder := filepath.Dir(word); {
			case folder == own && !isSettings(word):
				p.Show = append(p.Show, word)
			case inFolder(own, folder) && folder != own:
				p.Show = append(p.Show, folder)
			}
		}
	}
}

// isSettings reports whether a file may be a config file, which can hold keys.
func isSettings(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".json" || ext == ".jsonc"
}

// Hook returns the sandbox of the hooks of a directory: that of commands in the mode workspace, unless the user has
// switched it off. A hook also sees the file show, which may lie among lathe's own.
func (f *Policy) Hook(c config.Config, place workspace.Place) func(id lathe.SessionID, show string) (sandbox.Profile, error) {
	box := config.Sandbox{Write: c.Sandbox.Write, Network: c.Sandbox.Network, Limits: c.Sandbox.Limits}
	if c.Sandbox.Mode == string(sandbox.Off) {
		box.Mode = c.Sandbox.Mode
	}
	return func(id lathe.SessionID, show string) (sandbox.Profile, error) {
		p, err := f.Profile(config.Config{Sandbox: box}, &tool.Call{Session: id, Dir: place.Directory, Root: place.Worktree}, bash.Line{})
		if err != nil || !p.Confined() {
			return p, err
		}
		for _, own := range namesIn(f.host.UserDir, "lathe", "opencode") { // scripts of the user beside the config
			p.Show = append(p.Show, filepath.Join(own, "hooks"))
		}
		if show != "" {
			p.Show = append(p.Show, show)
		}
		return p, nil
	}
}

// Helper returns the sandbox of a language server, which reads the project, or of a formatter, which may write to it.
// Neither has a network. Without a sandbox on this machine, or if the user wants none, it is off.
func (f *Policy) Helper(c config.Config, place workspace.Place, mode sandbox.Mode, command []string) (sandbox.Profile, error) {
	off := sandbox.Profile{Mode: sandbox.Off}
	if c.Sandbox.Mode == string(sandbox.Off) || f.Kernel().Available(true) != nil {
		return off, nil
	}
	box := config.Sandbox{Network: &config.Network{}}
	p, err := f.Service(config.Config{Sandbox: box}, place, config.ServerSandbox{Mode: string(mode)}, command)
	p.Network.Private = true // it runs for hours, and nobody calls it
	if err != nil || !p.Confined() {
		return p, err
	}
	at, err := datadir.Find(f.host.Env)
	p.Show = append(p.Show, at.Languages()) // servers that lathe has installed
	return p, err
}
