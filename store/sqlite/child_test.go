//go:build unix

package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
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

// The tests of this folder need processes that can be killed, suspended and starved. The
// test binary is such a process itself when childEnv names a role.
const childEnv = "LATHE_TEST_CHILD"

// roles are what a child can be. Each gets the arguments it was started with, reads
// commands from stdin if it takes any, and answers on stdout, a line at a time.
var roles = map[string]func(args []string) error{
	"crash":  crashChild,
	"fill":   fillChild,
	"search": searchChild,
	"full":   fullChild,
	"scant":  scantChild,
	"limit":  limitChild,
	"open":   openChild,
	"pair":   pairChild,
	"poor":   poorChild,
}

func TestMain(m *testing.M) {
	name := os.Getenv(childEnv)
	if name == "" {
		os.Exit(m.Run())
	}
	role, ok := roles[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no role", name)
		os.Exit(2)
	}
	if err := role(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a process of this test binary.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors lockedBuffer
}

// spawn starts a child. It is killed with the test at the latest.
func spawn(t testing.TB, role string, args ...string) *child {
	t.Helper()
	c, err := launch(nil, role, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

// launch starts a child with special rights or none.
func launch(attr *syscall.SysProcAttr, role string, args ...string) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(exe, args...)}
	// A race in a child ends it, so that the parent notices.
	c.cmd.Env = append(os.Environ(), childEnv+"="+role, "GORACE=halt_on_error=1")
	c.cmd.SysProcAttr = attr
	c.cmd.Stderr = &c.errors
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReaderSize(out, 1<<16)
	return c, c.cmd.Start()
}

// kill ends the child the hard way and waits until the system has let go of its locks.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, c.out)
	_ = c.cmd.Wait()
}

// wait expects the child to end well by itself.
func (c *child) wait(t testing.TB) {
	t.Helper()
	_ = c.in.Close()
	_, _ = io.Copy(io.Discard, c.out)
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("child: %v\n%s", err, c.errors.String())
	}
}

// line returns the next line, or io.EOF.
func (c *child) line() (string, error) {
	s, err := c.out.ReadString('\n')
	return strings.TrimSuffix(s, "\n"), err
}

// ask sends a command and returns the answer; an answer that begins with ! is a failure.
func (c *child) ask(t testing.TB, command string, args ...any) string {
	t.Helper()
	words, _ := json.Marshal(append([]any{command}, args...))
	if _, err := c.in.Write(append(words, '\n')); err != nil {
		t.Fatalf("%s: %v\n%s", words, err, c.errors.String())
	}
	answer, err := c.line()
	if err != nil {
		t.Fatalf("%s: %v\n%s", words, err, c.errors.String())
	}
	if strings.HasPrefix(answer, "!") {
		t.Fatalf("%s: %s", words, answer[1:])
	}
	return answer
}

// serve answers the commands that ask sends.
func serve(commands map[string]func(args []json.RawMessage) (string, error)) error {
	in := bufio.NewReader(os.Stdin)
	for {
		text, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var words []json.RawMessage
		var name string
		if err := json.Unmarshal([]byte(text), &words); err != nil {
			return err
		}
		_ = json.Unmarshal(words[0], &name)
		answer, err := commands[name](words[1:])
		if err != nil {
			answer = "!" + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		if err := say(answer); err != nil {
			return err
		}
	}
}

// say writes one line at once, so that what a killed child said is whole.
func say(line string) error {
	_, err := os.Stdout.WriteString(line + "\n")
	return err
}

// lockedBuffer collects what a child says to stderr.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// seedOf returns the seed of a random campaign, LATHE_SEED if it is set, and prints it.
func seedOf(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("LATHE_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("LATHE_SEED: %v", err)
		}
		seed = n
	}
	t.Logf("LATHE_SEED=%d", seed)
	return seed
}

// dice is the randomness number n of a campaign.
func dice(seed uint64, n int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(n))) }

// openAt opens the store of a folder, with its driver for a look at the rows.
func openAt(dir string, o store.Options) (*store.Store, *Driver, error) {
	d, err := Open(context.Background(), Options{Path: filepath.Join(dir, "lathe.db")})
	if err != nil {
		return nil, nil, err
	}
	o.Blobs = filepath.Join(dir, "blobs")
	s, err := store.Open(context.Background(), d, o)
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	return s, d, nil
}

// mustOpen opens the store of a folder and closes it with the test.
func mustOpen(t testing.TB, dir string, o store.Options) (*store.Store, *Driver) {
	t.Helper()
	s, d, err := openAt(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, d
}

// until asks again and again, until the answer is yes or a generous time has passed.
func until(t testing.TB, what string, yes func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	end := time.After(30 * time.Second)
	for !yes() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}

// within returns the result of f, or an error if that takes too long.
func within(d time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(d):
		return fmt.Errorf("not done after %s", d)
	}
}

// number reads one number from the database.
func number(t testing.TB, d *Driver, sql string, args ...any) (n int64) {
	t.Helper()
	err := d.Read(context.Background(), func(r store.Reader) error {
		return r.Query(sql, args, func(row store.Row) error {
			n = row.Int(0)
			return nil
		})
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// newSession is a record with all that must be there.
func newSession(ids *lathe.IDs, dir string) lathe.Session {
	now := lathe.Now()
	return lathe.Session{
		ID: ids.Session(), Slug: "calm-lathe", Project: lathe.GlobalProject, Directory: dir, Title: title(0), Version: "test",
		Created: now, Updated: now,
	}
}

// title makes titles that sort like their numbers.
func title(n int64) string { return fmt.Sprintf("t%09d", n) }

// flow is a text without end that belongs to an id: its first n bytes, always the same.
func flow(id string, n int) string {
	var seed [32]byte
	copy(seed[:], id)
	r := rand.NewChaCha8(seed)
	b := make([]byte, n+16)
	for i := 0; i < n; i += 16 {
		for j, x := 0, r.Uint64(); j < 16; j, x = j+1, x>>4 {
			b[i+j] = "etaoinshr ldcum\n"[x&15]
		}
	}
	return string(b[:n])
}
