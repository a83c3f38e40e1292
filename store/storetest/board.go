package storetest

import (
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func boardTests() map[string]func(*env) {
	return map[string]func(*env){
		"EveryStateOfASession":      testBoardStates,
		"ACommandIsToldOnce":        testShellOnce,
		"ADeadProcessLeavesItEnded": testShellDead,
	}
}

// board is the state and the last line of each session.
func (r *env) board(q lathe.BoardQuery) map[lathe.SessionID]string {
	r.Helper()
	out := map[lathe.SessionID]string{}
	for _, e := range must(store.Board(ctx(), r.Store, q))(r) {
		out[e.Session] = strings.TrimSpace(string(e.State) + " " + e.Last)
	}
	return out
}

func testBoardStates(r *env) {
	queued := r.session()
	r.admit(queued, r.prompt(queued, "wait for me"))
	done := r.held()
	r.said(done, "first\nlast \x1b[31m"+strings.Repeat("x", 300))
	r.ok(r.Release(ctx(), done))
	failed := r.held()
	_, answer := r.said(failed, "never shown")
	answer.Data = &lathe.Assistant{Error: &lathe.UnknownFault{Message: "no key\nset one"}}
	r.commit(failed, &lathe.MessageChanged{Info: answer})
	r.ok(r.Release(ctx(), failed))
	running := r.held()
	child := r.held(below(running.Session))
	r.commit(child, status(child.Session, lathe.Busy))
	asking := r.held()
	below := r.held(below(asking.Session))
	r.commit(below, r.ask(below.Session), status(below.Session, lathe.Busy))
	cut, die := r.busyElsewhere()
	die()
	archived := r.session()
	at := lathe.Time(5)
	must(r.Edit(ctx(), archived, lathe.Edit{Archived: lathe.Some(&at)}))(r)
	got := r.board(lathe.BoardQuery{})
	if last := got[done.Session]; !strings.HasPrefix(last, "done last  [31mxxx") || !strings.HasSuffix(last, "…") || len([]rune(last)) > 210 {
		r.Errorf("the last line is %q", last)
	}
	got[done.Session] = "done"
	r.same("states", got, map[lathe.SessionID]string{
		queued: "queued", done.Session: "done", failed.Session: "failed set one", running.Session: "running", asking.Session: "needs you asks: bash make", cut: "interrupted",
	})
	r.same("some", r.board(lathe.BoardQuery{Sessions: []lathe.SessionID{queued, child.Session}}), map[lathe.SessionID]string{queued: "queued"})
	r.same("archived too", len(r.board(lathe.BoardQuery{Archived: true})), 7)
	r.same("a limit", len(r.board(lathe.BoardQuery{Limit: 2})), 2)
}

// shell records a command.
func (r *env) shell(s *store.Store, id lathe.SessionID) lathe.BackgroundTask {
	r.Helper()
	t := lathe.BackgroundTask{ID: lathe.TaskID(r.ids.New(lathe.PrefixJob)), Kind: lathe.ShellTask, State: lathe.TaskRunning, Session: id, Title: "sleep 9"}
	r.ok(s.Shells().Add(ctx(), t, 2))
	return t
}

// shells are the states of a session's commands.
func (r *env) shells(id lathe.SessionID) (out []lathe.TaskState) {
	r.Helper()
	for _, s := range must(r.Shells().List(ctx(), id))(r) {
		out = append(out, s.Task.State)
	}
	return out
}

func testShellOnce(r *env) {
	id := r.session()
	one, two := r.shell(r.Store, id), r.shell(r.Store, id)
	if err := r.Shells().Add(ctx(), lathe.BackgroundTask{ID: "job_3", Session: id}, 2); lathe.CodeOf(err) != lathe.Conflict {
		r.Errorf("one too many: %v", err)
	}
	one.State = lathe.TaskCompleted
	p := r.prompt(id, "it ended")
	for i, want := range []bool{true, false} {
		if sent := must(r.Shells().End(ctx(), one, p))(r); sent != want {
			r.Errorf("time %d: %v", i, sent)
		}
	}
	r.same("prompts", len(r.inbox(id)), 1)
	r.same("states", r.shells(id), []lathe.TaskState{lathe.TaskCompleted, lathe.TaskRunning})
	r.ok(r.Shells().Stop(ctx(), two.ID))
	r.same("to stop", must(r.Shells().StopRequested(ctx(), []lathe.TaskID{two.ID}))(r), []lathe.TaskID{two.ID})
	if err := r.Shells().Stop(ctx(), one.ID); lathe.CodeOf(err) != lathe.NotFound {
		r.Errorf("stop what has ended: %v", err)
	}
	r.ok(r.Remove(ctx(), id))
	r.same("of a removed session", r.shells(""), []lathe.TaskState(nil))
}

func testShellDead(r *env) {
	other := r.again(store.Options{})
	top := r.session()
	child := r.session(below(top))
	r.shell(other, child)
	r.same("while it lives", r.shells(top), []lathe.TaskState{lathe.TaskRunning})
	r.ok(other.Close())
	r.same("afterwards", r.shells(top), []lathe.TaskState{lathe.TaskEnded})
}
