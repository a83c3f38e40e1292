package storetest

import (
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func openPartTests() map[string]func(*env) {
	return map[string]func(*env){
		"TextIsJoinedFromTails":      testTails,
		"ReasoningGrowsToo":          testTailsReasoning,
		"WrongOffsetIsConflict":      testTailOffset,
		"OffsetsCountBytes":          testTailBytes,
		"ClosingWritesWhole":         testTailsEnd,
		"SettledPartsDoNotGrow":      testTailSettled,
		"CheckpointsAreSilent":       testTailSilent,
		"ReplacedWhileOpen":          testTailReplaced,
		"RemovedWhileOpen":           testTailRemoved,
		"AForkCopiesTheTextSoFar":    testTailFork,
		"ATextWithoutTimeIsNotOpen":  testTailTimeless,
		"LongTextsGrowInSmallPieces": testTailLong,
	}
}

// grown is an answer with a part that is still open.
type grown struct {
	*env
	lease  store.Lease
	answer lathe.Message
	part   lathe.Part
}

func (r *env) grown(words string) *grown {
	r.Helper()
	l := r.held()
	_, a := r.said(l, "Hello")
	p := r.growing(a, words)
	r.commit(l, changed(p))
	return &grown{env: r, lease: l, answer: a, part: p}
}

// add appends at an offset.
func (g *grown) add(offset int, words string) error {
	_, err := g.Commit(ctx(), g.lease, &lathe.Checkpoint{Session: g.lease.Session, Part: g.part.ID, Offset: offset, Text: words})
	return err
}

// reads checks the text, by every way to read it.
func (g *grown) reads(words string) {
	g.Helper()
	p := must(g.Part(ctx(), g.lease.Session, g.answer.ID, g.part.ID))(g.env)
	g.same("one part", p.GrowingText(), words)
	m := must(g.Message(ctx(), g.lease.Session, g.answer.ID))(g.env)
	g.same("one message", m.Parts[len(m.Parts)-1], p)
	h := g.history(g.lease.Session)
	g.same("history", h[len(h)-1], m)
	events := g.since(0, lathe.Scope{Session: g.lease.Session})
	for _, e := range events {
		if f, ok := e.Fact.(*lathe.PartChanged); ok && f.Part.ID == p.ID {
			g.same("feed", f.Part, p)
			return
		}
	}
	g.Fatalf("the feed does not tell the part")
}

func (g *grown) openRows(want int64) {
	g.Helper()
	g.same("parts that grow", must(g.Stats(ctx()))(g.env).Open, want)
}

func testTails(r *env) {
	g := r.grown("")
	g.reads("")
	r.ok(g.add(0, "one "))
	g.reads("one ")
	r.ok(g.add(4, "two "))
	r.ok(g.add(8, "three"))
	g.reads("one two three")
	g.openRows(1)
}

func testTailsReasoning(r *env) {
	g := r.grown("text")
	g.part = r.part(g.answer, &lathe.Reasoning{Text: "Hm", Time: lathe.Span{Start: 1}})
	r.commit(g.lease, changed(g.part))
	r.ok(g.add(2, ", well"))
	g.reads("Hm, well")
	g.openRows(2)
	g.part.Body = &lathe.Reasoning{Text: "Hm, well.", Time: lathe.Span{Start: 1, End: 2}}
	r.commit(g.lease, changed(g.part))
	g.reads("Hm, well.")
	g.openRows(1)
}

func testTailOffset(r *env) {
	g := r.grown("five!")
	for _, offset := range []int{0, 4, 6, -1} {
		r.is(g.add(offset, "x"), lathe.Conflict)
	}
	g.reads("five!")
	r.ok(g.add(5, "x"))
	r.is(g.add(5, "x"), lathe.Conflict) // the same once more
	g.reads("five!x")
}

func testTailBytes(r *env) {
	g := r.grown("é😀")
	r.is(g.add(3, "x"), lathe.Conflict) // runes and UTF-16 units are other counts
	r.ok(g.add(6, "\xf0\x9f"))          // half a character
	r.ok(g.add(8, "\x98\x80!"))
	g.reads("é😀😀!")
}

func testTailsEnd(r *env) {
	g := r.grown("one")
	r.ok(g.add(3, " two"))
	g.openRows(1)
	end := ended(g.part, "one two three")
	r.commit(g.lease, changed(end))
	g.reads("one two three")
	g.openRows(0)
	r.same("part", must(r.Part(ctx(), g.lease.Session, g.answer.ID, end.ID))(r), end)
}

func testTailSettled(r *env) {
	g := r.grown("one")
	r.commit(g.lease, changed(ended(g.part, "one")))
	r.is(g.add(3, "x"), lathe.Conflict)
	_, err := r.Commit(ctx(), g.lease, &lathe.Checkpoint{Session: g.lease.Session, Part: "prt_unknown", Text: "x"})
	r.is(err, lathe.Conflict)
}

func testTailSilent(r *env) {
	g := r.grown("one")
	n := r.counter()
	r.published.take()
	r.same("events", r.commit(g.lease, &lathe.Checkpoint{Session: g.lease.Session, Part: g.part.ID, Offset: 3, Text: "!"}), []lathe.Event{})
	r.same("told", r.published.take(), []lathe.Event{})
	r.same("numbers", r.counter(), n+1)
	events := r.since(n, lathe.Scope{})
	r.same("a reader that resumes", kinds(events), []string{"message.part.updated"})
	r.same("text", events[0].Fact.(*lathe.PartChanged).Part.GrowingText(), "one!")
}

func testTailReplaced(r *env) {
	g := r.grown("one")
	r.ok(g.add(3, " two"))
	r.commit(g.lease, changed(g.part.WithText("other")))
	g.reads("other")
	r.ok(g.add(5, "wise"))
	g.reads("otherwise")
}

func testTailRemoved(r *env) {
	g := r.grown("one")
	r.ok(g.add(3, " two"))
	r.commit(g.lease, &lathe.PartRemoved{Session: g.lease.Session, Message: g.answer.ID, Part: g.part.ID})
	g.openRows(0)
	r.commit(g.lease, changed(g.part.WithText("")))
	g.reads("")
}

func testTailFork(r *env) {
	g := r.grown("one")
	r.ok(g.add(3, " two"))
	rec := r.record()
	r.ok(r.Fork(ctx(), g.lease.Session, "", rec))
	copies := r.history(rec.ID)
	r.same("texts", texts(copies), [][]string{{"Hello"}, {"You said: Hello", "one two"}})
	r.ok(g.add(7, " three"))
	r.same("texts of the fork", texts(r.history(rec.ID)), texts(copies))
	g.openRows(2)
	l := r.lease(rec.ID)
	last := copies[1].Parts[1]
	r.commit(l, &lathe.Checkpoint{Session: rec.ID, Part: last.ID, Offset: 7, Text: "!"})
	r.same("texts of the fork", texts(r.history(rec.ID))[1][1], "one two!")
	g.reads("one two three")
}

func testTailTimeless(r *env) {
	g := r.grown("one")
	g.part = r.part(g.answer, &lathe.Text{Text: "as a user writes"})
	r.commit(g.lease, changed(g.part))
	r.is(g.add(16, "x"), lathe.Conflict)
	g.reads("as a user writes")
}

func testTailLong(r *env) {
	g := r.grown("")
	all := ""
	for i := range 40 {
		words := strings.Repeat(fmt.Sprintf("%04d ", i), 1000)
		r.ok(g.add(len(all), words))
		all += words
	}
	g.reads(all)
	r.same("files while it grows", r.files(), []string{})
	r.commit(g.lease, changed(ended(g.part, all)))
	g.reads(all)
	r.same("files when it is whole", len(r.files()), 1)
}
