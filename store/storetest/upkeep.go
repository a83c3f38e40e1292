package storetest

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func upkeepTests() map[string]func(*env) {
	return map[string]func(*env){
		"StatsCount":          testStats,
		"CheckFindsNothing":   testCheck,
		"VacuumSaysItsSteps":  testVacuum,
		"VacuumChangesNoData": testVacuumKeeps,
	}
}

func testStats(r *env) {
	empty := must(r.Stats(ctx()))(r)
	if empty.Bytes == 0 || empty.Feed != r.Feed() {
		r.Fatalf("stats of an empty store: %+v", empty)
	}
	g := r.grown("open")
	r.commit(g.lease, changed(r.text(g.answer, big('x'))), &lathe.PartRemoved{Session: g.lease.Session, Message: g.answer.ID, Part: g.answer.Parts[0].ID})
	r.open(git("prj", home), home)
	got := must(r.Stats(ctx()))(r)
	got.Bytes, got.FreeBytes, got.BlobBytes = 0, 0, 0
	r.same("stats", got, store.Stats{
		Sessions: 1, Messages: 2, Parts: 3, Projects: 1, Open: 1, Tombstones: 1, Counter: 10, Feed: r.Feed(), Blobs: 1,
	})
}

func testCheck(r *env) {
	r.twoPlaces()
	r.grown("open")
	r.same("found", must(r.Check(ctx()))(r), []string{})
}

func testVacuum(r *env) {
	var steps []string
	r.ok(r.Vacuum(ctx(), func(s string) { steps = append(steps, s) }))
	r.same("steps", len(steps), 3)
}

func testVacuumKeeps(r *env) {
	r.twoPlaces()
	l := r.held()
	r.said(l, big('x'))
	r.ok(r.Remove(ctx(), r.session()))
	before := read(r, r.Store)
	r.ok(r.Vacuum(ctx(), nil))
	r.same("sessions", read(r, r.Store), before)
	r.same("found", must(r.Check(ctx()))(r), []string{})
}
