package gitobj

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
)

// readLoose reads an object that has its own file, in the first store that has it.
func (r *Repo) readLoose(f *inflater, id ID, limit int64) (Kind, []byte, error) {
	if int(id.size) != r.hash {
		return 0, nil, ErrMissing
	}
	name := id.String()
	for _, store := range r.stores {
		file, _, err := openRegular(filepath.Join(store, name[:2], name[2:]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		defer file.Close()
		return inflateLoose(f, file, limit)
	}
	return 0, nil, ErrMissing
}

// inflateLoose reads "kind size", a zero byte and the content, compressed together.
func inflateLoose(f *inflater, file io.ReaderAt, limit int64) (Kind, []byte, error) {
	f.seek(file, 0)
	if err := f.begin(); err != nil {
		return 0, nil, err
	}
	kind, size, err := f.looseHead()
	switch {
	case err != nil:
		return 0, nil, err
	case size > limit:
		return kind, nil, ErrLimit
	}
	data, err := f.rest(size)
	return kind, data, err
}

// looseHead reads up to the zero byte. No head is longer than "commit" with 19 digits.
func (f *inflater) looseHead() (Kind, int64, error) {
	var buf [32]byte
	for i := range buf {
		if _, err := io.ReadFull(f.z, buf[i:i+1]); err != nil {
			return 0, 0, damagedStream(err)
		}
		if buf[i] != 0 {
			continue
		}
		name, digits, _ := bytes.Cut(buf[:i], []byte(" "))
		kind := ParseKind(string(name))
		size, err := strconv.ParseUint(string(digits), 10, 62)
		if kind == 0 || err != nil {
			break
		}
		return kind, int64(size), nil
	}
	return 0, 0, corrupt("a loose object has no head")
}
