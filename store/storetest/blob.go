package storetest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
)

func blobTests() map[string]func(*env) {
	return map[string]func(*env){
		"LongStringsBecomeFiles":           testBlobKinds,
		"ShortOnesDoNot":                   testBlobShort,
		"ManySmallOnesDoNot":               testBlobSmall,
		"TheSameContentIsOneFile":          testBlobSame,
		"AForkShares":                      testBlobFork,
		"RemovalOfAPartDeletesTheFile":     testBlobPart,
		"RemovalOfAMessageDeletesTheFile":  testBlobMessage,
		"RemovalOfASessionDeletesTheFile":  testBlobSession,
		"AnEditReplacesTheFile":            testBlobEdit,
		"AFileOthersNeedStays":             testBlobShared,
		"AMissingFileIsAClearError":        testBlobMissing,
		"ADamagedFileIsAClearError":        testBlobDamaged,
		"ALostFileIsWrittenAgain":          testBlobAgain,
		"OtherRowsStayReadable":            testBlobOthers,
		"PromptsAndImports":                testBlobAdmit,
		"TheFeedTellsThemWhole":            testBlobFeed,
		"TheFeedOfOthersGoesOn":            testBlobFeedContinues,
		"AnyBytesSurvive":                  testBlobBytes,
		"AFailedCommitNamesNoFile":         testBlobFailed,
		"StrayFilesAreRemovedWhenOld":      testBlobStrays,
		"AFileThatNobodyNeededComesBack":   testBlobBack,
		"FilesOfAnotherProcess":            testBlobElsewhere,
		"AReplacedOutputLeavesOneFileOnly": testBlobReplaced,
	}
}

// big is a string of 80 KB.
func big(c rune) string { return strings.Repeat(string(c), 80<<10) }

// freed waits until the store has deleted unused files, and lists the rest.
func (r *env) freed(want int) []string {
	r.Helper()
	for range 1000 {
		if len(r.files()) == want && must(r.Stats(ctx()))(r).Blobs == int64(want) {
			break
		}
		r.ok(r.Poll(ctx())) // gives the writer a turn
	}
	files := r.files()
	r.same("files", len(files), want)
	r.same("large values", must(r.Stats(ctx()))(r).Blobs, int64(want))
	return files
}

func testBlobKinds(r *env) {
	l := r.held()
	m, a := r.said(l, "Hello")
	call := &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.Completed{
		Input: []byte(`{}`), Metadata: []byte(`{}`), Output: big('o'), Start: 1, End: 2,
		Attachments: []lathe.Part{{ID: "prt_at", Session: l.Session, Message: a.ID, Body: &lathe.File{Mime: "image/png", URL: "data:image/png;base64," + big('A')}}},
	}}
	for i, body := range []lathe.Body{
		&lathe.Text{Text: big('t')}, &lathe.Reasoning{Text: big('r'), Time: lathe.Span{Start: 1, End: 2}}, call,
		&lathe.File{Mime: "image/png", URL: "data:image/png;base64," + big('B')},
		&lathe.UnknownBody{TypeName: "x-later", Extra: lathe.Extra(`"deep":{"a":["` + big('d') + `"]}`)},
	} {
		p := r.part(m, body)
		p.Message = a.ID
		before := len(r.files())
		r.commit(l, changed(p))
		want := 1
		if i == 2 {
			want = 2 // output and attachment
		}
		r.same("new files", len(r.files())-before, want)
		r.same("part", must(r.Part(ctx(), l.Session, a.ID, p.ID))(r), p)
	}
	u := r.user(l.Session)
	u.Data = &lathe.User{Agent: "build", System: big('s')}
	before := len(r.files())
	r.commit(l, wrote(u)...)
	r.same("files of a message", len(r.files())-before, 1)
	r.same("message", must(r.Message(ctx(), l.Session, u.ID))(r), u)
	st := must(r.Stats(ctx()))(r)
	r.same("large values", []int64{st.Blobs, boolean(st.BlobBytes > 7*80<<10)}, []int64{7, 1})
}

