package gitobj

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxRefs      = 1 << 19 // refs of a repository
	maxRefFile   = 8 << 10 // bytes of a file that holds one ref
	maxRefFolder = 1 << 19 // files and folders looked at in the search for refs
	maxRefDepth  = 64      // folders in folders
	maxSymbolic  = 5       // refs that stand for refs; git's own limit
	maxWorktrees = 4096
)

// Ref is a name for an object.
type Ref struct {
	Name   string // "HEAD", "refs/heads/main"; in other checkouts "worktrees/x/HEAD", "main-worktree/HEAD"
	Target string // the ref that this one stands for in the end; "" if it names an object itself
	ID     ID     // zero if it stands for a branch without a commit
}

// Head returns what this checkout has checked out.
func (r *Repo) Head() (Ref, error) {
	l, err := r.newRefs()
	if err != nil {
		return Ref{}, fmt.Errorf("read HEAD: %w", err)
	}
	ref, err := l.resolve(r.gitDir, "HEAD")
	if err != nil && (ref.Target == "" || !errors.Is(err, ErrMissing)) {
		return Ref{}, fmt.Errorf("read HEAD: %w", err)
	}
	return ref, nil
}

// Refs returns all refs and the HEADs of all checkouts, as "git rev-list --all" takes them.
// Dangling refs are left out.
func (r *Repo) Refs(ctx context.Context) ([]Ref, error) {
	l, err := r.newRefs()
	if err != nil {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	l.checkout(ctx, r.gitDir, "")
	if r.gitDir != r.common {
		l.checkout(ctx, r.common, "main-worktree/")
	}
	l.folder(ctx, r.common, "refs", "", 0)
	l.worktrees(ctx)
	for name, id := range l.packed {
		if l.err == nil && !l.seen[name] { // no file replaces it
			l.append(Ref{Name: name, ID: id})
		}
	}
	if l.err != nil {
		return nil, fmt.Errorf("read refs: %w", l.err)
	}
	return l.out, nil
}

// refList is a running listing.
type refList struct {
	repo   *Repo
	packed map[string]ID
	seen   map[string]bool // shared refs that have a file, which counts before packed-refs
	looked int
	out    []Ref
	err    error // the first thing that ends it all
}

func (r *Repo) newRefs() (*refList, error) {
	text, err := readWhole(filepath.Join(r.common, "packed-refs"), maxRefs*128)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	packed, err := parsePacked(text, r.hash)
	return &refList{repo: r, packed: packed, seen: map[string]bool{}}, err
}

// parsePacked reads a packed-refs file. Lines that are no ref are passed over.
func parsePacked(text []byte, hash int) (map[string]ID, error) {
	out := map[string]ID{}
	for line := range bytes.Lines(text) {
		hex, name, ok := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(" "))
		if !ok || len(hex) != 2*hash || !validRef(string(name)) {
			continue // a comment, or what the tag above it is put on
		}
		id, ok := parseHex(hex)
		if !ok {
			continue
		}
		if out[string(name)] = id; len(out) > maxRefs {
			return nil, fmt.Errorf("more than %d packed refs: %w", maxRefs, ErrLimit)
		}
	}
	return out, nil
}

// validRef reports whether git would take the name for a ref. It also keeps names from
// leading out of the repository.
func validRef(name string) bool {
	rest, ok := strings.CutPrefix(name, "refs/")
	if !ok || len(name) > 4096 || strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".") {
		return false
	}
	for part := range strings.SplitSeq(rest, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c) })
}

// ownRef reports whether each checkout has its own ref of this name.
func ownRef(name string) bool {
	return !strings.HasPrefix(name, "refs/") ||
		strings.HasPrefix(name, "refs/bisect/") || strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/rewritten/")
}

// checkout adds what belongs to one checkout alone, under names with a prefix.
func (l *refList) checkout(ctx context.Context, dir, prefix string) {
	l.add(dir, "HEAD", prefix)
	if dir == l.repo.common && prefix == "" {
		return // its own refs lie among the shared ones
	}
	for _, own := range []string{"refs/bisect", "refs/rewritten", "refs/worktree"} {
		l.folder(ctx, dir, own, prefix, 1)
	}
}

