package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

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

// Blobs stores large values under the SHA-256 of their content, in hex. The store verifies what it reads. It is safe
// for use by many goroutines.
type Blobs interface {
	// Put stores a value. When it returns, every node can read the value. Storing it again changes nothing.
	Put(ctx context.Context, hash string, data []byte) error
	// Get returns a value. The error of a missing one is fs.ErrNotExist.
	Get(ctx context.Context, hash string) ([]byte, error)
	// Delete deletes values. A missing one is no error.
	Delete(ctx context.Context, hash ...string) error
	// List calls yield with the hash of each value, until an error.
	List(ctx context.Context, yield func(hash string) error) error
}

// blobs moves large strings out of rows and back. The database counts the references.
type blobs struct {
	dir   string // of files and of staged imports
	files *files // nil if large has the values
	large Blobs  // a store that other machines share; nil means files
	words bool   // find the words of parts, for the index
}

// newBlobs returns a store of large values in large, or else in files below dir.
func newBlobs(dir string, large Blobs, words bool) *blobs {
	b := &blobs{dir: dir, large: large, words: words}
	if large == nil && dir != "" {
		b.files = &files{dir: dir}
	}
	return b
}

// staged returns a store for an import. It syncs the names of its files in syncNames: an import writes thousands of
// files and needs their names on disk only when it commits.
func (b *blobs) staged() *blobs {
	out := &blobs{dir: b.dir, large: b.large}
	if b.files != nil {
		out.files = &files{dir: b.dir, unsynced: map[string]bool{}}
	}
	return out
}

type blob struct {
	hash string
	size int64
	data []byte // nil if the value was stored earlier and its content is no longer in memory
}

// encoded is a row's JSON as it is stored.
type encoded struct {
	data  []byte
	blobs []blob
	words []string // of a part, for the index
}

// shrink moves the large strings of a row into files.
func (b *blobs) shrink(data []byte) (encoded, error) {
	if len(data) <= blobLimit || b.files == nil && b.large == nil {
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

// put stores a value before the transaction of its row.
func (b *blobs) put(data []byte) (blob, error) {
	sum := sha256.Sum256(data)
	one := blob{hash: hex.EncodeToString(sum[:]), size: int64(len(data)), data: data}
	if b.large != nil {
		return one, unavailable(b.large.Put(context.Background(), one.hash, data))
	}
	return one, b.files.ensure(one)
}

// unavailable is an error of the store of large values for its callers: their request is valid, and so is their password.
func unavailable(err error) error {
	switch lathe.CodeOf(err) {
	case lathe.Invalid, lathe.Unauthorized:
		return lathe.Errorf(lathe.Unavailable, "%w", err)
	default:
		return err
	}
}

// get returns a value and verifies it.
func (b *blobs) get(hash string) (data []byte, err error) {
	switch {
	case b.large != nil:
		if data, err = b.large.Get(context.Background(), hash); err != nil {
			return nil, unavailable(err)
		}
	case b.files != nil:
		if data, err = b.files.Get(context.Background(), hash); err != nil {
			return nil, err
		}
	default:
		return nil, lathe.Errorf(lathe.Unavailable, "cannot read a large value (%s…): this store was opened without large values", hash[:12])
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return nil, lathe.Errorf(lathe.Internal, "the file of a large value (%s…) is damaged; restore %s from a backup", hash[:12], b.where(hash))
	}
	return data, nil
}

// where names a value in an error.
func (b *blobs) where(hash string) string {
	if b.files != nil {
		return b.files.path(hash)
	}
	return hash[:2] + "/" + hash[2:]
}

// syncNames syncs the names of the files written so far.
func (b *blobs) syncNames() {
	if b.files != nil {
		b.files.syncNames()
	}
}

// refer records the large values of a row. With replace, it drops the earlier references, of which there are some. It checks the values once
// more, under the lock of the write transaction, because another process may have deleted them since put.
func (t *txn) refer(kind string, row int64, refs []blob, replace bool) error {
	if replace {
		n, err := t.count(`DELETE FROM blob_ref WHERE kind = $1 AND row = $2`, kind, row)
		if err != nil {
			return err
		}
		t.orphanedBlobs = t.orphanedBlobs || n > 0
	}
	for _, one := range refs {
		if err := keepValue(t, one); err != nil {
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
