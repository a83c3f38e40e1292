//go:build unix

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// realSteps are those this program comes with.
func realSteps(t testing.TB) []step {
	t.Helper()
	steps, err := loadSteps(schemaFiles)
	if err != nil || len(steps) == 0 {
		t.Fatalf("%d migrations, %v", len(steps), err)
	}
	return steps
}

// madeUp are steps of a schema that has grown for a while.
func madeUp(t testing.TB) []step {
	t.Helper()
	steps, err := loadSteps(fstest.MapFS{
		"migrations/0001_first.sql":  {Data: []byte(`CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1);`)},
		"migrations/0002_second.sql": {Data: []byte(`ALTER TABLE a ADD COLUMN y TEXT; UPDATE a SET x = x + 1, y = 'two';`)},
		"migrations/0010_third.sql":  {Data: []byte(`CREATE INDEX a_x ON a (x); -- the last has no semicolon` + "\nUPDATE a SET x = x * 10")},
	})
	if err != nil || len(steps) != 3 || steps[2].name != "0010_third.sql" {
		t.Fatalf("%v, %v", steps, err)
	}
	return steps
}

// shape is the schema of a file and the settings that cannot be changed later.
func shape(t testing.TB, d *Driver) (lines []string) {
	t.Helper()
	err := d.Read(context.Background(), func(r store.Reader) error {
		for _, sql := range []string{
			`SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY type, name`,
			`SELECT 'version ' || user_version FROM pragma_user_version`,
			`SELECT 'application ' || application_id FROM pragma_application_id`,
			`SELECT 'page ' || page_size FROM pragma_page_size`,
			`SELECT 'vacuum ' || auto_vacuum FROM pragma_auto_vacuum`,
			`SELECT 'journal ' || journal_mode FROM pragma_journal_mode`,
		} {
			err := r.Query(sql, nil, func(row store.Row) error {
				lines = append(lines, row.Text(0))
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// openSteps opens the file of a folder with a schema and closes it with the test.
func openSteps(t testing.TB, dir string, steps []step) *Driver {
	t.Helper()
	d, err := open(context.Background(), Options{Path: filepath.Join(dir, "lathe.db")}, steps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestMigrate_FromEveryVersion(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]step{"real": realSteps(t), "made up": madeUp(t)} {
		want := shape(t, openSteps(t, t.TempDir(), steps))
		for n := range steps {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := create(filepath.Join(dir, "lathe.db"), steps[:n]); err != nil {
					t.Fatal(err)
				}
				d := openSteps(t, dir, steps)
				if got := shape(t, d); !slices.Equal(got, want) {
					t.Errorf("got  %q\nwant %q", got, want)
				}
				if name == "made up" && number(t, d, `SELECT x FROM a WHERE y = 'two'`) != 20 {
					t.Error("a step ran twice, or not, or out of order")
				}
			})
		}
	}
}

func TestMigrate_Settings(t *testing.T) {
	t.Parallel()
	d := openSteps(t, t.TempDir(), realSteps(t))
	got := strings.Join(shape(t, d), "\n")
	for _, want := range []string{
		"page 8192", "vacuum 2", "journal wal", fmt.Sprintf("application %d", applicationID), fmt.Sprintf("version %d", len(realSteps(t))),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	for name, want := range map[string]int64{"synchronous": 1, "busy_timeout": lockWait.Milliseconds(), "temp_store": 2, "journal_size_limit": 16 << 20, "cache_size": -4000} {
		if n := number(t, d, `SELECT * FROM pragma_`+name); n != want {
			t.Errorf("%s of a reader is %d, not %d", name, n, want)
		}
	}
	for durable, want := range map[bool]int64{true: 2, false: 1} {
		tx, err := d.Begin(context.Background(), durable)
		if err != nil {
			t.Fatal(err)
		}
		err = tx.Query(`PRAGMA synchronous`, nil, func(row store.Row) error {
			if n := row.Int(0); n != want {
				t.Errorf("synchronous is %d, not %d, when durable is %v", n, want, durable)
			}
			return nil
		})
		if err := errors.Join(err, tx.Rollback()); err != nil {
			t.Error(err)
		}
	}
}

// openChild opens the store on command and says which feed it found.
func openChild(args []string) error {
	if err := say("ready"); err != nil {
		return err
	}
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	s, d, err := openAt(args[0], store.Options{})
	if err != nil {
		return err
	}
	feeds := 0
	err = d.Read(context.Background(), func(r store.Reader) error {
		return r.Query(`SELECT word FROM feed`, nil, func(store.Row) error {
			feeds++
			return nil
		})
	})
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	return say(fmt.Sprintf("%s %d", s.Feed(), feeds))
}

// TestMigrate_Together lets eight processes find the same file at the same moment, and
// then eight goroutines.
func TestMigrate_Together(t *testing.T) {
	t.Parallel()
	steps := realSteps(t)
	for n := -1; n < len(steps); n++ {
		t.Run(fmt.Sprintf("processes/%d", n), func(t *testing.T) {
			dir := t.TempDir()
			if n >= 0 {
				if err := create(filepath.Join(dir, "lathe.db"), steps[:n]); err != nil {
					t.Fatal(err)
				}
			}
			var all [8]*child
			for i := range all {
				all[i] = spawn(t, "open", dir)
			}
			for _, c := range all {
				if _, err := c.line(); err != nil {
					t.Fatal(err, c.errors.String())
				}
			}
			for _, c := range all {
				if _, err := c.in.Write([]byte("!")); err != nil {
					t.Fatal(err)
				}
			}
			words := map[string]bool{}
			for _, c := range all {
				line, err := c.line()
				if err != nil {
					t.Errorf("%v: %s", err, c.errors.String())
					continue
				}
				c.wait(t)
				words[line] = true
				if !strings.HasSuffix(line, " 1") {
					t.Errorf("the schema was made more than once: %q", line)
				}
			}
			if len(words) != 1 {
				t.Errorf("they found different databases: %v", words)
			}
		})
		t.Run(fmt.Sprintf("goroutines/%d", n), func(t *testing.T) {
			dir := t.TempDir()
			if n >= 0 {
				if err := create(filepath.Join(dir, "lathe.db"), steps[:n]); err != nil {
					t.Fatal(err)
				}
			}
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					s, _, err := openAt(dir, store.Options{})
					if err != nil {
						t.Error(err)
						return
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		})
	}
}

func TestMigrate_NewerIsRefused(t *testing.T) {
	t.Parallel()
	dir, steps := t.TempDir(), madeUp(t)
	d := openSteps(t, dir, steps)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "lathe.db")
	before := imprint(t, dir)
	_, err := open(context.Background(), Options{Path: path}, steps[:2])
	reported(t, err, lathe.Conflict, path, "was written by a newer version of lathe", "schema 3; this version supports 2", "update lathe")
	sameFiles(t, before, imprint(t, dir))
}

// TestMigrate_NewerInTheLog has a header of the right version and a log of a newer one: a
// newer program has migrated and was killed.
func TestMigrate_NewerInTheLog(t *testing.T) {
	t.Parallel()
	dir, steps := t.TempDir(), madeUp(t)
	path := filepath.Join(dir, "lathe.db")
	if err := create(path, steps[:2]); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := apply(c, path, steps); err != nil {
		t.Fatal(err)
	}
	killed := copyTree(t, dir) // while the log is there
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(killed, "lathe.db")
	if version, err := inspect(path); version != 2 || err != nil {
		t.Fatalf("the header says %d, %v", version, err)
	}
	_, err = open(context.Background(), Options{Path: path}, steps[:2])
	reported(t, err, lathe.Conflict, path, "was written by a newer version of lathe", "schema 3; this version supports 2")
	if n := number(t, openSteps(t, killed, steps), `SELECT x FROM a`); n != 20 {
		t.Errorf("x is %d", n)
	}
}

func TestMigrate_FailureLeavesTheOldVersion(t *testing.T) {
	t.Parallel()
	dir, steps := t.TempDir(), madeUp(t)
	path := filepath.Join(dir, "lathe.db")
	if err := create(path, steps[:1]); err != nil {
		t.Fatal(err)
	}
	bad := slices.Clone(steps)
	bad[2].sql = `CREATE TABLE half (x); INSERT INTO half VALUES (1); CREATE TABLE a (z)` // there is one
	_, err := open(context.Background(), Options{Path: path}, bad)
	reported(t, err, lathe.Internal, path, "migration 0010_third.sql of "+path+" failed", "stays at its old version", "backup", "table a already exists")
	d := openSteps(t, dir, steps[:2]) // the second step went well
	if x, half := number(t, d, `SELECT x FROM a`), number(t, d, `SELECT count(*) FROM sqlite_master WHERE name = 'half'`); x != 2 || half != 0 {
		t.Errorf("x is %d, and %d tables are half made", x, half)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if n := number(t, openSteps(t, dir, steps), `SELECT x FROM a`); n != 20 {
		t.Errorf("after the repair x is %d", n)
	}
}

// TestMigrate_FailureToMakeLeavesNothing is the same for a file that does not exist yet.
func TestMigrate_FailureToMakeLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "lathe.db")
	_, err := open(context.Background(), Options{Path: path}, []step{{"0001_bad.sql", "CREATE NONSENSE"}})
	reported(t, err, lathe.Internal, "cannot create "+path, "0001_bad.sql")
	if left, _ := filepath.Glob(path + "*"); !slices.Equal(left, []string{path + ".lock"}) {
		t.Errorf("left: %q", left)
	}
	openSteps(t, dir, realSteps(t))
}

func TestMigrate_LeftoversOfAKilledMaker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "lathe.db")
	for _, suffix := range []string{".new", ".new-journal", ".new-wal", ".new-shm", ".lock"} {
		if err := os.WriteFile(path+suffix, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := mustOpen(t, dir, store.Options{})
	if err := checkAll(s, nil); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(path + ".new*"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestMigrate_KilledWhileMaking kills the maker at random moments of its few milliseconds.
func TestMigrate_KilledWhileMaking(t *testing.T) {
	t.Parallel()
	roll, made := dice(seedOf(t), 3), 0
	for range 20 {
		dir := t.TempDir()
		c := spawn(t, "open", dir)
		if _, err := c.line(); err != nil {
			t.Fatal(err, c.errors.String())
		}
		if _, err := c.in.Write([]byte("!")); err != nil {
			t.Fatal(err)
		}
		n := roll.IntN(200) // early more often than late
		<-time.After(time.Duration(n*n) * time.Microsecond)
		c.kill()
		if _, err := os.Stat(filepath.Join(dir, "lathe.db")); err == nil {
			made++
		}
		s, d, err := openAt(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := number(t, d, `SELECT count(*) FROM feed`); n != 1 {
			t.Errorf("%d feeds", n)
		}
		if err := errors.Join(checkAll(s, nil), s.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d of 20 were killed after the file was in place", made)
}

// TestMigrate_WaitsForAnother that makes the file, as long as its context lasts.
func TestMigrate_WaitsForAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "lathe.db")
	unlock, err := lockFile(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	opened := make(chan error, 1)
	go func() {
		_, err := Open(ctx, Options{Path: path})
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Errorf("did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	cancel()
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	unlock()
	openSteps(t, dir, realSteps(t))
}

// TestMigrate_WhileAnotherWrites migrates a file that a process of the old version uses.
func TestMigrate_WhileAnotherWrites(t *testing.T) {
	t.Parallel()
	dir, steps := t.TempDir(), madeUp(t)
	path := filepath.Join(dir, "lathe.db")
	if err := create(path, steps[:1]); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteScript(c, `CREATE TABLE other (n)`, nil); err != nil {
		t.Fatal(err)
	}
	end, wrote := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-end:
				wrote <- c.Close()
				return
			default:
			}
			if err := sqlitex.Execute(c, `INSERT INTO other VALUES (1)`, nil); err != nil {
				wrote <- errors.Join(err, c.Close())
				return
			}
		}
	}()
	d, err := open(context.Background(), Options{Path: path}, steps)
	close(end)
	if err := errors.Join(err, <-wrote); err != nil {
		t.Fatal(err)
	}
	if n := number(t, d, `SELECT x FROM a`); n != 20 {
		t.Errorf("x is %d", n)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
