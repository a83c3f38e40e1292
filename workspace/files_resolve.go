package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
)

const maxLinks = 255 // on the way to one file, as the kernels have it or more

// windows is where names have more than one spelling by rule.
const windows = filepath.Separator == '\\'

// Resolve finds where a name leads, from dir if it is relative. "~" is a name like any
// other. "..", as everywhere in this program, is taken away before symlinks are looked at.
//
// What does not exist yet is resolved as far as it does: a symlink that dangles leads to the
// place where a file would be made.
//
// Some file systems take several spellings for one file: in other letters (APFS, NTFS, FAT,
// directories of ext4 made so) or in another normal form of Unicode. Path has the one that the
// disk has, so a rule for ".env" is not passed by asking for ".ENV". A file that does not exist
// yet has the spelling it was asked by: nothing is there to be reached around a rule, and once
// it is there, its name is that.
func Resolve(dir, name string) (File, error) {
	full := name
	if !filepath.IsAbs(name) {
		full = filepath.Join(dir, name)
	}
	full = filepath.Clean(full)
	switch {
	case strings.ContainsRune(name, 0):
		return File{}, lathe.Errorf(lathe.Invalid, "the path %q contains a null byte; no file can have that name", name)
	case !filepath.IsAbs(full):
		return File{}, lathe.Errorf(lathe.Invalid, "the path %q is relative, but no directory is known; give an absolute path", name)
	case windows && strings.Contains(full[len(filepath.VolumeName(full)):], ":"):
		return File{}, lathe.Errorf(lathe.Invalid, "the path %q names a stream of a file; name the file itself", name)
	}
	path, err := follow(full)
	if err != nil {
		return File{}, err
	}
	f := File{Name: full, Path: path}
	f.Info, err = os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return File{}, sayOpen(path, err)
	}
	return f, nil
}

// follow returns the real path of an absolute one.
func follow(full string) (string, error) {
	at := volumeRoot(full)
	rest := names(full)
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." { // of a link; what is before it is real
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return missing(full, append([]string{next}, rest...))
		case errors.Is(err, syscall.ENOTDIR):
			return "", lathe.Errorf(lathe.NotFound, "%s cannot exist: %s is a file, not a directory: %w", full, at, errors.Join(fs.ErrNotExist, err))
		case err != nil:
			return "", sayOpen(next, err)
		case info.Mode()&fs.ModeSymlink == 0:
			at = filepath.Join(at, onDisk(at, name, info))
			continue
		}
		if links++; links > maxLinks {
			return "", lathe.Errorf(lathe.Invalid, "%s is a loop of symlinks: %w", full, syscall.ELOOP)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", sayOpen(next, err)
		}
		if filepath.IsAbs(target) {
			at = volumeRoot(target)
		}
		rest = append(names(target), rest...)
	}
	return at, nil
}

// missing joins the names that do not exist. "missing/.." in a link is an error in every
// kernel.
func missing(full string, parts []string) (string, error) {
	if slices.Contains(parts, "..") {
		return "", lathe.Errorf(lathe.NotFound, "%s leads through a symlink to a directory that does not exist: %w", full, fs.ErrNotExist)
	}
	return filepath.Join(parts...), nil
}

// names splits a path below the root of its volume.
func names(path string) []string {
	path = path[len(filepath.VolumeName(path)):]
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator || windows && r == '/' })
}

// longName asks Windows, which knows, short names and dots at the end included.
func longName(dir, name string) string {
	if long, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil {
		return filepath.Base(long)
	}
	return name
}

// onDisk returns how the disk spells the name of something that is there.
func onDisk(dir, name string, info fs.FileInfo) string {
	if windows {
		return longName(dir, name)
	}
	if !folds(dir, name, info) {
		return name
	}
	d, err := os.Open(dir)
	if err != nil {
		return name
	}
	defer d.Close()
	other := name
	for {
		list, err := d.Readdirnames(512)
		for _, n := range list {
			if n == name {
				return name
			}
			if !strings.EqualFold(n, name) && isASCII(n) {
				continue
			}
			if there, err := os.Lstat(filepath.Join(dir, n)); err == nil && os.SameFile(there, info) {
				other = n
			}
		}
		if err != nil || len(list) == 0 {
			return other
		}
	}
}

// folds reports whether a name may be a second spelling: the file answers to other letters,
// or it has characters with more than one form.
func folds(dir, name string, info fs.FileInfo) bool {
	if !isASCII(name) {
		return true
	}
	swapped := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	if swapped == name {
		return false
	}
	other, err := os.Lstat(filepath.Join(dir, swapped))
	return err == nil && os.SameFile(other, info)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
