package engine_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

func TestCreate_LeastRecord(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	path := strings.TrimPrefix(filepath.ToSlash(w.dir), "/")
	want := lathe.Session{
		ID: s.ID, Slug: s.Slug, Project: lathe.GlobalProject, Directory: w.dir, Path: &path,
		Title: "New session - 2026-01-15T00:00:00.000Z", Version: "1.2.3", Created: lathetest.Now, Updated: lathetest.Now,
		Cost: new(lathe.Money), Tokens: &lathe.Tokens{},
	}
	w.same("created", s, want)
	w.same("stored", w.get(s.ID), want)
	w.ok(lathe.CheckID(lathe.PrefixSession, string(s.ID)))
	if !lathe.IsDefaultTitle(s.Title) {
		t.Errorf("%q is not recognised as a default title", s.Title)
	}
}

func TestCreate_AllThatMayBeGiven(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	in := lathe.NewSession{
		ID: "ses_mine", Title: "Mine", Agent: "plan", Workspace: "wrk_1",
		Model:    &lathe.SessionModel{ID: "m-1", Provider: "acme", Variant: "default"},
		Rules:    lathe.Ruleset{lathetest.Rule()},
		Metadata: json.RawMessage(`{"tab":[1,{"é":null}]}`),
	}
	s := w.session(in)
	want := s
	want.ID, want.Title, want.Agent, want.Workspace = in.ID, in.Title, in.Agent, in.Workspace
	want.Model, want.Rules, want.Metadata = in.Model, in.Rules, in.Metadata
	w.same("created", s, want)
	w.same("stored", w.get("ses_mine"), want)
}

func TestCreate_Refuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	taken := w.session()
	before := w.counter()
	for name, c := range map[string]struct {
		dir  string
		in   lathe.NewSession
		code lathe.Code
	}{
		"another kind of id":   {w.dir, lathe.NewSession{ID: "msg_1"}, lathe.Invalid},
		"a path as id":         {w.dir, lathe.NewSession{ID: "ses_../../x"}, lathe.Invalid},
		"a long id":            {w.dir, lathe.NewSession{ID: lathe.SessionID("ses_" + strings.Repeat("x", 200))}, lathe.Invalid},
		"an id that is taken":  {w.dir, lathe.NewSession{ID: taken.ID}, lathe.Conflict},
		"an unknown parent":    {w.dir, lathe.NewSession{Parent: "ses_none"}, lathe.NotFound},
		"no directory":         {"", lathe.NewSession{}, lathe.Invalid},
		"a directory not here": {filepath.Join(w.dir, "none"), lathe.NewSession{}, lathe.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			_, err := w.Create(t.Context(), c.dir, c.in)
			w.is(err, c.code)
		})
	}
	if after := w.counter(); after != before {
		t.Errorf("what was refused took numbers: %d, then %d", before, after)
	}
}

// A child is bound by what its parent is denied and may go outside where its parent may;
// what else the parent allows is not its own.
func TestCreate_Child(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	rule := func(permission, pattern string, a lathe.Action) lathe.Rule {
		return lathe.Rule{Permission: permission, Pattern: pattern, Action: a}
	}
	parent := w.session(lathe.NewSession{Rules: lathe.Ruleset{
		rule("edit", "*", lathe.Allow), rule("bash", "git push*", lathe.Deny), rule("external_directory", "/srv/*", lathe.Allow),
		rule("webfetch", "*", lathe.Ask), rule("external_directory", "/etc/*", lathe.Ask), rule("bash", "git push*", lathe.Deny),
	}})
	own := lathe.Ruleset{rule("bash", "*", lathe.Allow)}
	child := w.session(lathe.NewSession{Parent: parent.ID, Rules: own})
	w.same("rules", child.Rules, lathe.Ruleset{
		rule("bash", "git push*", lathe.Deny), rule("external_directory", "/srv/*", lathe.Allow),
		rule("external_directory", "/etc/*", lathe.Ask), own[0],
	})
	if want := "Child session - 2026-01-15T00:00:00.000Z"; child.Parent != parent.ID || child.Title != want {
		t.Errorf("parent %q, title %q", child.Parent, child.Title)
	}
	w.same("the rules of the parent", w.get(parent.ID).Rules, parent.Rules)

	// A deny with exceptions is the parent's to judge by. Who stands alone is denied it whole.
	strict := w.session(lathe.NewSession{Rules: lathe.Ruleset{rule("edit", "*", lathe.Deny), rule("bash", "*", lathe.Deny), rule("bash", "go test *", lathe.Ask), rule("read", "a", lathe.Deny), rule("read", "b", lathe.Ask)}})
	bound := w.session(lathe.NewSession{Parent: strict.ID})
	w.same("rules", bound.Rules, lathe.Ruleset{rule("edit", "*", lathe.Deny), rule("read", "a", lathe.Deny)})
	below := w.session(lathe.NewSession{Parent: bound.ID})
	alone := must(w.Fork(t.Context(), w.dir, below.ID, ""))(w)
	w.same("rules of a copy", alone.Rules, lathe.Ruleset{rule("bash", "*", lathe.Deny), rule("edit", "*", lathe.Deny), rule("read", "a", lathe.Deny)})

	free := w.session()
	if kid := w.session(lathe.NewSession{Parent: free.ID}); kid.Rules != nil {
		t.Errorf("a child of a parent without rules has %v", kid.Rules)
	}
}

