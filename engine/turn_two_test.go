package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// beside opens the same database once more, as another process would.
func (p *playing) beside() *playing {
	p.Helper()
	other := *p
	other.shown = newShown(p.dir)
	other.opens += 10
	other.open()
	p.Cleanup(func() { p.ok(other.Close()) })
	return &other
}

// later lets time pass in which processes look at what others wrote.
func later() {
	<-time.After(2 * time.Second)
	synctest.Wait()
}

// words are the texts of a message, without those the engine wrote.
func wordsOf(m lathe.Message) string {
	var out []string
	for _, p := range m.Parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Synthetic.On() {
			out = append(out, t.Text)
		}
	}
	return strings.Join(out, " ")
}

const waits = `
-- rules --
ask edit *
-- model --
call wait {"ms":5000}
finish tool-calls
--
call write {"path":"a.txt","content":"x"}
finish tool-calls
--
text "All done."
finish stop
`

// A prompt that another process sends is answered by the one that works on the session, and
// its answer to a request counts here too. Both who wait get the same message.
func TestTurn_PromptAndReplyFromAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here := beginPlay(t, parseScript(t, waits), modeltest.Anthropic)
		there := here.beside()
		type result struct {
			m   lathe.Message
			err error
		}
		got := make(chan result, 2)
		ask := func(p *playing, words string) {
			m, err := p.Prompt(context.WithoutCancel(p.Context()), p.session, lathe.Prompt{Parts: text(words)})
			got <- result{m, err}
		}
		go ask(here, "begin")
		synctest.Wait()
		go ask(there, "and hurry")
		later()
		<-time.After(5 * time.Second)
		later()
		asks, err := there.Asks(t.Context(), lathe.Scope{})
		there.ok(err)
		if len(asks) != 1 {
			t.Fatalf("%d requests are seen there", len(asks))
		}
		there.ok(there.Reply(t.Context(), lathe.AskOf(asks[0]), lathe.Once, ""))
		first, second := <-got, <-got
		here.ok(first.err)
		here.ok(second.err)
		if first.m.ID != second.m.ID || wordsOf(first.m) != "All done." {
			t.Errorf("they got %s %q and %s %q", first.m.ID, wordsOf(first.m), second.m.ID, wordsOf(second.m))
		}
		later()
		here.check()
		if n := len(here.server.Requests()); n != 3 {
			t.Errorf("the model was asked %d times", n)
		}
		if last := here.server.Requests()[1].String(); !strings.Contains(last, "and hurry") {
			t.Errorf("the second prompt did not steer the turn: %s", last)
		}
	})
}

// A cancel from another process ends the turn here.
func TestTurn_CancelFromAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here := beginPlay(t, parseScript(t, waits), modeltest.Chat)
		there := here.beside()
		_, err := here.Submit(t.Context(), here.session, lathe.Prompt{Parts: text("begin")})
		here.ok(err)
		synctest.Wait()
		there.ok(there.Cancel(t.Context(), here.session))
		later()
		history := here.all()
		last := history[len(history)-1]
		if _, ok := last.Data.(*lathe.Assistant).Error.(*lathe.AbortedFault); !ok {
			t.Errorf("the turn goes on: %+v", last.Data)
		}
		here.check()
	})
}

// When the process that works on a session dies, who waits elsewhere takes it over.
func TestTurn_TakenOverFromADeadProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here := beginPlay(t, parseScript(t, waits), modeltest.Responses)
		there := here.beside()
		_, err := here.Submit(t.Context(), here.session, lathe.Prompt{Parts: text("begin")})
		here.ok(err)
		synctest.Wait()
		got := make(chan lathe.Message, 1)
		go func() {
			m, err := there.Prompt(context.WithoutCancel(t.Context()), there.session, lathe.Prompt{Parts: text("go on")})
			if err != nil {
				t.Error(err)
			}
			got <- m
		}()
		later()
		here.kill()
		later()
		there.answerAll()
		if m := <-got; wordsOf(m) != "All done." {
			t.Errorf("the answer is %q", wordsOf(m))
		}
		later()
		there.check()
	})
}
