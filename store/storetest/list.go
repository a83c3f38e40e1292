package storetest

import (
	"github.com/lathe-agent/lathe"
)

func listTests() map[string]func(*env) {
	return map[string]func(*env){
		"NewestFirstThenByID":   testListOrder,
		"Filters":               testListFilters,
		"PathIsAPrefixOfNames":  testListPath,
		"SearchKnowsNoCase":     testListSearch,
		"PagesHoldEachOnce":     testListPages,
		"PageUnderEveryFilter":  testListPageFilter,
		"NothingIsAnEmptyList":  testListEmpty,
		"RecordsAreWhole":       testListWhole,
		"ArchivedHideWithOnly":  testListArchived,
		"SinceIncludesItsLimit": testListSince,
	}
}

func at(updated lathe.Time) func(*lathe.Session) {
	return func(s *lathe.Session) { s.Updated = updated }
}

func titled(title string) func(*lathe.Session) {
	return func(s *lathe.Session) { s.Title = title }
}

func named(id lathe.SessionID) func(*lathe.Session) {
	return func(s *lathe.Session) { s.ID = id }
}

func (r *env) list(q lathe.Query) []lathe.SessionID {
	r.Helper()
	return sessionIDs(must(r.Sessions(ctx(), q))(r))
}

func testListOrder(r *env) {
	for id, updated := range map[lathe.SessionID]lathe.Time{"ses_a": 10, "ses_b": 30, "ses_B": 20.5, "ses_c": 20.5, "ses_d": 20.25} {
		r.session(named(id), at(updated))
	}
	r.same("order", r.list(lathe.Query{}), []lathe.SessionID{"ses_b", "ses_c", "ses_B", "ses_d", "ses_a"})
}

func testListFilters(r *env) {
	top := r.session(named("ses_1"), at(1))
	r.session(named("ses_2"), at(2), func(s *lathe.Session) { s.Parent = top })
	r.session(named("ses_3"), at(3), func(s *lathe.Session) { s.Project = "other" })
	r.session(named("ses_4"), at(4), func(s *lathe.Session) { s.Directory = home + "/cmd" })
	r.session(named("ses_5"), at(5), func(s *lathe.Session) { s.Directory, s.Project = home+"/cmd", "other" })
	for _, c := range []struct {
		q    lathe.Query
		want []lathe.SessionID
	}{
		{lathe.Query{}, []lathe.SessionID{"ses_5", "ses_4", "ses_3", "ses_2", "ses_1"}},
		{lathe.Query{Project: "prj"}, []lathe.SessionID{"ses_4", "ses_2", "ses_1"}},
		{lathe.Query{Directory: home}, []lathe.SessionID{"ses_3", "ses_2", "ses_1"}},
		{lathe.Query{Directory: home + "/cmd", Project: "other"}, []lathe.SessionID{"ses_5"}},
		{lathe.Query{Parent: top}, []lathe.SessionID{"ses_2"}},
		{lathe.Query{Roots: true}, []lathe.SessionID{"ses_5", "ses_4", "ses_3", "ses_1"}},
		{lathe.Query{Roots: true, Parent: top}, nil},
		{lathe.Query{Limit: 2}, []lathe.SessionID{"ses_5", "ses_4"}},
		{lathe.Query{Limit: 9}, []lathe.SessionID{"ses_5", "ses_4", "ses_3", "ses_2", "ses_1"}},
		{lathe.Query{Project: "prj", Limit: 1}, []lathe.SessionID{"ses_4"}},
	} {
		if got := r.list(c.q); !equal(got, c.want) {
			r.Errorf("%+v: got %v, want %v", c.q, got, c.want)
		}
	}
}

