package storetest

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
)

func sessionTests() map[string]func(*env) {
	return map[string]func(*env){
		"CreateKeepsEveryMember":      testCreate,
		"CreateTwiceIsConflict":       testCreateTwice,
		"CreateIsTold":                testCreatePublished,
		"UnknownIsNotFound":           testSessionUnknown,
		"EditChangesOnlyWhatIsSet":    testEditColumns,
		"EditCanTakeAway":             testEditClears,
		"EditAddsRulesOfMany":         testEditAddsRules,
		"EditTouches":                 testEditTouch,
		"EditIsTold":                  testEditPublished,
		"NoFieldLostAmongManyEditors": func(r *env) { testEditors(r, r.Store, r.Store) },
		"NoFieldLostAmongProcesses":   func(r *env) { testEditors(r, r.Store, r.again(store.Options{})) },
	}
}

func testCreate(r *env) {
	full, bare := lathetest.Session(), lathe.Session{ID: "ses_bare"}
	for _, want := range []lathe.Session{full, bare} {
		r.ok(r.Create(ctx(), want))
		r.same("session", must(r.Session(ctx(), want.ID))(r), want)
	}
}

func testCreateTwice(r *env) {
	id := r.session()
	rec := r.record()
	rec.ID, rec.Title = id, "Another"
	before := r.counter()
	r.is(r.Create(ctx(), rec), lathe.Conflict)
	r.same("title", must(r.Session(ctx(), id))(r).Title, "A title")
	r.same("counter", r.counter(), before)
}

func testCreatePublished(r *env) {
	rec := r.record()
	r.ok(r.Create(ctx(), rec))
	want := []lathe.Event{{
		Seq: 1, Last: true, Session: rec.ID, Directory: rec.Directory, Project: rec.Project,
		Fact: &lathe.SessionCreated{Info: rec},
	}}
	r.same("events", r.published.events(), want)
}

func testSessionUnknown(r *env) {
	const id = "ses_unknown"
	_, err := r.Session(ctx(), id)
	r.is(err, lathe.NotFound)
	_, err = r.Edit(ctx(), id, lathe.Edit{Touch: true})
	r.is(err, lathe.NotFound)
	_, err = r.Acquire(ctx(), id)
	r.is(err, lathe.NotFound)
	_, err = r.Admit(ctx(), id, lathe.Cancel{})
	r.is(err, lathe.NotFound)
	r.is(r.Remove(ctx(), id), lathe.NotFound)
	r.is(r.Fork(ctx(), id, "", r.record()), lathe.NotFound)
	r.same("counter", r.counter(), int64(0))
}

// columns is one edit for each column, and where the record shows it.
func columns(n int) []struct {
	edit  lathe.Edit
	apply func(*lathe.Session)
} {
	title, path, directory, project := fmt.Sprintf("Title %d", n), fmt.Sprintf("cmd/%d", n), fmt.Sprintf("/home/%d", n), fmt.Sprintf("prj%d", n)
	archived := lathe.Time(-n)
	summary := &lathe.SessionSummary{Additions: n, Deletions: 2, Files: 1, Diffs: []lathe.FileDiff{lathetest.Diff()}, Extra: `"x-summary":1`}
	share := &lathe.Share{URL: fmt.Sprintf("https://share.example/%d", n)}
	revert := &lathe.Revert{Message: lathe.MessageID(fmt.Sprintf("msg_%d", n)), Snapshot: "4b825dc"}
	model := &lathe.SessionModel{ID: fmt.Sprintf("m-%d", n), Provider: "acme", Variant: "default"}
	rules := lathe.Ruleset{{Permission: "bash", Pattern: fmt.Sprintf("make %d", n), Action: lathe.Allow}}
	metadata := json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))
	return []struct {
		edit  lathe.Edit
		apply func(*lathe.Session)
	}{
		{lathe.Edit{Title: lathe.Some(title)}, func(s *lathe.Session) { s.Title = title }},
		{lathe.Edit{Archived: lathe.Some(&archived)}, func(s *lathe.Session) { s.Archived = &archived }},
		{lathe.Edit{Compacting: lathe.Some(lathe.Time(n))}, func(s *lathe.Session) { s.Compacting = lathe.Time(n) }},
		{lathe.Edit{Metadata: lathe.Some(metadata)}, func(s *lathe.Session) { s.Metadata = metadata }},
		{lathe.Edit{Rules: lathe.Some(rules)}, func(s *lathe.Session) { s.Rules = rules }},
		{lathe.Edit{Share: lathe.Some(share)}, func(s *lathe.Session) { s.Share = share }},
		{lathe.Edit{Summary: lathe.Some(summary)}, func(s *lathe.Session) { s.Summary = summary }},
		{lathe.Edit{Revert: lathe.Some(revert)}, func(s *lathe.Session) { s.Revert = revert }},
		{lathe.Edit{Agent: lathe.Some(title)}, func(s *lathe.Session) { s.Agent = title }},
		{lathe.Edit{Model: lathe.Some(model)}, func(s *lathe.Session) { s.Model = model }},
		{lathe.Edit{Project: lathe.Some(project)}, func(s *lathe.Session) { s.Project = project }},
		{lathe.Edit{Directory: lathe.Some(directory)}, func(s *lathe.Session) { s.Directory = directory }},
		{lathe.Edit{Path: lathe.Some(&path)}, func(s *lathe.Session) { s.Path = &path }},
	}
}

