package repeat

import "testing"

// A command that runs or compares files has files that decide; one that only looks at them has not.
func TestOnlyLooks(t *testing.T) {
	for command, want := range map[string]bool{
		"grep -qx hello greet.txt": true, `test "$(cat answer.txt)" = 42`: true, "test ! -e old.txt": true, "[ -s a ] && grep x a": true,
		"cat a | wc -l": true, "! grep -q TODO a.go": true,
		"sh test.sh": false, "cat test.sh | sh": false, "./check": false, "diff out.txt golden.txt": false, "go test ./...": false, "make": false,
		"grep x a; sh b.sh": false, "eval \"$(cat a)\"": false, "grep x $(sh b.sh)": false, "f() { sh a; }; test 1": false, "cat a > b": false,
		"test '": false, "": false, "PATH=. grep x a": false, "bash -c 'sh a.sh'": false, "env grep x a": true,
	} {
		if got := onlyLooks(command, "/p"); got != want {
			t.Errorf("%s: got %v", command, got)
		}
	}
}
