package storetest

import (
	"strings"

	"github.com/lathe-agent/lathe"
)

// Models, repositories and file systems do not always send text. A database must keep their bytes as they are, whatever
// its own texts may hold.

func bytesTests() map[string]func(*env) {
	return map[string]func(*env){
		"RecordsKeepAnyBytes": testBytesRecord,
		"RowsKeepAnyBytes":    testBytesRows,
		"AnyBytesAreFound":    testBytesFound,
		"GrowingTextKeeps":    testBytesGrowing,
	}
}

// oddTexts have no place in a text of a strict database.
func oddTexts() []string {
	return []string{"a\x00b", "\x00", "bad \xff\xfe end", "cut \xe2\x82", "last \U0010FFFF\U0010FFFF00", "sur\xed\xa0\x80rogate", "mixed \x00\xff\U0010FFFF", "\U0010FFFE"}
}

func testBytesRecord(r *env) {
	for _, odd := range oddTexts() {
		id := r.session(func(s *lathe.Session) {
			s.Title, s.Directory, s.Project, s.Slug, s.Path = odd, "/"+odd, "p"+odd, odd, &odd
		})
		got := must(r.Session(ctx(), id))(r)
		r.same("record", []string{got.Title, got.Directory, got.Project, got.Slug, *got.Path}, []string{odd, "/" + odd, "p" + odd, odd, odd})
		must(r.Edit(ctx(), id, lathe.Edit{Title: lathe.Some("new " + odd), Touch: true}))(r)
		r.same("title", must(r.Session(ctx(), id))(r).Title, "new "+odd)
		r.same("of its directory", r.list(lathe.Query{Directory: "/" + odd}), []lathe.SessionID{id})
		r.same("under its path", r.list(lathe.Query{Path: odd}), []lathe.SessionID{id})
	}
}

func testBytesRows(r *env) {
	for _, odd := range oddTexts() {
		l := r.held()
		r.ok(r.SaveCached(ctx(), "key "+odd, odd))
		r.same("cached", must(r.Cached(ctx(), "key "+odd))(r), odd)
		user, answer := r.said(l, odd)
		page := r.history(l.Session)
		r.same("messages", messageIDs(page), []lathe.MessageID{user.ID, answer.ID})
		r.same("user", page[0], onWire(r, page[0]))
		todos := []lathe.Todo{{Content: "todo", Status: "pending", Priority: "high"}}
		r.commit(l, &lathe.TodosChanged{Session: l.Session, Todos: todos})
		r.same("todos", must(r.Todos(ctx(), l.Session))(r), todos)
	}
}

func testBytesFound(r *env) {
	for _, odd := range oddTexts() {
		id := r.session(func(s *lathe.Session) { s.Title = "before " + odd + " after" })
		found := r.list(lathe.Query{Search: strings.ToUpper(odd + " after")})
		if len(found) == 0 {
			r.Fatalf("%q: %s is not found", odd, id)
		}
	}
}

func testBytesGrowing(r *env) {
	l := r.held()
	m := r.user(l.Session)
	p := r.growing(m, "")
	r.commit(l, &lathe.MessageChanged{Info: m}, &lathe.PartChanged{Part: p})
	whole := ""
	for _, odd := range oddTexts() {
		r.commit(l, &lathe.Checkpoint{Session: l.Session, Part: p.ID, Offset: len(whole), Text: odd})
		whole += odd
	}
	r.same("text", r.history(l.Session)[0].Parts[0].GrowingText(), whole)
}
