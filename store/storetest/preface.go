package storetest

import (
	"github.com/lathe-agent/lathe"
)

func prefaceTests() map[string]func(*room) {
	return map[string]func(*room){
		"IsKeptAndReplaced":   testPrefaceKept,
		"AForkHasTheSame":     testPrefaceForked,
		"GoesWithItsSession":  testPrefaceRemoved,
		"NobodyIsToldAboutIt": testPrefaceSilent,
	}
}

func (r *room) preface(id lathe.SessionID) *lathe.Preface {
	r.Helper()
	p, err := r.Preface(ctx(), id)
	r.ok(err)
	return p
}

func sampledPreface(text string) lathe.Preface {
	return lathe.Preface{
		Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}, Directory: "/d", Text: text,
		Sources: []lathe.PrefaceSource{{Name: "AGENTS.md", Digest: "abc"}},
	}
}

func testPrefaceKept(r *room) {
	l, other := r.held(), r.held()
	r.same("before", r.preface(l.Session), (*lathe.Preface)(nil))
	for _, text := range []string{"first\x00\u2028", "second"} {
		p := sampledPreface(text)
		r.commit(l, &lathe.Prefaced{Session: l.Session, Preface: p})
		r.same("kept", r.preface(l.Session), &p)
	}
	r.same("of another", r.preface(other.Session), (*lathe.Preface)(nil))
}

func testPrefaceForked(r *room) {
	l := r.held()
	p := sampledPreface("text")
	r.commit(l, &lathe.Prefaced{Session: l.Session, Preface: p})
	rec, err := r.Session(ctx(), l.Session)
	r.ok(err)
	rec.ID = r.ids.Session()
	r.ok(r.Fork(ctx(), l.Session, "", rec))
	r.same("of the fork", r.preface(rec.ID), &p)
}

func testPrefaceRemoved(r *room) {
	l := r.held()
	r.commit(l, &lathe.Prefaced{Session: l.Session, Preface: sampledPreface("text")})
	r.ok(r.Remove(ctx(), l.Session))
	r.same("of nobody", r.preface(l.Session), (*lathe.Preface)(nil))
}

func testPrefaceSilent(r *room) {
	l := r.held()
	events, err := r.Commit(ctx(), l, &lathe.Prefaced{Session: l.Session, Preface: sampledPreface("text")})
	r.ok(err)
	r.same("events", len(events), 0)
}
