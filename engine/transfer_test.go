package engine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/record"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/transfer"
)

// export writes a session.
func (w *fixture) export(id lathe.SessionID) string {
	w.Helper()
	var out bytes.Buffer
	w.ok(w.Export(w.Context(), id, &out, nil))
	return out.String()
}

// imports reads an export and takes it in.
func (w *fixture) imports(dir, text string) lathe.Session {
	w.Helper()
	x := must(transfer.Parse([]byte(text)))(w)
	return must(w.Import(w.Context(), dir, x))(w)
}

// samples is a session that holds one of everything.
func samples() lathe.Export {
	x := lathe.Export{Info: lathetest.Session(), Messages: lathetest.Messages()}
	x.Messages[1].Parts = lathetest.Parts(x.Info.ID, x.Messages[1].ID)
	x.Messages[0].Parts, x.Messages[2].Parts = nil, nil
	return x
}

// What was exported and taken in elsewhere is exported with the same bytes.
func TestExport_RoundTrip(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	there := fixtureIn(t, t.TempDir(), w.dir) // the same directory on another machine
	fresh := w.session()
	talk := w.session(lathe.NewSession{Title: "Talk", Metadata: json.RawMessage(`{"k":"\ud83d\ude00 \u00e9"}`)})
	w.answer(w.user(talk.ID, "Hello,\n\"wörld\" 😀 </script>\u2028"))
	all := must(w.Import(t.Context(), w.dir, samples()))(w)
	open := w.session()
	must(w.UpdatePart(t.Context(), w.growing(w.user(open.ID, "go"), "so far"), ""))(w)
	for name, id := range map[string]lathe.SessionID{"a new session": fresh.ID, "a talk": talk.ID, "all samples": all.ID, "an open part": open.ID} {
		t.Run(name, func(t *testing.T) {
			w, there := w.in(t), there.in(t)
			text := w.export(id)
			there.imports(w.dir, text)
			w.same("bytes", there.export(id), text)
			w.same("record", there.get(id), w.get(id))
			w.same("history", there.history(id), w.history(id))
			there.imports(w.dir, text) // once more changes nothing
			w.same("bytes after a second time", there.export(id), text)
		})
	}
}

// The samples come out of the store as they went in, but for what an import decides.
func TestImport_KeepsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	x := samples()
	got := must(w.Import(t.Context(), w.dir, x))(w)
	path := strings.TrimPrefix(filepath.ToSlash(w.dir), "/")
	want := x.Info
	want.Project, want.Directory, want.Path = lathe.GlobalProject, w.dir, &path
	cost, tokens := lathe.Dollars(0.000125), lathe.Tokens{}.Add(lathetest.Tokens())
	want.Cost, want.Tokens = &cost, &tokens // counted from its one step
	w.same("record", got, want)
	w.same("messages", w.history(got.ID), x.Messages)
}

// A stranger's export may limit its session, and gives it no permission.
func TestImport_GivesNoPermission(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	x := samples()
	deny, ask := lathe.Rule{Permission: "webfetch", Pattern: "*", Action: lathe.Deny}, lathe.Rule{Permission: "bash", Pattern: "*", Action: lathe.Ask}
	x.Info.Rules = lathe.Ruleset{
		{Permission: "*", Pattern: "*", Action: lathe.Allow},
		{Permission: "sandbox", Pattern: "*", Action: lathe.Allow},
		deny, ask,
		{Permission: "edit", Pattern: "*", Action: "odd"},
	}
	got := must(w.Import(t.Context(), w.dir, x))(w)
	w.same("rules", got.Rules, lathe.Ruleset{deny, ask})
}

// The form is JSON with two spaces an indent, as other programs write it.
func TestExport_Form(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	w.user(s.ID, "words")
	for name, id := range map[string]lathe.SessionID{"with messages": s.ID, "empty": w.session().ID} {
		text := w.export(id)
		if !strings.HasPrefix(text, "{\n  \"info\": {\n    \"id\": ") || !strings.HasSuffix(text, "]\n}\n") {
			t.Errorf("%s: %s", name, text)
		}
		var v struct {
			Info     json.RawMessage   `json:"info"`
			Messages []json.RawMessage `json:"messages"`
		}
		w.ok(json.Unmarshal([]byte(text), &v))
		want := must(json.MarshalIndent(v, "", "  "))(w)
		w.same(name, text, string(want)+"\n")
	}
	if text := w.export(w.session().ID); !strings.Contains(text, "\n  \"messages\": []\n}\n") {
		t.Errorf("an empty session: %s", text)
	}
}

