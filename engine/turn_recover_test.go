package engine_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// stalling opens a play whose model begins to speak, calls a tool that waits, and is never
// done, until a prompt says that it was interrupted.
func stalling(t *testing.T) *playing {
	t.Helper()
	p := beginPlay(t, parseScript(t, "-- model --\n"), modeltest.Anthropic)
	p.server.Respond(func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(string(r.Body), "The program ended before") || strings.Contains(string(r.Body), "again") {
			return modeltest.Answer{modeltest.Text{"Gone on."}, modeltest.Finish("stop")}
		}
		return modeltest.Answer{
			modeltest.Text{"I begin."}, modeltest.Call{Name: "wait", Args: `{"ms":3600000}`}, modeltest.Finish("tool-calls"),
		}
	})
	return p
}

// lastOf is the newest message of a session.
func (p *playing) lastOf(id lathe.SessionID) lathe.Message {
	p.Helper()
	page, err := p.Messages(p.Context(), id, lathe.Position{}, 1)
	p.ok(err)
	return page.Messages[0]
}

// What a dead process left is closed for all its sessions, and continues on request.
func TestRecover_AllThatADeadProcessLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := stalling(t)
		ids := []lathe.SessionID{p.session}
		for range 19 {
			rec, err := p.Create(t.Context(), p.dir, lathe.NewSession{Title: "Another"})
			p.ok(err)
			p.speakTo(rec.ID)
			ids = append(ids, rec.ID)
		}
		for _, id := range ids {
			_, err := p.Submit(t.Context(), id, lathe.Prompt{Parts: text("begin")})
			p.ok(err)
		}
		synctest.Wait()
		p.kill()
		found, err := p.Interruptions(t.Context())
		p.ok(err)
		if len(found) != len(ids) || !found[0].Dead {
			t.Fatalf("%d are found, the first %+v", len(found), found[0])
		}
		n, err := p.Recover(t.Context(), false)
		p.ok(err)
		synctest.Wait()
		if n != len(ids) {
			t.Errorf("%d were looked after", n)
		}
		p.check()
		for _, id := range ids {
			if m := p.lastOf(id); !strings.Contains(callState(m.Parts[2].Body.(*lathe.ToolCall).State), `"interrupted":true`) {
				t.Errorf("the call of %s is %s", id, body(m.Parts[2]))
			}
		}
		if n := len(p.server.Requests()); n != len(ids) {
			t.Errorf("the model was asked %d times: nobody said it should go on", n)
		}
		n, err = p.Recover(t.Context(), true)
		p.ok(err)
		if n != len(ids) {
			t.Errorf("%d go on", n)
		}
		p.ok(p.Drain(t.Context()))
		synctest.Wait()
		for _, id := range ids {
			if m := p.lastOf(id); wordsOf(m) != "Gone on." {
				t.Errorf("%s ends with %q", id, wordsOf(m))
			}
		}
		p.check()
		if n, err = p.Recover(t.Context(), true); n != 0 || err != nil {
			t.Errorf("%d are left, %v", n, err)
		}
	})
}

// A program that ends properly leaves its turns to the next one; the model is told which call
// had started.
func TestRecover_AfterAnOrderlyEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := stalling(t)
		_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("begin")})
		p.ok(err)
		synctest.Wait()
		p.restart()
		p.check()
		var group sync.WaitGroup
		for range 3 { // at the same time: it continues once
			group.Go(func() { p.ok(p.Resume(t.Context(), p.session)) })
		}
		group.Wait()
		p.rest()
		if m := p.lastOf(p.session); wordsOf(m) != "Gone on." {
			t.Errorf("it ends with %q", wordsOf(m))
		}
		requests := p.server.Requests()
		if n := len(requests); n != 2 {
			t.Errorf("the model was asked %d times", n)
		}
		if received := requests[len(requests)-1].String(); !strings.Contains(received, `may have taken effect`) || !strings.Contains(received, `wait {\"ms\":3600000}`) {
			t.Errorf("the model was told %s", received)
		}
		p.check()
	})
}

// A turn that its user canceled does not continue by itself, and a new word makes an
// interrupted one an ordinary one.
func TestRecover_NotWhatAUserEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := stalling(t)
		_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("begin")})
		p.ok(err)
		synctest.Wait()
		p.ok(p.Cancel(t.Context(), p.session))
		if n, err := p.Recover(t.Context(), true); n != 0 || err != nil {
			t.Errorf("%d go on, %v", n, err)
		}
		_, err = p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("begin")})
		p.ok(err)
		synctest.Wait()
		p.kill()
		m, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("again")})
		p.ok(err)
		if wordsOf(m) != "Gone on." {
			t.Errorf("the answer is %q", wordsOf(m))
		}
		if n, err := p.Recover(t.Context(), true); n != 0 || err != nil {
			t.Errorf("%d go on, %v", n, err)
		}
		p.rest()
		p.check()
	})
}

// A process that dies when all is done leaves nothing to resume.
func TestRecover_NothingWasCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := stalling(t)
		m, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("again")})
		p.ok(err)
		p.ok(p.Drain(t.Context()))
		_, err = p.Store().Acquire(t.Context(), p.session) // as one that is about to give it back
		p.ok(err)
		p.kill()
		if n, err := p.Recover(t.Context(), true); n != 1 || err != nil {
			t.Errorf("%d were looked at, %v", n, err)
		}
		p.rest()
		if last := p.lastOf(p.session); last.ID != m.ID {
			t.Errorf("it was answered once more: %s", wordsOf(last))
		}
		if n, err := p.Recover(t.Context(), false); n != 0 || err != nil {
			t.Errorf("%d are interrupted, %v", n, err)
		}
	})
}
