package gitobj

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

var (
	// ErrMissing is in the chain of an error about an object or ref that does not exist.
	ErrMissing = errors.New("not in the repository")
	// ErrCorrupt is in the chain of an error about data that git cannot have written.
	ErrCorrupt = errors.New("damaged")
	// ErrLimit is in the chain of an error about something larger than is read here.
	ErrLimit = errors.New("over the limit")
)

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}

const (
	sha1Size   = 20
	sha256Size = 32
)

// ID names an object: 20 bytes of SHA-1 or 32 of SHA-256. It is comparable; the zero ID
// names nothing.
type ID struct {
	sum  [sha256Size]byte
	size uint8
}

// ParseID reads the lower-case hexadecimal form, 40 or 64 digits.
func ParseID(s string) (ID, error) {
	id, ok := parseHex([]byte(s))
	if !ok {
		return ID{}, corrupt("%.80q is not an object ID", s)
	}
	return id, nil
}

func parseHex(s []byte) (ID, bool) {
	var id ID
	if len(s) != 2*sha1Size && len(s) != 2*sha256Size {
		return id, false
	}
	for _, c := range s {
		if 'A' <= c && c <= 'F' { // git writes none
			return id, false
		}
	}
	n, err := hex.Decode(id.sum[:], s)
	id.size = uint8(n)
	if err != nil {
		return ID{}, false
	}
	return id, true
}

func rawID(b []byte) (id ID) {
	id.size = uint8(copy(id.sum[:], b))
	return id
}

func (id ID) bytes() []byte { return id.sum[:id.size] }

// String is the hexadecimal form.
func (id ID) String() string { return hex.EncodeToString(id.sum[:id.size]) }

// IsZero reports whether the ID names nothing.
func (id ID) IsZero() bool { return id.size == 0 }

// Kind is the type of an object.
type Kind uint8

// The kinds, numbered as in packs.
const (
	CommitKind Kind = 1
	TreeKind   Kind = 2
	BlobKind   Kind = 3
	TagKind    Kind = 4
)

var kindNames = [...]string{CommitKind: "commit", TreeKind: "tree", BlobKind: "blob", TagKind: "tag"}

func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// ParseKind reads what String writes; 0 is no kind.
func ParseKind(name string) Kind { return Kind(max(0, slices.Index(kindNames[:], name))) }