func TestExport_ManyPages(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, n := range []int{record.PageSize - 1, record.PageSize, record.PageSize + 1, 2*record.PageSize + 7} {
		x := long(n)
		x.Info.ID = lathe.SessionID(fmt.Sprintf("ses_%d", n))
		for i := range x.Messages { // ids fall while times rise, and some times are equal
			m := &x.Messages[i]
			m.ID, m.Session = lathe.MessageID(fmt.Sprintf("msg_%d_%04d", n, n-i)), x.Info.ID
			if m.Created = lathe.Time(i); i%3 == 1 {
				m.Created, m.ID = lathe.Time(i-1), lathe.MessageID(fmt.Sprintf("msg_%d_%04dx", n, n-i+1))
			}
		}
		must(w.Import(t.Context(), w.dir, x))(w)
		got := must(transfer.Parse([]byte(w.export(x.Info.ID))))(w)
		w.same("order", ids(got.Messages, messageID), ids(x.Messages, messageID))
		w.same("messages", got.Messages, w.history(x.Info.ID))
	}
}

// long is a session of so many messages, oldest first.
func long(n int) lathe.Export {
	x := lathe.Export{Info: lathe.Session{ID: "ses_long", Slug: "a-b", Title: "Long", Version: "1", Created: 1, Updated: 1}}
	for i := range n {
		x.Messages = append(x.Messages, lathe.Message{
			ID: lathe.MessageID(fmt.Sprintf("msg_%06d", i)), Session: x.Info.ID, Created: lathe.Time(i - 3), // old data has negative times
			Data: &lathe.User{Agent: "build"}, Parts: []lathe.Part{},
		})
	}
	return x
}

// A session that is written to while it is exported is exported whole: what was there and
// stays comes, once.
func TestExport_WhileItIsWritten(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	const page = record.PageSize
	x := long(3*page + 50)
	id := x.Info.ID
	must(w.Import(t.Context(), w.dir, x))(w)
	r := w.runner(id)
	message := func(id lathe.MessageID) lathe.Message {
		return lathe.Message{ID: id, Session: x.Info.ID, Data: &lathe.User{Agent: "build"}}
	}
	admit := func(id lathe.MessageID) {
		must(w.Store().Admit(t.Context(), x.Info.ID, lathe.Submission{Message: message(id), Digest: "d"}))(w)
	}
	commit := func(f lathe.Fact) { must(r.Commit(t.Context(), f))(w) }
	admit("msg_early")
	for i := range 2 * page {
		commit(&lathe.MessageChanged{Info: message(lathe.MessageID(fmt.Sprintf("msg_mid_%03d", i)))})
	}
	admit("msg_late")

	var got []lathe.MessageID
	change := func(_ *lathe.Session, m *lathe.Message) {
		if m == nil {
			return
		}
		switch got = append(got, m.ID); {
		case len(got) == 20: // a page that has not come yet gets shorter, the last one longer
			for i := page + 5; i < page+15; i++ {
				commit(&lathe.MessageRemoved{Session: id, Message: lathe.MessageID(fmt.Sprintf("msg_%06d", i))})
			}
			for i := range page / 2 {
				commit(&lathe.MessageChanged{Info: message(lathe.MessageID(fmt.Sprintf("msg_new_%02d", i)))})
			}
			commit(&lathe.Promote{Session: id, Message: "msg_late"}) // moves to the end
		case m.ID == "msg_mid_000":
			commit(&lathe.Promote{Session: id, Message: "msg_early"}) // was exported, moves to the end
		}
	}
	var out bytes.Buffer
	w.ok(w.Export(t.Context(), id, &out, change))
	w.ok(r.Release(t.Context()))
	must(transfer.Parse(out.Bytes()))(w) // no id twice
	now := ids(w.history(id), messageID)
	early := func(id lathe.MessageID) bool { return id == "msg_early" } // the only one whose place was another then
	w.same("what is there now, in order", slices.DeleteFunc(slices.Clone(got), early), slices.DeleteFunc(now, early))
	if !slices.ContainsFunc(got, early) {
		t.Error("the prompt that moved is missing")
	}
}

func TestExport_Change(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session(lathe.NewSession{Title: "secret"})
	w.user(s.ID, "secret words")
	var out bytes.Buffer
	w.ok(w.Export(t.Context(), s.ID, &out, func(s *lathe.Session, m *lathe.Message) {
		if s != nil {
			s.Title = "hidden"
		} else {
			m.Parts[0] = m.Parts[0].WithText("hidden too")
		}
	}))
	if strings.Contains(out.String(), "secret") || strings.Count(out.String(), "hidden") != 2 {
		t.Errorf("%s", out.String())
	}
	w.same("the store is untouched", says(w.history(s.ID)), [][]string{{"secret words"}})
	w.same("and the record", w.get(s.ID), s)
}

