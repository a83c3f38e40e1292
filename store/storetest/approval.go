package storetest

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func approvalTests() map[string]func(*env) {
	return map[string]func(*env){
		"AlwaysIsKeptForTheProject":    testAlwaysStored,
		"OnceAndRejectKeepNothing":     testOnceKeepsNothing,
		"AnAnswerThatComesLateIsNone":  testLateAlways,
		"ARevokedOneIsGone":            testRevoke,
		"AnswersAreReadWithTheirWords": testAnswers,
		"ADirectoryHasItsOwn":          testApprovalsOfDirectory,
		"TheFirstCommitKeepsThem":      testApprovalsAdopted,
		"AnotherIDKeepsThem":           testApprovalsMove,
		"ASessionHasItsOwn":            testSessionGrants,
		"AnAnswerIsSavedOnce":          testGrantReplayed,
	}
}

// permit asks for a permission that "always" would widen.
func (r *env) permit(l store.Lease, always ...string) lathe.AskID {
	ask := r.ask(l.Session)
	ask.Permission, ask.Always = "bash", always
	r.commit(l, ask)
	return ask.ID
}

func (r *env) approvals(project string) lathe.Ruleset { return r.approvalsIn(project, home) }

func (r *env) approvalsIn(project, directory string) lathe.Ruleset {
	rules, err := r.Approvals(ctx(), project, directory, "")
	r.ok(err)
	return rules
}

func testAlwaysStored(r *env) {
	l := r.held()
	project := r.projectOf(l.Session)
	r.admit(l.Session, lathe.PermissionAnswer{Ask: r.permit(l, "ls *", "git status *"), Reply: lathe.Always})
	r.admit(l.Session, lathe.PermissionAnswer{Ask: r.permit(l, "ls *"), Reply: lathe.Always})
	want := lathe.Ruleset{
		{Permission: "bash", Pattern: "ls *", Action: lathe.Allow}, {Permission: "bash", Pattern: "git status *", Action: lathe.Allow},
	}
	r.same("approvals", r.approvals(project), want)
	r.same("those of another project", r.approvals("elsewhere"), lathe.Ruleset(nil))
	r.ok(r.Remove(ctx(), l.Session))
	r.same("approvals outlive their session", r.approvals(project), want)
}

func testOnceKeepsNothing(r *env) {
	l := r.held()
	r.admit(l.Session, lathe.PermissionAnswer{Ask: r.permit(l, "ls *"), Reply: lathe.Once})
	r.admit(l.Session, lathe.PermissionAnswer{Ask: r.permit(l, "ls *"), Reply: lathe.Reject, Message: "no"})
	r.same("approvals", r.approvals(r.projectOf(l.Session)), lathe.Ruleset(nil))
}

func testLateAlways(r *env) {
	l := r.held()
	id := r.permit(l, "ls *")
	r.commit(l, &lathe.PermissionReplied{Session: l.Session, Request: id, Reply: lathe.Reject}) // withdrawn
	_, err := r.Admit(ctx(), l.Session, lathe.PermissionAnswer{Ask: id, Reply: lathe.Always})
	r.is(err, lathe.NotFound)
	r.same("approvals", r.approvals(r.projectOf(l.Session)), lathe.Ruleset(nil))
}

func testRevoke(r *env) {
	l := r.held()
	project := r.projectOf(l.Session)
	r.admit(l.Session, lathe.PermissionAnswer{Ask: r.permit(l, "ls *", "cat *"), Reply: lathe.Always})
	r.ok(r.revoke(project, "bash", "ls *"))
	r.same("approvals", r.approvals(project), lathe.Ruleset{{Permission: "bash", Pattern: "cat *", Action: lathe.Allow}})
	r.is(r.revoke(project, "bash", "ls *"), lathe.NotFound)
	r.is(r.revoke("elsewhere", "bash", "cat *"), lathe.NotFound)
}

func (r *env) revoke(project, permission, pattern string) error {
	return store.Grants{Store: r.Store}.Revoke(ctx(), store.GrantScope{Project: project, Directory: home}, permission, pattern)
}

// The grant of a session holds for all sessions of its tree, whichever of them asked, and for no other.
func testSessionGrants(r *env) {
	grants := store.Grants{Store: r.Store}
	root := r.held()
	project := r.projectOf(root.Session)
	child := r.lease(r.session(func(s *lathe.Session) { s.Parent, s.Project = root.Session, project }))
	other := r.held()
	r.admit(child.Session, lathe.PermissionAnswer{Ask: r.permit(child, "ls *"), Reply: lathe.Once, ForSession: true})
	r.admit(root.Session, lathe.PermissionAnswer{Ask: r.permit(root, "git *"), Reply: lathe.Once, ForSession: true, Patterns: []string{"git log *"}})
	of := func(id lathe.SessionID) lathe.Ruleset {
		rules, err := r.Approvals(ctx(), project, home, id)
		r.ok(err)
		return rules
	}
	r.same("of the root", of(root.Session), allowed("ls *", "git log *"))
	r.same("of the subagent", of(child.Session), allowed("ls *", "git log *"))
	r.same("of another session", of(other.Session), lathe.Ruleset(nil))
	r.same("of the project", r.approvals(project), lathe.Ruleset(nil))
	list, err := grants.List(ctx(), store.GrantScope{Project: project, Directory: home, Session: child.Session})
	r.ok(err)
	r.same("the list", list, []store.Granted{{Permission: "bash", Pattern: "ls *", Session: root.Session}, {Permission: "bash", Pattern: "git log *", Session: root.Session}})
	list, err = grants.List(ctx(), store.GrantScope{Project: project, Directory: home})
	r.ok(err)
	r.same("the list of all", len(list), 2)

	at := store.GrantScope{Project: project, Directory: home, Session: other.Session}
	r.is(grants.Revoke(ctx(), at, "bash", "ls *"), lathe.NotFound)
	at.Session = "ses_unknown"
	r.is(grants.Add(ctx(), at, "bash", "ls *"), lathe.NotFound)
	at.Session = child.Session
	r.ok(grants.Revoke(ctx(), at, "bash", "ls *"))
	r.same("revoked", of(root.Session), allowed("git log *"))
	r.ok(r.Remove(ctx(), root.Session))
	list, err = grants.List(ctx(), store.GrantScope{Project: project, Directory: home})
	r.ok(err)
	r.same("after the session", list, []store.Granted(nil))
}

