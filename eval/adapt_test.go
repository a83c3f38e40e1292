package eval

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const testPatch = "--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-a\n+b\n"

// sweLine is a task as SWE-bench writes it, with other values in place of some.
func sweLine(change map[string]any) string {
	t := map[string]any{
		"instance_id": "acme__slug-1", "repo": "acme/slug", "base_commit": "abc", "problem_statement": "Fix it.\n", "test_patch": testPatch,
		"FAIL_TO_PASS": `["t.py::test_a"]`, "PASS_TO_PASS": []string{"t.py::test_b['x y']"}, "hints_text": 7,
	}
	for k, v := range change {
		t[k] = v
	}
	b, _ := json.Marshal(t)
	return string(b) + "\n"
}

func repoOf(name string) string {
	if name == "acme/slug" {
		return "/repos/slug"
	}
	return ""
}

func TestImportSWE(t *testing.T) {
	from := fstest.MapFS{
		"tasks.jsonl":   {Data: []byte(sweLine(nil) + sweLine(map[string]any{"instance_id": "b", "FAIL_TO_PASS": nil, "PASS_TO_PASS": ""}))},
		"sub/one.json":  {Data: []byte(sweLine(map[string]any{"instance_id": "c", "FAIL_TO_PASS": []string{}}))},
		"sub/list.json": {Data: []byte("[" + sweLine(map[string]any{"instance_id": "d"}) + "]")},
		"readme.md":     {Data: []byte("no task")},
	}
	in, err := ImportSWE(from, SWEOptions{Repo: repoOf, Check: DefaultSWECheck})
	if err != nil || len(in.Skipped) != 0 {
		t.Fatal(err, in.Skipped)
	}
	var names []string
	for _, c := range in.Cases {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"d", "c", "acme__slug-1", "b"}, names); diff != "" {
		t.Error(diff)
	}
	want := Case{
		Name: "acme__slug-1", Source: Source{Repo: "/repos/slug", Commit: "abc"}, Prompt: "Fix it.\n", Limits: Limits{Timeout: time.Hour}, Models: []string{""}, Runs: 1,
		Check: Check{Command: `python -m pytest -q 't.py::test_a' 't.py::test_b['\''x y'\'']'`, Timeout: 30 * time.Minute, Patch: testPatch},
	}
	if diff := cmp.Diff(want, in.Cases[2]); diff != "" {
		t.Error(diff)
	}
}

