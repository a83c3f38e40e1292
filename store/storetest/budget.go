package storetest

import (
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func budgetTests() map[string]func(*env) {
	return map[string]func(*env){
		"WhatIsSpentCountsForAllAbove":     testBudgetChain,
		"AReservationIsHeldUntilSettled":   testBudgetHeld,
		"ALimitIsNeverPassed":              testBudgetLimit,
		"WhatOthersHoldIsWaitedFor":        testBudgetWaits,
		"ADeadProcessIsChargedWhatIsSure":  testBudgetDead,
		"TheSameSlotBeginsAnew":            testBudgetAgain,
		"AChildHasAShare":                  testBudgetShare,
		"LimitsOfItsOwnCount":              testBudgetOwn,
		"DaysAndProjectsHaveLimits":        testBudgetDay,
		"TimeIsNotCountedTwice":            testBudgetTime,
		"RemovalGivesBackWhatIsHeld":       testBudgetRemoved,
		"ParentsInACircleAreCountedOnce":   testBudgetCircle,
		"ManyAtOnceNeverPassTheLimit":      testBudgetMany,
		"ALostLeaseReservesNothing":        testBudgetLost,
		"AnUnknownSessionIsNotFound":       testBudgetUnknown,
		"AForkHasSpentNothing":             testBudgetFork,
		"SettlingWithoutReservationCounts": testBudgetPlain,
		"LimitsAreTakenAwayByTheZeroValue": testBudgetUnlimited,
	}
}

const today = "2026-01-02"

func dollars(d float64) lathe.Spending { return lathe.Spending{Cost: lathe.Dollars(d)} }

func below(parent lathe.SessionID) func(*lathe.Session) {
	return func(s *lathe.Session) { s.Parent = parent }
}

// reserve asks for money, at least a tenth of it.
func (r *env) reserve(l store.Lease, cost float64, b lathe.Budget) store.Grant {
	r.Helper()
	g, _, err := r.Reserve(ctx(), l, store.Reservation{Slot: "step", Day: today, Max: dollars(cost), Min: dollars(cost / 10), Certain: dollars(cost / 10), Budget: b})
	r.ok(err)
	return g
}

func (r *env) spend(l store.Lease, cost float64) {
	r.Helper()
	r.commit(l, &lathe.Spent{Session: l.Session, Slot: "step", Day: today, Used: dollars(cost)})
}

// sums are what the accounts of a session say: spent and held, in dollars.
func (r *env) sums(id lathe.SessionID) (out [][2]float64) {
	r.Helper()
	accounts, err := r.Accounts(ctx(), id, today, lathe.Budget{})
	r.ok(err)
	for _, a := range accounts {
		out = append(out, [2]float64{a.Spent.Cost.Dollars(), a.Reserved.Cost.Dollars()})
	}
	return out
}

func testBudgetChain(r *env) {
	top := r.held()
	child := r.held(below(top.Session))
	grandchild := r.held(below(child.Session))
	r.reserve(grandchild, 1, lathe.Budget{})
	r.spend(grandchild, 0.25)
	r.spend(child, 0.5)
	r.same("grandchild, child, top, day, project", r.sums(grandchild.Session), [][2]float64{{0.25, 0}, {0.75, 0}, {0.75, 0}, {0.75, 0}, {0.75, 0}})
	other := r.held()
	r.same("another", r.sums(other.Session), [][2]float64{{0, 0}, {0.75, 0}, {0.75, 0}})
}

func testBudgetHeld(r *env) {
	l := r.held()
	r.same("given", r.reserve(l, 1, lathe.Budget{}).Max, dollars(1))
	r.same("held", r.sums(l.Session), [][2]float64{{0, 1}, {0, 1}, {0, 1}})
	r.spend(l, 0.1)
	r.same("settled", r.sums(l.Session), [][2]float64{{0.1, 0}, {0.1, 0}, {0.1, 0}})
	r.spend(l, 0.1)
	r.same("and counted once", r.sums(l.Session)[0], [2]float64{0.2, 0})
}

func testBudgetLimit(r *env) {
	l := r.held()
	b := lathe.Budget{Session: dollars(1)}
	r.same("cut to what is left", r.reserve(l, 5, b).Max, dollars(1))
	r.spend(l, 0.8)
	r.same("less", r.reserve(l, 1, b).Max.Cost, lathe.Dollars(1)-lathe.Dollars(0.8))
	r.spend(l, 0.15)
	g := r.reserve(l, 1, b)
	r.same("limit reached", g.Measure, store.ByCost)
	r.same("which", *g.Exceeded, lathe.Account{Kind: lathe.SessionAccount, Key: string(l.Session), Spent: dollars(0.95), Limit: dollars(1)})
	r.same("nothing is held", r.sums(l.Session)[0], [2]float64{0.95, 0})
	for _, m := range []struct {
		by    store.Measure
		limit lathe.Spending
	}{
		{store.ByTokens, lathe.Spending{Tokens: 10}},
		{store.BySteps, lathe.Spending{Steps: 2}},
		{store.ByTime, lathe.Spending{Time: time.Minute}},
	} {
		l := r.held()
		r.commit(l, &lathe.Spent{Session: l.Session, Day: today, Used: lathe.Spending{Tokens: 9, Steps: 1, Time: 59 * time.Second}})
		want := store.Reservation{Slot: "step", Day: today, Max: lathe.Spending{Tokens: 5, Steps: 1}, Min: lathe.Spending{Tokens: 1, Steps: 1}, Budget: lathe.Budget{Session: m.limit}}
		g, _, err := r.Reserve(ctx(), l, want)
		r.ok(err)
		r.same(string(m.by)+" in time", g.Exceeded == nil && !g.Pending, true)
		if m.by == store.ByTime {
			r.same("time left", g.Time, time.Second)
		}
		r.commit(l, &lathe.Spent{Session: l.Session, Slot: "step", Day: today, Used: lathe.Spending{Tokens: 1, Steps: 1, Time: time.Second}})
		g, _, err = r.Reserve(ctx(), l, want)
		r.ok(err)
		r.same(string(m.by), g.Measure, m.by)
	}
}

func testBudgetWaits(r *env) {
	top := r.held()
	a, b := r.held(below(top.Session)), r.held(below(top.Session))
	limit := lathe.Budget{Session: dollars(1)}
	r.same("all of it", r.reserve(a, 1, limit).Max, dollars(1))
	r.same("waits", r.reserve(b, 1, limit), store.Grant{Pending: true})
	r.spend(a, 0.2)
	r.same("gets the rest", r.reserve(b, 1, limit).Max.Cost, lathe.Dollars(1)-lathe.Dollars(0.2))
}

func testBudgetDead(r *env) {
	other := r.again(store.Options{})
	top := r.session()
	id := r.session(below(top))
	l, err := other.Acquire(ctx(), id)
	r.ok(err)
	b := lathe.Budget{Session: dollars(1)}
	_, _, err = other.Reserve(ctx(), l, store.Reservation{Slot: "step", Day: today, Max: dollars(1), Min: dollars(0.1), Certain: dollars(0.1), Budget: b})
	r.ok(err)
	mine := r.held(below(top))
	r.same("waits for the living", r.reserve(mine, 1, b).Pending, true)
	r.ok(other.Close())
	r.same("not for the dead", r.reserve(mine, 1, b).Max.Cost, lathe.Dollars(1)-lathe.Dollars(0.1))
	r.same("charged the certain cost", r.sums(id)[0], [2]float64{0.1, 0})
}

func testBudgetAgain(r *env) {
	l := r.held()
	r.reserve(l, 1, lathe.Budget{})
	r.ok(r.Release(ctx(), l))
	l = r.lease(l.Session)
	r.reserve(l, 1, lathe.Budget{})
	r.same("the first was cut off", r.sums(l.Session)[0], [2]float64{0.1, 1})
}

func testBudgetShare(r *env) {
	top := r.held()
	child := r.held(below(top.Session))
	grandchild := r.held(below(child.Session))
	b := lathe.Budget{Session: lathe.Spending{Cost: lathe.Dollars(1), Steps: 5, Time: time.Hour}, Share: 0.5}
	accounts, err := r.Accounts(ctx(), grandchild.Session, today, b)
	r.ok(err)
	r.same("grandchild", accounts[0].Limit, lathe.Spending{Cost: lathe.Dollars(0.25), Steps: 2, Time: time.Hour})
	r.same("child", accounts[1].Limit, lathe.Spending{Cost: lathe.Dollars(0.5), Steps: 3, Time: time.Hour})
	r.same("top", accounts[2].Limit, b.Session)
}

func testBudgetOwn(r *env) {
	l := r.held()
	child := r.held(below(l.Session))
	r.ok(r.SetLimits(ctx(), l.Session, dollars(2)))
	b := lathe.Budget{Session: dollars(1), Share: 0.25}
	r.same("own", r.reserve(l, 9, b).Max, dollars(2))
	r.spend(l, 0)
	r.same("of it", r.reserve(child, 4, b).Max, dollars(0.5))
	r.spend(child, 0)
	r.ok(r.SetLimits(ctx(), child.Session, dollars(1.5)))
	r.same("child's own", r.reserve(child, 9, b).Max, dollars(1.5))
}

func testBudgetUnlimited(r *env) {
	l := r.held()
	r.ok(r.SetLimits(ctx(), l.Session, dollars(1)))
	r.ok(r.SetLimits(ctx(), l.Session, lathe.Spending{}))
	r.same("without", r.reserve(l, 9, lathe.Budget{}).Max, dollars(9))
}

func testBudgetDay(r *env) {
	a, b := r.held(), r.held()
	r.spend(a, 1)
	g := r.reserve(b, 1, lathe.Budget{Day: dollars(1)})
	r.same("day", g.Exceeded.Kind, lathe.DayAccount)
	g, _, err := r.Reserve(ctx(), b, store.Reservation{Slot: "step", Day: "2026-01-03", Max: dollars(1), Budget: lathe.Budget{Day: dollars(1)}})
	r.ok(err)
	r.same("the next", g.Max, dollars(1))
	r.spend(b, 0)
	g = r.reserve(b, 1, lathe.Budget{Project: dollars(1)})
	r.same("project", g.Exceeded.Kind, lathe.ProjectAccount)
}

func testBudgetTime(r *env) {
	top := r.held()
	child := r.held(below(top.Session))
	for _, l := range []store.Lease{top, child} {
		r.commit(l, &lathe.Spent{Session: l.Session, Day: today, Used: lathe.Spending{Time: time.Minute}})
	}
	accounts, err := r.Accounts(ctx(), child.Session, today, lathe.Budget{})
	r.ok(err)
	for _, a := range accounts {
		r.same(string(a.Kind), a.Spent.Time, time.Minute)
	}
}

func testBudgetRemoved(r *env) {
	top := r.held()
	child := r.held(below(top.Session))
	r.reserve(child, 1, lathe.Budget{})
	r.ok(r.Remove(ctx(), child.Session))
	r.same("top", r.sums(top.Session)[0], [2]float64{0.1, 0})
}

func testBudgetCircle(r *env) {
	l := r.held(func(s *lathe.Session) { s.Parent = s.ID })
	r.reserve(l, 1, lathe.Budget{Session: dollars(2), Share: 0.5})
	r.spend(l, 0.5)
	r.same("once", r.sums(l.Session)[0], [2]float64{0.5, 0})
}

func testBudgetMany(r *env) {
	const children = 50
	top := r.held()
	b := lathe.Budget{Session: dollars(1), Share: 1}
	var group sync.WaitGroup
	for range children {
		l := r.held(below(top.Session))
		group.Go(func() {
			for range 20 {
				g, _, err := r.Reserve(ctx(), l, store.Reservation{Slot: "step", Day: today, Max: dollars(0.1), Min: dollars(0.02), Budget: b})
				if err != nil || g.Exceeded != nil {
					return
				}
				if !g.Pending {
					_, _ = r.Commit(ctx(), l, &lathe.Spent{Session: l.Session, Slot: "step", Day: today, Used: dollars(g.Max.Cost.Dollars() / 2)})
				}
			}
		})
	}
	group.Wait()
	sum := r.sums(top.Session)[0]
	r.same("not over", sum[0] <= 1, true)
	r.same("nearly all", sum[0] > 0.9, true)
	r.same("nothing held", sum[1], 0.0)
}

func testBudgetLost(r *env) {
	l := r.held()
	r.ok(r.Release(ctx(), l))
	_, _, err := r.Reserve(ctx(), l, store.Reservation{Slot: "step", Day: today, Max: dollars(1)})
	r.is(err, lathe.Conflict)
	r.same("nothing", r.sums(l.Session)[0], [2]float64{0, 0})
}

func testBudgetUnknown(r *env) {
	_, err := r.Accounts(ctx(), "ses_none", today, lathe.Budget{})
	r.is(err, lathe.NotFound)
	r.is(r.SetLimits(ctx(), "ses_none", dollars(1)), lathe.NotFound)
}

func testBudgetFork(r *env) {
	l := r.held()
	_, answer := r.said(l, "one")
	r.commit(l, &lathe.PartChanged{Part: r.finish(answer, 0.5, 1)}, &lathe.Spent{Session: l.Session, Day: today, Used: dollars(0.5)})
	fork := r.fork(l.Session, "")
	r.same("fork", r.sums(fork.ID)[0], [2]float64{0, 0})
	r.same("day", r.sums(fork.ID)[1], [2]float64{0.5, 0})
}

func testBudgetPlain(r *env) {
	l := r.held()
	r.commit(l, &lathe.Spent{Session: l.Session, Day: today, Used: lathe.Spending{Cost: 3, Tokens: 4, Steps: 5, Time: time.Second}})
	accounts, err := r.Accounts(ctx(), l.Session, today, lathe.Budget{})
	r.ok(err)
	r.same("all", accounts[0].Spent, lathe.Spending{Cost: 3, Tokens: 4, Steps: 5, Time: time.Second})
}
