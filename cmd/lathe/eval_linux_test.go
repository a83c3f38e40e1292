package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/cli/debug"
	cases "github.com/lathe-agent/lathe/eval"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// evalPlace is a home with a scripted model and a folder with cases.
type evalPlace struct {
	t    *testing.T
	home string
}

func newEvalPlace(t *testing.T, script string) *evalPlace {
	t.Helper()
	confinable(t)
	p := &evalPlace{t: t, home: t.TempDir()}
	provider := modeltest.Start(t, modeltest.MustParse(script))
	p.write("lathe.json", strings.Replace(fmt.Sprintf(debug.ScriptConfig, provider.URL), "{", `{"permission": {"*": "allow"}, "checks": {"checklist": false, "leftovers": false, "unverified": false}, `, 1))
	return p
}

func (p *evalPlace) write(name, text string) {
	p.t.Helper()
	at := filepath.Join(p.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
		p.t.Fatal(err)
	}
}

func (p *evalPlace) command(args ...string) *exec.Cmd {
	cmd := command(p.t, p.home, append([]string{"eval"}, args...)...)
	cmd.Env = append(cmd.Env, "LATHE_CONFIG="+filepath.Join(p.home, "lathe.json"))
	return cmd
}

// eval runs the command and returns its exit code and its output.
func (p *evalPlace) eval(args ...string) (int, string) {
	p.t.Helper()
	cmd := p.command(args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		p.t.Fatalf("lathe eval %v: %v", args, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// results reads the lines of a result file that end a run.
func (p *evalPlace) results(name string) (out []cases.Result) {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.home, name))
	if err != nil {
		p.t.Fatal(err)
	}
	all, err := cases.ReadResults(name, data)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, r := range all.All {
		if !r.Began {
			out = append(out, r)
		}
	}
	return out
}

// left lists copies, bases and temporary folders of runs.
func (p *evalPlace) left() (out []string) {
	for _, pattern := range []string{"data-worktrees/*/w*", "data/eval/*/project-*", "data/tmp/*"} {
		found, err := filepath.Glob(filepath.Join(p.home, pattern))
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, found...)
	}
	return out
}

