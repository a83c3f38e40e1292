package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// What a sample of the crashes takes: so many transcripts, and so many commits of each.
const (
	crashTranscripts = 40
	crashRaced       = 15 // with the race detector
	crashCommits     = 2
)

// Every transcript is cut off at its commits, before it is on the disk and after it: the
// next process takes up what is left, and all that was admitted comes to an end.
func TestCampaign_CrashAtEveryCommit(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	seed, n := campaignSeed(t), crashTranscripts
	if raced {
		n = crashRaced
	}
	for _, i := range some(rand.New(rand.NewPCG(seed, 0)), n, len(files)) {
		t.Run(strings.TrimSuffix(filepath.Base(files[i]), ".txtar"), func(t *testing.T) {
			t.Parallel()
			whole := &crash{t: t, file: files[i]}
			if whole.run(); t.Failed() {
				return
			}
			r := rand.New(rand.NewPCG(seed, uint64(i)+1))
			for _, n := range some(r, crashCommits, 2*whole.fate.writes) {
				c := &crash{t: t, file: files[i], at: n/2 + 1, after: n%2 == 1, like: whole}
				t.Run(fmt.Sprintf("%d,after=%v", c.at, c.after), func(t *testing.T) {
					c.t = t
					c.run()
				})
			}
		})
	}
}

// fate says with which write a process ends, through all that are opened.
type fate struct {
	mu     sync.Mutex // guards the fields below
	writes int        // so far
	at     int        // the last; 0 means none
	after  bool       // it is on the disk, though not published
	paused bool       // writes do not count
	struck bool
}

func (f *fate) isStruck() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.struck
}

// pause says whether writes count.
func (f *fate) pause(yes bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = yes
}

// strikes counts a write and says whether it is the last.
func (f *fate) strikes() (last, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.paused || f.struck {
		return false, false
	}
	f.writes++
	f.struck = f.at > 0 && f.writes == f.at
	return f.struck, f.after
}

// mortal is the database of a process that dies: from one commit on it writes nothing.
type mortal struct {
	store.Driver
	fate *fate

	mu   sync.Mutex // guards dead
	dead bool
}

// errDead is the error for the rest of a dead process.
var errDead = lathe.Errorf(lathe.Unavailable, "the process is dead")

func (m *mortal) Begin(ctx context.Context, durable bool) (store.Tx, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return nil, errDead
	}
	tx, err := m.Driver.Begin(ctx, durable)
	if err != nil {
		return nil, err
	}
	return &mortalTx{tx, m}, nil
}

func (m *mortal) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

type mortalTx struct {
	store.Tx
	of *mortal
}

func (t *mortalTx) Commit() error {
	last, after := t.of.fate.strikes()
	if !last {
		return t.Tx.Commit()
	}
	t.of.mu.Lock()
	t.of.dead = true
	t.of.mu.Unlock()
	if after {
		return errors.Join(t.Tx.Commit(), errDead)
	}
	return errors.Join(t.Rollback(), errDead)
}

// crash is one run of a transcript, cut off at a commit or not.
type crash struct {
	t     *testing.T
	file  string
	at    int
	after bool
	like  *crash // the run that was not cut off

	*playing
	fate  fate
	last  *mortal // the database of the present process
	runs  runs
	model *answers
	plain bool // its end does not depend on when it is cut off
	final string
}

func (c *crash) run() {
	s := readScript(c.t, c.file)
	for i, w := range s.do { // so that what was sent can be sent again
		if (w[0] == "prompt" || w[0] == "command") && !slices.ContainsFunc(w, func(a string) bool { return strings.HasPrefix(a, "id=") }) {
			s.do[i] = append(slices.Clone(w), fmt.Sprintf("id=crash%02d", i))
		}
	}
	s.settings = append(s.settings, []string{"prefix", "no"}) // interrupted work is described in other words
	c.fate.at, c.fate.after, c.fate.paused = c.at, c.after, true
	c.runs.count = map[string]int{}
	c.model = &answers{all: s.model, left: slices.Clone(s.model)}
	s.model = nil
	synctest.Test(c.t, func(t *testing.T) {
		c.playing = beginPlayWith(t, s, s.protocols[0], func(o *opening) {
			c.last = &mortal{Driver: o.Driver, fate: &c.fate}
			o.Driver = c.last
			c.runs.watch(o)
		})
		c.server.Respond(c.model.next)
		c.fate.pause(false)
		for _, w := range s.do {
			c.do(w)
		}
		c.rest()
		if c.fate.isStruck() { // the transcript may have ended the program once more
			c.takeUp()
			c.rest()
		}
		c.fate.pause(true) // how many commits there are depends on which share one
		c.look()
		c.hold()
	})
}

