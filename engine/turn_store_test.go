package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// job is a turn with all that a turn writes: a text, a call that asks, a second step.
const job = `
-- rules --
ask edit *
-- model --
`

// beginJob opens a session whose model writes a file when it is asked to, and then says so.
func beginJob(t *testing.T) *playing {
	t.Helper()
	p := beginPlay(t, parseScript(t, job), modeltest.Chat)
	p.server.Respond(func(r modeltest.Request) modeltest.Answer {
		last := r.Prompt.Messages[len(r.Prompt.Messages)-1]
		if text, ok := last.Content[len(last.Content)-1].(model.TextContent); ok && last.Role == model.UserRole && text.Text == "write" {
			return modeltest.Answer{
				modeltest.Text{"Writing."}, modeltest.Call{Name: "write", Args: `{"path":"a.txt","content":"x"}`}, modeltest.Finish("tool-calls"),
			}
		}
		return modeltest.Answer{modeltest.Text{"Done."}, modeltest.Finish("stop")}
	})
	return p
}

// runJob sends the prompt and brings the turn to its end.
func (p *playing) runJob() error {
	if _, err := p.Submit(p.Context(), p.session, lathe.Prompt{Parts: text("write")}); err != nil {
		return err
	}
	return p.settled()
}

// settled waits until the session is idle, and allows what it asks meanwhile. An answer that
// cannot be written is an error, too: the turn waits for it still.
func (p *playing) settled() error {
	p.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.Context()), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := p.Wait(ctx, p.session)
		done <- err
	}()
	for {
		synctest.Wait()
		select {
		case err := <-done:
			return err
		default:
		}
		asks, err := p.Asks(p.Context(), lathe.Scope{})
		p.ok(err)
		for _, a := range asks {
			if err := p.Reply(p.Context(), lathe.AskOf(a), lathe.Once, ""); err != nil {
				cancel()
				return errors.Join(err, ignore(<-done))
			}
		}
		<-time.After(100 * time.Millisecond)
	}
}

// ignore drops that waiting was given up.
func ignore(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func text(words string) []lathe.Part { return []lathe.Part{{Body: &lathe.Text{Text: words}}} }

// continues checks that the session, in whatever state, comes to rest, and answers the next
// prompt with nothing left open.
func (p *playing) continues() {
	p.Helper()
	if err := p.settled(); err != nil {
		p.Fatalf("the session cannot be repaired: %v\n%s", err, p.shown.events())
	}
	if _, err := p.Submit(p.Context(), p.session, lathe.Prompt{Parts: text("and now?")}); err != nil {
		p.Fatalf("the session takes no prompt: %v", err)
	}
	if err := p.settled(); err != nil {
		p.Fatalf("the session does not go on: %v\n%s", err, p.shown.events())
	}
	if !p.answered() {
		p.Errorf("the last prompt has no answer:\n%s", p.shown.history(p.all()))
	}
	p.check()
}

// answered reports whether the last message is a whole answer.
func (p *playing) answered() bool {
	all := p.all()
	last := all[len(all)-1]
	a, ok := last.Data.(*lathe.Assistant)
	return ok && a.Completed != 0 && len(last.Parts) > 1 && last.Parts[1].GrowingText() == "Done."
}

// A store that fails from the n-th write on, for every n: the turn stops, a client that waits
// learns why, nothing is left running; another process finds a true state and continues.
func TestTurn_StoreFailsForGood(t *testing.T) {
	t.Parallel()
	eachWrite(t, func(p *playing, n int, commit bool) {
		p.driver.failing(n, commit)
		err := p.runJob()
		if received := err != nil && strings.Contains(err.Error(), errDisk.Error()); !received && (err != nil || !p.answered()) {
			p.Errorf("whoever waits is told %v\n%s", err, p.shown.events())
		} else if received && strings.Count(err.Error(), errDisk.Error()) > 1 {
			p.Errorf("a waiting caller gets the same error twice: %v", err)
		}
		p.waitIdle()
		p.kill()
		p.continues()
	})
}

// waitIdle checks that clients that saw the turn, or why it stopped, also receive its end, and
// not before the reason, or they would take it for done.
func (p *playing) waitIdle() {
	p.Helper()
	synctest.Wait()
	asks, err := p.Asks(p.Context(), lathe.Scope{})
	p.ok(err)
	events := "\n" + p.shown.events()
	turn := events[max(strings.LastIndex(events, "\nstatus busy"), 0):]
	why, idle := strings.Index(turn, "\nerror "), strings.Index(turn, "\nstatus idle")
	if len(asks) > 0 || why < 0 && turn == events {
		return // it waits, or was never seen
	}
	if idle < 0 || idle < why && !p.answered() {
		p.Errorf("clients do not hear that the session rests, or too early:\n%s", events)
	}
}

// A store that fails once, for every write: the same process continues the next word.
func TestTurn_StoreFailsOnce(t *testing.T) {
	t.Parallel()
	eachWrite(t, func(p *playing, n int, commit bool) {
		p.driver.failing(n, commit)
		p.driver.once()
		received := func(err error) {
			if err != nil && !strings.Contains(err.Error(), errDisk.Error()) {
				p.Errorf("whoever waits is told %v", err)
			}
		}
		received(p.runJob())
		p.waitIdle()
		received(p.settled())
		for tries := 0; !p.driver.failed() && tries < 20; tries++ { // the last writes come when the session rests
			<-time.After(time.Second)
			received(p.settled())
		}
		received(p.settled())
		p.continues()
	})
}

// eachWrite runs f for each write that an job makes, failing when it begins and when it ends.
func eachWrite(t *testing.T, f func(p *playing, n int, commit bool)) {
	writes := 0
	synctest.Test(t, func(t *testing.T) {
		p := beginJob(t)
		before := p.driver.count()
		p.ok(p.runJob())
		writes = p.driver.count() - before
		p.check()
	})
	if writes < 10 {
		t.Fatalf("there are only %d writes", writes)
	}
	every := 1
	if raced { // all run without the detector
		every = 4
	}
	for n := 1; n <= writes; n += every {
		for _, commit := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d,commit=%v", n, commit), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { f(beginJob(t), n, commit) })
			})
		}
	}
}

// answerAll allows what is asked.
func (p *playing) answerAll() {
	p.Helper()
	asks, err := p.Asks(p.Context(), lathe.Scope{})
	p.ok(err)
	for _, a := range asks {
		p.ok(p.Reply(p.Context(), lathe.AskOf(a), lathe.Once, ""))
	}
	synctest.Wait()
}
