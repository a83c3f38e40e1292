package storetest

import (
	"errors"
	"strings"

	"github.com/lathe-agent/lathe"
)

func walkTests() map[string]func(*env) {
	return map[string]func(*env){
		"OldestFirstSessionAfterSession": testWalkOrder,
		"OnlyWhatTheQuerySelects":        testWalkQuery,
		"SinceIncludesItsLimit":          testWalkSince,
		"PartsByBirthWithoutThoughts":    testWalkParts,
		"LargeValuesAreEmpty":            testWalkLarge,
		"AnErrorEndsIt":                  testWalkError,
	}
}

// walked is the result of a walk, as session and message ids.
func (r *env) walked(q lathe.Query, since lathe.Time) (out []string) {
	r.Helper()
	r.ok(r.Walk(ctx(), q, since, func(s lathe.Session, m lathe.Message) error {
		if m.Session != s.ID {
			r.Errorf("message %s of %s comes with session %s", m.ID, m.Session, s.ID)
		}
		out = append(out, string(s.ID)+" "+string(m.ID))
		return nil
	}))
	return out
}

func testWalkOrder(r *env) {
	a, b := r.held(named("ses_a"), at(1)), r.held(named("ses_b"), at(2))
	r.session(named("ses_empty"), at(3))
	u1, a1 := r.said(a, "one")
	u2, a2 := r.said(b, "two")
	u3, a3 := r.said(a, "three")
	var want []string
	for _, s := range must(r.Sessions(ctx(), lathe.Query{}))(r) { // messages move sessions up
		for _, m := range []lathe.Message{u1, a1, u2, a2, u3, a3} {
			if m.Session == s.ID {
				want = append(want, string(s.ID)+" "+string(m.ID))
			}
		}
	}
	r.same("walked", r.walked(lathe.Query{}, 0), want)
	r.same("how many", len(want), 6)
}

func testWalkQuery(r *env) {
	a, b := r.held(named("ses_a")), r.held(named("ses_b"), func(s *lathe.Session) { s.Project = "other" })
	r.said(a, "one")
	u, answer := r.said(b, "two")
	r.same("of a project", r.walked(lathe.Query{Project: "other"}, 0), []string{"ses_b " + string(u.ID), "ses_b " + string(answer.ID)})
	r.same("of none", len(r.walked(lathe.Query{Project: "none"}, 0)), 0)
}

func testWalkSince(r *env) {
	l := r.held(named("ses_a"))
	r.said(l, "one")
	u, a := r.said(l, "two")
	r.same("since", r.walked(lathe.Query{}, u.Created), []string{"ses_a " + string(u.ID), "ses_a " + string(a.ID)})
	r.same("later", len(r.walked(lathe.Query{}, a.Created+1)), 0)
}

func testWalkParts(r *env) {
	l := r.held()
	m := r.user(l.Session)
	now := r.clock.tick()
	first, second := r.text(m, "first"), r.finish(m, 0.5, 3)
	first.ID, second.ID = "prt_z", "prt_a"
	thought := r.part(m, &lathe.Reasoning{Text: "hm", Time: lathe.Span{Start: now, End: now}})
	m.Parts = []lathe.Part{first, thought, second}
	r.commit(l, wrote(m)...)
	m.Parts = []lathe.Part{first, second}
	r.ok(r.Walk(ctx(), lathe.Query{}, 0, func(_ lathe.Session, got lathe.Message) error {
		r.same("message", got, m)
		return nil
	}))
}

func testWalkLarge(r *env) {
	l := r.held()
	m := r.user(l.Session)
	large := r.part(m, &lathe.File{Mime: "image/png", URL: "data:" + strings.Repeat("x", 200<<10), Filename: "a@\"b.png"})
	small := r.text(m, "small")
	m.Parts = []lathe.Part{large, small}
	r.commit(l, wrote(m)...)
	r.ok(r.Walk(ctx(), lathe.Query{}, 0, func(_ lathe.Session, got lathe.Message) error {
		large.Body = &lathe.File{Mime: "image/png", Filename: "a@\"b.png"}
		r.same("parts", got.Parts, []lathe.Part{large, small})
		return nil
	}))
}

func testWalkError(r *env) {
	l := r.held()
	r.said(l, "one")
	enough, calls := errors.New("enough"), 0
	err := r.Walk(ctx(), lathe.Query{}, 0, func(lathe.Session, lathe.Message) error {
		calls++
		return enough
	})
	r.same("error", errors.Is(err, enough), true)
	r.same("calls", calls, 1)
}