func boolean(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func testBlobShort(r *env) {
	l := r.held()
	m, _ := r.said(l, strings.Repeat("x", 60<<10))
	r.same("files", r.files(), []string{})
	r.same("message", must(r.Message(ctx(), l.Session, m.ID))(r), m)
}

func testBlobSmall(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	files := make([]string, 3000)
	for i := range files {
		files[i] = "/home/u/app/" + numbered("a/file/with/a/long/name/", i)
	}
	p := r.part(m, &lathe.Patch{Hash: "4b825dc", Files: files})
	r.commit(l, changed(p))
	r.same("files", r.files(), []string{})
	r.same("part", must(r.Part(ctx(), l.Session, m.ID, p.ID))(r), p)
}

func testBlobSame(r *env) {
	l := r.held()
	m, _ := r.said(l, big('x'))
	r.same("files", len(r.files()), 2) // the answer repeats the words
	r.commit(l, changed(r.text(m, big('x'))), changed(r.text(m, big('x'))))
	r.same("files", len(r.files()), 2)
	r.same("large values", must(r.Stats(ctx()))(r).Blobs, int64(2))
}

func testBlobFork(r *env) {
	l := r.held()
	r.said(l, big('x'))
	before := r.files()
	rec := r.fork(l.Session, "")
	r.same("files", r.files(), before)
	r.same("content", plain(r.history(rec.ID)), plain(r.history(l.Session)))
	r.ok(r.Remove(ctx(), l.Session))
	r.freed(2)
	r.same("texts", len(texts(r.history(rec.ID))[0][0]), 80<<10)
	r.ok(r.Remove(ctx(), rec.ID))
	r.freed(0)
}

func testBlobPart(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	p := r.text(m, big('x'))
	r.commit(l, changed(p))
	r.freed(1)
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: p.ID})
	r.freed(0)
}

func testBlobMessage(r *env) {
	l := r.held()
	m, a := r.said(l, big('x'))
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: m.ID}, &lathe.MessageRemoved{Session: l.Session, Message: a.ID})
	r.freed(0)
}

func testBlobSession(r *env) {
	l := r.held()
	r.said(l, big('x'))
	r.ok(r.Remove(ctx(), l.Session))
	r.same("files, when Remove returns", r.files(), []string{})
}

func testBlobEdit(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	p := r.text(m, big('x'))
	r.commit(l, changed(p))
	old := r.freed(1)
	r.commit(l, changed(ended(p, big('y'))))
	if now := r.freed(1); now[0] == old[0] {
		r.Fatalf("the file is still %s", old[0])
	}
	r.same("text", must(r.Part(ctx(), l.Session, m.ID, p.ID))(r).GrowingText(), big('y'))
	r.commit(l, changed(ended(p, "short")))
	r.freed(0)
}

func testBlobReplaced(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	p := r.part(m, &lathe.Text{Text: "a"})
	for i := range 20 {
		r.commit(l, changed(p.WithText(big(rune('a'+i)))))
	}
	r.freed(1)
}

func testBlobShared(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	p, q := r.text(m, big('x')), r.text(m, big('x'))
	r.commit(l, changed(p), changed(q))
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: p.ID})
	r.ok(r.Vacuum(ctx(), nil))
	r.same("text", must(r.Part(ctx(), l.Session, m.ID, q.ID))(r).GrowingText(), big('x'))
	r.freed(1)
}

// damage damages each file of a large value.
func (r *env) damage(f func(path string) error) {
	r.Helper()
	for _, name := range r.files() {
		r.ok(f(filepath.Join(r.blobs, name)))
	}
}

func testBlobMissing(r *env) {
	l := r.held()
	m, _ := r.said(l, big('x'))
	r.damage(os.Remove)
	_, err := r.Message(ctx(), l.Session, m.ID)
	r.is(err, lathe.Internal)
	if !strings.Contains(err.Error(), string(m.Parts[0].ID)) || !strings.Contains(err.Error(), "large value") {
		r.Fatalf("the error does not say what is missing: %v", err)
	}
	r.is(second(r.History(ctx(), l.Session, lathe.Position{}, 0)), lathe.Internal)
	if found := must(r.Check(ctx()))(r); len(found) != 2 || !strings.Contains(found[0], string(m.Parts[0].ID)) {
		r.Fatalf("Check found %q", found)
	}
}

func testBlobDamaged(r *env) {
	l := r.held()
	m, _ := r.said(l, big('x'))
	r.damage(func(path string) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data[1000] = 'y'
		return os.WriteFile(path, data, 0o600)
	})
	_, err := r.Message(ctx(), l.Session, m.ID)
	r.is(err, lathe.Internal)
	if !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "backup") {
		r.Fatalf("the error does not say what to do: %v", err)
	}
	r.damage(func(path string) error { return os.Truncate(path, 0) })
	r.is(second(r.Message(ctx(), l.Session, m.ID)), lathe.Internal)
}

func testBlobAgain(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	p := r.text(m, big('x'))
	r.commit(l, changed(p))
	r.damage(os.Remove)
	r.commit(l, changed(r.text(m, big('x')))) // the same content once more
	r.same("text", must(r.Part(ctx(), l.Session, m.ID, p.ID))(r).GrowingText(), big('x'))
}