func TestCreateNext(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	inst := must(w.Instance(t.Context(), w.dir))(w)
	s := must(w.CreateNext(t.Context(), inst, lathe.NewSession{Title: "Next"}))(w)
	want := w.session(lathe.NewSession{Title: "Next"})
	want.ID, want.Slug = s.ID, s.Slug
	w.same("as Create makes it", s, want)
}

func TestGet_AnyProject(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	in := repo(t)
	s := must(w.Create(t.Context(), in, lathe.NewSession{}))(w)
	if s.Project != git(t, in, "rev-parse", "HEAD") || s.Directory != in || *s.Path != "" {
		t.Errorf("project %q, directory %q, path %q", s.Project, s.Directory, *s.Path)
	}
	w.session() // of another project
	w.same("found by id alone", w.get(s.ID), s)

	_, err := w.Get(t.Context(), "ses_none")
	if w.is(err, lathe.NotFound); err.Error() != "Session not found: ses_none" {
		t.Errorf("it says %q", err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	top := repo(t)
	sub := mkdir(t, filepath.Join(top, "sub", "deep"))
	mkdir(t, filepath.Join(top, "subway"))
	create := func(dir, title string, parent lathe.SessionID) lathe.SessionID {
		w.clock.forward(1000)
		return must(w.Create(t.Context(), dir, lathe.NewSession{Title: title, Parent: parent}))(w).ID
	}
	a := create(w.dir, "Alpha 100%", "")
	b := create(top, "beta", "")
	c := create(sub, "GAMMA ray", "")
	d := create(top, "child", b)
	e := create(filepath.Join(top, "subway"), "alphabet", "")
	w.clock.forward(1000)
	must(w.Touch(t.Context(), a))(w)
	at := w.clock.now()
	must(w.Archive(t.Context(), e, &at))(w)
	project := w.get(b).Project
	for name, x := range map[string]struct {
		q    lathe.Query
		want []lathe.SessionID
	}{
		"all, by last change":     {lathe.Query{}, []lathe.SessionID{a, d, c, b}},
		"with archived":           {lathe.Query{Archived: lathe.WithArchived}, []lathe.SessionID{a, e, d, c, b}},
		"only archived":           {lathe.Query{Archived: lathe.OnlyArchived}, []lathe.SessionID{e}},
		"of a project":            {lathe.Query{Project: project}, []lathe.SessionID{d, c, b}},
		"of a directory":          {lathe.Query{Directory: top}, []lathe.SessionID{d, b}},
		"below a path":            {lathe.Query{Project: project, Path: "sub", Archived: lathe.WithArchived}, []lathe.SessionID{c}},
		"roots":                   {lathe.Query{Roots: true}, []lathe.SessionID{a, c, b}},
		"of a parent":             {lathe.Query{Parent: b}, []lathe.SessionID{d}},
		"by title, any case":      {lathe.Query{Search: "AlPhA", Archived: lathe.WithArchived}, []lathe.SessionID{a, e}},
		"by title, no wildcards":  {lathe.Query{Search: "0%"}, []lathe.SessionID{a}},
		"by title, nothing":       {lathe.Query{Search: "_"}, nil},
		"changed since":           {lathe.Query{Since: w.get(c).Updated}, []lathe.SessionID{a, d, c}},
		"two":                     {lathe.Query{Limit: 2}, []lathe.SessionID{a, d}},
		"two more":                {lathe.Query{Limit: 2, Before: lathe.Position{Time: w.get(d).Updated, ID: string(d)}}, []lathe.SessionID{c, b}},
		"nothing at all":          {lathe.Query{Directory: "/none"}, nil},
		"archived below a parent": {lathe.Query{Parent: e}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			got := must(w.List(t.Context(), x.q))(w)
			w.same("found", ids(got, sessionID), x.want)
			for _, s := range got {
				w.same("record", s, w.get(s.ID))
			}
		})
	}
}

func TestChildren(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	top := w.session()
	one := w.session(lathe.NewSession{Parent: top.ID})
	w.clock.forward(1)
	two := w.session(lathe.NewSession{Parent: top.ID})
	w.session(lathe.NewSession{Parent: one.ID})
	at := lathe.Time(-5)
	must(w.Archive(t.Context(), two.ID, &at))(w)
	got := must(w.Children(t.Context(), top.ID))(w)
	w.same("children, archived ones too, newest first", ids(got, sessionID), []lathe.SessionID{two.ID, one.ID})
	if got := must(w.Children(t.Context(), two.ID))(w); got == nil || len(got) != 0 {
		t.Errorf("of a session without: %v", got)
	}
}

// Each edit changes its own columns and nothing else; only Touch moves the time of the
// last change. (131, 113)
func TestUpdate_ChangesOnlyWhatIsNamed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	full := lathetest.Session()
	archived := lathe.Time(-3)
	for name, c := range map[string]struct {
		do     func(id lathe.SessionID) (lathe.Session, error)
		change func(s *lathe.Session)
	}{
		"touch": {
			func(id lathe.SessionID) (lathe.Session, error) { return w.Touch(t.Context(), id) },
			func(s *lathe.Session) { s.Updated = w.clock.now() },
		},
		"rename": {
			func(id lathe.SessionID) (lathe.Session, error) { return w.Rename(t.Context(), id, "Ünew") },
			func(s *lathe.Session) { s.Title = "Ünew" },
		},
		"archive": {
			func(id lathe.SessionID) (lathe.Session, error) { return w.Archive(t.Context(), id, &archived) },
			func(s *lathe.Session) { s.Archived = &archived },
		},
		"bring back": {
			func(id lathe.SessionID) (lathe.Session, error) { return w.Archive(t.Context(), id, nil) },
			func(s *lathe.Session) { s.Archived = nil },
		},
		"share": {
			func(id lathe.SessionID) (lathe.Session, error) {
				return w.Share(t.Context(), id, "https://s.example/1")
			},
			func(s *lathe.Session) { s.Share = &lathe.Share{URL: "https://s.example/1"} },
		},
		"unshare": {
			func(id lathe.SessionID) (lathe.Session, error) { return w.Unshare(t.Context(), id) },
			func(s *lathe.Session) { s.Share = nil },
		},
		"update of all columns": {
			func(id lathe.SessionID) (lathe.Session, error) {
				return w.Update(t.Context(), id, lathe.Edit{
					Title: lathe.Some(full.Title), Metadata: lathe.Some(full.Metadata), Rules: lathe.Some(full.Rules),
					Summary: lathe.Some(full.Summary), Revert: lathe.Some(full.Revert), Agent: lathe.Some(full.Agent),
					Model: lathe.Some(full.Model), Compacting: lathe.Some(full.Compacting),
				})
			},
			func(s *lathe.Session) {
				s.Title, s.Metadata, s.Rules, s.Summary = full.Title, full.Metadata, full.Rules, full.Summary
				s.Revert, s.Agent, s.Model, s.Compacting = full.Revert, full.Agent, full.Model, full.Compacting
			},
		},
		"update with touch": {
			func(id lathe.SessionID) (lathe.Session, error) {
				return w.Update(t.Context(), id, lathe.Edit{Agent: lathe.Some(""), Touch: true})
			},
			func(s *lathe.Session) { s.Agent, s.Updated = "", w.clock.now() },
		},
		"update of nothing": {
			func(id lathe.SessionID) (lathe.Session, error) { return w.Update(t.Context(), id, lathe.Edit{}) },
			func(*lathe.Session) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			s := w.session(lathe.NewSession{Agent: "plan", Rules: lathe.Ruleset{lathetest.Rule()}})
			old := lathe.Time(7)
			must(w.Archive(t.Context(), s.ID, &old))(w)
			want := must(w.Share(t.Context(), s.ID, "https://old.example"))(w)
			w.clock.forward(1000)
			got, err := c.do(s.ID)
			w.ok(err)
			c.change(&want)
			w.same("returned", got, want)
			w.same("stored", w.get(s.ID), want)
		})
	}
}

