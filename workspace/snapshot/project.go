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

// project is the repository of the work tree, if it has one: where a first state and contents come
// from that need not be kept twice. It is only read.
type project struct {
	own, common string // its directories; "" without git

	mu       sync.Mutex // guards the rest
	repo     *gitobj.Repo
	opened   time.Time
	gitIndex gitIndex
}

// gitIndex is what the index of the repository said when it was last read.
type gitIndex struct {
	list []gitobj.IndexEntry // sorted by path
	file stat                // of the index itself
	// exact says that a file which looks as the index has it also has the content it names. Where
	// filters or other line ends may lie between the two, files are read.
	exact bool
}

// reopenAfter keeps a repository that lacks objects from being opened for each of them.
const reopenAfter = time.Second

// open returns the repository, nil if there is none that can be used. Fresh asks for the packs that
// are there now.
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
	// The old one stays open for those who read from it; it is closed when nobody refers to its files.
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
	return 0, nil, fmt.Errorf("the snapshot %s is gone: %w", id, errNotKept)
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

// index returns what the repository's index says now. One that cannot be read says nothing.
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

// find returns what the index says of a path.
func (s *gitIndex) find(path string) (*gitobj.IndexEntry, bool) {
	i := sort.Search(len(s.list), func(i int) bool { return s.list[i].Path >= path })
	if i < len(s.list) && s.list[i].Path == path {
		return &s.list[i], true
	}
	return nil, false
}

// clean reports whether a file looks as the index has it and was not written in the same moment.
func (s *gitIndex) clean(e *gitobj.IndexEntry, st stat, mode uint32) bool {
	if e.Unmerged || e.IntentToAdd || e.Mode != mode || e.Size != uint32(st.size) || e.Inode != uint32(st.inode) {
		return false
	}
	if !sameTime(e.MtimeSec, e.MtimeNano, st.mtime) || !sameTime(e.CtimeSec, e.CtimeNano, st.ctime) {
		return false
	}
	return st.mtime < s.file.mtime-int64(racyTime) && (e.MtimeNano != 0 || st.mtime < s.file.mtime-int64(2*time.Second))
}

// sameTime compares with what git wrote, which may be whole seconds.
func sameTime(sec, nano uint32, unix int64) bool {
	return uint32(unix/1e9) == sec && (nano == 0 || uint32(unix%1e9) == nano)
}

// exactRules looks for anything that makes files differ from what is committed.
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

// sampled compares the sizes of a few files with those of their contents: settings for all
// repositories of a person are not read, but they show.
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

// excluded are the files that say what is ignored in a whole work tree.
type excluded struct {
	own, user stat
	path      string // of the user's
}

// rootRules returns what is ignored in the whole work tree; the same value as long as the exclude files
// stay as they are.
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