func testBlobOthers(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	r.commit(l, changed(r.text(m, big('x'))))
	other := r.held()
	r.said(other, "unharmed")
	r.damage(os.Remove)
	r.same("another session", len(r.history(other.Session)), 2)
	r.same("another part", must(r.Part(ctx(), l.Session, m.ID, m.Parts[0].ID))(r), m.Parts[0])
	r.ok(r.Remove(ctx(), l.Session))
	r.freed(0)
}

func testBlobAdmit(r *env) {
	id := r.session()
	p := r.prompt(id, big('p'))
	r.admit(id, p)
	r.same("prompt", must(r.Message(ctx(), id, p.Message.ID))(r), p.Message)
	rec, messages := foreign()
	messages[0].Parts = []lathe.Part{{ID: "prt_big", Session: rec.ID, Message: messages[0].ID, Body: &lathe.Text{Text: big('i')}}}
	r.ok(r.Import(ctx(), rec, messages))
	r.same("import", must(r.Message(ctx(), rec.ID, messages[0].ID))(r), messages[0])
	r.same("files", len(r.files()), 2)
}

func testBlobFeed(r *env) {
	l := r.held()
	r.said(l, big('x'))
	r.same("live", followed(r, r.published.take()), read(r, r.Store))
	r.same("resumed", followed(r, r.since(0, lathe.Scope{})), read(r, r.Store))
}

// A lost file does not block other changes.
func testBlobFeedContinues(r *env) {
	l := r.held()
	lost, _ := r.said(l, big('x'))
	r.damage(os.Remove)
	kept, _ := r.said(l, "Hello")
	seen := map[lathe.MessageID]int{}
	for _, e := range r.since(0, lathe.Scope{}) {
		if p, ok := e.Fact.(*lathe.PartChanged); ok {
			seen[p.Part.Message]++
		}
	}
	if seen[lost.ID] != 0 || seen[kept.ID] != 1 {
		r.Fatalf("published parts: %d of the lost message, %d of the other", seen[lost.ID], seen[kept.ID])
	}
}

func testBlobBytes(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	long := strings.Repeat("\"\\ \x00\x1f @ é 😀 \u2028 </script> \n", 4000)
	p := r.part(m, &lathe.ToolCall{CallID: `@"`, Tool: `\`, State: &lathe.Failed{
		Input: []byte(`{"@":"` + strings.Repeat(`\"\\@`, 20000) + `","after":[1,"@"]}`), Error: long, Start: 1, End: 2,
	}, Extra: `"@":"@"`})
	r.commit(l, changed(p))
	r.same("files", len(r.files()), 2)
	r.same("part", must(r.Part(ctx(), l.Session, m.ID, p.ID))(r), p)
}

func testBlobFailed(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	_, err := r.Commit(ctx(), l, changed(r.text(m, big('x'))), &lathe.Promote{Session: l.Session, Message: "msg_unknown"})
	r.is(err, lathe.NotFound)
	r.same("large values", must(r.Stats(ctx()))(r).Blobs, int64(0))
	p := r.text(m, big('x'))
	r.commit(l, changed(p))
	r.same("text", must(r.Part(ctx(), l.Session, m.ID, p.ID))(r).GrowingText(), big('x'))
}

func testBlobStrays(r *env) {
	l := r.held()
	r.said(l, big('x'))
	old := filepath.Join(r.blobs, "ab", strings.Repeat("c", 62))
	young := filepath.Join(r.blobs, "ab", strings.Repeat("d", 62))
	r.ok(os.MkdirAll(filepath.Dir(old), 0o700))
	for _, path := range []string{old, young} {
		r.ok(os.WriteFile(path, []byte("left by a crash"), 0o600))
	}
	long := lathetest.Now.Std().AddDate(-10, 0, 0)
	r.ok(os.Chtimes(old, long, long))
	r.ok(r.Vacuum(ctx(), nil))
	r.same("files", len(r.files()), 3)
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		r.Fatalf("the old file is still there (%v)", err)
	}
}

func testBlobBack(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	for range 3 {
		p := r.text(m, big('x'))
		r.commit(l, changed(p))
		r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: p.ID})
		r.commit(l, changed(p))
		r.same("text", must(r.Part(ctx(), l.Session, m.ID, p.ID))(r).GrowingText(), big('x'))
		r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: p.ID})
	}
	r.freed(0)
}

func testBlobElsewhere(r *env) {
	other := r.again(store.Options{})
	one := r.held()
	r.said(one, big('x'))
	id := r.session()
	p := r.prompt(id, big('x'))
	must(other.Admit(ctx(), id, p))(r)
	r.ok(r.Remove(ctx(), one.Session)) // its own sweep must see the other's row
	got := must(other.Message(ctx(), id, p.Message.ID))(r)
	if !bytes.Equal([]byte(got.Parts[0].GrowingText()), []byte(big('x'))) {
		r.Fatalf("another process's text is damaged")
	}
	r.freed(1)
}
