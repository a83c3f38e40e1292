package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// Skipped is a task that was left out, and why.
type Skipped struct{ Name, Why string }

// Imported are the cases of a folder of tasks.
type Imported struct {
	Cases   []Case    // that Parse accepts
	Skipped []Skipped // in the order of the tasks
}

func (in *Imported) skip(name, format string, args ...any) {
	in.Skipped = append(in.Skipped, Skipped{termtext.Clip(termtext.Plain(name), 100), fmt.Sprintf(format, args...)})
}

// The limits of an import.
const (
	maxTask  = 8 << 20 // bytes of one task
	maxTasks = maxCases
)

// SWEOptions say where the repositories are and how tests run.
type SWEOptions struct {
	// Repo returns the path of a repository by its name, such as owner/name; "" if it is not there.
	Repo func(name string) string
	// Check is the command, in which {tests}, {fail_to_pass} and {pass_to_pass} stand for quoted names.
	Check string
}

// DefaultSWECheck runs tests as most tasks of SWE-bench need it.
const DefaultSWECheck = "python -m pytest -q {tests}"

// sweTask is a task as SWE-bench has it.
type sweTask struct {
	ID       string          `json:"instance_id"`
	Repo     string          `json:"repo"`        // owner/name
	Commit   string          `json:"base_commit"` // before the solution
	Prompt   string          `json:"problem_statement"`
	Patch    string          `json:"test_patch"`   // brings the tests of the solution
	FailPass json.RawMessage `json:"FAIL_TO_PASS"` // a list, or a text with one
	PassPass json.RawMessage `json:"PASS_TO_PASS"`
}

// ImportSWE reads the tasks of a folder: .jsonl, and .json with one task or a list. The files may come from a stranger.
func ImportSWE(from fs.FS, o SWEOptions) (Imported, error) {
	var in Imported
	found := false
	err := fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		ext := path.Ext(name)
		if err != nil || !e.Type().IsRegular() || ext != ".json" && ext != ".jsonl" {
			return err
		}
		found = true
		return in.readSWE(from, name, o)
	})
	if err == nil && !found {
		err = lathe.Errorf(lathe.NotFound, "no task found: want .jsonl or .json files with instance_id, repo, base_commit and problem_statement")
	}
	return in, err
}

// readSWE reads one file. Values may follow each other on lines or stand in a list: both are in use.
func (in *Imported) readSWE(from fs.FS, name string, o SWEOptions) error {
	f, err := from.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	limited := &io.LimitedReader{R: f, N: MaxResults}
	dec := json.NewDecoder(limited)
	for n := 1; ; n++ {
		var one json.RawMessage
		err := dec.Decode(&one)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case limited.N <= 0:
			return lathe.Errorf(lathe.Invalid, "%s has more than %s; split it", termtext.Plain(name), termtext.ByteSize(MaxResults))
		case err != nil:
			return lathe.Errorf(lathe.Invalid, "%s: value %d is not JSON: %v", termtext.Plain(name), n, err)
		}
		list := []json.RawMessage{one}
		if bytes.HasPrefix(one, []byte("[")) {
			if err := json.Unmarshal(one, &list); err != nil {
				return lathe.Errorf(lathe.Invalid, "%s: value %d is not JSON: %v", termtext.Plain(name), n, err)
			}
		}
		for _, task := range list {
			if len(in.Cases)+len(in.Skipped) >= maxTasks {
				return lathe.Errorf(lathe.Invalid, "%s: more than %d tasks; split the folder", termtext.Plain(name), maxTasks)
			}
			in.addSWE(task, o)
		}
	}
}