// do does a line of the transcript; when the process dies of it, once more.
func (c *crash) do(w []string) {
	if c.last.isDead() { // of what it did by itself
		c.takeUp()
	}
	switch w[0] {
	case "session", "child", "fork", "import": // it is the turns that are cut off
		c.fate.pause(true)
		c.act(w)
		synctest.Wait()
		c.fate.pause(false)
		return
	case "restart":
		c.again()
		return
	case "wait":
		c.rest()
		return
	case "model":
		c.model.add(c.answersOf(w[1:])...)
		return
	}
	dies := !c.fate.isStruck()
	c.act(w)
	synctest.Wait()
	if !dies || !c.fate.isStruck() {
		return
	}
	if c.takeUp(); w[0] != "kill" && w[0] != "sleep" {
		c.act(w)
		synctest.Wait()
	}
}

// again ends the program in order, unless it dies of that.
func (c *crash) again() {
	dies := !c.fate.isStruck()
	c.stop()
	<-c.listened
	err := c.Close()
	c.open()
	c.listen()
	switch {
	case dies && c.fate.isStruck():
		c.takeUp()
	case err != nil:
		c.Fatal(err)
	}
}

// takeUp is the next process: it closes what is open and lets the turns continue.
func (c *crash) takeUp() {
	if c.last.isDead() { // else it was a kill or an end that struck, and this is the next one
		c.kill()
	}
	if c.like.plain {
		c.model.rewind(c.stepsDone())
	}
	c.model.improvise()
	if c.at%2 == 0 {
		_, err := c.Recover(c.Context(), false)
		c.ok(err)
		synctest.Wait()
	}
	_, err := c.Recover(c.Context(), true)
	c.ok(err)
	synctest.Wait()
}

// stepsDone counts the steps that need not be made again.
func (c *crash) stepsDone() (n int) {
	for _, m := range c.playing.all() {
		if a, ok := m.Data.(*lathe.Assistant); ok && a.Error == nil && (a.Completed != 0 || a.Finish != "") {
			n++
		}
	}
	return n
}

// rest waits until all sessions do, allows what they ask, and takes up what dies meanwhile.
func (c *crash) rest() {
	c.t.Helper()
	for i := 0; !c.atRest(); i++ {
		if i > 24*60*60 {
			c.Fatalf("it does not come to rest:\n%s", c.shown.events())
		}
		<-time.After(time.Second)
	}
	if c.last.isDead() {
		c.takeUp()
		c.rest()
		return
	}
	if err := c.Drain(c.Context()); err != nil { // who looks after a session is not looked after
		c.Fatal(err)
	}
}

// atRest answers what is asked and reports whether nothing moves.
func (c *crash) atRest() bool {
	synctest.Wait()
	if c.last.isDead() {
		return true
	}
	asks, err := c.Asks(c.Context(), lathe.Scope{})
	c.ok(err)
	for _, a := range asks {
		switch a := a.(type) {
		case *lathe.PermissionAsked:
			err = c.Reply(c.Context(), a.ID, lathe.Once, "")
		case *lathe.QuestionAsked:
			err = c.Answer(c.Context(), a.ID, [][]string{{"a"}})
		default:
		}
		if err != nil && !c.last.isDead() {
			c.Fatal(err)
		}
	}
	c.adopt()
	for _, id := range c.sessions { // what a prompt without an answer left waits for a word
		ctx, cancel := context.WithTimeout(c.Context(), time.Millisecond)
		_, err := c.Wait(ctx, id)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return false
		}
	}
	return len(asks) == 0
}
