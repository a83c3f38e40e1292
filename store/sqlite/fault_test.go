//go:build unix

package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// The error of a fault must say what happened and what to do, and no promised data may be
// lost. Nothing is ever deleted, and a refused file is not changed.

// promise is a prompt that was admitted.
type promise struct {
	session lathe.SessionID
	message lathe.MessageID
}

// fillOne admits a prompt in its own session: small, larger than a page, or a file.
func fillOne(s *store.Store, ids *lathe.IDs, size int) (promise, error) {
	rec := newSession(ids, "/work")
	if err := s.Create(context.Background(), rec); err != nil {
		return promise{}, err
	}
	return admitOne(s, ids, rec.ID, size)
}

func admitOne(s *store.Store, ids *lathe.IDs, session lathe.SessionID, size int) (promise, error) {
	m := lathe.Message{ID: ids.Message(), Session: session, Data: &lathe.User{Agent: "build", System: "2"}}
	for _, n := range []int{size, 10} {
		id := ids.Part()
		m.Parts = append(m.Parts, lathe.Part{ID: id, Session: session, Message: m.ID, Body: &lathe.Text{Text: content(id, 1, n)}})
	}
	_, err := s.Admit(context.Background(), session, lathe.Submission{Message: m})
	return promise{session, m.ID}, err
}

// sizeOf spreads sizes over the three ways a text is kept.
func sizeOf(i int) int { return []int{100, 12 << 10, 1000, 70 << 10, 30 << 10}[i%5] }

// kept reports the first promise that is broken.
func checkPromises(s *store.Store, promises []promise) error {
	for i, p := range promises {
		m, err := s.Message(context.Background(), p.session, p.message)
		if err != nil {
			return fmt.Errorf("promise %d of %d: %w", i, len(promises), err)
		}
		if len(m.Parts) != 2 {
			return fmt.Errorf("message %s has %d of 2 parts", m.ID, len(m.Parts))
		}
		for _, part := range m.Parts {
			if err := checkText(part); err != nil {
				return fmt.Errorf("part %s: %w", part.ID, err)
			}
		}
	}
	return nil
}

// checkAll is keptAll and nothing found by Check.
func checkAll(s *store.Store, promises []promise) error {
	found, err := s.Check(context.Background())
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("check found %q", found)
	}
	return errors.Join(err, checkPromises(s, promises))
}

// fillChild admits prompts and then waits to be killed, so that its log stays.
func fillChild(args []string) error {
	s, err := OpenStore(context.Background(), Options{Path: filepath.Join(args[0], "lathe.db")}, store.Options{})
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(args[1])
	ids := lathe.NewIDs()
	for i := range n {
		p, err := fillOne(s, ids, sizeOf(i))
		if err != nil {
			return err
		}
		if err := say(string(p.session) + " " + string(p.message)); err != nil {
			return err
		}
	}
	return serve(nil)
}

