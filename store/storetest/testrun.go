package storetest

import "github.com/lathe-agent/lathe"

func testRunTests() map[string]func(*env) {
	return map[string]func(*env){
		"TheLastTestRunOfAProjectIsKept": testTests,
	}
}

// keepsTests holds that a run is the one known of a project.
func (r *env) keepsTests(project string, want lathe.TestRun) {
	r.Helper()
	got, err := r.LastTestRun(ctx(), project)
	r.ok(err)
	r.same("the last test run", got, want)
}

func testTests(r *env) {
	l := r.held()
	r.keepsTests("one", lathe.TestRun{})
	first := lathe.TestRun{Command: "make test", Exit: 2, At: 5}
	r.commit(l, &lathe.TestsRan{Session: l.Session, Project: "one", Run: first})
	r.keepsTests("one", first)
	second := lathe.TestRun{Command: "go test ./...", At: 7}
	r.commit(l, &lathe.TestsRan{Session: l.Session, Project: "one", Run: second})
	r.keepsTests("one", second)
	r.keepsTests("another", lathe.TestRun{})
	r.ok(r.Remove(ctx(), l.Session))
}