// The ten tasks of examples/eval end as they are made to: some pass, some fail, one does so in half of its runs, one
// reaches its budget, one its time, and one changes its check in vain.
func TestEval_TenTasks(t *testing.T) {
	t.Parallel()
	examples := filepath.Join("..", "..", "examples", "eval")
	script, err := os.ReadFile(filepath.Join(examples, "model.script"))
	if err != nil {
		t.Fatal(err)
	}
	p := newEvalPlace(t, string(script))
	if err := os.CopyFS(filepath.Join(p.home, "ex"), os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	code, out := p.eval("ex/cases.yaml", "--jobs", "2", "--report", "r.html")
	if code != 1 || !strings.Contains(out, "6 of 13 runs passed") {
		t.Errorf("exit code %d: %s", code, out)
	}
	got := map[string]string{}
	flaky := 0
	for _, r := range p.results("ex/cases.results.jsonl") {
		if r.Case == "flaky" {
			if r.Passed {
				flaky++
			}
			continue
		}
		got[r.Case] = fmt.Sprint(r.End, " ", r.Passed)
	}
	want := map[string]string{
		"greeting": "done true", "new-file": "done true", "count-script": "done true", "wrong-fix": "done false", "only-words": "done false",
		"over-budget": "budget false", "timeout": "timeout false", "hidden-tests": "done true", "changed-check": "done false",
	}
	if diff := cmp.Diff(want, got); diff != "" || flaky != 2 {
		t.Errorf("flaky passed %d of 4 times: %s", flaky, diff)
	}
	if left := p.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if code, out := p.eval("ex/cases.yaml"); code != 1 || !strings.Contains(out, "13 already done") {
		t.Errorf("again: exit code %d: %s", code, out)
	}
}

const killedCases = "folder: work\ncheck: test -e done.txt\ncases:\n  - {name: first, prompt: first task}\n  - {name: second, prompt: second task}\n"

// An eval that is killed leaves a copy, and the same command removes that, counts what the killed run has cost, and
// completes the rest. So does one that is interrupted, without leaving anything.
func TestEval_Killed(t *testing.T) {
	t.Parallel()
	work := func(task, command string) string {
		return fmt.Sprintf("when %q\ncall bash {\"command\":%q}\nusage 1000 100\nfinish tool-calls\n--\nwhen %q\ntext \"Done.\"\nfinish stop\n--\n", task, command, task)
	}
	wait := fmt.Sprintf("when %q\ncall bash {\"command\":%q}\nusage 1000 100\nfinish tool-calls\n--\n", "second task", "touch /tmp/at-work; sleep 300")
	p := newEvalPlace(t, work("first task", "touch done.txt")+wait+wait+work("second task", "touch done.txt"))
	p.write("work/a.txt", "a\n")
	p.write("cases.yaml", killedCases)
	for _, end := range []os.Signal{os.Kill, os.Interrupt} {
		cmd := p.command("cases.yaml")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
		waitForGlob(t, filepath.Join(p.home, "data/tmp/*/at-work"))
		if err := cmd.Process.Signal(end); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was ended
		left := len(p.left())
		if end == os.Kill && left == 0 || end == os.Interrupt && left > 0 {
			t.Errorf("%v left %v", end, p.left())
		}
		if code := cmd.ProcessState.ExitCode(); end == os.Interrupt && code != 130 {
			t.Errorf("exit code %d", code)
		}
	}
	f, err := os.OpenFile(filepath.Join(p.home, "cases.results.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"key":"torn`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	code, out := p.eval("cases.yaml")
	if code != 0 || !strings.Contains(out, "2 runs, 1 already done") || !strings.Contains(out, "2 of 2 runs passed") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if left := p.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	var ends []string
	for _, r := range p.results("cases.results.jsonl") {
		ends = append(ends, fmt.Sprintf("%s %s %v", r.Case, r.End, r.Cost > 0))
		if r.End == cases.Interrupted && strings.Contains(r.Error, "killed") {
			if cmd := command(t, p.home, "session", "show", string(r.Session)); cmd.Run() == nil {
				t.Error("the session of the killed run is still there, although its project is gone")
			}
		}
	}
	if diff := cmp.Diff([]string{"first done true", "second interrupted true", "second interrupted true", "second done true"}, ends); diff != "" {
		t.Error(diff)
	}
}

// waitForGlob waits until a file is there.
func waitForGlob(t *testing.T, pattern string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			for _, name := range found { // the next run makes its own
				_ = os.Remove(name)
			}
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("nothing matches %s after a minute", pattern)
		}
	}
}

// The project of a case runs nothing of its own: no hook, filter or monitor of its repository, and no server or plugin of
// its settings, as a commit and as a folder. With --trust the server starts, so the test would see it.
func TestEval_HostileProject(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	answer := "when \"hostile task\"\ntext \"Nothing to do.\"\nfinish stop\n--\n"
	p := newEvalPlace(t, strings.Repeat(answer, 4))
	spy := filepath.Join(p.home, "spy.sh")
	p.write("spy.sh", "#!/bin/sh\necho \"$0 $*\" >> "+filepath.Join(p.home, "ran.log")+"\n")
	settings, _ := json.Marshal(map[string]any{
		"mcp": map[string]any{"spy": map[string]any{"type": "local", "command": []string{"sh", spy}}}, "plugin": []string{spy}, "worktree": map[string]any{"setup": "sh " + spy},
		"sandbox": map[string]any{"mode": "off"},
	})
	p.write("evil/lathe.json", string(settings))
	p.write("evil/a.txt", "a\n")
	p.write("evil/.gitattributes", "* filter=spy\n")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = filepath.Join(p.home, "evil")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	for _, key := range []string{"core.fsmonitor", "core.hooksPath", "filter.spy.smudge", "filter.spy.clean", "core.sshCommand"} {
		git("config", key, spy)
	}
	p.write("evil/.git/hooks/post-checkout", "#!/bin/sh\nsh "+spy+"\n")
	p.write("cases.yaml", "prompt: hostile task\ncheck: test -e a.txt -a ! -e .git\ncases:\n  - {name: commit, repo: evil, commit: main}\n  - {name: folder, folder: evil}\n")
	code, out := p.eval("cases.yaml")
	ran, _ := os.ReadFile(filepath.Join(p.home, "ran.log")) // there should be none
	if code != 0 || len(ran) > 0 {
		t.Errorf("exit code %d, ran %s: %s", code, ran, out)
	}
	if _, out = p.eval("cases.yaml", "--fresh", "--trust"); len(p.read("ran.log")) == 0 {
		t.Errorf("nothing ran with trust, so the test shows nothing: %s", out)
	}
}

func (p *evalPlace) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(p.home, name)) // "" if it is not there
	return string(data)
}

// The agent can change neither the check nor the files that come after it, also by links, and reaches nothing beside its
// copy through them.
func TestEval_CheckIsKept(t *testing.T) {
	t.Parallel()
	step := func(task, tool, input string) string {
		return fmt.Sprintf("when %q\ncall %s %s\nfinish tool-calls\n--\n", task, tool, input)
	}
	bash := func(task, command string) string {
		input, _ := json.Marshal(map[string]string{"command": command})
		return step(task, "bash", string(input))
	}
	done := func(task string) string { return fmt.Sprintf("when %q\ntext \"It passes.\"\nfinish stop\n--\n", task) }
	p := newEvalPlace(t, step("cheat task", "read", `{"filePath":"check.sh"}`)+step("cheat task", "write", `{"filePath":"check.sh","content":"exit 0\n"}`)+
		bash("cheat task", "cd /; echo exit 0 > \"$OLDPWD/$(printf check).sh\"; mv $OLDPWD $OLDPWD.x; true")+done("cheat task")+
		bash("hidden task", "ls tests.d; mkdir tests.d; echo exit 0 > tests.d/t.sh; echo 'exit 0' > run.sh; chmod 555 tests.d")+done("hidden task")+
		bash("link task", "ln -s ../../.. tests.d; ln -s ../../../victim.txt run.sh; rm -f deep/test.txt; rmdir deep; ln -s ../../.. deep")+done("link task")+
		bash("honest task", "echo fixed > a.txt")+done("honest task"))
	p.write("work/a.txt", "a\n")
	p.write("work/check.sh", "grep -q fixed a.txt\n")
	p.write("work/deep/test.txt", "one\n")
	p.write("hidden/tests.d/t.sh", "grep -q two deep/test.txt && grep -q fixed a.txt\n")
	p.write("hidden/run.sh", "sh tests.d/t.sh\n")
	p.write("victim.txt", "untouched\n")
	p.write("cases.yaml", `folder: work
check: sh run.sh
check_files: [hidden/tests.d, hidden/run.sh]
check_patch: "--- a/deep/test.txt\n+++ b/deep/test.txt\n@@ -1 +1 @@\n-one\n+two\n"
cases:
  - {name: cheat, prompt: cheat task, check: sh check.sh, check_files: [hidden/run.sh]}
  - {name: hidden, prompt: hidden task}
  - {name: link, prompt: link task}
  - {name: honest, prompt: honest task}
`)
	code, out := p.eval("cases.yaml", "--yes")
	got := map[string]bool{}
	for _, r := range p.results("cases.results.jsonl") {
		got[r.Case] = r.Passed
		if r.End != cases.Done || r.Exit == nil {
			t.Errorf("%+v", r)
		}
	}
	if diff := cmp.Diff(map[string]bool{"cheat": false, "hidden": false, "link": false, "honest": true}, got); diff != "" || code != 1 {
		t.Errorf("exit code %d, %s: %s", code, diff, out)
	}
	if p.read("victim.txt") != "untouched\n" || p.read("work/deep/test.txt") != "one\n" || p.read("work/check.sh") != "grep -q fixed a.txt\n" || p.read("tests.d/t.sh") != "" {
		t.Error("a file beside the copy has changed")
	}
	if left := p.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// The agent reads neither the hidden tests nor the patch in the file of cases nor the later commits of the repository,
// with commands and with tools, although --yes approves its requests. Another file there is read, so the test would see it.
func TestEval_TestsAreHidden(t *testing.T) {
	t.Parallel()
	p := newEvalPlace(t, "")
	call := func(name string, input map[string]string) modeltest.Step {
		raw, _ := json.Marshal(input)
		return modeltest.Call{Name: name, Args: string(raw)}
	}
	at := func(name string) string { return filepath.Join(p.home, name) }
	var got []string
	provider := modeltest.Start(t, nil)
	step := 0
	all := []modeltest.Step{
		call("bash", map[string]string{"command": "cat " + at("hidden/t.sh") + " " + at("cases.yaml") + " " + at("repo/later.txt") + " " + at("other.txt") + "; ls " + at("hidden")}),
		call("read", map[string]string{"filePath": at("hidden/t.sh")}), call("read", map[string]string{"filePath": at("cases.yaml")}),
		call("read", map[string]string{"filePath": at("repo/later.txt")}), call("read", map[string]string{"filePath": at("other.txt")}),
		call("grep", map[string]string{"pattern": "secret", "path": at("")}),
	}
	provider.Respond(func(r modeltest.Request) modeltest.Answer {
		got = append(got, string(r.Body))
		if step++; step <= len(all) {
			return modeltest.Answer{all[step-1], modeltest.Finish("tool-calls")}
		}
		return modeltest.Answer{modeltest.Text{"Done."}, modeltest.Finish("stop")}
	})
	p.write("lathe.json", strings.Replace(fmt.Sprintf(debug.ScriptConfig, provider.URL), "{", `{"permission": {"*": "allow"}, "checks": {"checklist": false, "leftovers": false, "unverified": false}, `, 1))
	p.write("hidden/t.sh", "# secret test\n")
	p.write("repo/later.txt", "secret commit\n")
	p.write("repo/work/a.txt", "a\n")
	p.write("other.txt", "free words\n")
	p.write("cases.yaml", "# secret patch\nfolder: repo\ncheck: sh t.sh\ncheck_files: hidden/t.sh\nexclude: later.txt\ncases:\n  - {name: first, prompt: first task}\n")
	if code, out := p.eval("cases.yaml", "--yes"); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
	last := got[len(got)-1]
	for _, secret := range []string{"secret test", "secret patch", "secret commit"} {
		if strings.Contains(last, secret) {
			t.Errorf("the agent has read the %s: %s", secret, last)
		}
	}
	if step <= len(all) || strings.Count(last, "free words") < 2 {
		t.Errorf("the agent has not read the other file, so the test shows nothing: %s", last)
	}
}

// A result file of a stranger names neither a session for removal nor puts anything active on the terminal.
func TestEval_HostileResults(t *testing.T) {
	t.Parallel()
	p := newEvalPlace(t, "when \"own task\"\ntext \"Hello.\"\nfinish stop\n--\n"+strings.Repeat("when \"first task\"\ntext \"x\"\nfinish stop\n--\n", 1))
	p.write("work/a.txt", "a\n")
	run := command(t, p.home, "run", "--title", "Mine", "own task")
	run.Env = append(run.Env, "LATHE_CONFIG="+filepath.Join(p.home, "lathe.json"))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	var sessions []struct{ ID string }
	if err := json.Unmarshal([]byte(must(t, p.home, "session", "list", "--json")), &sessions); err != nil || len(sessions) != 1 {
		t.Fatal(err, sessions)
	}
	p.write("cases.yaml", "folder: work\ncheck: \"false\"\ncases:\n  - {name: first, prompt: first task}\n")
	const evil = `\u001b[31m\u001b]0;x\u0007<script>alert(1)</script>\u202e`
	line := `{"key":"a","case":"first","model":"` + evil + `","end":"done","passed":true,"error":"` + evil + `"}` + "\n"
	p.write("cases.results.jsonl", `{"key":"x","began":true,"session":"`+sessions[0].ID+`"}`+"\n"+line)
	p.write("base.jsonl", line)
	code, out := p.eval("cases.yaml", "--baseline", "base.jsonl", "--report", "r.html")
	if code != 1 || strings.ContainsAny(out, "\x1b\a\u202e") || !strings.Contains(out, "Regressions: first") {
		t.Errorf("exit code %d: %q", code, out)
	}
	if page := p.read("r.html"); strings.Contains(page, "<script") || strings.ContainsAny(page, "\x1b\a\u202e") || !strings.Contains(page, "&lt;script&gt;") {
		t.Errorf("the page: %s", page)
	}
	must(t, p.home, "session", "show", sessions[0].ID)
}
