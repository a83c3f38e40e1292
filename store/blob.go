package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store/searchtext"
)

// Large strings (attachments, long outputs) are files named by the hash of their content.
// A row with large strings begins with blobMark, and its JSON has an @ and the hash in place
// of each string. Neither occurs in JSON.
const (
	blobLimit = 64 << 10
	blobMark  = 1
	hashLen   = 2 * sha256.Size
)

// The kinds of row that refer to blobs.
const (
	kindMessage = "message"
	kindPart    = "part"
)

// blobs reads and writes the files. The database counts the references.
type blobs struct {
	dir string
	// unsynced, if not nil, collects the folders whose names syncNames syncs later: an import writes
	// thousands of files and needs their names on disk only when it commits.
	unsynced map[string]bool
	words    bool // find the words of parts, for the index
}

type blob struct {
	hash string
	size int64
	data []byte // nil if the file was written earlier and its content is no longer in memory
}

// encoded is a row's JSON as it is stored.
type encoded struct {
	data  []byte
	blobs []blob
	words []string // of a part, for the index
}

// shrink moves the large strings of a row into files.
func (b *blobs) shrink(data []byte) (encoded, error) {
	if len(data) <= blobLimit || b.dir == "" {
		return encoded{data: data}, nil
	}
	out := encoded{data: []byte{blobMark}}
	rest := 0
	for i := 0; i < len(data); i++ {
		if data[i] != '"' {
			continue
		}
		end := endOfString(data, i)
		if end-i > blobLimit {
			one, err := b.put(data[i:end])
			if err != nil {
				return encoded{}, err
			}
			out.data = append(append(append(out.data, data[rest:i]...), '@'), one.hash...)
			out.blobs = append(out.blobs, one)
			rest = end
		}
		i = end - 1
	}
	if len(out.blobs) == 0 {
		return encoded{data: data}, nil
	}
	out.data = append(out.data, data[rest:]...)
	return out, nil
}

func endOfString(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(b))
}

// expand inserts the large strings again. A row without any is returned unchanged.
func (b *blobs) expand(data []byte) ([]byte, error) { return expandWith(data, b.get) }

// withoutLarge is the JSON of a row with an empty text for each value that is in a file.
func withoutLarge(data []byte) ([]byte, error) {
	return expandWith(data, func(string) ([]byte, error) { return []byte(`""`), nil })
}

// expandWith replaces each hash in a row by the JSON string that get returns.
func expandWith(data []byte, get func(hash string) ([]byte, error)) ([]byte, error) {
	if len(data) == 0 || data[0] != blobMark {
		return data, nil
	}
	data = data[1:]
	var out []byte
	rest := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = endOfString(data, i) - 1
		case '@':
			if i+1+hashLen > len(data) {
				return nil, lathe.Errorf(lathe.Internal, "a row is damaged: it has an incomplete file hash")
			}
			text, err := get(string(data[i+1 : i+1+hashLen]))
			if err != nil {
				return nil, err
			}
			out = append(append(out, data[rest:i]...), text...)
			rest = i + 1 + hashLen
			i = rest - 1
		}
	}
	return append(out, data[rest:]...), nil
}

func (b *blobs) path(hash string) string { return filepath.Join(b.dir, hash[:2], hash[2:]) }

// put writes the file unless it exists, and syncs it, because the row that refers to it may
// be synced next.
func (b *blobs) put(data []byte) (blob, error) {
	sum := sha256.Sum256(data)
	one := blob{hash: hex.EncodeToString(sum[:]), size: int64(len(data)), data: data}
	return one, b.ensure(one)
}

// ensure writes to a temporary file and renames it, so that a file with a hash as its name is
// always complete.
func (b *blobs) ensure(one blob) error {
	path := b.path(one.hash)
	if info, err := os.Stat(path); err == nil && info.Size() == one.size {
		return nil
	}
	if one.data == nil {
		return lathe.Errorf(lathe.Unavailable, "the file of a large value (%s…) was removed during the import; import again", one.hash[:12])
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return blobError("write", one.hash, err)
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return blobError("write", one.hash, err)
	}
	_, err = f.Write(one.data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return blobError("write", one.hash, err)
	}
	if b.unsynced != nil {
		b.unsynced[dir], b.unsynced[b.dir] = true, true
		return nil
	}
	syncDir(dir)
	syncDir(b.dir)
	return nil
}

