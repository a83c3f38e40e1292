package worktree

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/filestat"
	"github.com/lathe-agent/lathe/internal/gitobj"
)

// writeBase saves the files that a tree started with: one line each, with the stat that shows that a file is
// still the same.
func writeBase(name string, files []File) error {
	var b bytes.Buffer
	b.Grow(len(files) * 120)
	for _, f := range files {
		fmt.Fprintf(&b, "%o %s %d %d %d %d %s\n", f.Mode, cmpOr(f.ID, "-"), f.stat.Size, f.stat.Mtime, f.stat.Ctime, f.stat.Inode, strconv.Quote(f.Path))
	}
	return atomicfile.Write(name, b.Bytes())
}

// cmpOr is the first text that is not empty.
func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// readBase reads the files that a tree started with, by path.
func readBase(name string) (map[string]File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]File{}
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 64<<10), 1<<20)
	for in.Scan() {
		file, err := parseFile(in.Text())
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		out[file.Path] = file
	}
	return out, in.Err()
}

// parseFile reads a line of a base. A path that leads out of the tree is refused.
func parseFile(line string) (f File, err error) {
	fields := strings.SplitN(line, " ", 7)
	if len(fields) != 7 {
		return f, fmt.Errorf("a line has %d fields", len(fields))
	}
	mode, err := strconv.ParseUint(fields[0], 8, 32)
	var numbers [4]int64
	for i := range numbers {
		n, failed := strconv.ParseInt(fields[2+i], 10, 64)
		numbers[i], err = n, errors.Join(err, failed)
	}
	name, failed := strconv.Unquote(fields[6])
	if err = errors.Join(err, failed); err != nil || !filepath.IsLocal(filepath.FromSlash(name)) {
		return f, errors.Join(err, fmt.Errorf("bad line %.100q", line))
	}
	f = File{Path: name, Mode: uint32(mode), stat: filestat.Stat{Size: numbers[0], Mtime: numbers[1], Ctime: numbers[2], Inode: uint64(numbers[3])}}
	if fields[1] != "-" {
		f.ID = fields[1]
	}
	return f, nil
}

// contents are texts that the repository does not have, for merges by lines.
type contents struct {
	mu   sync.Mutex // guards the rest
	have map[string]bool
	buf  bytes.Buffer // of records: length of the id, id, length, compressed text
}

// add compresses outside of the lock, because many goroutines copy at once.
func (c *contents) add(id string, data []byte) {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestSpeed) // the level is valid
	_, _ = w.Write(data)                              // a buffer takes everything
	_ = w.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.have[id] {
		return
	}
	if c.have == nil {
		c.have = map[string]bool{}
	}
	c.have[id] = true
	raw, _ := hex.DecodeString(id) // it was encoded just now
	head := binary.AppendUvarint(nil, uint64(len(raw)))
	head = append(head, raw...)
	c.buf.Write(binary.AppendUvarint(head, uint64(packed.Len())))
	c.buf.Write(packed.Bytes())
}

// save writes all texts in one file: one file for each would cost more than the copy.
func (c *contents) save(name string) error { return atomicfile.Write(name, c.buf.Bytes()) }

// findContent looks for a text among those that were kept.
func findContent(name, id string) ([]byte, error) {
	want, err := hex.DecodeString(id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 256<<10)
	for {
		n, err := binary.ReadUvarint(in)
		if err != nil || n > 64 {
			return nil, errors.Join(errNoContent, err)
		}
		got := make([]byte, n)
		if _, err := io.ReadFull(in, got); err != nil {
			return nil, err
		}
		size, err := binary.ReadUvarint(in)
		if err != nil || size > 2*maxText {
			return nil, errors.Join(errNoContent, err)
		}
		if bytes.Equal(got, want) {
			return io.ReadAll(io.LimitReader(flate.NewReader(io.LimitReader(in, int64(size))), maxText+1))
		}
		if _, err := in.Discard(int(size)); err != nil {
			return nil, err
		}
	}
}

// errNoContent makes a merge by lines a conflict instead of a guess.
var errNoContent = errors.New("its content at the start of the worktree is not known any more")

// baseContent returns the content that a file had when the tree was made.
func (t *Tree) baseContent(id string) ([]byte, error) {
	if data, err := findContent(t.file(contentsFile), id); err == nil {
		return data, nil
	}
	if t.Common == "" {
		return nil, errNoContent
	}
	own := filepath.Join(t.Common, "worktrees", t.Admin)
	if _, err := os.Lstat(own); err != nil {
		own = t.Common
	}
	repo, err := gitobj.Open(own, t.Common)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	parsed, err := gitobj.ParseID(id)
	if err != nil {
		return nil, err
	}
	_, data, err := repo.Object(parsed)
	if err != nil {
		return nil, errors.Join(errNoContent, err)
	}
	return data, nil
}

// Change is a file that a tree changed.
type Change struct {
	Path      string
	Base, Now File // the zero File is none
}

// Status is how a change is called.
func (c Change) Status() string {
	switch {
	case c.Base.Mode == 0:
		return "added"
	case c.Now.Mode == 0:
		return "deleted"
	}
	return "modified"
}

// Changes lists the files that differ from the base, by path.
func (t *Tree) Changes(ctx context.Context) ([]Change, error) {
	base, err := readBase(t.file(baseFile))
	if err != nil {
		return nil, err
	}
	now, err := t.scan(ctx, base)
	if err != nil {
		return nil, err
	}
	var out []Change
	for name, was := range base {
		is, ok := now[name]
		if !ok || is.Mode != was.Mode || is.ID != was.ID {
			out = append(out, Change{Path: name, Base: was, Now: is})
		}
		delete(now, name)
	}
	for name, is := range now {
		out = append(out, Change{Path: name, Now: is})
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// readAt reads a file of a folder, or the target of a link, without following links.
func readAt(root *os.Root, name string) (data []byte, mode uint32, err error) {
	name = filepath.FromSlash(name)
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && info.IsDir() {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		return []byte(filepath.ToSlash(target)), modeLink, err
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is not a regular file", name)
	}
	mode = modeFile
	if info.Mode()&0o100 != 0 {
		mode = modeExec
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, 0, errors.Join(err, fmt.Errorf("%s changed just now", name))
	}
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(data) > maxFile {
		return nil, mode, fmt.Errorf("%s is larger than %d MB", name, maxFile>>20)
	}
	return data, mode, err
}

// maxFile is the largest file that is merged.
const maxFile = 64 << 20

// isBinary decides as git does, by a zero byte near the start.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }
