package storetest

import (
	"os"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

func projectTests() map[string]func(*env) {
	return map[string]func(*env){
		"OpenMakesAndRefreshes":       testProjectOpen,
		"SandboxesThatExistAreKept":   testProjectSandboxes,
		"GlobalSessionsAreAdopted":    testProjectAdopts,
		"AProjectMayGetAnotherID":     testProjectMoves,
		"WhatIsRememberedIsRecalled":  testProjectKnown,
		"TheOneOpenedLastComesFirst":  testProjectOrder,
		"UnknownMembersAreKept":       testProjectExtra,
		"GlobalProjectAdoptsNobody":   testProjectGlobal,
		"OpeningAgainAdoptsNothing":   testProjectAgain,
		"EveryOpeningIsTold":          testProjectPublished,
		"AdoptionIsTold":              testProjectAdoptionPublished,
		"SandboxIsNotTheWorktree":     testProjectOwnWorktree,
		"NothingRememberedIsNoString": testProjectUnknown,
	}
}

func git(id, worktree string) lathe.Project {
	return lathe.Project{ID: id, Worktree: worktree, VCS: "git"}
}

func (r *env) open(p lathe.Project, sandbox string) lathe.Project {
	r.Helper()
	return must(r.OpenProject(ctx(), p, sandbox))(r)
}

func testProjectOpen(r *env) {
	first := r.open(git("prj", home), home)
	if first.Time.Created == 0 || first.Time.Updated != first.Time.Created {
		r.Fatalf("times of a new project: %+v", first.Time)
	}
	again := r.open(git("prj", "/moved"), "/moved")
	want := first
	want.Worktree, want.Time.Updated = "/moved", again.Time.Updated
	r.same("project", again, want)
	if again.Time.Updated <= first.Time.Updated {
		r.Fatalf("opening again left the time at %v", again.Time.Updated)
	}
	r.same("stored", must(r.Projects(ctx()))(r), []lathe.Project{want})
}

func testProjectSandboxes(r *env) {
	here, gone := r.blobs+"-a", r.blobs+"-b"
	r.ok(os.MkdirAll(here, 0o700))
	r.ok(os.MkdirAll(gone, 0o700))
	r.open(git("prj", home), here)
	r.same("both", r.open(git("prj", home), gone).Sandboxes, []string{here, gone})
	r.same("once each", r.open(git("prj", home), here).Sandboxes, []string{here, gone})
	r.ok(os.Remove(gone))
	r.same("the existing folder", r.open(git("prj", home), home).Sandboxes, []string{here})
}

func testProjectOwnWorktree(r *env) {
	r.same("sandboxes", r.open(git("prj", r.blobs), r.blobs).Sandboxes, []string{})
}

func (r *env) projectOf(id lathe.SessionID) string {
	r.Helper()
	return must(r.Session(ctx(), id))(r).Project
}

func global(s *lathe.Session) { s.Project = lathe.GlobalProject }

func testProjectAdopts(r *env) {
	mine := r.session(global)
	other := r.session(global, func(s *lathe.Session) { s.Directory = home + "/cmd" })
	r.open(git("prj", home), home)
	r.same("in the worktree", r.projectOf(mine), "prj")
	r.same("elsewhere", r.projectOf(other), lathe.GlobalProject)
}

func testProjectAdoptionPublished(r *env) {
	mine := r.session(global)
	r.published.take()
	r.open(git("prj", home), home)
	events := r.published.take()
	r.same("kinds", kinds(events), []string{"session.updated", "project.updated"})
	r.same("session", events[0].Fact.(*lathe.SessionChanged).Info, must(r.Session(ctx(), mine))(r))
}

func testProjectAgain(r *env) {
	r.open(git("prj", home), home)
	late := r.session(global)
	r.open(git("prj", home), home)
	r.same("project", r.projectOf(late), lathe.GlobalProject)
}

func testProjectGlobal(r *env) {
	id := r.session()
	r.open(lathe.Project{ID: lathe.GlobalProject, Worktree: "/"}, "/")
	r.same("project", r.projectOf(id), "prj")
}

func testProjectMoves(r *env) {
	old := r.open(lathe.Project{ID: "commit", Worktree: home, VCS: "git", Name: "app"}, home)
	id := r.session(func(s *lathe.Session) { s.Project = "commit" })
	now := r.open(git("remote", home), home)
	r.same("name", now.Name, "app")
	r.same("created", now.Time.Created, old.Time.Created)
	r.same("session", r.projectOf(id), "remote")
	r.same("projects", must(r.Projects(ctx()))(r), []lathe.Project{now})
}

func testProjectOrder(r *env) {
	r.open(git("one", "/1"), "/1")
	r.open(git("two", "/2"), "/2")
	r.open(git("one", "/1"), "/1")
	var got []string
	for _, p := range must(r.Projects(ctx()))(r) {
		got = append(got, p.ID)
	}
	r.same("order", got, []string{"one", "two"})
}

func testProjectExtra(r *env) {
	want := lathetest.Project()
	got := r.open(want, want.Worktree)
	want.Time.Created, want.Time.Updated = got.Time.Created, got.Time.Updated
	want.Sandboxes = nil // that folder does not exist
	r.same("project", got, want)
	r.same("stored", must(r.Projects(ctx()))(r), []lathe.Project{want})
}

func testProjectPublished(r *env) {
	p := r.open(git("prj", home), home)
	r.same("events", r.published.take(), []lathe.Event{{Seq: 1, Last: true, Fact: &lathe.ProjectChanged{Project: p}}})
	r.open(git("prj", home), home)
	r.same("numbers", numbers(r.published.take()), []string{"2*"})
}

func testProjectKnown(r *env) {
	r.ok(r.SaveCached(ctx(), "key", "one"))
	r.ok(r.SaveCached(ctx(), "key", "two"))
	r.same("value", must(r.Cached(ctx(), "key"))(r), "two")
	r.same("no number", r.counter(), int64(0))
}

func testProjectUnknown(r *env) {
	r.same("value", must(r.Cached(ctx(), "key"))(r), "")
}
