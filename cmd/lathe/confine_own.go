package main

import (
	"os"
	"path/filepath"

	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

// hideOwn hides what is ours from a program: credentials, the database, the password of the server,
// sockets, logs, snapshots, what is trusted, settings. What a model is pointed at stays readable: long
// outputs and the folders of skills, and what else is shown.
func (f *confinement) hideOwn(p *sandbox.Profile, at folders, show ...string) {
	p.Hide = append(p.Hide, at.data, at.state, at.owners, at.cache)
	if at.db != "" {
		p.Hide = append(p.Hide, at.db, at.db+"-wal", at.db+"-shm", at.db+"-journal", at.blobs())
	}
	p.Show = append(p.Show, at.outputs(), at.skills())
	for _, dir := range namesIn(f.app.userDir(), "lathe", "opencode") {
		p.Hide = append(p.Hide, dir)
		p.Show = append(p.Show, namesIn(dir, "skill", "skills")...)
	}
	p.Show = append(p.Show, show...)
}

// private gives the commands of a session a temporary folder of their own.
func (f *confinement) private(p *sandbox.Profile, call *tool.Call, at folders) {
	p.Session = string(call.Session)
	dir := sandbox.SessionTemp(at.data, p.Session)
	if dir == "" {
		return
	}
	if !f.looks {
		_ = os.MkdirAll(dir, 0o700) // without it no command starts, and it is said why
	}
	p.Temp, p.Env = dir, append(p.Env, "TMPDIR=/tmp")
}

// temporaryFolders are those of sessions.
func (f folders) temporaryFolders() string { return filepath.Join(f.data, "tmp") }