// sample makes a database of n prompts; with a log, that holds n more.
func sample(t *testing.T, dir string, n int, log bool) (promises []promise) {
	t.Helper()
	s, _, err := openAt(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ids := lathe.NewIDs()
	for i := range n {
		p, err := fillOne(s, ids, sizeOf(i))
		if err != nil {
			t.Fatal(err)
		}
		promises = append(promises, p)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !log {
		return promises
	}
	c := spawn(t, "fill", dir, strconv.Itoa(n))
	for range n {
		line, err := c.line()
		if err != nil {
			t.Fatalf("%v\n%s", err, c.errors.String())
		}
		session, message, _ := strings.Cut(line, " ")
		promises = append(promises, promise{lathe.SessionID(session), lathe.MessageID(message)})
	}
	c.kill()
	if info, err := os.Stat(filepath.Join(dir, "lathe.db-wal")); err != nil || info.Size() < pageBytes {
		t.Fatalf("no log was left: %v", err)
	}
	return promises
}

// copyTree copies a folder without the files that only a live process needs.
func copyTree(t *testing.T, from string) (to string) {
	t.Helper()
	to = t.TempDir()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, path)
		if err != nil || rel == "." || strings.HasSuffix(rel, "-shm") || strings.HasSuffix(rel, ownerSuffix) {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// imprint is every file of a folder with its mode and content. Not to be taken while
// this process has the database open: see inspect.
func imprint(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %d %x", len(data), sha256.Sum256(data))
		}
		out[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameFiles compares two imprints, but for what SQLite keeps in memory.
func sameFiles(t *testing.T, before, after map[string]string) {
	t.Helper()
	delete(before, "lathe.db-shm")
	delete(after, "lathe.db-shm")
	if !maps.Equal(before, after) {
		t.Errorf("files changed:\nbefore %v\nafter  %v", before, after)
	}
}

// refused opens the store of a folder and expects an error of that code with these words,
// and that nothing was touched.
func refused(t *testing.T, dir string, code lathe.Code, words ...string) {
	t.Helper()
	before := imprint(t, dir)
	s, _, err := openAt(dir, store.Options{})
	if err == nil {
		_ = s.Close()
		t.Error("it was opened")
		return
	}
	reported(t, err, code, append(words, filepath.Join(dir, "lathe.db"))...)
	sameFiles(t, before, imprint(t, dir))
}

// reported checks the code of an error and that its text has these words.
func reported(t *testing.T, err error, code lathe.Code, words ...string) {
	t.Helper()
	var e *lathe.Error
	if !errors.As(err, &e) {
		t.Errorf("%v (%T) has no code", err, err)
		return
	}
	if e.Code != code {
		t.Errorf("the code is %s, not %s: %v", e.Code, code, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

func edit(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFault_CutOff(t *testing.T) {
	t.Parallel()
	for _, log := range []bool{false, true} {
		from := t.TempDir()
		promises := sample(t, from, 8, log)
		info, err := os.Stat(filepath.Join(from, "lathe.db"))
		if err != nil {
			t.Fatal(err)
		}
		whole := int(info.Size())
		for _, n := range []int{0, 1, 15, 16, 50, 99, 100, 512, pageBytes - 1, pageBytes, pageBytes + 1, whole / 2, whole - pageBytes, whole - 1} {
			t.Run(fmt.Sprintf("log=%v/%d", log, n), func(t *testing.T) {
				dir := copyTree(t, from)
				edit(t, filepath.Join(dir, "lathe.db"), func(b []byte) []byte { return b[:n] })
				words := []string{"is truncated", "was not changed", "backup", "move it away"}
				if n == 0 {
					words[0] = "is empty"
				}
				if log {
					words = append(words, "do the same with "+filepath.Join(dir, "lathe.db-wal"))
				}
				if n > pageBytes && log && !cutHurts(t, filepath.Join(dir, "lathe.db"), n) {
					s, _ := mustOpen(t, dir, store.Options{})
					if err := checkAll(s, promises); err != nil {
						t.Errorf("what was cut off was in the log: %v", err)
					}
					return
				}
				refused(t, dir, lathe.Internal, words...)
			})
		}
		t.Run(fmt.Sprintf("log=%v/whole", log), func(t *testing.T) {
			s, _ := mustOpen(t, copyTree(t, from), store.Options{})
			if err := checkAll(s, promises); err != nil {
				t.Error(err)
			}
		})
	}
}

// cutHurts reports whether the log lacks what was cut off a file.
func cutHurts(t *testing.T, path string, left int) bool {
	t.Helper()
	head := make([]byte, 100)
	if _, err := readHead(path, head); err != nil {
		t.Fatal(err)
	}
	view, err := readLog(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return !view.holds(uint32(left/pageBytes)+1, binary.BigEndian.Uint32(head[28:]))
}

// TestFault_CutOffWhileCopying cuts off exactly what the log still holds, as a kill in a
// checkpoint does: nothing is lost, and the file opens.
func TestFault_CutOffWhileCopying(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	promises := sample(t, dir, 8, true)
	view, err := readLog(filepath.Join(dir, "lathe.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	// Page 1 in the log knows of pages that the file does not have yet; a checkpoint
	// copies it first.
	var head []byte
	edit(t, filepath.Join(dir, "lathe.db-wal"), func(b []byte) []byte {
		for at := logHead; at+frameHead+pageBytes <= len(b); at += frameHead + pageBytes {
			if binary.BigEndian.Uint32(b[at:]) == 1 {
				head = bytes.Clone(b[at+frameHead:][:pageBytes])
			}
		}
		return b
	})
	edit(t, filepath.Join(dir, "lathe.db"), func(b []byte) []byte {
		if pages := binary.BigEndian.Uint32(head[28:]); int(pages)*pageBytes <= len(b) || !view.pages[pages] {
			t.Fatal("the sample does not grow in its log")
		}
		copy(b, head)
		return b
	})
	s, _ := mustOpen(t, dir, store.Options{})
	if err := checkAll(s, promises); err != nil {
		t.Error(err)
	}
}

func TestFault_NotOurs(t *testing.T) {
	t.Parallel()
	write := func(data string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		make  func(t *testing.T, path string)
		code  lathe.Code
		words []string
	}{
		"text":    {write("dear diary, " + strings.Repeat("today nothing happened. ", 100)), lathe.Internal, []string{"is not a database", "was not changed", "move it away"}},
		"short":   {write("no"), lathe.Internal, []string{"is not a database"}},
		"zeros":   {write(strings.Repeat("\x00", pageBytes)), lathe.Internal, []string{"is not a database"}},
		"garbage": {write("SQLite format 3\x00" + flow("garbage", 5*pageBytes)), lathe.Conflict, []string{"is not a lathe database"}},
		"folder": {func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, lathe.Internal, []string{"is not a file", "move it away"}},
		"pipe": {func(t *testing.T, path string) {
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}, lathe.Internal, []string{"is not a file"}},
		"link to nothing": {func(t *testing.T, path string) {
			if err := os.Symlink("gone.db", path); err != nil {
				t.Fatal(err)
			}
		}, lathe.Unavailable, []string{"is a link to a missing file", "restore that file"}},
		"log alone": {func(t *testing.T, path string) { write("anything")(t, path+"-wal") }, lathe.Internal, []string{"is missing", "-wal exists", "put the database back"}},
		"another program": {func(t *testing.T, path string) {
			if err := create(path, nil); err != nil {
				t.Fatal(err)
			}
			edit(t, path, func(b []byte) []byte {
				binary.BigEndian.PutUint32(b[68:], 0)
				return b
			})
		}, lathe.Conflict, []string{"is not a lathe database", "LATHE_DATA"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.make(t, filepath.Join(dir, "lathe.db"))
			refused(t, dir, c.code, c.words...)
		})
	}
}

// TestFault_Header turns every byte of the header, one at a time.
func TestFault_Header(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	promises := sample(t, from, 2, false)
	roll := dice(seedOf(t), 0)
	for at := range 100 {
		dir := copyTree(t, from)
		edit(t, filepath.Join(dir, "lathe.db"), func(b []byte) []byte {
			b[at] ^= byte(1 + roll.IntN(255))
			return b
		})
		damaged(t, fmt.Sprintf("byte %d", at), dir, promises)
	}
}

// damaged opens a database that may be damaged: it is refused and not touched, or all is
// there, or the read fails with an error. It must not end the process.
func damaged(t *testing.T, what, dir string, promises []promise) (noticed bool) {
	t.Helper()
	before := imprint(t, dir)
	err := within(time.Minute, func() error {
		s, _, err := openAt(dir, store.Options{})
		if err != nil {
			noticed = true
			return knownFault(err, filepath.Join(dir, "lathe.db"))
		}
		defer func() { _ = s.Close() }()
		found, err := s.Check(context.Background())
		if err := knownFault(err, ""); err != nil {
			return fmt.Errorf("check: %w", err)
		}
		noticed = noticed || err != nil || len(found) > 0
		if err := checkPromises(s, promises); err != nil && !errors.Is(err, errAltered) {
			noticed = true
			if err := knownFault(err, ""); err != nil {
				return fmt.Errorf("read: %w", err)
			}
		}
		if _, err := fillOne(s, lathe.NewIDs(), 100); knownFault(err, "") != nil {
			return fmt.Errorf("write: %w", err)
		}
		before = nil // it was open, so it may have changed
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if before != nil {
		sameFiles(t, before, imprint(t, dir))
	}
	return noticed
}

// knownFault passes what users can do something about.
func knownFault(err error, path string) error {
	var e *lathe.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &e):
		return fmt.Errorf("no code: %w", err)
	case !strings.Contains(err.Error(), path):
		return fmt.Errorf("%s is not named: %w", path, err)
	default:
		return nil
	}
}

// TestFault_Pages overwrites whole pages and stretches of them. SQLite keeps no sums of
// its pages, so a letter that became another letter is not noticed; a page is.
func TestFault_Pages(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	promises := sample(t, from, 5, false)
	info, err := os.Stat(filepath.Join(from, "lathe.db"))
	if err != nil {
		t.Fatal(err)
	}
	pages, roll, unnoticed := int(info.Size()/pageBytes), dice(seedOf(t), 1), 0
	for page := 1; page < pages; page++ {
		dir, what := copyTree(t, from), []string{"zeroed", "overwritten", "scratched"}[page%3]
		edit(t, filepath.Join(dir, "lathe.db"), func(b []byte) []byte {
			p := b[page*pageBytes:][:pageBytes]
			switch what {
			case "zeroed":
				clear(p)
			case "overwritten":
				copy(p, flow(strconv.Itoa(roll.Int()), pageBytes))
			default:
				p = p[roll.IntN(pageBytes-64):][:64]
				for i := range p {
					p[i] ^= byte(roll.IntN(256))
				}
			}
			return b
		})
		if !damaged(t, fmt.Sprintf("page %d %s", page+1, what), dir, promises) && what != "scratched" {
			t.Logf("page %d %s: not noticed", page+1, what)
			unnoticed++
		}
	}
	// The pointer map has a page in each thousand or so; only a vacuum needs it.
	if unnoticed > 1 {
		t.Errorf("%d of %d damaged pages were not noticed", unnoticed, pages)
	}
}

// TestFault_Log flips bytes of the log and cuts it off. SQLite drops what comes after, as
// after a power cut; what is left is whole. If commits are lost that way, the log is kept
// and the user gets a warning.
func TestFault_Log(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	const inFile = 5
	promises := sample(t, from, inFile, true)
	wal := filepath.Join(from, "lathe.db-wal")
	info, err := os.Stat(wal)
	if err != nil {
		t.Fatal(err)
	}
	size, roll := int(info.Size()), dice(seedOf(t), 2)
	look := func(t *testing.T, dir string) (left int, found []string, said string) {
		t.Helper()
		var log bytes.Buffer
		s, err := OpenStore(context.Background(), Options{Path: filepath.Join(dir, "lathe.db")},
			store.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for ; left < len(promises) && checkPromises(s, promises[left:left+1]) == nil; left++ {
		}
		for _, p := range promises[left:] { // a beginning, then nothing
			if _, err := s.Message(context.Background(), p.session, p.message); lathe.CodeOf(err) != lathe.NotFound {
				t.Errorf("after a gap there is something, or half of it: %v", err)
			}
		}
		if found, err = s.Check(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := fillOne(s, lathe.NewIDs(), 100); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return left, found, log.String()
	}
	for _, n := range []int{0, 1, 31, 32, 33, logHead + frameHead, logHead + frameHead + pageBytes, size / 2, size - 1} {
		t.Run("cut at "+strconv.Itoa(n), func(t *testing.T) {
			dir := copyTree(t, from)
			edit(t, filepath.Join(dir, "lathe.db-wal"), func(b []byte) []byte { return b[:n] })
			if left, found, _ := look(t, dir); left < inFile || len(found) > 0 {
				t.Errorf("%d of %d are left; check: %q", left, len(promises), found)
			}
		})
	}
	places := []int{0, 9, 17, 25, logHead, logHead + 5, logHead + 9, logHead + 17, logHead + frameHead}
	for range 12 {
		places = append(places, roll.IntN(size))
	}
	for _, at := range places {
		t.Run("flip at "+strconv.Itoa(at), func(t *testing.T) {
			dir := copyTree(t, from)
			edit(t, filepath.Join(dir, "lathe.db-wal"), func(b []byte) []byte {
				b[at] ^= byte(1 + roll.IntN(255))
				return b
			})
			damagedLog, err := os.ReadFile(filepath.Join(dir, "lathe.db-wal"))
			if err != nil {
				t.Fatal(err)
			}
			left, found, said := look(t, dir)
			if left < inFile {
				t.Errorf("what was in the file itself is gone: %d are left", left)
			}
			if left >= len(promises)-1 { // the last commit may be a torn one
				return
			}
			copies := damagedLogs(filepath.Join(dir, "lathe.db"))
			if len(copies) != 1 || len(found) != 1 || !strings.Contains(found[0], copies[0]) || !strings.Contains(said, "damaged") {
				t.Fatalf("%d of %d are left and nobody is told: copies %q, check %q, log %q", left, len(promises), copies, found, said)
			}
			if data, err := os.ReadFile(copies[0]); err != nil || !bytes.Equal(data, damagedLog) {
				t.Errorf("the copy is not the log: %v", err)
			}
		})
	}
}

func TestFault_NewerSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	promises := sample(t, dir, 3, false)
	path := filepath.Join(dir, "lathe.db")
	edit(t, path, func(b []byte) []byte {
		binary.BigEndian.PutUint32(b[60:], 999)
		return b
	})
	refused(t, dir, lathe.Conflict, "was written by a newer version of lathe", "schema 999", "update lathe", "LATHE_DATA")
	edit(t, path, func(b []byte) []byte {
		steps, _ := loadSteps(schemaFiles)
		binary.BigEndian.PutUint32(b[60:], uint32(len(steps)))
		return b
	})
	s, _ := mustOpen(t, dir, store.Options{})
	if err := checkAll(s, promises); err != nil {
		t.Error(err)
	}
}

// TestFault_Moved takes the files away under an open store: what would be written to
// nowhere is refused, not promised.
func TestFault_Moved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"lathe.db", "lathe.db-wal"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		s, _ := mustOpen(t, dir, store.Options{})
		ids := lathe.NewIDs()
		p, err := fillOne(s, ids, 100)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		_, err = fillOne(s, ids, 100)
		reported(t, err, lathe.Unavailable, path, "was moved, replaced or deleted", "put it back")
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		q, err := fillOne(s, ids, 100)
		if err != nil {
			t.Errorf("it was put back: %v", err)
		}
		if err := checkAll(s, []promise{p, q}); err != nil {
			t.Error(err)
		}
	}
}

// verdict is what became of an attempt by a child without rights.
type verdict struct {
	Code       lathe.Code
	Open       string // what opening said
	Read       string
	Write      string
	WriteCode  lathe.Code
	Sessions   int
	Privileged bool // the child could not be made poor
}

// poorChild opens a database as a user who may not do everything.
func poorChild(args []string) error {
	var v verdict
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobodyUID), syscall.Setuid(nobodyUID)); err != nil {
			v.Privileged, v.Open = true, err.Error()
		} else if _, err := os.Stat(filepath.Dir(args[0])); err != nil { // TMPDIR is root's alone
			v.Privileged, v.Open = true, err.Error()
		}
	}
	if v.Privileged {
		out, _ := json.Marshal(v)
		return say(string(out))
	}
	s, _, err := openAt(args[0], store.Options{})
	if err != nil {
		v.Code, v.Open = lathe.CodeOf(err), err.Error()
	} else {
		all, err := s.Sessions(context.Background(), lathe.Query{})
		if v.Sessions = len(all); err != nil {
			v.Read = err.Error()
		}
		if _, err := fillOne(s, lathe.NewIDs(), 100); err != nil {
			v.WriteCode, v.Write = lathe.CodeOf(err), err.Error()
		}
		_ = s.Close()
	}
	out, _ := json.Marshal(v)
	return say(string(out))
}

const nobodyUID = 65534

func TestFault_Permissions(t *testing.T) {
	t.Parallel()
	type rights struct{ file, folder os.FileMode }
	for name, c := range map[string]struct {
		rights rights
		log    bool
		opens  bool
		words  []string
	}{
		"file may not be read":         {rights: rights{0o000, 0o700}, words: []string{"cannot be read", "you can read and write"}},
		"file may not be written":      {rights: rights{0o400, 0o700}, opens: true, words: []string{"cannot be written", "make the file and its folder writable", "LATHE_DATA"}},
		"folder may not be written":    {rights: rights{0o600, 0o500}, words: []string{"cannot be written", "and its folder writable"}},
		"nothing may be written":       {rights: rights{0o400, 0o500}, words: []string{"cannot be written", "and its folder writable"}},
		"a log and nothing is written": {rights: rights{0o400, 0o500}, log: true, words: []string{"you can read and write"}},
		"folder may not be entered":    {rights: rights{0o600, 0o000}, words: []string{"cannot be read"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := t.TempDir()
			promises := sample(t, from, 5, c.log)
			dir := copyTree(t, from)
			path := filepath.Join(dir, "lathe.db")
			poorOwner(t, dir)
			setModes(t, dir, 0o600, 0o700)
			before := imprint(t, dir)
			setModes(t, dir, c.rights.file, c.rights.folder)
			child := spawn(t, "poor", dir)
			line, err := child.line()
			if err != nil {
				t.Fatalf("%v\n%s", err, child.errors.String())
			}
			child.wait(t)
			var v verdict
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			if v.Privileged {
				t.Skipf("skipped: a test as root cannot be made poor here: %s", v.Open)
			}
			text, code := v.Open, v.Code
			if c.opens {
				if text, code = v.Write, v.WriteCode; v.Open+v.Read != "" || v.Sessions != len(promises) {
					t.Errorf("reading: %+v", v)
				}
			}
			reported(t, &lathe.Error{Code: code, Message: text}, lathe.Unavailable, append(c.words, path)...)
			setModes(t, dir, 0o600, 0o700)
			if after := imprint(t, dir); !c.opens {
				sameFiles(t, before, after)
			}
			s, _ := mustOpen(t, dir, store.Options{})
			if err := checkAll(s, promises); err != nil {
				t.Error(err)
			}
		})
	}
}

// poorOwner gives a folder, and the way to it, to the user a child of root becomes.
func poorOwner(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	for up := filepath.Dir(dir); len(up) > len(os.TempDir()); up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobodyUID, nobodyUID))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func setModes(t *testing.T, dir string, file, folder os.FileMode) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "lathe.db*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		err = errors.Join(err, os.Chmod(f, file))
	}
	if err = errors.Join(err, os.Chmod(dir, folder)); err != nil {
		t.Fatal(err)
	}
}

func TestFault_ModesOfFiles(t *testing.T) {
	old := syscall.Umask(0) // of the whole process: not parallel
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "data")
	s, _ := mustOpen(t, dir, store.Options{})
	if _, err := fillOne(s, lathe.NewIDs(), 70<<10); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// starve writes until the disk is full, checks that nothing is lost, frees space and continues
// with the same store. It runs in a child and prints the errors.
func starve(dir string, take, free func() error) error {
	s, _, err := openAt(dir, store.Options{})
	if err != nil {
		return err
	}
	if err := take(); err != nil {
		return err
	}
	var mu sync.Mutex
	var promises []promise
	var fault error
	ids := lathe.NewIDs()
	var all sync.WaitGroup
	for g := range 4 { // so that a group fails, not one
		all.Go(func() {
			for i := range 500 {
				p, err := fillOne(s, ids, []int{100, 2000, 30 << 10}[(g+i)%3])
				mu.Lock()
				if err != nil {
					if fault == nil || fault.Error() < err.Error() {
						fault = err
					}
					mu.Unlock()
					return
				}
				promises = append(promises, p)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if fault == nil {
		return errors.New("the disk never was full")
	}
	if err := say(string(lathe.CodeOf(fault)) + " " + strings.ReplaceAll(fault.Error(), "\n", "; ")); err != nil {
		return err
	}
	_, big := admitOne(s, ids, promises[0].session, 9<<20)
	if big == nil {
		return errors.New("there was room for nine megabytes")
	}
	if err := say(string(lathe.CodeOf(big)) + " " + strings.ReplaceAll(big.Error(), "\n", "; ")); err != nil {
		return err
	}
	if err := checkAll(s, promises); err != nil {
		return fmt.Errorf("while the disk is full: %w", err)
	}
	if err := free(); err != nil {
		return err
	}
	for i := range 10 {
		p, err := fillOne(s, ids, sizeOf(i))
		if err != nil {
			return fmt.Errorf("there is room again: %w", err)
		}
		promises = append(promises, p)
	}
	if err := errors.Join(checkAll(s, promises), s.Close()); err != nil {
		return fmt.Errorf("there is room again: %w", err)
	}
	if s, _, err = openAt(dir, store.Options{}); err != nil {
		return err
	}
	if err := errors.Join(checkAll(s, promises), s.Close()); err != nil {
		return fmt.Errorf("opened anew: %w", err)
	}
	return say(fmt.Sprintf("kept %d", len(promises)))
}

// limitChild may not make files longer than a megabyte, which is how a full disk or a
// quota looks to a program, and needs no rights.
func limitChild(args []string) error {
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	limit := func(l syscall.Rlimit) error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l) }
	tiny, small := old, old
	tiny.Cur, small.Cur = 4<<10, 1<<20
	if err := limit(tiny); err != nil {
		return err
	}
	_, _, err := openAt(args[0], store.Options{})
	if err == nil {
		return errors.New("a database was made in 4096 bytes")
	}
	if err := say(string(lathe.CodeOf(err)) + " " + strings.ReplaceAll(err.Error(), "\n", "; ")); err != nil {
		return err
	}
	if left, _ := filepath.Glob(filepath.Join(args[0], "lathe.db*")); len(left) != 1 {
		return fmt.Errorf("more than the lock was left: %q", left)
	}
	if err := limit(old); err != nil {
		return err
	}
	return starve(args[0], func() error { return limit(small) }, func() error { return limit(old) })
}

func TestFault_FileSizeLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := spawn(t, "limit", dir)
	path := filepath.Join(dir, "lathe.db")
	expectStarved(t, c, []string{"unavailable cannot create", path, "disk or its quota may be full"})
	expectStarved(t, c, []string{"unavailable", path, "could not be written", "disk or its quota may be full", "saved data is not lost"})
	expectStarved(t, c, []string{"unavailable", "large value", "file too large"})
	expectStarved(t, c, []string{"kept"})
	c.wait(t)
}

func expectStarved(t *testing.T, c *child, words []string) {
	t.Helper()
	line, err := c.line()
	if err != nil {
		c.kill()
		t.Fatalf("%v\n%s", err, c.errors.String())
	}
	if strings.HasPrefix(line, "skip ") {
		c.kill()
		t.Skipf("skipped: no small disk can be mounted here: %s", line[5:])
	}
	t.Log(line)
	for _, w := range words {
		if !strings.Contains(line, w) {
			t.Errorf("%q does not say %q", line, w)
		}
	}
}

// fullChild mounts a small disk for itself alone and fills it.
func fullChild(args []string) error {
	if err := mountSmall(args[0]); err != nil {
		return say("skip " + err.Error())
	}
	ballast := filepath.Join(args[0], "ballast")
	return starve(args[0],
		func() error { return os.WriteFile(ballast, make([]byte, 5<<20), 0o600) },
		func() error { return os.Remove(ballast) })
}

func TestFault_FullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := launch(ownMounts(), "full", dir)
	if err != nil {
		t.Skipf("skipped: no process with mounts of its own can be started here: %v", err)
	}
	t.Cleanup(c.kill)
	expectStarved(t, c, []string{"unavailable", "the disk is full", filepath.Join(dir, "lathe.db"), "free some space", "saved data is not lost"})
	expectStarved(t, c, []string{"unavailable", "large value", "no space left"})
	expectStarved(t, c, []string{"kept"})
	c.wait(t)
}
