package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/filelock"
)

// Objects lie in packs: files to which one process appends. To make a file for each object would cost
// a step more than everything else it does. A heap that has grown enough, or whose process is gone, is
// never written again; only tidying replaces it by a smaller one.

const (
	// packSize is the size at which a pack is closed and another started.
	packSize = 16 << 20
	// headSize is the header of each object: its name, and how many bytes follow.
	headSize = len(oid{}) + 4
	// graceTime protects a new packfile from Tidy: a process may be about to refer to its objects.
	graceTime = time.Hour
)

// packfile is one such file. objects.mu guards it.
type packfile struct {
	path  string
	file  *os.File // open for reading, this process's own also for writing
	size  int64    // how far it was read
	young time.Time
}

// location is the position of an object.
type location struct {
	pack *packfile
	off  int64 // of the compressed object
	size int
}

// append writes an object to the packfile of this process. objects.mu is held: a reader finds an object
// only if the one before it is complete.
func (o *objects) append(id oid, body []byte) error {
	if o.own == nil {
		if err := o.begin(); err != nil {
			return err
		}
	}
	h := o.own
	record := make([]byte, 0, headSize+len(body))
	record = append(record, id[:]...)
	record = binary.BigEndian.AppendUint32(record, uint32(len(body)))
	record = append(record, body...)
	o.disk.at("append", h.path)
	if _, err := h.file.WriteAt(record, h.size); err != nil {
		return err // the next object overwrites the partial one
	}
	o.where[id] = location{h, h.size + int64(headSize), len(body)}
	h.size += int64(len(record))
	if h.size >= o.packSize {
		return o.seal()
	}
	return nil
}

// begin creates a packfile. Its lock marks it as being written.
func (o *objects) begin() error {
	path := filepath.Join(o.dir, strings.TrimPrefix(tempName(), tempPrefix))
	o.disk.at("create", path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(o.dir, 0o700); err == nil {
			f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		}
	}
	if err != nil {
		return err
	}
	if err := filelock.TryLock(f); err != nil {
		return errors.Join(err, f.Close())
	}
	o.own = &packfile{path: path, file: f}
	o.packs[path] = o.own
	return nil
}

// seal closes the packfile of this process. The next object starts another.
func (o *objects) seal() error {
	h := o.own
	if h == nil {
		return nil
	}
	o.own = nil
	read, err := os.Open(h.path)
	if err != nil {
		o.drop(h)
		return nil
	}
	written := h.file
	h.file, h.young = read, time.Now()
	return written.Close()
}

// find reads the list of objects.
func (o *objects) find() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.refresh()
}

// refresh finds packfiles that are new or have grown.
func (o *objects) refresh() error {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	there := map[string]bool{}
	for _, e := range entries {
		path := filepath.Join(o.dir, e.Name())
		there[path] = true
		if strings.HasPrefix(e.Name(), tempPrefix) || o.own != nil && o.own.path == path {
			continue
		}
		if err := o.scan(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for path, h := range o.packs {
		if !there[path] && h != o.own {
			o.drop(h) // removed by Tidy
		}
	}
	return nil
}

// scan reads the IDs of new objects in a packfile.
func (o *objects) scan(path string) error {
	h := o.packs[path]
	if h == nil {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		h = &packfile{path: path, file: f}
		o.packs[path] = h
	}
	info, err := h.file.Stat()
	if err != nil {
		return err
	}
	h.young = info.ModTime()
	return h.entries(info.Size(), func(id oid, off int64, size int) { o.where[id] = location{h, off, size} })
}

// entries calls found for each object up to a size, and records how far it read. It stops at an
// incomplete object, whose writer was killed or is still writing.
func (h *packfile) entries(limit int64, found func(id oid, off int64, size int)) error {
	var head [headSize]byte
	for h.size+int64(headSize) <= limit {
		if _, err := h.file.ReadAt(head[:], h.size); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		id, size := oid(head[:len(oid{})]), int64(binary.BigEndian.Uint32(head[len(oid{}):]))
		next := h.size + int64(headSize) + size
		if next > limit || size == 0 {
			return nil
		}
		found(id, h.size+int64(headSize), int(size))
		h.size = next
	}
	return nil
}

// drop forgets a removed packfile.
func (o *objects) drop(h *packfile) {
	delete(o.packs, h.path)
	for id, s := range o.where {
		if s.pack == h {
			delete(o.where, id)
		}
	}
	_ = h.file.Close() // it was only read
}

// body returns the compressed form of one of our objects.
func (o *objects) body(id oid) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for try := 0; ; try++ {
		if s, ok := o.where[id]; ok {
			body := make([]byte, s.size)
			if _, err := s.pack.file.ReadAt(body, s.off); err != nil {
				return nil, fmt.Errorf("read a snapshot: %w", err)
			}
			return body, nil
		}
		if try > 0 {
			return nil, fs.ErrNotExist
		}
		if err := o.refresh(); err != nil {
			return nil, fmt.Errorf("read a snapshot: %w", err)
		}
	}
}

// sync makes the objects of this process survive a power cut.
func (o *objects) sync() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.own == nil {
		return nil
	}
	return o.own.file.Sync()
}

func (o *objects) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.seal()
	for _, h := range o.packs {
		_ = h.file.Close() // it was only read
	}
	clear(o.packs)
	clear(o.where)
	return err
}
