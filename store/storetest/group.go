package storetest

import (
	"fmt"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// Jobs of a group see what those before them wrote, also where a driver reads rows and numbers for all of them at once.
func testGroupAhead(r *env) {
	r.session(named("ses_stall"))
	s, _, hold, free := r.stalled()
	const n = 12
	leases, answers, grow := make([]store.Lease, n), make([]lathe.Message, n), make([]lathe.Part, n)
	for i := range n {
		leases[i] = must(s.Acquire(ctx(), r.session()))(r)
		answers[i] = r.user(leases[i].Session)
		grow[i] = r.growing(answers[i], "")
		must(s.Commit(ctx(), leases[i], append(wrote(answers[i]), changed(grow[i]))...))(r)
	}
	var all sync.WaitGroup
	commit := func(i int, want lathe.Code, facts ...lathe.Fact) {
		all.Go(func() {
			if _, err := s.Commit(ctx(), leases[i], facts...); lathe.CodeOf(err) != want {
				r.Errorf("commit to %d: %v, want code %q", i, err, want)
			}
		})
	}
	grown := func(i int, offset int, text string) lathe.Fact {
		return &lathe.Checkpoint{Session: leases[i].Session, Part: grow[i].ID, Offset: offset, Text: text}
	}
	before := r.counter()
	want := make([]string, n)
	hold()
	for i := range n {
		word := fmt.Sprintf("word%dx", i)
		part, other := r.text(answers[i], word+"new"), r.text(answers[i], word+"other")
		again := part
		again.Body = &lathe.Text{Text: word + "again"}
		switch i % 4 {
		case 0: // one part twice in a commit, and the tails of a growing one
			commit(i, "", changed(part), grown(i, 0, "one "), grown(i, 4, "two"), changed(again), changed(other))
			want[i] = "one two|" + word + "again|" + word + "other"
		case 1: // fails in the end
			commit(i, lathe.Conflict, changed(part), grown(i, 0, "one "), grown(i, 3, "two"))
			commit(i, "", changed(other))
			want[i] = "|" + word + "other"
		case 2: // settled and removed
			commit(i, "", changed(ended(grow[i], word+"ended")), changed(part),
				&lathe.PartRemoved{Session: leases[i].Session, Message: answers[i].ID, Part: part.ID}, changed(other))
			want[i] = word + "ended|" + word + "other"
		case 3: // of another session, and of no message
			foreign := r.text(answers[i-1], word)
			foreign.Session = leases[i].Session
			commit(i, lathe.NotFound, changed(foreign))
			commit(i, "", changed(part), changed(ended(grow[i], word+"ended")))
			want[i] = word + "ended|" + word + "new"
		}
	}
	free()
	all.Wait()
	for i, l := range leases {
		got := ""
		for k, p := range r.history(l.Session)[0].Parts {
			if k > 0 {
				got += "|"
			}
			got += p.Body.(*lathe.Text).Text
			if text := p.Body.(*lathe.Text).Text; text != "" && !p.Open() {
				r.same(text+" is found", r.found(lathe.SearchQuery{Text: text}), []lathe.PartID{p.ID})
			}
		}
		r.same(fmt.Sprintf("texts of %d", i), got, want[i])
		if i%4 == 0 || i%4 == 1 {
			r.same("a text that was replaced or undone", r.found(lathe.SearchQuery{Text: fmt.Sprintf("word%dxnew", i)}), []lathe.PartID(nil))
		}
	}
	if after := r.counter(); after <= before {
		r.Fatalf("the counter is %d after %d", after, before)
	}
}