// addSWE converts one task. One that cannot be used is left out with the reason.
func (in *Imported) addSWE(data json.RawMessage, o SWEOptions) {
	var t sweTask
	if err := json.Unmarshal(data, &t); err != nil || t.ID == "" {
		in.skip(t.ID, "it is not a task: want instance_id, repo, base_commit and problem_statement as texts")
		return
	}
	fails, err := names(t.FailPass)
	passes, err2 := names(t.PassPass)
	repo := ""
	if IsLocal(t.Repo) {
		repo = o.Repo(t.Repo)
	}
	switch {
	case len(data) > maxTask:
		in.skip(t.ID, "it has more than %s", termtext.ByteSize(maxTask))
	case !isName(t.ID):
		in.skip(t.ID, "instance_id has unusual characters, or two dots in a row")
	case slices.ContainsFunc(in.Cases, func(c Case) bool { return c.Name == t.ID }):
		in.skip(t.ID, "another task has the same instance_id")
	case err != nil || err2 != nil:
		in.skip(t.ID, "FAIL_TO_PASS and PASS_TO_PASS must be lists of names")
	case strings.TrimSpace(t.Prompt) == "" || t.Commit == "" || strings.ContainsAny(t.Prompt+t.Commit, "\x00"):
		in.skip(t.ID, "problem_statement or base_commit is missing")
	case repo == "":
		in.skip(t.ID, "the repository %s is not in the folder of --repos", termtext.Quote(t.Repo))
	default:
		c := Case{Name: t.ID, Source: Source{Repo: repo, Commit: t.Commit}, Prompt: t.Prompt, Models: []string{""}, Runs: 1}
		c.Limits.Timeout, c.Check.Timeout = defaultTimeout, 30*time.Minute
		c.Check.Patch = t.Patch
		c.Check.Command = strings.NewReplacer("{tests}", shellWords(append(fails, passes...)), "{fail_to_pass}", shellWords(fails), "{pass_to_pass}", shellWords(passes)).Replace(o.Check)
		in.add(c)
	}
}

// add takes a case that Parse would accept. The rules of the file hold for imports too, so that each has one place.
func (in *Imported) add(c Case) {
	f := File{Cases: []Case{c}}
	if _, err := Parse("task", f.Write()); err != nil {
		_, why, _ := strings.Cut(err.Error(), ": ")
		in.skip(c.Name, "%s", termtext.Clip(termtext.OneLine(why), 200))
		return
	}
	in.Cases = append(in.Cases, c)
}

// names reads a list of names, which is also written as a text with a list.
func names(data json.RawMessage) (out []string, err error) {
	var text string
	if len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	if json.Unmarshal(data, &text) == nil {
		if strings.TrimSpace(text) == "" {
			return nil, nil
		}
		data = json.RawMessage(text)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, err
	}
	for _, s := range out {
		if strings.ContainsAny(s, "\x00\n\r") {
			return nil, errors.New("a name has several lines")
		}
	}
	return out, nil
}

// shellWords quotes names, so that a shell reads each as one word.
func shellWords(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return strings.Join(out, " ")
}

// ImportTerminal reads a folder of tasks as Terminal-Bench has them: each in a folder with task.yaml, tests and the files
// that a container would have. prefix is the path of the folder, for the cases.
func ImportTerminal(from fs.FS, prefix string) (Imported, error) {
	var in Imported
	found := 0
	err := fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && strings.Count(name, "/") > 2:
			return fs.SkipDir
		case e.Name() != "task.yaml" || !e.Type().IsRegular():
			return nil
		}
		if found++; found > maxTasks {
			return lathe.Errorf(lathe.Invalid, "more than %d tasks; split the folder", maxTasks)
		}
		in.addTerminal(from, path.Dir(name), prefix)
		return fs.SkipDir // tasks do not contain tasks
	})
	if err == nil && found == 0 {
		err = lathe.Errorf(lathe.NotFound, "no task found: want folders with a task.yaml that has an instruction")
	}
	return in, err
}

