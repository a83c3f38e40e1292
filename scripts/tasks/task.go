package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// task is one file of testdata:
//
//	limits       most steps, bytes, failed and checks (requests of end checks), and the exit code
//	needs        programs without which it is skipped; sandbox is one of the kernel
//	prompt       what the user says
//	files/NAME   the project; it is committed to a git repository before setup
//	setup        a shell script that runs in the project before, outside of any sandbox
//	model        the answers, in the language of package modeltest
//	check        a shell script that fails when the result is wrong; $ANSWER is what was printed
//
// In all of them {{dir}} is the project, {{home}} the home folder, {{goroot}} where Go is and
// {{remote}} the address of a bare repository that takes pushes.
type task struct {
	name   string
	limits map[string]int
	needs  []string
	text   map[string]string
	files  map[string][]byte
}

func readTasks(dir string) (out []task, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no tasks in %s", dir)
	}
	for _, file := range files {
		archive, readErr := txtar.ParseFile(file)
		if readErr != nil {
			return nil, readErr
		}
		t := task{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), limits: map[string]int{}, text: map[string]string{}, files: map[string][]byte{}}
		for _, f := range archive.Files {
			if name, ok := strings.CutPrefix(f.Name, "files/"); ok {
				t.files[name] = f.Data
				continue
			}
			t.text[f.Name] = strings.TrimSpace(string(f.Data))
		}
		t.needs = strings.Fields(t.text["needs"])
		for line := range strings.Lines(t.text["limits"]) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			n, readErr := strconv.Atoi(value)
			if readErr != nil {
				return nil, fmt.Errorf("%s: limit %q: %w", file, line, readErr)
			}
			t.limits[name] = n
		}
		out = append(out, t)
	}
	return out, err
}

// result is the cost of a task.
type result struct {
	Name       string `json:"name"`
	Steps      int    `json:"steps"` // requests to the model
	Bytes      int    `json:"bytes"` // of all of them
	Calls      int    `json:"calls"`
	Failed     int    `json:"failed"`
	Checks     int    `json:"checks"`     // requests that answer the program's own end checks
	CheckBytes int    `json:"checkBytes"` // of these
	Exit       int    `json:"exit"`
	Right      bool   `json:"right"`
	Skipped    string `json:"skipped,omitempty"`

	limits              map[string]int
	printed, complaints string
}

func (r result) share() float64 { return 100 * float64(r.CheckBytes) / float64(max(r.Bytes, 1)) }

// check holds a result to the limits of its task.
func (r result) check() (err error) {
	if r.Skipped != "" {
		return nil
	}
	for name, got := range map[string]int{"steps": r.Steps, "bytes": r.Bytes, "failed": r.Failed, "checks": r.Checks} {
		if most, ok := r.limits[name]; !ok || got > most {
			err = errors.Join(err, fmt.Errorf("%s: %d %s, at most %d are allowed", r.Name, got, name, most))
		}
	}
	if r.Exit != r.limits["exit"] {
		err = errors.Join(err, fmt.Errorf("%s: exit %d, not %d", r.Name, r.Exit, r.limits["exit"]))
	}
	if !r.Right {
		err = errors.Join(err, fmt.Errorf("%s: the result is wrong: %s", r.Name, r.complaints))
	}
	return err
}

// run does the task in folders of its own.
func (t task) run(ctx context.Context, binary string) (result, error) {
	r := result{Name: t.name, limits: t.limits}
	for _, program := range append(t.needs, "git", "sh") {
		if _, err := exec.LookPath(program); err != nil && program != "sandbox" {
			r.Skipped = program + " is not installed"
			return r, nil
		}
	}
	p, err := newPlace(ctx, t)
	if err != nil {
		return r, err
	}
	defer p.close()
	if slices.Contains(t.needs, "sandbox") && !p.isConfined(ctx, binary) {
		r.Skipped = "no sandbox of the kernel works here"
		return r, nil
	}
	script, err := modeltest.Parse(p.expand(t.text["model"]))
	if err != nil {
		return r, err
	}
	server, err := modeltest.Listen(script)
	if err != nil {
		return r, err
	}
	defer server.Close()
	if err := p.configure(server.URL); err != nil {
		return r, err
	}
	cmd := p.command(ctx, binary, "run", "--title", t.name, "--format", "json", p.expand(t.text["prompt"]))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return r, err
	}
	r.Exit, r.printed = cmd.ProcessState.ExitCode(), out.String()+errs.String()
	answer := r.read(out.Bytes())
	r.count(server.Requests())
	if left := server.Remaining(); left > 0 {
		r.complaints += fmt.Sprintf("%d answers of the model were not asked for\n", left)
	}
	check := p.command(ctx, "sh", "-euc", p.expand(t.text["check"]))
	check.Env = append(check.Env, "ANSWER="+answer)
	if said, err := check.CombinedOutput(); err != nil {
		r.complaints += fmt.Sprintf("check: %v\n%s", err, said)
	}
	r.Right = r.complaints == ""
	return r, nil
}

// read counts the calls in what the program printed, and returns its last text.
func (r *result) read(out []byte) (answer string) {
	for line := range bytes.Lines(out) {
		var l struct {
			Type string
			Part struct {
				Text, Tool string
				State      struct{ Status string }
			}
		}
		if json.Unmarshal(line, &l) != nil {
			r.complaints += "no JSON: " + string(line)
			continue
		}
		switch l.Type {
		case "text":
			answer = l.Part.Text
		case "tool_use":
			if r.Calls++; l.Part.State.Status == "error" || l.Part.Tool == "invalid" {
				r.Failed++
			}
		}
	}
	return answer
}

// endChecks are words of the prompts that the program writes itself before a turn ends.
var endChecks = []string{"Before you end: ", "was not tried: no build", "The list still has ", "but no file has changed since the prompt", "Left behind: "}

// count adds up what was sent. A request belongs to the end checks if its last words of a user are
// one of theirs.
func (r *result) count(requests []modeltest.Request) {
	for _, q := range requests {
		r.Steps++
		r.Bytes += len(q.Body)
		if said := lastSaid(q.Prompt.Messages); slices.ContainsFunc(endChecks, func(w string) bool { return strings.Contains(said, w) }) {
			r.Checks++
			r.CheckBytes += len(q.Body)
		}
		if q.Problem != "" {
			r.complaints += "a provider would refuse: " + q.Problem + "\n"
		}
	}
}

func lastSaid(messages []model.Message) string {
	for _, m := range slices.Backward(messages) {
		for _, c := range slices.Backward(m.Content) {
			if text, ok := c.(model.TextContent); ok && m.Role == model.UserRole {
				return text.Text
			}
		}
	}
	return ""
}

// goroot is where Go is, "" if that is not known.
func goroot() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return runtime.Version()
	}
	return strings.TrimSpace(string(out))
}

// inherited are the variables that the program gets of ours: where caches are, or go would build its
// library for each task.
func inherited() (env []string) {
	env = slices.DeleteFunc(exec.Command("go").Environ(), func(v string) bool { return !strings.HasPrefix(v, "PATH=") })
	env = append(env, "CI=1", "TZ=UTC", "LANG=C.UTF-8")
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil {
			env = append(env, name+"="+strings.TrimSpace(string(out)))
		}
	}
	return append(env, "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local")
}
