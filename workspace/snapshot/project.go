package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/filestat"
	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace/search"
)

// project is the repository of the worktree, if any. It provides the first state and contents that need
// not be stored twice. It is only read.
type project struct {
	own, common string // its directories; "" without git

	mu       sync.Mutex // guards the rest
	repo     *gitobj.Repo
	opened   time.Time
	gitIndex gitIndex
}

// gitIndex is the index of the repository when it was last read.
type gitIndex struct {
	list []gitobj.IndexEntry // sorted by path
	file stat                // of the index file
	// exact means that a file with the stat of the index also has its content. It is false if filters or
	// line ending rules may apply: then files are read.
	exact bool
}

// reopenAfter limits how often a repository with missing objects is opened again.
const reopenAfter = time.Second

// open returns the repository, or nil if none is usable. With fresh it loads the current packs.
func (p *project) open(fresh bool) *gitobj.Repo {
	if p.own == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.repo != nil && !(fresh && time.Since(p.opened) > reopenAfter) {
		return p.repo
	}
	repo, err := gitobj.Open(p.own, p.common)
	p.opened = time.Now()
	if err != nil || !repo.SHA1() {
		if err == nil {
			_ = repo.Close() // nothing was written
		}
		return p.repo
	}
	// Readers may still use the old repository. Its files close when they are garbage collected.
	p.repo = repo
	return repo
}

func (p *project) has(id oid) bool {
	repo := p.open(false)
	return repo != nil && repo.Has(gitobj.SHA1ID(id))
}

func (p *project) get(id oid) (gitobj.Kind, []byte, error) {
	for _, fresh := range [...]bool{false, true} {
		repo := p.open(fresh)
		if repo == nil {
			break
		}
		kind, data, err := repo.Object(gitobj.SHA1ID(id))
		if err == nil {
			return kind, data, nil
		}
	}
	return 0, nil, fmt.Errorf("the snapshot %s is gone: %w", id, errNotStored)
}

func (p *project) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.repo == nil {
		return nil
	}
	err := p.repo.Close()
	p.repo = nil
	return err
}

// index returns the current index of the repository. An unreadable index is empty.
func (p *project) index() gitIndex {
	repo := p.open(false)
	if repo == nil {
		return gitIndex{}
	}
	info, err := os.Stat(repo.IndexFile())
	if err != nil {
		return gitIndex{}
	}
	now := statOf(info)
	p.mu.Lock()
	known := p.gitIndex
	p.mu.Unlock()
	if known.file == now {
		return known
	}
	list, err := repo.Index()
	if err != nil {
		return gitIndex{file: now}
	}
	s := gitIndex{list: list, file: now}
	s.exact = repo.StoresExactly(list)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gitIndex = s
	return s
}

// find returns the index entry of a path.
func (s *gitIndex) find(path string) (*gitobj.IndexEntry, bool) {
	i := sort.Search(len(s.list), func(i int) bool { return s.list[i].Path >= path })
	if i < len(s.list) && s.list[i].Path == path {
		return &s.list[i], true
	}
	return nil, false
}

// clean reports whether a file matches its index entry and was not written at the same moment.
func (s *gitIndex) clean(e *gitobj.IndexEntry, st stat, mode uint32) bool {
	return e.Clean(filestat.Stat{Size: st.size, Mtime: st.mtime, Ctime: st.ctime, Inode: st.inode}, mode, s.file.mtime)
}

// excluded identifies the ignore files that apply to a whole worktree.
type excluded struct {
	own, user stat
	path      string // path of the user's file
}

// rootRules returns the ignore rules of the whole worktree. The value stays the same while the exclude
// files do not change.
func (t *sharedTree) rootRules() *search.GitRules {
	var now excluded
	if t.project.common != "" {
		if info, err := os.Stat(filepath.Join(t.project.common, "info", "exclude")); err == nil {
			now.own = statOf(info)
		}
		if t.store.o.Excludes != nil {
			now.path = t.store.o.Excludes()
		}
		if info, err := os.Stat(now.path); err == nil {
			now.user = statOf(info)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rules == nil || t.exclude != now {
		t.rules, t.exclude = search.NewGitRules(t.root, now.path), now
	}
	return t.rules
}
