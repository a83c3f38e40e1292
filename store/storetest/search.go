package storetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func searchTests() map[string]func(*env) {
	return map[string]func(*env){
		"NewMessagesAreFoundAtOnce":          testSearchNew,
		"ThePlaceAndItsSnippet":              testSearchHit,
		"AllWordsInARowOrBeginnings":         testSearchWords,
		"FiltersAreIntersections":            testSearchFilters,
		"NewestFirstFewPerSession":           testSearchOrder,
		"GrowingTextWhenItIsComplete":        testSearchGrowing,
		"ChangedTextByItsNewWords":           testSearchChanged,
		"RemovedTextIsNotFound":              testSearchRemoved,
		"ForksAndImportsAfterABatch":         testSearchBulk,
		"WritersWithoutIndexAreCaughtUp":     testSearchMixed,
		"ARemovalWithoutIndexLeavesNoHit":    testSearchStale,
		"OldDataNewestFirstInBatches":        testSearchOld,
		"AMovedSessionIsFoundInItsProject":   testSearchMoved,
		"OffFindsNothingAndEmptiesTheIndex":  testSearchOff,
		"LargeValuesAreFound":                testSearchLarge,
		"AFailedTransactionIndexesNothing":   testSearchFailed,
		"QueriesOfAnyForm":                   testSearchHostile,
		"WorkIsLimited":                      testSearchLimited,
		"ALongSessionHidesNoOther":           testSearchLong,
		"TwoProcessesShareTheWork":           testSearchTwo,
		"AnOutputIsFoundByToolOfAnyNameForm": testSearchTool,
	}
}

// found returns the parts that a search finds.
func (r *env) found(q lathe.SearchQuery) []lathe.PartID {
	r.Helper()
	return partsOf(must(store.Search(ctx(), r.Store, q))(r))
}

func partsOf(res lathe.SearchResult) (out []lathe.PartID) {
	for _, h := range res.Hits {
		out = append(out, h.Part)
	}
	return out
}

func text(words string) lathe.SearchQuery { return lathe.SearchQuery{Text: words} }

// index runs batches until there is no gap, and returns how many.
func (r *env) index(s *store.Store) (n int) {
	r.Helper()
	for more := true; more; n++ {
		var err error
		more, _, err = store.IndexBatch(ctx(), s)
		r.ok(err)
		if n > 1000 {
			r.Fatalf("the index never ends")
		}
	}
	return n
}

func testSearchNew(r *env) {
	l := r.held()
	u, a := r.said(l, "find the needle")
	res := must(store.Search(ctx(), r.Store, text("NEEDLE")))(r)
	r.same("parts", partsOf(res), []lathe.PartID{a.Parts[0].ID, u.Parts[0].ID})
	r.same("indexed", res.Indexed, 1.0)
	r.same("more", res.More, false)
	r.same("other", len(r.found(text("thread"))), 0)
}

func testSearchHit(r *env) {
	l := r.held(named("ses_a"), func(s *lathe.Session) { s.Title = "Sewing" })
	u, _ := r.said(l, "find the needle")
	res := must(store.Search(ctx(), r.Store, text(`"find the"`)))(r)
	r.same("hit", res.Hits[1], lathe.SearchHit{
		Session: "ses_a", Title: "Sewing", Project: "prj", Directory: home, Message: u.ID, Part: u.Parts[0].ID,
		Place: "prompt", Model: "acme/m-1", Time: u.Created,
		Snippet: []lathe.SearchText{{Text: "find the", Match: true}, {Text: " needle"}},
	})
	r.same("answer", res.Hits[0].Place, "answer")
}

func testSearchWords(r *env) {
	l := r.held()
	u, a := r.said(l, "store/commit.go resets the connection")
	both := []lathe.PartID{a.Parts[0].ID, u.Parts[0].ID}
	for query, want := range map[string][]lathe.PartID{
		"connection commit":   both,
		"commit.go":           both,
		"store/commit":        both,
		"commit/store":        nil,
		`"the connection"`:    both,
		`"connection the"`:    nil,
		"conn*":               both,
		"conn":                nil,
		"said connection":     both[:1],
		"connection nowhere":  nil,
		"resets AND NOT (the": nil,
	} {
		r.same(query, r.found(text(query)), want)
	}
	r.same("typing", r.found(lathe.SearchQuery{Text: "resets conn", Typing: true}), both)
}