// A second answer, or one to the request of another session, saves nothing.
func testGrantReplayed(r *env) {
	l, other := r.held(), r.held()
	id := r.permit(l, "ls *")
	in := lathe.PermissionAnswer{Ask: id, Reply: lathe.Once, ForSession: true}
	_, err := r.Admit(ctx(), other.Session, in)
	r.is(err, lathe.NotFound)
	r.admit(l.Session, in)
	in.Patterns = []string{"*"}
	_, err = r.Admit(ctx(), l.Session, in)
	r.is(err, lathe.NotFound)
	for session, want := range map[lathe.SessionID]lathe.Ruleset{l.Session: allowed("ls *"), other.Session: nil} {
		rules, err := r.Approvals(ctx(), r.projectOf(session), home, session)
		r.ok(err)
		r.same("approvals", rules, want)
	}
}

// allowed are rules that allow commands.
func allowed(patterns ...string) (rules lathe.Ruleset) {
	for _, p := range patterns {
		rules = append(rules, lathe.Rule{Permission: "bash", Pattern: p, Action: lathe.Allow})
	}
	return rules
}

// approve answers "always" to commands, in a new session.
func (r *env) approve(patterns []string, with ...func(*lathe.Session)) {
	id := r.session(with...)
	l := r.lease(id)
	r.admit(id, lathe.PermissionAnswer{Ask: r.permit(l, patterns...), Reply: lathe.Always})
}

func testApprovalsOfDirectory(r *env) {
	r.approve([]string{"ls *"}, global)
	r.approve([]string{"cat *"}, global, func(s *lathe.Session) { s.Directory = "/elsewhere" })
	r.same("here", r.approvals(lathe.GlobalProject), allowed("ls *"))
	r.same("elsewhere", r.approvalsIn(lathe.GlobalProject, "/elsewhere"), allowed("cat *"))
	r.is(r.revoke(lathe.GlobalProject, "bash", "cat *"), lathe.NotFound)
	r.ok(r.revoke(lathe.GlobalProject, "bash", "ls *"))
	r.same("revoked", r.approvals(lathe.GlobalProject), lathe.Ruleset(nil))
}

// A directory becomes a project with its first commit; of others it takes nothing over.
func testApprovalsAdopted(r *env) {
	r.approve([]string{"ls *", "git status *"}, global)
	r.approve([]string{"cat *"}, global, func(s *lathe.Session) { s.Directory = "/elsewhere" })
	r.open(git("prj", home), home)
	r.same("of the project", r.approvalsIn("prj", "/clone"), allowed("ls *", "git status *"))
	r.same("not opened yet", r.approvalsIn("new", "/elsewhere"), allowed("cat *"))
	r.same("of the directory", r.approvals(lathe.GlobalProject), lathe.Ruleset(nil))
	r.open(git("other", "/other"), "/other")
	r.same("of another project", r.approvals("other"), lathe.Ruleset(nil))
}

func testApprovalsMove(r *env) {
	r.open(git("old", home), home)
	r.approve([]string{"ls *"}, func(s *lathe.Session) { s.Project = "old" })
	r.open(git("new", home), home)
	r.same("under the new id", r.approvals("new"), allowed("ls *"))
	r.same("under the old one", r.approvals("old"), lathe.Ruleset(nil))
}

func testAnswers(r *env) {
	l := r.held()
	first, second, open := r.permit(l), r.permit(l), r.permit(l)
	r.admit(l.Session, lathe.PermissionAnswer{Ask: first, Reply: lathe.Reject, Message: "use another way"})
	r.admit(l.Session, lathe.PermissionAnswer{Ask: second, Reply: lathe.Once})
	got, err := r.Answers(ctx(), first, second, open, "per_unknown")
	r.ok(err)
	r.same("answers", got, map[lathe.AskID]store.Answer{
		first:  {Fact: &lathe.PermissionReplied{Session: l.Session, Request: first, Reply: lathe.Reject}, Note: "use another way"},
		second: {Fact: &lathe.PermissionReplied{Session: l.Session, Request: second, Reply: lathe.Once}},
	})
}