func TestExport_Refuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var out bytes.Buffer
	if w.is(w.Export(t.Context(), "ses_none", &out, nil), lathe.NotFound); out.Len() > 0 {
		t.Errorf("wrote %q", out.String())
	}
	s := w.session()
	for range 30 {
		w.user(s.ID, strings.Repeat("words ", 1000))
	}
	full := errors.New("full")
	for _, room := range []int{0, 10, 70_000} {
		if err := w.Export(t.Context(), s.ID, &tight{room: room, err: full}, nil); !errors.Is(err, full) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

// tight is a writer with little space.
type tight struct {
	room int
	err  error
}

func (w *tight) Write(b []byte) (int, error) {
	if w.room -= len(b); w.room < 0 {
		return 0, w.err
	}
	return len(b), nil
}

// An import belongs where it is taken in, whatever it says itself.
func TestImport_Place(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	top := repo(t)
	sub := mkdir(t, filepath.Join(top, "sub"))
	x := samples()
	l := w.listen(lathe.Scope{})
	s := must(w.Import(t.Context(), sub, x))(w)
	if s.Project != git(t, top, "rev-parse", "HEAD") || s.Directory != sub || *s.Path != "sub" {
		t.Errorf("project %q, directory %q, path %q", s.Project, s.Directory, *s.Path)
	}
	f := newFold()
	events := l.received()
	f.apply(events...)
	f.compare(w, lathe.Scope{})
	want := []string{"project.updated", "session.created", "message.updated", "message.updated"}
	for range x.Messages[1].Parts {
		want = append(want, "message.part.updated")
	}
	w.same("events", kinds(events), append(want, "message.updated", "session.updated")) // the last has its sums

	moved := must(w.Import(t.Context(), w.dir, x))(w)
	if moved.Directory != w.dir || moved.Project != lathe.GlobalProject {
		t.Errorf("directory %q, project %q", moved.Directory, moved.Project)
	}
	events = l.received()
	f.apply(events...)
	f.compare(w, lathe.Scope{})
	w.same("events of the second time", kinds(events), []string{"project.updated", "session.updated"})
}

func TestImport_FillsInWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, c := range []struct {
		parent lathe.SessionID
		title  string
	}{{"", "New session - 2026-01-15T00:00:00.000Z"}, {"ses_parent", "Child session - 2026-01-15T00:00:00.000Z"}} {
		x := lathe.Export{Info: lathe.Session{ID: "ses_old" + c.parent, Parent: c.parent, Created: lathetest.Now, Updated: 5}}
		s := must(w.Import(t.Context(), w.dir, x))(w)
		if s.Title != c.title || s.Slug == "" || s.Created != lathetest.Now || s.Updated != 5 || s.Parent != c.parent {
			t.Errorf("%+v", s)
		}
	}
}

// All or nothing: an id that belongs to another session spoils the whole.
func TestImport_Refuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	m := w.user(s.ID, "mine")
	before := w.stored(lathe.Scope{})
	l := w.listen(lathe.Scope{})
	message := samples()
	message.Messages = append(message.Messages, lathe.Message{ID: m.ID, Session: message.Info.ID, Created: 5, Data: m.Data})
	part := samples()
	part.Messages[2].Parts = []lathe.Part{{ID: m.Parts[0].ID, Session: part.Info.ID, Message: part.Messages[2].ID, Body: &lathe.Text{}}}
	for name, x := range map[string]lathe.Export{"a message": message, "a part": part} {
		_, err := w.Import(t.Context(), w.dir, x)
		if w.is(err, lathe.Conflict); !strings.Contains(err.Error(), string(m.ID)) && !strings.Contains(err.Error(), string(m.Parts[0].ID)) {
			t.Errorf("%s: it says %q", name, err)
		}
	}
	_, err := w.Import(t.Context(), w.dir+"/none", samples())
	w.is(err, lathe.NotFound)
	w.same("stored", w.stored(lathe.Scope{}), before)
	w.same("told", kinds(l.received()), []string{})
}

// After an import with foreign ids the session is used like any other. (spec 18.16)
func TestImport_ThenContinue(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	x := long(3)
	x.Messages[2].ID, x.Messages[2].Created = "msg_zzz", lathetest.Now+1e6 // newest by far, in time and by id
	s := must(w.Import(t.Context(), w.dir, x))(w)
	m := w.user(s.ID, "and now")
	got := w.history(s.ID)
	w.same("the new one is the last", got[3].ID, m.ID)
	fork := must(w.Fork(t.Context(), w.dir, s.ID, m.ID))(w)
	if n := len(w.history(fork.ID)); n != 3 {
		t.Errorf("%d messages were copied", n)
	}
}

// Any history survives the way out and in. (property)
func TestExport_RoundTripOfAnything(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	there := fixtureIn(t, t.TempDir(), w.dir)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		w, there := *w, *there
		w.tb, there.tb = t, t
		x := lathe.Export{Info: lathetest.Session()}
		n++
		x.Info.ID = lathe.SessionID(fmt.Sprintf("ses_%d", n))
		for i := range rapid.IntRange(0, 4).Draw(t, "messages") {
			m := lathetest.Message(t, x.Info.ID, n*100+i)
			x.Messages = append(x.Messages, m)
		}
		must(w.Import(t.Context(), w.dir, x))(&w)
		text := w.export(x.Info.ID)
		there.imports(w.dir, text)
		if again := there.export(x.Info.ID); again != text {
			t.Fatalf("not the same bytes:\n%s\n%s", text, again)
		}
	})
}