func TestUpdate_Refuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	_, err := w.Rename(t.Context(), s.ID, "")
	w.is(err, lathe.Invalid)
	_, err = w.Share(t.Context(), s.ID, "")
	w.is(err, lathe.Invalid)
	_, err = w.Touch(t.Context(), "ses_none")
	w.is(err, lathe.NotFound)
	w.is(w.Remove(t.Context(), "ses_none"), lathe.NotFound)
	w.same("untouched", w.get(s.ID), s)
}

func TestRemove_WithAllBelow(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	top := w.session(lathe.NewSession{Title: "top"})
	kid := w.session(lathe.NewSession{Title: "kid", Parent: top.ID})
	grand := w.session(lathe.NewSession{Title: "grandchild", Parent: kid.ID})
	other := w.session(lathe.NewSession{Title: "other"})
	m := w.user(grand.ID, "hello")
	l := w.listen(lathe.Scope{})
	w.ok(w.Remove(t.Context(), top.ID))
	var gone []string
	for _, e := range l.received() {
		gone = append(gone, e.Fact.Type()+" "+e.Fact.(*lathe.SessionDeleted).Info.Title)
	}
	w.same("events", gone, []string{"session.deleted grandchild", "session.deleted kid", "session.deleted top"})
	for _, id := range []lathe.SessionID{top.ID, kid.ID, grand.ID} {
		_, err := w.Get(t.Context(), id)
		w.is(err, lathe.NotFound)
		_, err = w.Messages(t.Context(), id, lathe.Position{}, 0)
		w.is(err, lathe.NotFound)
	}
	_, err := w.Message(t.Context(), grand.ID, m.ID)
	w.is(err, lathe.NotFound)
	w.same("the rest", ids(must(w.List(t.Context(), lathe.Query{}))(w), sessionID), []lathe.SessionID{other.ID})
}
