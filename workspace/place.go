package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/lathe-agent/lathe"
)

// ErrNotDirectory is in the chain of [Locate]'s error when the path names something
// that is there but is no directory. A missing path has [fs.ErrNotExist] instead.
var ErrNotDirectory = errors.New("not a directory")

// Place is where a directory belongs.
type Place struct {
	Directory string // as requested: absolute, cleaned, with symlinks; for [lathe.GlobalProject] its real path, which is all that names it
	Worktree  string // the main checkout, or the repository itself if that is bare; the root of the volume without git; Sandbox if Isolated
	Main      string // the main checkout if Isolated; else ""
	Sandbox   string // real path of the top of the checkout that holds Directory; the root of the volume without git
	VCS       string // "git" or ""
	ProjectID string // [lathe.GlobalProject] if nothing names the project
	Path      string // from Sandbox to Directory with "/", "" at the top; from the root of the volume for [lathe.GlobalProject]
	Remote    string // origin as "host/path", without credentials; "" if there is none that names a project
	Cached    string // the id another program left in the repository, "" if none
	Isolated  bool   // it is a tree that lathe made for one session, which must not reach the main checkout
}

// Memory caches results that need a walk through the history, so that each repository is walked
// through once. An answer outlives what it was read from, which is what keeps an id stable
// while branches come and go.
type Memory interface {
	Cached(ctx context.Context, key string) (string, error) // "" if unknown
	SaveCached(ctx context.Context, key, value string) error
}

// Locate finds where dir belongs. A repository that is broken or too long to read
// never makes it fail: the directory then belongs to what lies above, or to
// [lathe.GlobalProject]. It fails if dir is no directory, if mem fails, or if ctx ends. A nil mem
// remembers nothing.
func Locate(ctx context.Context, dir string, mem Memory) (Place, error) {
	if err := ctx.Err(); err != nil {
		return Place{}, fmt.Errorf("locate %q: %w", dir, context.Cause(ctx))
	}
	directory, err := absolute(dir)
	if err != nil {
		return Place{}, err
	}
	// Git sees the physical directory, and so do the programs a session runs in it.
	// A link into a repository is therefore inside, a link out of one is not.
	physical := realPath(directory)
	top := volumeRoot(physical)
	p := Place{Directory: directory, Worktree: top, Sandbox: top, ProjectID: lathe.GlobalProject}
	if c, ok := findCheckout(physical); ok {
		p.VCS, p.Sandbox, p.Worktree = "git", c.top, c.mainDir()
		p.Remote = normalizeRemote(c.config.First("remote.origin.url"))
		p.Cached = cachedID(c.common)
		if p.ProjectID, err = identify(ctx, p, c, mem); err != nil {
			return Place{}, fmt.Errorf("locate %q: %w", directory, err)
		}
	}
	if p.ProjectID == lathe.GlobalProject {
		p.Directory, p.Worktree, p.Path = physical, p.Sandbox, slashPath(top, physical)
	} else {
		p.Path = slashPath(p.Sandbox, physical)
	}
	if IsolatedTop(physical) != "" {
		p.Isolated, p.Main, p.Worktree = true, p.Worktree, p.Sandbox
	}
	return p, nil
}

// Inside says whether child is parent or lies below it, judging by names alone: "..x" below a
// directory is inside, "/ab" is not inside "/a". To be safe against symlinks, pass real paths.
func Inside(parent, child string) bool {
	rel, err := filepath.Rel(parent, child)
	if err != nil { // another volume, or one of the two is relative
		return false
	}
	return rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// absolute returns the cleaned, absolute form of dir if it is a directory.
func absolute(dir string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("open directory: no path given: %w", fs.ErrInvalid)
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("open directory %q: it is relative and the working directory is gone; give an absolute path: %w", dir, err)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return path, nil
	case err == nil:
		return "", fmt.Errorf("open directory %q: it is a file; give the directory that holds it: %w", path, ErrNotDirectory)
	case errors.Is(err, syscall.ENOTDIR):
		return "", fmt.Errorf("open directory %q: a part of the path is a file; check its spelling: %w", path, errors.Join(ErrNotDirectory, err))
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("open directory %q: it does not exist; create it or check its spelling: %w", path, err)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("open directory %q: permission denied; check the permissions of its parent directories: %w", path, err)
	default: // a name that is too long, links in a circle
		return "", fmt.Errorf("open directory %q: it cannot be read; check its spelling: %w", path, errors.Join(fs.ErrInvalid, err))
	}
}

// realPath resolves symlinks where it can; the caller already knows that path is
// there, so a failure only means that the names must do.
func realPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// volumeRoot is "/", or the root of the volume where there are several.
func volumeRoot(path string) string {
	return filepath.VolumeName(path) + string(filepath.Separator)
}

// slashPath is the way from top down to dir as the wire shows it.
func slashPath(top, dir string) string {
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}
