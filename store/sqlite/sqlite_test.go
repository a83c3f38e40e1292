package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(tb testing.TB, dir string) storetest.Database {
		return func(o store.Options) (*store.Store, error) {
			return sqlite.OpenStore(tb.Context(), sqlite.Options{Path: filepath.Join(dir, "lathe.db")}, o)
		}
	})
}
