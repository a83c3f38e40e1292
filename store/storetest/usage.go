package storetest

import (
	"github.com/lathe-agent/lathe"
)

func usageTests() map[string]func(*env) {
	return map[string]func(*env){
		"EachStepAdds":                 testUsageAdds,
		"AnotherNumberReplaces":        testUsageReplaces,
		"RemovalSubtracts":             testUsageSubtracts,
		"ARemovedMessageSubtractsAll":  testUsageMessage,
		"TimeIsNotTouched":             testUsageTime,
		"TheRecordIsTold":              testUsagePublished,
		"SumsAreExact":                 testUsageExact,
		"TotalsAndUnknownAreNotSummed": testUsageTotals,
		"AnotherBodyTakesItAway":       testUsageBody,
	}
}

// uses checks what a session has used.
func (r *env) uses(id lathe.SessionID, dollars float64, n int64) {
	r.Helper()
	s := must(r.Session(ctx(), id))(r)
	cost, tokens := lathe.Dollars(dollars), used(n)
	r.same("cost", s.Cost, &cost)
	r.same("tokens", s.Tokens, &tokens)
}

func testUsageAdds(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	s := must(r.Session(ctx(), l.Session))(r)
	if s.Cost != nil || s.Tokens != nil {
		r.Fatalf("used before any step: %v %v", s.Cost, s.Tokens)
	}
	r.commit(l, changed(r.finish(m, 0.5, 3)))
	r.uses(l.Session, 0.5, 3)
	r.commit(l, changed(r.finish(m, 0.25, 4)), changed(r.finish(m, 0.25, 5)))
	r.uses(l.Session, 1, 12)
}

func testUsageReplaces(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	p := r.finish(m, 0.5, 3)
	r.commit(l, changed(p), changed(r.finish(m, 1, 1)))
	p.Body = &lathe.StepFinish{Reason: "stop", Cost: lathe.Dollars(2), Tokens: used(7)}
	r.commit(l, changed(p))
	r.uses(l.Session, 3, 8)
	n := r.counter()
	r.commit(l, changed(p))
	r.uses(l.Session, 3, 8)
	r.same("numbers taken by the same part again", r.counter()-n, int64(1))
}

func testUsageBody(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	p := r.finish(m, 0.5, 3)
	r.commit(l, changed(p))
	p.Body = &lathe.Text{Text: "not a step any more"}
	r.commit(l, changed(p))
	r.uses(l.Session, 0, 0)
}

func testUsageSubtracts(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	p, q := r.finish(m, 0.5, 3), r.finish(m, 0.25, 4)
	r.commit(l, changed(p), changed(q))
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: p.ID})
	r.uses(l.Session, 0.25, 4)
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: q.ID})
	r.uses(l.Session, 0, 0)
}

func testUsageMessage(r *env) {
	l := r.held()
	m, a := r.said(l, "Hello")
	r.commit(l, changed(r.finish(m, 1, 1)), changed(r.finish(a, 2, 2)), changed(r.finish(a, 4, 4)))
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: a.ID})
	r.uses(l.Session, 1, 1)
}

func testUsageTime(r *env) {
	l := r.held()
	before := must(r.Session(ctx(), l.Session))(r)
	m, _ := r.said(l, "Hello")
	p := r.finish(m, 1, 1)
	r.commit(l, changed(p))
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: p.ID})
	r.same("time", must(r.Session(ctx(), l.Session))(r).Updated, before.Updated)
}

func testUsagePublished(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	p := r.finish(m, 1, 1)
	events := r.commit(l, changed(p))
	r.same("kinds", kinds(events), []string{"message.part.updated", "session.updated"})
	r.same("record", events[1].Fact.(*lathe.SessionChanged).Info, must(r.Session(ctx(), l.Session))(r))
	events = r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: p.ID})
	r.same("kinds", kinds(events), []string{"message.part.removed", "session.updated"})
}

func testUsageExact(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	var facts []lathe.Fact
	for range 1000 {
		facts = append(facts, changed(r.finish(m, 0.0001, 1)))
	}
	r.commit(l, facts...)
	r.uses(l.Session, 0.1, 1000)
}

func testUsageTotals(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	tokens := used(1)
	tokens.Total, tokens.Extra, tokens.Cache.Extra = 99, `"x-tokens":1`, `"x-cache":1`
	r.commit(l, changed(r.part(m, &lathe.StepFinish{Reason: "stop", Tokens: tokens})))
	r.uses(l.Session, 0, 1)
}