// syncNames syncs the names of the files written so far.
func (b *blobs) syncNames() {
	for dir := range b.unsynced {
		syncDir(dir)
	}
	clear(b.unsynced)
}

// syncDir syncs the file names in a folder, so that they survive a power cut, where the
// system supports it.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

func (b *blobs) get(hash string) ([]byte, error) {
	data, err := os.ReadFile(b.path(hash))
	if err != nil {
		return nil, blobError("read", hash, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return nil, lathe.Errorf(lathe.Internal, "the file of a large value (%s…) is damaged; restore %s from a backup", hash[:12], b.path(hash))
	}
	return data, nil
}

func blobError(op, hash string, err error) error {
	return lathe.Errorf(lathe.Unavailable, "cannot %s the file of a large value (%s…): %w", op, hash[:12], err)
}

// refer records the files of a row. With replace, it drops the earlier references.
// It checks the files once more, under the lock of the write transaction,
// because another process may have deleted them since put.
func (t *txn) refer(kind string, row int64, refs []blob, replace bool) error {
	if replace {
		n, err := t.count(`DELETE FROM blob_ref WHERE kind = $1 AND row = $2`, kind, row)
		if err != nil {
			return err
		}
		t.orphanedBlobs = t.orphanedBlobs || n > 0
	}
	for _, one := range refs {
		if err := t.store.blobs.ensure(one); err != nil {
			return err
		}
		if err := t.exec(`INSERT INTO blob (hash, size) VALUES ($1,$2) ON CONFLICT (hash) DO NOTHING`, one.hash, one.size); err != nil {
			return err
		}
		if err := t.exec(`INSERT INTO blob_ref (kind, row, hash) VALUES ($1,$2,$3) ON CONFLICT DO NOTHING`, kind, row, one.hash); err != nil {
			return err
		}
	}
	return nil
}

// unnamed is the SQL condition for a blob without references.
const unnamed = `NOT EXISTS (SELECT 1 FROM blob_ref WHERE blob_ref.hash = blob.hash)`

// sweep deletes files without references, while the write lock prevents new references. It
// is alone in its transaction, so the missing references are already on disk. If the
// transaction fails after a file was deleted, no row needs that file.
func (t *txn) sweep() error {
	gone, err := all(t.tx, `SELECT hash FROM blob WHERE `+unnamed, nil, firstText)
	if err != nil {
		return err
	}
	for _, hash := range gone {
		if err := os.Remove(t.store.blobs.path(hash)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return blobError("remove", hash, err)
		}
		if err := t.exec(`DELETE FROM blob WHERE hash = $1`, hash); err != nil {
			return err
		}
	}
	return nil
}

// strays lists the files that are not in the database and that are too old to belong to a
// running transaction.
func (b *blobs) strays(known map[string]bool, now time.Time) (paths []string, err error) {
	err = filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		hash := filepath.Base(filepath.Dir(path)) + d.Name()
		info, err := d.Info()
		if err == nil && !known[hash] && now.Sub(info.ModTime()) > time.Hour {
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

// encode builds the row of a fact in the caller's goroutine, so that the writer only writes.
func (b *blobs) encode(f lathe.Fact) (encoded, error) {
	switch f := f.(type) {
	case *lathe.MessageChanged:
		return b.shrink(f.Info.AppendRow(nil))
	case *lathe.PartChanged:
		p := f.Part
		if p.Open() { // the text of an open part is in its tails
			p = p.WithText("")
		}
		enc, err := b.shrink(p.AppendRow(nil))
		if b.words {
			enc.words = searchtext.Words(p)
		}
		return enc, err
	default:
		return encoded{}, nil
	}
}
