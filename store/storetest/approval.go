package storetest

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func approvalTests() map[string]func(*room) {
	return map[string]func(*room){
		"AlwaysIsKeptForTheProject":    testAlwaysKept,
		"OnceAndRejectKeepNothing":     testOnceKeepsNothing,
		"AnAnswerThatComesLateIsNone":  testLateAlways,
		"ARevokedOneIsGone":            testRevoke,
		"AnswersAreReadWithTheirWords": testAnswers,
	}
}

// permit asks for a permission that "always" would widen.
func (r *room) permit(l store.Lease, always ...string) lathe.AskID {
	ask := r.ask(l.Session)
	ask.Permission, ask.Always = "bash", always
	r.commit(l, ask)
	return ask.ID
}

func (r *room) approvals(project string) lathe.Ruleset {
	rules, err := r.Approvals(ctx(), project)
	r.ok(err)
	return rules
}

func testAlwaysKept(r *room) {
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

func testOnceKeepsNothing(r *room) {
	l := r.held()
	r.admit(l.Session, lathe.PermissionAnswer{Ask: r.permit(l, "ls *"), Reply: lathe.Once})
	r.admit(l.Session, lathe.PermissionAnswer{Ask: r.permit(l, "ls *"), Reply: lathe.Reject, Message: "no"})
	r.same("approvals", r.approvals(r.projectOf(l.Session)), lathe.Ruleset(nil))
}

func testLateAlways(r *room) {
	l := r.held()
	id := r.permit(l, "ls *")
	r.commit(l, &lathe.PermissionReplied{Session: l.Session, Request: id, Reply: lathe.Reject}) // withdrawn
	_, err := r.Admit(ctx(), l.Session, lathe.PermissionAnswer{Ask: id, Reply: lathe.Always})
	r.is(err, lathe.NotFound)
	r.same("approvals", r.approvals(r.projectOf(l.Session)), lathe.Ruleset(nil))
}

func testRevoke(r *room) {
	l := r.held()
	project := r.projectOf(l.Session)
	r.admit(l.Session, lathe.PermissionAnswer{Ask: r.permit(l, "ls *", "cat *"), Reply: lathe.Always})
	r.ok(r.Revoke(ctx(), project, "bash", "ls *"))
	r.same("approvals", r.approvals(project), lathe.Ruleset{{Permission: "bash", Pattern: "cat *", Action: lathe.Allow}})
	r.is(r.Revoke(ctx(), project, "bash", "ls *"), lathe.NotFound)
	r.is(r.Revoke(ctx(), "elsewhere", "bash", "cat *"), lathe.NotFound)
}

func testAnswers(r *room) {
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