// addTerminal converts one task folder. The case names files of the folder by their paths: nothing is copied here.
func (in *Imported) addTerminal(from fs.FS, dir, prefix string) {
	name := path.Base(dir)
	if dir == "." {
		name = path.Base(prefix)
	}
	t, err := readTask(from, path.Join(dir, "task.yaml"))
	switch {
	case err != nil:
		in.skip(name, "%v", err)
		return
	case !isName(name) || !isName(path.Base(prefix)) && dir == ".":
		in.skip(name, "the name of the folder has unusual characters, or two dots in a row")
		return
	case slices.ContainsFunc(in.Cases, func(c Case) bool { return c.Name == name }):
		in.skip(name, "another task has the same name")
		return
	}
	at := path.Join(prefix, dir)
	c := Case{Name: name, Source: Source{Folder: at}, Prompt: t.instruction, Models: []string{""}, Runs: 1}
	c.Limits.Timeout, c.Check.Timeout = t.agent, t.test
	if isFolder(from, path.Join(dir, "environment")) {
		c.Source.Folder = path.Join(at, "environment")
	} else {
		c.Source.Exclude = present(from, dir, "task.yaml", "tests", "run-tests.sh", "solution", "solution.sh", "solution.yaml", "Dockerfile", "docker-compose.yaml")
	}
	for _, n := range present(from, dir, "tests", "run-tests.sh") {
		c.Check.Files = append(c.Check.Files, path.Join(at, n))
	}
	switch {
	case exists(from, path.Join(dir, "run-tests.sh")):
		c.Check.Command = `TEST_DIR="$PWD/tests" bash run-tests.sh`
	case exists(from, path.Join(dir, "tests", "test.sh")):
		c.Check.Command = `TEST_DIR="$PWD/tests" bash tests/test.sh`
	default:
		in.skip(name, "it has no run-tests.sh and no tests/test.sh")
		return
	}
	in.add(c)
}

// terminalTask is what a task.yaml says.
type terminalTask struct {
	instruction string        // the prompt
	agent, test time.Duration // the time of both
}

func readTask(from fs.FS, name string) (t terminalTask, err error) {
	f, err := from.Open(name)
	if err != nil {
		return t, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTask+1))
	if err != nil {
		return t, err
	}
	if len(data) > maxTask {
		return t, fmt.Errorf("task.yaml has more than %s", termtext.ByteSize(maxTask))
	}
	d := &document{name: "task.yaml"}
	root := d.parse(data)
	if d.err != nil {
		return t, d.err
	}
	t.agent, t.test = defaultTimeout, DefaultCheckTimeout
	for _, v := range d.pairs(root, "the file") { // most keys mean nothing here
		switch v.Key.GetToken().Value {
		case "instruction":
			t.instruction = d.text(v.Value, "instruction", maxText)
		case "max_agent_timeout_sec":
			t.agent = d.seconds(v.Value, "max_agent_timeout_sec")
		case "max_test_timeout_sec":
			t.test = d.seconds(v.Value, "max_test_timeout_sec")
		case "descriptions":
			if t.instruction == "" {
				t.instruction = d.description(v.Value)
			}
		}
	}
	if t.instruction == "" && d.err == nil {
		return t, errors.New("task.yaml has no instruction")
	}
	return t, d.err
}

// description finds the instruction of an older task: that of the first entry.
func (d *document) description(n ast.Node) (out string) {
	list, ok := n.(*ast.SequenceNode)
	if !ok || len(list.Values) == 0 {
		return ""
	}
	for _, v := range d.pairs(list.Values[0], "descriptions") {
		if v.Key.GetToken().Value == "description" {
			out = d.text(v.Value, "description", maxText)
		}
	}
	return out
}

// seconds reads a number of seconds, also with a fraction.
func (d *document) seconds(n ast.Node, key string) time.Duration {
	if v, ok := n.(*ast.FloatNode); ok && v.Value >= 1 && v.Value < 1e6 {
		return time.Duration(v.Value) * time.Second
	}
	return time.Duration(d.whole(n, key, 1, 1e6)) * time.Second
}

// present lists the names that a folder has.
func present(from fs.FS, dir string, all ...string) (out []string) {
	for _, n := range all {
		if exists(from, path.Join(dir, n)) {
			out = append(out, n)
		}
	}
	return out
}

func exists(from fs.FS, name string) bool {
	_, err := fs.Stat(from, name)
	return err == nil
}

func isFolder(from fs.FS, name string) bool {
	info, err := fs.Stat(from, name)
	return err == nil && info.IsDir()
}