func testSearchFilters(r *env) {
	a := r.held(named("ses_a"))
	b := r.held(named("ses_b"), func(s *lathe.Session) { s.Project, s.Path = "other", new("pkg/deep") })
	ua, aa := r.said(a, "needle")
	ub, ab := r.said(b, "needle")
	of := func(m ...lathe.Message) (out []lathe.PartID) {
		for _, m := range m {
			out = append(out, m.Parts[0].ID)
		}
		return out
	}
	for name, c := range map[string]struct {
		q    lathe.SearchQuery
		want []lathe.PartID
	}{
		"all":           {lathe.SearchQuery{}, of(ab, ub, aa, ua)},
		"project":       {lathe.SearchQuery{Project: "other"}, of(ab, ub)},
		"path":          {lathe.SearchQuery{Path: "pkg"}, of(ab, ub)},
		"path above":    {lathe.SearchQuery{Path: "p"}, nil},
		"no project":    {lathe.SearchQuery{Project: "none"}, nil},
		"session":       {lathe.SearchQuery{Session: "ses_a"}, of(aa, ua)},
		"model":         {lathe.SearchQuery{Model: "m-1"}, of(ab, ub, aa, ua)},
		"provider":      {lathe.SearchQuery{Model: "acme/m-1"}, of(ab, ub, aa, ua)},
		"another model": {lathe.SearchQuery{Model: "m-2"}, nil},
		"tool":          {lathe.SearchQuery{Tool: "bash"}, nil},
		"since":         {lathe.SearchQuery{Since: ub.Created}, of(ab, ub)},
		"limit":         {lathe.SearchQuery{Limit: 1}, of(ab)},
	} {
		c.q.Text = "needle"
		r.same(name, r.found(c.q), c.want)
	}
}

func testSearchOrder(r *env) {
	a, b := r.held(named("ses_a")), r.held(named("ses_b"))
	r.said(b, "needle")
	for range 5 {
		r.said(a, "needle")
	}
	res := must(store.Search(ctx(), r.Store, text("needle")))(r)
	var sessions []string
	for _, h := range res.Hits {
		sessions = append(sessions, string(h.Session))
	}
	r.same("sessions", sessions, []string{"ses_a", "ses_a", "ses_a", "ses_b", "ses_b"})
	r.same("more", res.More, true)
	r.same("in one session", len(r.found(lathe.SearchQuery{Text: "needle", Session: "ses_a"})), 10)
}

func testSearchGrowing(r *env) {
	l := r.held()
	m := r.answer(r.user(l.Session))
	p := r.growing(m, "need")
	r.commit(l, wrote(m)...)
	r.commit(l, &lathe.PartChanged{Part: p})
	r.commit(l, &lathe.Checkpoint{Session: l.Session, Part: p.ID, Offset: 4, Text: "le"})
	r.same("growing", len(r.found(text("needle")))+len(r.found(text("need"))), 0)
	r.commit(l, &lathe.PartChanged{Part: ended(p, "needle")})
	r.same("complete", r.found(text("needle")), []lathe.PartID{p.ID})
}

func testSearchChanged(r *env) {
	l := r.held()
	u, _ := r.said(l, "before")
	p := u.Parts[0]
	p.Body = &lathe.Text{Text: "after"}
	r.commit(l, &lathe.PartChanged{Part: p})
	r.same("new", r.found(text("after")), []lathe.PartID{p.ID})
	for _, id := range r.found(text("before")) {
		if id == p.ID {
			r.Fatalf("the old text is still found")
		}
	}
}

func testSearchRemoved(r *env) {
	l := r.held()
	u, a := r.said(l, "needle")
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: u.ID, Part: u.Parts[0].ID})
	r.same("after the part", r.found(text("needle")), []lathe.PartID{a.Parts[0].ID})
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: a.ID})
	r.same("after the message", len(r.found(text("needle"))), 0)
	r.said(l, "needle")
	r.ok(r.Remove(ctx(), l.Session))
	r.same("after the session", len(r.found(text("needle"))), 0)
}

func testSearchBulk(r *env) {
	l := r.held()
	r.said(l, "needle")
	fork := r.fork(l.Session, "")
	res := must(store.Search(ctx(), r.Store, text("needle")))(r)
	if res.Indexed >= 1 {
		r.Fatalf("the fork counts as indexed")
	}
	r.index(r.Store)
	r.same("fork", len(r.found(lathe.SearchQuery{Text: "needle", Session: fork.ID})), 2)
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages))
	r.index(r.Store)
	res = must(store.Search(ctx(), r.Store, text("needle")))(r)
	r.same("indexed", res.Indexed, 1.0)
}