// Tasks of a stranger are left out with a reason, and the others stay.
func TestImportSWE_Hostile(t *testing.T) {
	for name, c := range map[string]struct {
		change map[string]any
		want   string
	}{
		"traversal id":    {map[string]any{"instance_id": "../../x"}, "instance_id"},
		"escape id":       {map[string]any{"instance_id": "a\x1b[31m"}, "instance_id"},
		"traversal repo":  {map[string]any{"repo": "../../etc"}, "not in the folder"},
		"absolute repo":   {map[string]any{"repo": "/etc"}, "not in the folder"},
		"unknown repo":    {map[string]any{"repo": "x/y"}, "not in the folder"},
		"NUL prompt":      {map[string]any{"problem_statement": "a\x00b"}, "missing"},
		"NUL test":        {map[string]any{"FAIL_TO_PASS": []string{"a\x00"}}, "lists of names"},
		"newline test":    {map[string]any{"FAIL_TO_PASS": []string{"a\nrm -rf x"}}, "lists of names"},
		"no list":         {map[string]any{"FAIL_TO_PASS": 7}, "lists of names"},
		"patch outside":   {map[string]any{"test_patch": strings.ReplaceAll(testPatch, "t.py", "../t.py")}, "leads out"},
		"patch of git":    {map[string]any{"test_patch": strings.ReplaceAll(testPatch, "t.py", ".git/hooks/x")}, "leads out"},
		"no patch":        {map[string]any{"test_patch": "hello"}, "no changes"},
		"huge":            {map[string]any{"problem_statement": strings.Repeat("x", maxTask)}, "has more than"},
		"many tests":      {map[string]any{"FAIL_TO_PASS": strings.Split(strings.Repeat("x,", 100_000), ",")}, "has more than"},
		"wrong type":      {map[string]any{"repo": []int{1}}, "not a task"},
		"missing problem": {map[string]any{"problem_statement": " "}, "missing"},
	} {
		in, err := ImportSWE(fstest.MapFS{"t.jsonl": {Data: []byte(sweLine(c.change) + sweLine(map[string]any{"instance_id": "good"}))}}, SWEOptions{Repo: repoOf, Check: DefaultSWECheck})
		if err != nil || len(in.Cases) != 1 || len(in.Skipped) != 1 || !strings.Contains(in.Skipped[0].Why, c.want) || strings.ContainsAny(in.Skipped[0].Name, "\x1b\x00") {
			t.Errorf("%s: %v, %d cases, %q", name, err, len(in.Cases), in.Skipped)
		}
	}
	for name, text := range map[string]string{"not JSON": "{", "text": "hello", "deep": strings.Repeat("[", 100_000)} {
		if _, err := ImportSWE(fstest.MapFS{"t.json": {Data: []byte(text)}}, SWEOptions{Repo: repoOf}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := ImportSWE(fstest.MapFS{"a.txt": {}}, SWEOptions{}); err == nil || !strings.Contains(err.Error(), "no task found") {
		t.Errorf("got %v", err)
	}
}

// A quoted name is one word for a shell, whatever it has.
func TestShellWords(t *testing.T) {
	if got := shellWords([]string{"a b", "$(x)", "it's"}); got != `'a b' '$(x)' 'it'\''s'` {
		t.Error(got)
	}
}

const taskYAML = "instruction: |-\n  Do it.\ndifficulty: easy\nmax_agent_timeout_sec: 60.5\nmax_test_timeout_sec: 30\ntags: [a]\n"

func TestImportTerminal(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	from := fstest.MapFS{
		"one/task.yaml": file(taskYAML), "one/run-tests.sh": file("x"), "one/tests/test_a.py": file("x"), "one/solution.sh": file("x"), "one/Dockerfile": file("x"), "one/data.txt": file("x"),
		"two/task.yaml": file("descriptions:\n  - key: base\n    description: Old form\n"), "two/environment/a": file("x"), "two/tests/test.sh": file("x"),
		"bad/task.yaml": file("instruction: &a x\n"), "bomb/task.yaml": file("a: &a [x]\ninstruction: *a\n"), "none/task.yaml": file("difficulty: easy\n"),
		"untested/task.yaml": file(taskYAML), "a..b/task.yaml": file(taskYAML), "nul/task.yaml": file("instruction: a\x00"), "large/task.yaml": file("#" + strings.Repeat("x", maxTask)),
	}
	in, err := ImportTerminal(from, "/t")
	if err != nil {
		t.Fatal(err)
	}
	want := []Case{
		{
			Name: "one", Source: Source{Folder: "/t/one", Exclude: []string{"task.yaml", "tests", "run-tests.sh", "solution.sh", "Dockerfile"}}, Prompt: "Do it.", Models: []string{""}, Runs: 1,
			Check:  Check{Command: `TEST_DIR="$PWD/tests" bash run-tests.sh`, Timeout: 30 * time.Second, Files: []string{"/t/one/tests", "/t/one/run-tests.sh"}},
			Limits: Limits{Timeout: time.Minute},
		},
		{
			Name: "two", Source: Source{Folder: "/t/two/environment"}, Prompt: "Old form", Models: []string{""}, Runs: 1, Limits: Limits{Timeout: time.Hour},
			Check: Check{Command: `TEST_DIR="$PWD/tests" bash tests/test.sh`, Timeout: DefaultCheckTimeout, Files: []string{"/t/two/tests"}},
		},
	}
	if diff := cmp.Diff(want, in.Cases); diff != "" {
		t.Error(diff)
	}
	why := map[string]string{}
	for _, s := range in.Skipped {
		why[s.Name] = s.Why
	}
	for name, want := range map[string]string{
		"bad": "anchors and aliases", "bomb": "anchors and aliases", "none": "no instruction", "untested": "no run-tests.sh", "a..b": "two dots", "nul": "not a text", "large": "has more than",
	} {
		if !strings.Contains(why[name], want) {
			t.Errorf("%s: got %q", name, why[name])
		}
	}
}

// Links in a folder of tasks lead to nothing outside of it.
func TestImport_Links(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"task.yaml": taskYAML, "run-tests.sh": "x", "t.jsonl": sweLine(nil)} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"folder": outside, "t.jsonl": filepath.Join(outside, "t.jsonl")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "task"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "task", "task.yaml"), []byte(taskYAML), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "run-tests.sh"), filepath.Join(dir, "task", "run-tests.sh")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if in, err := ImportTerminal(root.FS(), dir); err != nil || len(in.Cases) != 0 || len(in.Skipped) != 1 {
		t.Errorf("%+v, %v", in, err)
	}
	if in, err := ImportSWE(root.FS(), SWEOptions{Repo: repoOf}); err == nil {
		t.Errorf("%+v", in)
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(sweLine(nil)), []byte(taskYAML))
	f.Fuzz(func(t *testing.T, swe, task []byte) {
		if len(swe)+len(task) > 1<<14 {
			return
		}
		from := fstest.MapFS{"t.jsonl": {Data: swe}, "a/task.yaml": {Data: task}, "a/run-tests.sh": {}}
		a, _ := ImportSWE(from, SWEOptions{Repo: repoOf, Check: DefaultSWECheck})
		b, _ := ImportTerminal(from, "/t")
		if all := append(a.Cases, b.Cases...); len(all) > 0 {
			if _, err := Parse("f", (&File{Name: "x", Cases: all[:1]}).Write()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