func testEditColumns(r *env) {
	want := lathetest.Session()
	r.ok(r.Create(ctx(), want))
	for _, c := range columns(7) {
		c.apply(&want)
		r.same("returned by Edit", must(r.Edit(ctx(), want.ID, c.edit))(r), want)
		r.same("stored", must(r.Session(ctx(), want.ID))(r), want)
	}
}

// testEditAddsRules adds rules from many sides at once; none is lost.
func testEditAddsRules(r *env) {
	id := r.session()
	const many = 20
	var group sync.WaitGroup
	errs := make([]error, many)
	for n := range many {
		group.Go(func() {
			_, errs[n] = r.Edit(ctx(), id, lathe.Edit{AddRules: lathe.Ruleset{{Permission: "bash", Pattern: fmt.Sprintf("make %d", n), Action: lathe.Allow}}})
		})
	}
	group.Wait()
	for _, err := range errs {
		r.ok(err)
	}
	found := map[string]bool{}
	for _, rule := range must(r.Session(ctx(), id))(r).Rules {
		found[rule.Pattern] = true
	}
	for n := range many {
		r.same(fmt.Sprintf("rule %d is there", n), found[fmt.Sprintf("make %d", n)], true)
	}
}

func testEditClears(r *env) {
	want := lathetest.Session()
	r.ok(r.Create(ctx(), want))
	e := lathe.Edit{
		Archived: lathe.Some[*lathe.Time](nil), Metadata: lathe.Some[json.RawMessage](nil), Rules: lathe.Some[lathe.Ruleset](nil),
		Share: lathe.Some[*lathe.Share](nil), Summary: lathe.Some[*lathe.SessionSummary](nil), Revert: lathe.Some[*lathe.Revert](nil),
		Model: lathe.Some[*lathe.SessionModel](nil), Path: lathe.Some[*string](nil), Agent: lathe.Some(""),
	}
	want.Archived, want.Metadata, want.Rules, want.Share, want.Summary = nil, nil, nil, nil, nil
	want.Revert, want.Model, want.Path, want.Agent = nil, nil, nil, ""
	r.same("session", must(r.Edit(ctx(), want.ID, e))(r), want)
}

func testEditTouch(r *env) {
	id := r.session()
	before := must(r.Session(ctx(), id))(r)
	after := must(r.Edit(ctx(), id, lathe.Edit{Title: lathe.Some("New")}))(r)
	r.same("time without touch", after.Updated, before.Updated)
	after = must(r.Edit(ctx(), id, lathe.Edit{Touch: true}))(r)
	if after.Updated <= before.Updated {
		r.Fatalf("a touch left the time at %v", after.Updated)
	}
}

func testEditPublished(r *env) {
	id := r.session()
	r.published.take()
	rec := must(r.Edit(ctx(), id, lathe.Edit{Directory: lathe.Some("/elsewhere")}))(r)
	want := []lathe.Event{{
		Seq: 2, Last: true, Session: id, Directory: "/elsewhere", Project: "prj", Fact: &lathe.SessionChanged{Info: rec},
	}}
	r.same("events", r.published.events(), want)
}

// testEditors lets many change different columns of one session at the same time, half of
// them through another store, while a runner counts what it uses.
func testEditors(r *env, one, two *store.Store) {
	l := r.held()
	m := r.user(l.Session)
	r.commit(l, wrote(m)...)
	const rounds = 4
	editors := columns(0)[:10] // not those that move the session
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range editors {
		for j, s := range []*store.Store{one, two} {
			all.Go(func() {
				<-start
				for n := range rounds {
					e := columns(100*j + n + 1)[i].edit
					e.Touch = i%3 == 0
					if _, err := s.Edit(ctx(), l.Session, e); err != nil {
						r.Errorf("edit %d: %v", i, err)
					}
				}
				// Both end with the same value, so that the last one to write does not matter.
				if _, err := s.Edit(ctx(), l.Session, columns(99)[i].edit); err != nil {
					r.Errorf("edit %d: %v", i, err)
				}
			})
		}
	}
	var parts []lathe.Fact
	for range 30 {
		parts = append(parts, changed(r.finish(m, 0.25, 1)))
	}
	for _, p := range parts {
		all.Go(func() {
			<-start
			if _, err := one.Commit(ctx(), l, p); err != nil {
				r.Errorf("commit: %v", err)
			}
		})
	}
	close(start)
	all.Wait()
	got := must(r.Session(ctx(), l.Session))(r)
	cost, tokens, want := lathe.Dollars(7.5), used(30), got
	want.Cost, want.Tokens = &cost, &tokens
	for _, c := range columns(99)[:10] {
		c.apply(&want)
	}
	r.same("session", got, want)
}