func testSearchMixed(r *env) {
	l := r.held()
	off := r.again(store.Options{})
	r.said(l, "one needle")
	other := r.record()
	r.ok(off.Create(ctx(), other))
	lease := must(off.Acquire(ctx(), other.ID))(r)
	u := r.user(other.ID)
	u.Parts = []lathe.Part{r.text(u, "two needle")}
	must(off.Commit(ctx(), lease, wrote(u)...))(r)
	r.same("not yet", len(r.found(text("two needle"))), 0)
	_, a := r.said(l, "three needle") // this transaction closes no gap
	r.same("its own", r.found(text("three"))[0], a.Parts[0].ID)
	r.same("still not", len(r.found(text("two needle"))), 0)
	r.index(r.Store)
	r.same("two", r.found(text("two needle")), []lathe.PartID{u.Parts[0].ID})
	r.same("one", len(r.found(text("one needle"))), 2)
	r.same("indexed", must(store.Search(ctx(), r.Store, text("needle")))(r).Indexed, 1.0)
}

func testSearchStale(r *env) {
	l := r.held()
	r.said(l, "needle")
	off := r.again(store.Options{})
	r.ok(off.Remove(ctx(), l.Session))
	r.same("removed", len(r.found(text("needle"))), 0)
	other := r.record()
	r.ok(off.Create(ctx(), other))
	lease := must(off.Acquire(ctx(), other.ID))(r)
	u := r.user(other.ID) // its parts may take the row numbers of the removed ones
	u.Parts = []lathe.Part{r.text(u, "thread"), r.text(u, "cloth")}
	must(off.Commit(ctx(), lease, wrote(u)...))(r)
	r.same("reused", len(r.found(text("needle"))), 0)
	r.index(r.Store)
	r.same("thread", r.found(text("thread")), []lathe.PartID{u.Parts[0].ID})
}

func testSearchOld(r *env) {
	off := r.again(store.Options{})
	rec := r.record()
	r.ok(off.Create(ctx(), rec))
	lease := must(off.Acquire(ctx(), rec.ID))(r)
	first, last := lathe.PartID(""), lathe.PartID("")
	for i := range 500 {
		u := r.user(rec.ID)
		u.Parts = []lathe.Part{r.text(u, fmt.Sprintf("needle number%d", i))}
		must(off.Commit(ctx(), lease, wrote(u)...))(r)
		if last = u.Parts[0].ID; i == 0 {
			first = last
		}
	}
	more, share, err := store.IndexBatch(ctx(), r.Store)
	r.ok(err)
	if !more || share <= 0 || share >= 1 {
		r.Fatalf("after one batch: more %v, share %v", more, share)
	}
	r.same("the newest", r.found(text("number499")), []lathe.PartID{last})
	r.same("the oldest", len(r.found(text("number0"))), 0)
	r.index(r.Store)
	r.same("the oldest later", r.found(text("number0")), []lathe.PartID{first})
}

func testSearchMoved(r *env) {
	l := r.held()
	r.said(l, "needle")
	must(r.Edit(ctx(), l.Session, lathe.Edit{Project: lathe.Some("elsewhere")}))(r)
	r.same("in the old project", len(r.found(lathe.SearchQuery{Text: "needle", Project: "prj"})), 0)
	r.index(r.Store)
	r.same("in the new one", len(r.found(lathe.SearchQuery{Text: "needle", Project: "elsewhere"})), 2)
}

func testSearchOff(r *env) {
	l := r.held()
	r.said(l, "needle")
	off := r.again(store.Options{})
	_, err := store.Search(ctx(), off, text("needle"))
	r.is(err, lathe.Unavailable)
	for range 2 {
		_, _, err = store.IndexBatch(ctx(), off)
		r.ok(err)
	}
	r.same("emptied", len(r.found(text("needle"))), 0)
	r.index(r.Store)
	r.same("on again", len(r.found(text("needle"))), 2)
}

func testSearchLarge(r *env) {
	l := r.held()
	words := strings.Repeat("hay ", 30_000) + "needle"
	r.said(l, words)
	res := must(store.Search(ctx(), r.Store, text("needle")))(r)
	r.same("hits", len(res.Hits), 2)
	r.same("snippet", res.Hits[0].Snippet[len(res.Hits[0].Snippet)-1], lathe.SearchText{Text: "needle", Match: true})
}

func testSearchFailed(r *env) {
	l := r.held()
	u := r.user(l.Session)
	p := r.text(u, "needle")
	_, err := r.Commit(ctx(), l, &lathe.MessageChanged{Info: u}, &lathe.PartChanged{Part: p}, &lathe.PartRemoved{Session: l.Session, Message: u.ID, Part: "prt_none"})
	r.is(err, lathe.NotFound)
	r.same("failed", len(r.found(text("needle"))), 0)
	r.said(l, "needle")
	r.same("indexed", must(store.Search(ctx(), r.Store, text("needle")))(r).Indexed, 1.0)
}