// worktrees adds the linked checkouts other than this one.
func (l *refList) worktrees(ctx context.Context) {
	names, err := readNames(filepath.Join(l.repo.common, "worktrees"), maxWorktrees)
	if err != nil {
		return // there are none
	}
	for _, name := range names {
		dir := filepath.Join(l.repo.common, "worktrees", name)
		if dir != l.repo.gitDir {
			l.checkout(ctx, dir, "worktrees/"+name+"/")
		}
	}
}

// folder adds the refs in files below a folder of dir. Folders that are links are not
// entered: they can lead in circles.
func (l *refList) folder(ctx context.Context, dir, name, prefix string, depth int) {
	if l.stopped(ctx) || depth > maxRefDepth {
		return
	}
	names, err := readNames(filepath.Join(dir, filepath.FromSlash(name)), maxRefFolder-l.looked)
	if errors.Is(err, ErrLimit) {
		l.err = err
	}
	for _, n := range names {
		if l.looked++; l.stopped(ctx) {
			return
		}
		full := name + "/" + n
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(full)))
		switch {
		case err != nil:
		case info.IsDir():
			// In a linked checkout the common folder holds the main one's own refs too.
			if !ownRef(full+"/") || dir != l.repo.common || l.repo.gitDir == l.repo.common || prefix != "" {
				l.folder(ctx, dir, full, prefix, depth+1)
			}
		case validRef(full):
			l.add(dir, full, prefix)
		}
	}
}

// add resolves a ref that has a file. A dangling ref is left out.
func (l *refList) add(dir, name, prefix string) {
	ref, err := l.resolve(dir, name)
	if err != nil || ref.ID.IsZero() {
		return
	}
	if prefix == "" {
		l.seen[name] = true
	}
	ref.Name = prefix + name
	l.append(ref)
}

func (l *refList) append(ref Ref) {
	if l.out = append(l.out, ref); len(l.out) > maxRefs {
		l.err = fmt.Errorf("more than %d refs: %w", maxRefs, ErrLimit)
	}
}

func (l *refList) stopped(ctx context.Context) bool {
	if l.err == nil && ctx.Err() != nil {
		l.err = context.Cause(ctx)
	}
	return l.err != nil
}

// resolve follows a ref of a checkout to an object. A branch without a commit gives
// [ErrMissing] and the name it would have.
func (l *refList) resolve(dir, name string) (Ref, error) {
	ref := Ref{Name: name}
	for range maxSymbolic + 1 {
		from := l.repo.common
		if ownRef(name) {
			from = dir
		}
		id, target, err := readRef(filepath.Join(from, filepath.FromSlash(name)), l.repo.hash)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotRegular) {
			var ok bool
			if id, ok = l.packed[name]; !ok {
				return ref, fmt.Errorf("ref %s: %w", name, ErrMissing)
			}
		} else if err != nil {
			return ref, fmt.Errorf("ref %s: %w", name, err)
		}
		if target == "" {
			ref.ID = id
			return ref, nil
		}
		if !validRef(target) {
			return ref, corrupt("ref %s stands for %.80q", name, target)
		}
		ref.Target, name = target, target
	}
	return ref, fmt.Errorf("ref %s: refs in a circle: %w", ref.Name, ErrLimit)
}

// readRef reads a file with an id, or with "ref: " and a name. Very old repositories have
// a symlink for the latter.
func readRef(path string, hash int) (id ID, target string, err error) {
	if link, err := os.Readlink(path); err == nil && strings.HasPrefix(filepath.ToSlash(link), "refs/") {
		return ID{}, filepath.ToSlash(link), nil
	}
	data, err := ReadFile(path, maxRefFile)
	if err != nil {
		return ID{}, "", err
	}
	text := strings.TrimRight(string(data), " \t\r\n")
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		if name = strings.TrimLeft(name, " \t"); name == "" {
			return ID{}, "", corrupt("it stands for nothing")
		}
		return ID{}, name, nil
	}
	if len(text) < 2*hash || len(text) > 2*hash && !isBlank(text[2*hash]) {
		return ID{}, "", corrupt("it holds no object id")
	}
	id, ok := parseHex([]byte(text[:2*hash]))
	if !ok {
		return ID{}, "", corrupt("it holds no object id")
	}
	return id, "", nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
