package confine

import (
	"os"

	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace/guarded"
)

// protectGuarded keeps the guarded names of a folder from commands: the same that file tools ask
// about.
func protectGuarded(p *sandbox.Profile, dir string) {
	p.Protect = append(p.Protect, guarded.Names(dir, guarded.StandIn)...)
	p.Watch = append(p.Watch, guarded.Names(dir, guarded.Watch)...)
	for _, name := range guarded.Names(dir, guarded.Busy) {
		if exists(name) {
			p.Busy = append(p.Busy, name)
		} else {
			p.Watch = append(p.Watch, name)
		}
	}
}

// homeNames protects those in the user's folder that run something or hold keys.
func (f *Policy) homeNames(p *sandbox.Profile) {
	home := f.host.Home
	p.Protect = append(p.Protect, namesIn(home, guarded.HomeFolders()...)...)
	p.Files = append(p.Files, namesIn(home, guarded.HomeFiles()...)...)
	p.Protect = append(p.Protect, namesIn(f.host.UserDir, guarded.ConfigFolders()...)...)
}

// GuardList is the files that no tool writes without a question.
func GuardList(h Host) guarded.List {
	list := guarded.List{Home: bash.FollowLinks(h.Home), Config: bash.FollowLinks(h.UserDir)}
	at, err := datadir.Find(h.Env)
	if err != nil {
		return list
	}
	for _, dir := range []string{at.Data, at.State, at.Owners, at.Cache} {
		list.Own = append(list.Own, bash.FollowLinks(dir))
	}
	list.PlanDir = bash.FollowLinks(at.Plans())
	return list
}

// exists reports whether there is a file of that name.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
