package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// Fifty children at once, and a cap of one dollar for them all: no more is spent, nearly all
// of it is, and every turn has an end. (part C)
func TestTurn_BudgetOfManyChildren(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, `
-- settings --
budget session cost=1
share 1
-- model --
`), modeltest.Chat)
		p.server.Respond(func(r modeltest.Request) modeltest.Answer { // a cent each, and it wants more, never the same
			return modeltest.Answer{modeltest.Call{Name: "wait", Args: fmt.Sprintf(`{"ms":%d}`, 20+r.N)}, modeltest.Usage{Input: 1000, Output: 4500}, modeltest.Finish("tool-calls")}
		})
		top := p.session
		var group sync.WaitGroup
		for i := range 50 {
			child, err := p.Create(t.Context(), p.dir, lathe.NewSession{Parent: top, Title: fmt.Sprint("Child ", i)})
			p.ok(err)
			p.sessions = append(p.sessions, child.ID)
			group.Go(func() {
				m, err := p.Prompt(t.Context(), child.ID, lathe.Prompt{Parts: text("spend")})
				if err != nil {
					t.Error(err)
					return
				}
				if a := m.Data.(*lathe.Assistant); a.Error == nil || !strings.Contains(lathe.FaultMessage(a.Error), "has reached its budget") {
					t.Errorf("child %d ended with %v", i, a.Error)
				}
			})
		}
		group.Wait()
		accounts, err := p.Accounts(t.Context(), top, lathe.Budget{})
		p.ok(err)
		spent, billed := accounts[0].Spent.Cost, lathe.Dollars(0.01*float64(len(p.server.Requests())))
		if spent != billed || spent > lathe.Dollars(1) || spent < lathe.Dollars(0.95) || !accounts[0].Reserved.IsZero() {
			t.Errorf("spent %s, billed %s, held %+v", spent, billed, accounts[0].Reserved)
		}
	})
}

// What a canceled or killed request had reserved is not held for ever; its input is paid.
func TestTurn_BudgetOfCutOffRequests(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cancel", "kill", "restart"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := beginPlay(t, parseScript(t, `
-- settings --
budget session cost=1
-- model --
text "Hel"
stall
--
text "Hello."
finish stop
`), modeltest.Chat)
				_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("hello")})
				p.ok(err)
				synctest.Wait()
				held := p.account()
				if held.Reserved.Cost < lathe.Dollars(0.016) || held.Reserved.Steps != 1 || held.Spent.Cost != 0 {
					t.Errorf("under way: %+v", held)
				}
				switch how {
				case "cancel":
					p.ok(p.Cancel(t.Context(), p.session))
				case "kill":
					p.kill()
				case "restart":
					p.restart()
				}
				synctest.Wait()
				_, err = p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("again")})
				p.ok(err)
				got := p.account()
				answer := lathe.Dollars(0.00002)
				if input := got.Spent.Cost - answer; !got.Reserved.IsZero() || input < lathe.Dollars(0.0005) || input > lathe.Dollars(0.002) || got.Spent.Steps != 1 {
					t.Errorf("at the end: %+v", got)
				}
			})
		})
	}
}

// account is that of the session.
func (p *playing) account() lathe.Account {
	p.Helper()
	accounts, err := p.Accounts(p.Context(), p.session, lathe.Budget{})
	p.ok(err)
	return accounts[0]
}

// Requests beyond the limit wait for a place; who waits for a tool has none.
func TestTurn_RequestsUnderWayAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlayWith(t, parseScript(t, `
-- model --
`), modeltest.Chat, func(o *opening) { o.Requests = 2 })
		p.server.Respond(func(r modeltest.Request) modeltest.Answer {
			if len(r.Prompt.Messages) > 1 {
				return modeltest.Answer{modeltest.Text{"Done."}, modeltest.Finish("stop")}
			}
			return modeltest.Answer{modeltest.Text{"On."}, modeltest.Pause(time.Second), modeltest.Call{Name: "wait", Args: `{"ms":60000}`}, modeltest.Finish("tool-calls")}
		})
		for range 9 {
			s, err := p.Create(t.Context(), p.dir, lathe.NewSession{Title: "One of many"})
			p.ok(err)
			p.sessions = append(p.sessions, s.ID)
			_, err = p.Submit(t.Context(), s.ID, lathe.Prompt{Parts: text("go")})
			p.ok(err)
		}
		synctest.Wait()
		if n := len(p.server.Requests()); n != 2 {
			t.Errorf("%d requests at once", n)
		}
		p.rest()
		if n := len(p.server.Requests()); n != 18 {
			t.Errorf("%d requests in all", n)
		}
	})
}

// An answer is cut to what is left of the budget, and has its full length again when others
// have given back what they held.
func TestTurn_BudgetCutsTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, `
-- settings --
budget session cost=0.05
share 1
attempts 3
-- model --
`), modeltest.Chat)
		p.server.Respond(func(r modeltest.Request) modeltest.Answer {
			switch last := r.Prompt.Messages[len(r.Prompt.Messages)-1].Content[0].(model.TextContent).Text; {
			case last == "long":
				return modeltest.Answer{modeltest.Text{"On"}, modeltest.Pause(3 * time.Second), modeltest.Usage{Input: 100, Output: 10}, modeltest.Finish("stop")}
			case r.N <= 4:
				return modeltest.Answer{modeltest.Status{Code: 500}}
			default:
				return modeltest.Answer{modeltest.Text{"Done."}, modeltest.Finish("stop")}
			}
		})
		top := p.session
		for _, words := range []string{"long", "long", "short"} { // each may cost 1.7 cents
			child, err := p.Create(t.Context(), p.dir, lathe.NewSession{Parent: top, Title: words})
			p.ok(err)
			p.sessions = append(p.sessions, child.ID)
			_, err = p.Submit(t.Context(), child.ID, lathe.Prompt{Parts: text(words)})
			p.ok(err)
			synctest.Wait()
		}
		p.rest()
		var limits []int
		for _, r := range p.server.Requests() {
			limits = append(limits, r.Prompt.MaxOutput)
		}
		if slices.Min(limits) >= 8000 || limits[len(limits)-1] != 8000 {
			t.Errorf("the answers could have %v tokens", limits)
		}
	})
}
