package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgres"
	"github.com/lathe-agent/lathe/store/postgrestest"
	"github.com/lathe-agent/lathe/store/storetest"
)

// server is the server of this test binary.
var (
	server = sync.OnceValues(func() (*postgrestest.Server, error) {
		started.Store(true)
		return postgrestest.Start(postgrestest.Options{})
	})
	started atomic.Bool
)

func TestMain(m *testing.M) {
	code := m.Run()
	if started.Load() {
		if s, err := server(); err == nil {
			_ = s.Close()
		}
	}
	os.Exit(code)
}

// start returns the server, or skips the test without PostgreSQL.
func start(t testing.TB) *postgrestest.Server {
	t.Helper()
	s, err := server()
	if errors.Is(err, postgrestest.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	s := start(t)
	storetest.Run(t, func(tb testing.TB, _ string) storetest.Database {
		dsn := s.Fresh(tb)
		return func(o store.Options) (*store.Store, error) {
			return postgres.OpenStore(tb.Context(), postgres.Options{DSN: dsn}, o)
		}
	})
}

func ExampleRedact() {
	fmt.Println(postgres.Redact("postgres://ann:secret@db.example.com:5432/lathe?sslpassword=secret"))
	// Output: postgres://ann@db.example.com:5432/lathe
}
