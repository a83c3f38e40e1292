package confine

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

// hideOwn hides lathe's own files from a program: credentials, the database, the server's password, sockets, logs,
// snapshots, trusted projects, config. Files that a model is pointed at stay readable: long outputs and skills.
func (f *Policy) hideOwn(p *sandbox.Profile, at datadir.Folders, show ...string) {
	p.Hide = append(p.Hide, at.Data, at.State, at.Owners, at.Cache, at.Worktrees())
	if at.DB != "" {
		p.Hide = append(p.Hide, at.DB, at.DB+"-wal", at.DB+"-shm", at.DB+"-journal", at.Blobs())
	}
	p.Show = append(p.Show, at.Skills())
	for _, dir := range namesIn(f.host.UserDir, "lathe", "opencode") {
		p.Hide = append(p.Hide, dir)
		p.Show = append(p.Show, namesIn(dir, "skill", "skills")...)
	}
	p.Show = append(p.Show, show...)
}

// private gives the commands of a session a temporary folder of their own.
func (f *Policy) private(p *sandbox.Profile, call *tool.Call, at datadir.Folders) {
	p.Session = string(call.Session)
	dir := sandbox.SessionTemp(at.Data, p.Session)
	if dir == "" {
		return
	}
	if !f.NoCommands {
		_ = os.MkdirAll(dir, 0o700) // without it no command starts, and it is said why
		now := f.host.Now()
		_ = os.Chtimes(dir, now, now) // it is in use
	}
	p.Temp, p.Env = dir, append(p.Env, "TMPDIR=/tmp")
}

// hideRuntime hides /run, which holds the sockets of others, except what programs need of it:
// resolvers of host and user names, allowed agents, and programs of systems that keep them
// there.
func (f *Policy) hideRuntime(p *sandbox.Profile) {
	p.Hide = append(p.Hide, "/run")
	p.Show = append(p.Show, "/run/systemd/resolve", "/run/systemd/userdb", "/run/nscd", "/run/current-system", "/run/booted-system", "/run/wrappers", "/run/opengl-driver", "/run/host")
	if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && strings.HasPrefix(real, "/run/") {
		p.Show = append(p.Show, real)
	}
	for _, path := range append(filepath.SplitList(f.host.Env("PATH")), p.Sockets...) {
		if strings.HasPrefix(path, "/run/") {
			p.Show = append(p.Show, path)
		}
	}
}

// RemoveSessionTemp removes the temporary folder of a session that was deleted.
func RemoveSessionTemp(at datadir.Folders, id lathe.SessionID) {
	if dir := sandbox.SessionTemp(at.Data, string(id)); dir != "" {
		_ = sandbox.RemoveTree(dir) // the rest is removed next time
	}
}

// RemoveOldTemp removes the temporary folders of sessions that have run no command since.
func RemoveOldTemp(at datadir.Folders, before time.Time) {
	entries, _ := os.ReadDir(filepath.Join(at.Data, "tmp")) // there may be none
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			_ = sandbox.RemoveTree(filepath.Join(at.Data, "tmp", e.Name())) // the rest is removed next time
		}
	}
}
