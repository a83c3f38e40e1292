package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/store/sqlitetest"
)

// beginLong is beginJob with texts that need space, on the test's own database.
func beginLong(t *testing.T, with func(*opening)) *playing {
	t.Helper()
	p := beginPlayWith(t, parseScript(t, job), modeltest.Chat, with)
	long := strings.Repeat("All work and no play. ", 300)
	p.server.Respond(func(r modeltest.Request) modeltest.Answer {
		last := r.Prompt.Messages[len(r.Prompt.Messages)-1]
		if words, ok := last.Content[len(last.Content)-1].(model.TextContent); ok && last.Role == model.UserRole && words.Text == "write" {
			return modeltest.Answer{
				modeltest.Text{long, long},
				modeltest.Pause(3 * time.Second),
				modeltest.Text{long},
				modeltest.Call{Name: "write", Args: `{"path":"a.txt","content":"x"}`},
				modeltest.Finish("tool-calls"),
			}
		}
		return modeltest.Answer{modeltest.Text{"Done."}, modeltest.Finish("stop")}
	})
	return p
}

// whole holds that the database has all or nothing of each change.
func (p *playing) whole() {
	p.Helper()
	damage, err := p.Store().Check(p.Context())
	p.ok(err)
	if len(damage) > 0 {
		p.Errorf("the database is damaged: %q", damage)
	}
	for _, m := range p.all() {
		if u, ok := m.Data.(*lathe.User); ok && (len(m.Parts) == 0 || u.Agent == "") {
			p.Errorf("prompt %s is half there", m.ID)
		}
	}
}

// checkReported checks that clients received the reason why the turn stopped, if it did.
func (p *playing) checkReported(err error, words string) {
	p.Helper()
	synctest.Wait()
	asks, failed := p.Asks(p.Context(), lathe.Scope{})
	p.ok(failed)
	switch {
	case len(asks) > 0 && err != nil: // it was the answer that could not be written, and the turn waits
	case err == nil && p.answered():
	case err == nil || !strings.Contains(err.Error(), words):
		p.Errorf("whoever waits is told %v", err)
	case len(p.all()) > 0 && !strings.Contains(p.shown.events(), words):
		p.Errorf("clients are not told that %s:\n%s", words, p.shown.events())
	}
}

// A full disk, and a file that may not be written, from any write of a turn on: the turn stops
// and says why, and continues when there is space again, in the same process or in the next.
func TestCampaign_StoreLacks(t *testing.T) {
	t.Parallel()
	seed := campaignSeed(t)
	for name, c := range map[string]struct {
		what  sqlitetest.Failure
		words string
	}{
		"full":      {sqlitetest.DiskFull, "the disk is full"},
		"read-only": {sqlitetest.ReadOnly, "cannot be written"},
	} {
		writes := 0
		begin := func(t *testing.T) (*playing, *sqlitetest.Database) {
			var d *sqlitetest.Database
			p := beginLong(t, func(o *opening) {
				d = sqlitetest.Wrap(o.Driver)
				o.Driver = d
			})
			return p, d
		}
		synctest.Test(t, func(t *testing.T) {
			p, d := begin(t)
			before := d.Writes()
			p.ok(p.runJob())
			writes = d.Writes() - before
		})
		var stopped sync.Map
		tried := some(rand.New(rand.NewPCG(seed, 0)), 6, writes)
		t.Run(name, func(t *testing.T) {
			for _, n := range tried {
				t.Run(fmt.Sprint(n+1), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p, d := begin(t)
						d.Fail(c.what, n+1)
						err := p.runJob()
						p.checkReported(err, c.words)
						p.whole()
						if err != nil {
							stopped.Store(n, true)
						}
						d.Restore()
						if n%2 == 0 {
							p.kill()
						}
						p.continues()
						p.whole()
					})
				})
			}
		})
		count := 0
		stopped.Range(func(any, any) bool { count++; return true })
		if count == 0 && len(tried) == writes { // a few may all be writes that need no more space
			t.Errorf("%s: no turn was stopped", name)
		}
	}
}

// Another process that writes for a while is waited for; one that does not end stops the
// turn, with words that say so.
func TestCampaign_StoreLocked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hold time.Duration
		err  string
	}{{10 * time.Second, ""}, {2 * time.Minute, "another process has been writing"}} {
		t.Run(fmt.Sprint(c.hold), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := beginLong(t, nil)
				other, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(p.data, "lathe.db")})
				p.ok(err)
				t.Cleanup(func() { p.ok(other.Close()) })
				_, err = p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("write")})
				p.ok(err)
				<-time.After(1500 * time.Millisecond) // in the middle of its words
				tx, err := other.Begin(t.Context(), false)
				p.ok(err)
				began := time.Now()
				released := make(chan error, 1)
				time.AfterFunc(c.hold, func() { released <- tx.Rollback() })
				err = p.settledIn(time.Hour)
				if c.err == "" {
					p.ok(err)
				}
				p.checkReported(err, c.err)
				if took := time.Since(began); took > c.hold+10*time.Second {
					t.Errorf("it takes %s", took)
				}
				p.ok(<-released)
				p.whole()
				p.continues()
			})
		})
	}
}

// slow is a database that takes two seconds for a write.
type slow struct{ store.Driver }

func (s slow) Begin(ctx context.Context, durable bool) (store.Tx, error) {
	<-time.After(2 * time.Second)
	return s.Driver.Begin(ctx, durable)
}

// beginSlow is beginLong on a slow disk.
func beginSlow(t *testing.T) *playing {
	return beginLong(t, func(o *opening) { o.Driver = slow{o.Driver} })
}

// A disk that takes two seconds for a write makes turns slow, not wrong: of one session, and
// of twenty that share their writes.
func TestCampaign_StoreSlow(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 20} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := beginSlow(t)
				for range n - 1 {
					rec, err := p.Create(t.Context(), p.dir, lathe.NewSession{Title: "Another"})
					p.ok(err)
					p.speakTo(rec.ID)
				}
				began := time.Now()
				var group sync.WaitGroup
				for _, id := range p.sessions {
					group.Go(func() {
						_, err := p.Submit(t.Context(), id, lathe.Prompt{Parts: text("write")})
						p.ok(err)
					})
				}
				group.Wait()
				for _, id := range p.sessions {
					p.session = id
					p.ok(p.settledIn(time.Hour))
					if m := p.lastOf(id); wordsOf(m) != "Done." {
						t.Errorf("%s ends with %q, %v", id, wordsOf(m), m.Data.(*lathe.Assistant).Error)
					}
				}
				if took := time.Since(began); took > 5*time.Minute {
					t.Errorf("%d sessions take %s", n, took)
				}
				p.whole()
				p.check()
			})
		})
	}
}

// A program that ends on a slow disk does so soon, and leaves the rest to the next one.
func TestCampaign_StoreSlowEnd(t *testing.T) {
	t.Parallel()
	step := 1500 * time.Millisecond
	if raced {
		step = 4 * time.Second
	}
	for after := 500 * time.Millisecond; after < 20*time.Second; after += step {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := beginSlow(t)
				_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("write")})
				p.ok(err)
				<-time.After(after)
				synctest.Wait()
				p.stop()
				<-p.listened
				began := time.Now()
				err = p.Close()
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("to end takes %s, %v", took, err)
				}
				p.open()
				p.listen()
				_, err = p.Recover(t.Context(), true)
				p.ok(err)
				p.ok(p.settledIn(time.Hour))
				p.continues()
				p.whole()
			})
		})
	}
}
