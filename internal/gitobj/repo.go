package gitobj

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const (
	maxObject     = 64 << 20 // bytes of an object
	maxPacks      = 4096     // of all stores
	maxIndexes    = 64 << 20 // bytes of indexes held in memory
	maxAlternates = 64       // stores beside the repository's own
	maxBorrow     = 5        // stores that borrow from stores; git's own limit
)

// Repo is an open repository.
type Repo struct {
	gitDir string // of this checkout: HEAD and its own refs
	common string // the directory that all checkouts share; often the same
	hash   int    // bytes of an id
	stores []string
	packs  []*pack
	cache  *baseCache
	pool   sync.Pool // of *inflater
}

// Open opens the repository of a checkout: gitDir belongs to this checkout alone, all checkouts
// share commonDir; both may be the same directory. The caller closes it.
func Open(gitDir, commonDir string) (*Repo, error) {
	r := &Repo{gitDir: gitDir, common: commonDir, hash: sha1Size, cache: newBaseCache()}
	r.pool.New = func() any { return &inflater{} }
	if err := r.format(); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", commonDir, err)
	}
	r.borrow(filepath.Join(commonDir, "objects"), 0)
	if err := r.findPacks(); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", commonDir, errors.Join(err, r.Close()))
	}
	return r, nil
}

// Close lets go of all files.
func (r *Repo) Close() error {
	var errs []error
	for _, p := range r.packs {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

// format learns from the configuration how the repository is written.
func (r *Repo) format() error {
	config, err := ReadConfig(filepath.Join(r.common, "config"))
	if err != nil {
		return err
	}
	switch name := strings.ToLower(config.Last("extensions.objectformat")); name {
	case "", "sha1":
	case "sha256":
		r.hash = sha256Size
	default:
		return fmt.Errorf("object format %.40q is not known", name)
	}
	if name := strings.ToLower(config.Last("extensions.refstorage")); name != "" && name != "files" {
		return fmt.Errorf("refs in the format %.40q are not supported", name)
	}
	return nil
}

// borrow adds an object store and those it borrows from. An unreadable one adds nothing, as in
// git: a missing object is an error when it is read.
func (r *Repo) borrow(dir string, depth int) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if slices.Contains(r.stores, dir) || len(r.stores) > maxAlternates {
		return
	}
	r.stores = append(r.stores, dir)
	if depth == maxBorrow {
		return
	}
	text, err := ReadFile(filepath.Join(dir, "info", "alternates"), 1<<16)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := alternate(strings.TrimRight(line, "\r\n"), dir); ok {
			r.borrow(path, depth+1)
		}
	}
}

// alternate makes a line of an alternates file a path. One that leads to another network
// share is not looked at: that alone would send the user's credentials there.
func alternate(line, dir string) (string, bool) {
	path := filepath.FromSlash(line)
	if path == "" || path[0] == '#' || path[0] == '"' || strings.ContainsRune(path, 0) {
		return "", false
	}
	if volume := filepath.VolumeName(path); strings.HasPrefix(volume, `\\`) && !strings.EqualFold(volume, filepath.VolumeName(dir)) {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	return filepath.Clean(path), err == nil && info.IsDir()
}

// findPacks opens the indexes of all packs. One that cannot be read is left out, as git
// leaves it out; too many are an error.
func (r *Repo) findPacks() error {
	budget := int64(maxIndexes)
	for _, store := range r.stores {
		dir := filepath.Join(store, "pack")
		names, err := readNames(dir, 8*maxPacks)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		slices.Sort(names)
		for _, name := range names {
			base, ok := strings.CutSuffix(name, ".idx")
			if !ok {
				continue
			}
			p, err := r.openPack(filepath.Join(dir, base), &budget)
			if err != nil {
				continue
			}
			if r.packs = append(r.packs, p); len(r.packs) > maxPacks {
				return fmt.Errorf("more than %d packs: %w", maxPacks, ErrLimit)
			}
		}
	}
	return nil
}

func (r *Repo) openPack(path string, budget *int64) (*pack, error) {
	f, info, err := openRegular(path + ".idx")
	if err != nil {
		return nil, err
	}
	p := &pack{path: path, indexFile: f}
	if p.index, err = newIndex(f, info.Size(), r.hash); err == nil && info.Size() <= min(maxIndexLoad, *budget) {
		if err = p.index.load(info.Size()); err == nil {
			*budget -= info.Size()
			p.indexFile, p.index.file = nil, nil
		}
	}
	if err != nil || p.indexFile == nil {
		_ = f.Close()
	}
	return p, err
}

// readNames lists a directory of at most limit entries.
func readNames(dir string, limit int) ([]string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &os.PathError{Op: "read", Path: dir, Err: errors.New("not a directory")}
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(limit + 1)
	if len(names) > limit {
		return nil, fmt.Errorf("more than %d files in %s: %w", limit, dir, ErrLimit)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// place is where an object is: at a position of a pack, or loose.
type place struct {
	pack *pack // nil when it is loose, or nowhere
	pos  uint32
}

// find looks for an object in the packs.
func (r *Repo) find(id ID) (place, error) {
	for _, p := range r.packs {
		pos, ok, err := p.index.find(id)
		if err != nil {
			return place{}, err
		}
		if ok {
			return place{p, pos}, nil
		}
	}
	return place{}, nil
}

// Object returns an object of up to 64 MB. The data is the caller's.
func (r *Repo) Object(id ID) (Kind, []byte, error) {
	at, err := r.find(id)
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return r.read(context.Background(), at, id, maxObject)
}

// read returns the object at a place. With [ErrLimit] comes its kind, if that is known.
func (r *Repo) read(ctx context.Context, at place, id ID, limit int64) (kind Kind, data []byte, err error) {
	f := r.pool.Get().(*inflater)
	defer r.pool.Put(f)
	if at.pack == nil {
		kind, data, err = r.readLoose(f, id, limit)
	} else if off, e := at.pack.index.offset(at.pos); e != nil {
		err = e
	} else {
		var shared bool
		kind, data, shared, err = at.pack.read(ctx, f, r.cache, off, limit)
		if shared {
			data = slices.Clone(data)
		}
	}
	if err != nil {
		return kind, nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return kind, data, nil
}