func equal[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func testListPath(r *env) {
	paths := map[lathe.SessionID]string{
		"ses_top": "", "ses_cmd": "cmd", "ses_app": "cmd/app", "ses_deep": "cmd/app/x", "ses_like": "cmd-line", "ses_CMD": "CMD/app",
		"ses_pct": "a%b/c", "ses_under": "a_b/c", "ses_axb": "axb/c",
	}
	n := lathe.Time(0)
	for _, id := range []lathe.SessionID{"ses_top", "ses_cmd", "ses_app", "ses_deep", "ses_like", "ses_CMD", "ses_pct", "ses_under", "ses_axb"} {
		n++
		path := paths[id]
		r.session(named(id), at(n), func(s *lathe.Session) { s.Path = &path })
	}
	r.session(named("ses_none"), at(99))
	for path, want := range map[string][]lathe.SessionID{
		"cmd":     {"ses_deep", "ses_app", "ses_cmd"},
		"cmd/app": {"ses_deep", "ses_app"},
		"cm":      {},
		"a%b":     {"ses_pct"},
		"a_b":     {"ses_under"},
		"a_b/c":   {"ses_under"},
	} {
		if got := r.list(lathe.Query{Path: path}); !equal(got, want) {
			r.Errorf("path %q: got %v, want %v", path, got, want)
		}
	}
}

func testListSearch(r *env) {
	n := lathe.Time(0)
	for id, title := range map[lathe.SessionID]string{
		"ses_umlaut": "Ärger im Büro", "ses_greek": "ΟΔΟΣ", "ses_pct": "100% sure", "ses_under": "snake_case", "ses_back": `C:\dir`,
		"ses_cyr": "Привет", "ses_quote": `it's "here"`, "ses_empty": "",
	} {
		n++
		r.session(named(id), at(n), titled(title))
	}
	for search, want := range map[string][]lathe.SessionID{
		"ärger": {"ses_umlaut"}, "BÜRO": {"ses_umlaut"}, "οδος": {"ses_greek"}, "οδοσ": {"ses_greek"}, "%": {"ses_pct"}, "0% S": {"ses_pct"},
		"_": {"ses_under"}, "E_c": {"ses_under"}, `\`: {"ses_back"}, "c:": {"ses_back"}, "приВЕТ": {"ses_cyr"}, `'S "H`: {"ses_quote"},
		"snakeXcase": {}, "nowhere": {},
	} {
		if got := r.list(lathe.Query{Search: search}); !equal(got, want) {
			r.Errorf("search %q: got %v, want %v", search, got, want)
		}
	}
	must(r.Edit(ctx(), "ses_empty", lathe.Edit{Title: lathe.Some("ÉTÉ")}))(r)
	r.same("after a new title", r.list(lathe.Query{Search: "été"}), []lathe.SessionID{"ses_empty"})
}

func testListPages(r *env) {
	var want []lathe.SessionID
	for n := range 25 {
		id := lathe.SessionID(numbered("ses_", n))
		want = append([]lathe.SessionID{id}, want...)
		r.session(named(id), at(lathe.Time(n/4))) // several at one time
	}
	for limit := 1; limit <= 26; limit += 5 {
		got, q := []lathe.SessionID{}, lathe.Query{Limit: limit}
		for {
			page := must(r.Sessions(ctx(), q))(r)
			if len(page) == 0 {
				break
			}
			got = append(got, sessionIDs(page)...)
			last := page[len(page)-1]
			q.Before = lathe.Position{Time: last.Updated, ID: string(last.ID)}
		}
		r.same("all pages together", got, want)
	}
}

func testListPageFilter(r *env) {
	for n := range 12 {
		r.session(named(lathe.SessionID(numbered("ses_", n))), at(lathe.Time(n)), func(s *lathe.Session) {
			if n%2 == 0 {
				s.Title = "Even"
			}
		})
	}
	q := lathe.Query{Search: "even", Limit: 2, Before: lathe.Position{Time: 8, ID: "ses_0008"}}
	r.same("page", r.list(q), []lathe.SessionID{"ses_0006", "ses_0004"})
}

func testListEmpty(r *env) {
	if got := must(r.Sessions(ctx(), lathe.Query{}))(r); got == nil || len(got) != 0 {
		r.Fatalf("got %#v, want an empty list", got)
	}
}

func testListWhole(r *env) {
	id := r.session()
	r.same("record", must(r.Sessions(ctx(), lathe.Query{}))(r), []lathe.Session{must(r.Session(ctx(), id))(r)})
}

func testListArchived(r *env) {
	past, before := lathe.Time(5), lathe.Time(-1)
	r.session(named("ses_1"), at(1))
	r.session(named("ses_2"), at(2), func(s *lathe.Session) { s.Archived = &past })
	r.session(named("ses_3"), at(3), func(s *lathe.Session) { s.Archived = &before })
	r.same("hidden", r.list(lathe.Query{}), []lathe.SessionID{"ses_1"})
	r.same("with", r.list(lathe.Query{Archived: lathe.WithArchived}), []lathe.SessionID{"ses_3", "ses_2", "ses_1"})
	r.same("only", r.list(lathe.Query{Archived: lathe.OnlyArchived}), []lathe.SessionID{"ses_3", "ses_2"})
	must(r.Edit(ctx(), "ses_3", lathe.Edit{Archived: lathe.Some[*lathe.Time](nil)}))(r)
	r.same("brought back", r.list(lathe.Query{}), []lathe.SessionID{"ses_3", "ses_1"})
}

func testListSince(r *env) {
	r.session(named("ses_1"), at(10))
	r.session(named("ses_2"), at(10.5))
	r.session(named("ses_3"), at(11))
	r.same("since", r.list(lathe.Query{Since: 10.5}), []lathe.SessionID{"ses_3", "ses_2"})
	r.same("since", r.list(lathe.Query{Since: 12}), []lathe.SessionID{})
}
