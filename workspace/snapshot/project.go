package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

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
	s.exact = exactRules(repo, list)
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
	if e.Unmerged || e.IntentToAdd || e.Mode != mode || e.Size != uint32(st.size) || e.Inode != uint32(st.inode) {
		return false
	}
	if !sameTime(e.MtimeSec, e.MtimeNano, st.mtime) || !sameTime(e.CtimeSec, e.CtimeNano, st.ctime) {
		return false
	}
	return st.mtime < s.file.mtime-int64(racyTime) && (e.MtimeNano != 0 || st.mtime < s.file.mtime-int64(2*time.Second))
}

// sameTime compares with a time that git wrote, which may be in whole seconds.
func sameTime(sec, nano uint32, unix int64) bool {
	return uint32(unix/1e9) == sec && (nano == 0 || uint32(unix%1e9) == nano)
}

// exactRules looks for rules that make files differ from their committed contents.
func exactRules(repo *gitobj.Repo, list []gitobj.IndexEntry) bool {
	config, err := repo.Config()
	if err != nil {
		return false
	}
	if crlf := strings.ToLower(config.Last("core.autocrlf")); crlf == "true" || crlf == "input" || config.Last("core.eol") != "" {
		return false
	}
	for i := range list {
		path := list[i].Path
		if path != ".gitattributes" && !strings.HasSuffix(path, "/.gitattributes") {
			continue
		}
		_, text, err := repo.Object(list[i].ID)
		if err != nil || converts(text) {
			return false
		}
	}
	text, err := gitobj.ReadFile(repo.InfoFile("attributes"), 1<<20)
	if err == nil && converts(text) || errors.Is(err, gitobj.ErrTooLarge) {
		return false
	}
	return sampled(repo, list)
}

// converts reports whether attributes can make a file differ from its content in the repository.
func converts(attributes []byte) bool {
	words := [...]string{"filter=", "eol=", "ident", "working-tree-encoding", "crlf"}
	return slices.ContainsFunc(words[:], func(w string) bool { return bytes.Contains(attributes, []byte(w)) })
}

// sampled compares the sizes of a few files with those of their contents. This detects filters of the
// user's global config, which is not read.
func sampled(repo *gitobj.Repo, list []gitobj.IndexEntry) bool {
	const samples = 48
	step := max(1, len(list)/samples)
	for i := 0; i < len(list); i += step {
		e := &list[i]
		if e.Mode&0o170000 != 0o100000 || e.Size == 0 || e.Size > 1<<20 || e.Skip || e.Unmerged || e.IntentToAdd || e.MtimeSec == 0 {
			continue
		}
		if _, data, err := repo.Object(e.ID); err == nil && uint32(len(data)) != e.Size {
			return false
		}
	}
	return true
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
