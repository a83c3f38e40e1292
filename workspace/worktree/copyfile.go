package worktree

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"github.com/lathe-agent/lathe/internal/filestat"
	"github.com/lathe-agent/lathe/internal/gitobj"
)

// smallFile is the largest file that is read whole.
const smallFile = 1 << 20

// regular copies a file. One that the index knows to be clean is not hashed.
func (b *batch) regular(base, name string, entry *gitobj.IndexEntry) error {
	src, err := b.folder.from.OpenFile(base, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	f := File{Path: name, Mode: modeFile}
	if info.Mode()&0o100 != 0 {
		f.Mode = modeExec
	}
	clean := entry != nil && entry.Clean(filestat.Of(info), f.Mode, b.repo.written)
	exact := clean && b.repo.exact
	if exact {
		f.ID = entry.ID.String()
	}
	dst, err := b.folder.to.OpenFile(base, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	id, err := b.content(dst, src, info.Size(), !exact)
	if err == nil && !exact {
		f.ID = id
	}
	if err == nil {
		f.stat, err = finish(b.folder.to, dst, base, info)
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	// A clean file behind a filter stays clean: git compares the stat first.
	b.add(f, clean)
	return nil
}

// content copies bytes, and returns their name if it is wanted.
func (b *batch) content(dst, src *os.File, size int64, named bool) (id string, err error) {
	if size > smallFile {
		if !named {
			_, err = io.Copy(dst, src) // the kernel copies, or shares, the blocks
			return "", err
		}
		if size > maxText {
			return b.stream(dst, src, size)
		}
	}
	if int64(cap(b.buf)) < size+1 {
		b.buf = make([]byte, max(64<<10, size+1))
	}
	data, err := readTo(b.buf[:0], src)
	if err != nil {
		return "", err
	}
	b.buf = data[:0]
	if _, err = dst.Write(data); err != nil || !named {
		return "", err
	}
	id = b.hash(data)
	b.keep(id, data)
	return id, nil
}

// readTo reads a file into a buffer that is made larger if need be.
func readTo(buf []byte, f io.Reader) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

// stream copies and hashes a large file. One that grows or shrinks meanwhile has no name.
func (b *batch) stream(dst, src *os.File, size int64) (string, error) {
	h := newHash(b.repo.sha256())
	h.Write([]byte("blob " + strconv.FormatInt(size, 10) + "\x00"))
	n, err := io.Copy(io.MultiWriter(dst, h), src)
	if err != nil || n != size {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// finish gives a copy the time of its source, which build tools compare, and reads its stat.
func finish(dir *os.Root, dst *os.File, base string, src fs.FileInfo) (filestat.Stat, error) {
	if err := setTime(dir, dst, base, src.ModTime()); err != nil {
		return filestat.Stat{}, err
	}
	info, err := dst.Stat()
	if err != nil {
		return filestat.Stat{}, err
	}
	return filestat.Of(info), nil
}
