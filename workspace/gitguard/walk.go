package gitguard

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lathe-agent/lathe/workspace/guarded"
)

// How much of a project is looked at for repositories: more than people have, and little time.
const (
	mostFolders = 20_000
	mostEntries = 200_000
	// settled is how long a folder must have been unchanged when it was listed for its time to say
	// that nothing changed since: file systems count time in steps.
	settled = 50 * time.Millisecond
)

// stamp identifies the state of a folder: no program can choose the change time that Linux
// reports.
type stamp struct {
	inode uint64
	time  time.Time
}

// folders remembers what folders hold of others, so that the next look lists only those that
// changed.
type folders map[string]folder

type folder struct {
	at     stamp
	listed time.Time
	subs   []string // names of folders in it
	dotGit bool
	bare   bool     // it has what makes it a repository itself
	obeyed []string // names in it of files and folders that other programs obey
}

// found is a repository: the name that makes a folder one.
type found struct {
	path string // of .git, or of the folder that is one itself
	bare bool
}

// look finds the repositories in a project. Links are not followed. Not complete means that there
// are more folders than are looked at, or some that are left out.
func (known *folders) look(root string) (repos []found, complete bool) {
	now, complete := make(folders, len(*known)), true
	entries := 0
	for next := []string{root}; len(next) > 0; next = next[1:] {
		if len(now) >= mostFolders || entries > mostEntries {
			complete = false
			break
		}
		dir := next[0]
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		f, ok := (*known)[dir]
		if at := stampOf(info); !ok || f.at != at || f.listed.Sub(at.time) < settled {
			var n int
			f, n = list(dir)
			f.at = at
			entries += n
		}
		now[dir] = f
		if f.dotGit {
			repos = append(repos, found{path: filepath.Join(dir, ".git")})
		}
		if f.bare {
			repos = append(repos, found{path: dir, bare: true})
		}
		for _, sub := range f.subs {
			if sub == "node_modules" {
				complete = false
				continue
			}
			next = append(next, filepath.Join(dir, sub))
		}
	}
	*known = now
	return repos, complete
}

// list looks into one folder.
func list(dir string) (f folder, entries int) {
	f.listed = time.Now()
	d, err := os.Open(dir)
	if err != nil {
		return f, 0
	}
	defer func() { _ = d.Close() }() // it was only read
	all, _ := d.ReadDir(mostEntries) // a partial list is better than none
	var head, objects, refs bool
	for _, e := range all {
		name, isDir := e.Name(), e.IsDir()
		switch name {
		case ".git":
			f.dotGit = true
			continue
		case "HEAD":
			head = head || !isDir
		case "objects":
			objects = objects || isDir || e.Type()&fs.ModeSymlink != 0
		case "refs":
			refs = refs || isDir || e.Type()&fs.ModeSymlink != 0
		}
		if isDir {
			f.subs = append(f.subs, name)
		}
		if _, _, ok := guarded.Lookup(filepath.Join(dir, name)); ok {
			f.obeyed = append(f.obeyed, name)
		}
	}
	f.bare = head && objects && refs
	return f, len(all)
}
