package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/atomicfile"
)

// Trust remembers which projects may run what their settings say. Each decision is its own
// file, so that two processes never undo each other's; what it was bound to is in it, and a
// project whose settings have changed since is not trusted. A project may have several: its
// folders can have their own settings.
type Trust struct{ dir string }

// Grant is one decision.
type Grant struct {
	Root     string    `json:"root"`   // real path of the project
	Digest   string    `json:"digest"` // of the settings that were trusted
	Settings []string  `json:"settings,omitempty"`
	At       time.Time `json:"at"`
}

// NewTrust returns the decisions stored in a folder, which need not exist.
func NewTrust(dir string) *Trust { return &Trust{dir: dir} }

func (t *Trust) path(root, digest string) string {
	sum := sha256.Sum256([]byte(root + "\x00" + digest))
	return filepath.Join(t.dir, hex.EncodeToString(sum[:])+".json")
}

// Trusts reports whether the user trusts the project with exactly these settings. What
// cannot be read is not trusted.
func (t *Trust) Trusts(root, digest string) bool {
	g, ok, err := t.read(t.path(root, digest))
	return err == nil && ok && digest != "" && g.Root == root && g.Digest == digest
}

func (t *Trust) read(path string) (g Grant, ok bool, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return g, false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &g)
	}
	return g, err == nil, err
}

// Grant writes a decision down.
func (t *Trust) Grant(g Grant) error {
	b, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(t.path(g.Root, g.Digest), append(b, '\n'))
}

// Revoke takes all decisions about a project back and reports whether there were any.
func (t *Trust) Revoke(root string) (bool, error) {
	grants, err := t.List()
	had := false
	for _, g := range grants {
		if g.Root != root {
			continue
		}
		had = true
		if e := os.Remove(t.path(g.Root, g.Digest)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return had, err
}

// List returns all decisions by path. A file that cannot be read is left out: it trusts
// nothing either.
func (t *Trust) List() ([]Grant, error) {
	entries, err := os.ReadDir(t.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []Grant
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		if g, ok, err := t.read(filepath.Join(t.dir, e.Name())); err == nil && ok {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b Grant) int { return strings.Compare(a.Root, b.Root) })
	return out, err
}