func testSearchHostile(r *env) {
	l := r.held()
	r.said(l, `it's "quoted" § -- ; DROP TABLE part; NEAR(a b) col:x ^y {z} über 検索`)
	for _, q := range []string{`"`, `'`, `*`, ``, "\x00", strings.Repeat("x", 2000)} {
		_, err := store.Search(ctx(), r.Store, text(q))
		r.is(err, lathe.Invalid)
	}
	for _, q := range []string{`'; DROP TABLE part; --`, `NEAR(a b)`, `col:x`, `^y`, `{z}`, `it's`, "ÜBER", "検索", `"a b" OR`, "\xff\xfea"} {
		_, err := store.Search(ctx(), r.Store, text(q))
		r.ok(err)
	}
	r.same("positive control", len(r.found(text("NEAR(a"))), 2)
	for _, n := range []int{-1, 201} {
		_, err := store.Search(ctx(), r.Store, lathe.SearchQuery{Text: "a", Limit: n})
		r.is(err, lathe.Invalid)
	}
}

// testSearchLimited searches for a phrase whose words are everywhere, but in a row only in the oldest part.
func testSearchLimited(r *env) {
	l := r.held()
	u, _ := r.said(l, "gnu zebra")
	hay := strings.Repeat("zebra gnu hay ", 30_000)
	for range 6 {
		r.said(l, hay)
	}
	q, calls := text(`"gnu zebra"`), 0
	var hits []lathe.PartID
	for more := true; more; calls++ {
		res := must(store.Search(ctx(), r.Store, q))(r)
		hits, q.Cursor, more = append(hits, partsOf(res)...), res.Next, res.Next != ""
		r.same("more", res.More, more)
		if calls > 20 {
			r.Fatalf("the search never ends")
		}
	}
	r.same("the last hit", hits[len(hits)-1], u.Parts[0].ID)
	if calls < 2 {
		r.Fatalf("5 MB were read in one search")
	}
	for _, c := range []string{"!", "-5", "0", strings.Repeat("z", 99)} {
		q.Cursor = c
		_, err := store.Search(ctx(), r.Store, q)
		r.is(err, lathe.Invalid)
	}
}

func testSearchLong(r *env) {
	old := r.held(named("ses_old"))
	r.said(old, "needle")
	long := r.held(named("ses_long"))
	for range 60 {
		r.said(long, "needle")
	}
	res := must(store.Search(ctx(), r.Store, text("needle")))(r)
	var sessions []string
	for _, h := range res.Hits {
		sessions = append(sessions, string(h.Session))
	}
	r.same("sessions", sessions, []string{"ses_long", "ses_long", "ses_long", "ses_old", "ses_old"})
	r.same("more", res.More, true)
}

func testSearchTwo(r *env) {
	off := r.again(store.Options{})
	rec := r.record()
	r.ok(off.Create(ctx(), rec))
	lease := must(off.Acquire(ctx(), rec.ID))(r)
	for i := range 450 {
		u := r.user(rec.ID)
		u.Parts = []lathe.Part{r.text(u, fmt.Sprintf("needle number%d", i))}
		must(off.Commit(ctx(), lease, wrote(u)...))(r)
	}
	both := []*store.Store{r.Store, r.again(store.Options{Search: true})}
	for i, more := 0, true; more; i++ {
		var err error
		more, _, err = store.IndexBatch(ctx(), both[i%2])
		r.ok(err)
	}
	for _, n := range []int{0, 200, 249, 449} {
		r.same("found", len(r.found(text(fmt.Sprintf("number%d", n)))), 1)
	}
}

func testSearchTool(r *env) {
	l := r.held()
	m := r.answer(r.user(l.Session))
	p := r.part(m, &lathe.ToolCall{CallID: "c", Tool: "mcp_git-hub", State: &lathe.Completed{
		Input: json.RawMessage(`{"path":"store/walk.go"}`), Output: "needle", Start: 1, End: 2,
	}})
	m.Parts = []lathe.Part{p}
	r.commit(l, wrote(m)...)
	res := must(store.Search(ctx(), r.Store, lathe.SearchQuery{Text: "needle", Tool: "mcp_git-hub"}))(r)
	r.same("part", partsOf(res), []lathe.PartID{p.ID})
	r.same("place", res.Hits[0].Place+" of "+res.Hits[0].Tool, "tool output of mcp_git-hub")
	r.same("input", must(store.Search(ctx(), r.Store, text("walk.go")))(r).Hits[0].Place, "tool input")
	r.same("another", len(r.found(lathe.SearchQuery{Text: "needle", Tool: "git"})), 0)
}
