package snapshot

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// The undo model: an agent and a person work on the same files, and now and then the agent's
// work is undone. A second, tiny account of who wrote what says what must be left.

// act is one change by a user, in the order of time.
type act struct {
	step     int // -1 is the person
	from, to string
}

type model struct {
	t     *rapid.T
	b     *bench
	acts  map[string][]act // by file
	count map[string]int
	n     int
}

var modelFiles = []string{"a", "b.txt", "dir/c", "dir/d", "dir/deep/e", "new/f", ":colon", "grün/ü.txt"}

// present reads one file as the model writes versions.
func (m *model) present(name string) string {
	path := m.b.path(name)
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() {
		return ""
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		must(m.b.t, err)
		return "-> " + target
	}
	data, err := os.ReadFile(path)
	must(m.b.t, err)
	if info.Mode()&0o100 != 0 {
		return "x " + string(data)
	}
	return "f " + string(data)
}

// put makes a file a version.
func (m *model) put(name, v string) {
	path := m.b.path(name)
	if m.present(name) != "" {
		must(m.b.t, os.Remove(path))
	}
	if v == "" {
		return
	}
	must(m.b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	text := v[min(2, len(v)):]
	switch v[0] {
	case '-':
		must(m.b.t, os.Symlink(v[3:], path))
	case 'x':
		must(m.b.t, os.WriteFile(path, []byte(text), 0o755))
	default:
		must(m.b.t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// change draws a new version of a file and writes it.
func (m *model) change(step int) (name string, do func()) {
	name = rapid.SampledFrom(modelFiles).Draw(m.t, "file")
	kind := rapid.SampledFrom([]string{"text", "text", "text", "delete", "exec", "link", "same"}).Draw(m.t, "kind")
	return name, func() {
		old := m.present(name)
		m.n++
		next := fmt.Sprintf("f %d\n", m.n)
		switch kind {
		case "delete":
			next = ""
		case "exec":
			next = "x " + strings.TrimPrefix(strings.TrimPrefix(old, "f "), "x ")
			if strings.HasPrefix(old, "->") {
				next = "x link"
			}
		case "link":
			next = fmt.Sprintf("-> ../%d", m.n)
		case "same":
			next = old
		}
		m.put(name, next)
		m.acts[name] = append(m.acts[name], act{step, old, next})
		m.count[kind]++
	}
}

// expect says what a file must be after steps are undone: back along their own acts as long as
// no other process was there.
func (m *model) expect(name string, undone func(step int) bool) string {
	acts := results(m.acts[name])
	now := m.present(name)
	for len(acts) > 0 {
		last := acts[len(acts)-1]
		if last.to != now || !undone(last.step) {
			break
		}
		now, acts = last.from, acts[:len(acts)-1]
	}
	return now
}

// results joins what one actor did in a row, and leaves out what led nowhere.
func results(acts []act) []act {
	for {
		var out []act
		for _, a := range acts {
			a.step = max(a.step, -1)
			last := len(out) - 1
			if last >= 0 && out[last].step == a.step && out[last].to == a.from {
				out[last].to = a.to
			} else {
				out = append(out, a)
			}
		}
		out = slices.DeleteFunc(out, func(a act) bool { return a.from == a.to })
		if slices.Equal(out, acts) {
			return out
		}
		acts = out
	}
}

func TestUndo_Model(t *testing.T) {
	total := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) { oneModel(t, rt, total) })
	t.Logf("the undo model tried: %v", total)
	if total["undo"] == 0 || total["user"] == 0 {
		t.Error("the model never did what it is for")
	}
}

func oneModel(t *testing.T, rt *rapid.T, total map[string]int) {
	dir, err := os.MkdirTemp(gittest.RealTemp(t), "model")
	must(t, err)
	b := newBench(t, dir)
	m := &model{t: rt, b: b, acts: map[string][]act{}, count: total}
	for i, name := range modelFiles[:4] {
		b.write(name, fmt.Sprintf("begin %d\n", i))
	}
	var done []StepRef
	session := 0
	for range rapid.IntRange(3, 14).Draw(rt, "length") {
		switch op := rapid.SampledFrom([]string{"step", "step", "user", "undo", "restart"}).Draw(rt, "op"); op {
		case "step":
			done = append(done, m.step(len(done)))
		case "user":
			_, do := m.change(-1)
			do()
		case "restart":
			must(t, b.store.Close())
			b.open(b.store.o.Dir)
		case "undo":
			session++
			m.undo(done, fmt.Sprint("ses_", session))
		}
		m.count["all"]++
	}
	must(t, b.store.Close())
	must(t, os.RemoveAll(dir))
	must(t, os.RemoveAll(b.store.o.Dir))
}

// step is one of the agent's, with the person at work next to it, outside of frames.
func (m *model) step(number int) StepRef {
	st := m.b.step()
	for range rapid.IntRange(1, 4).Draw(m.t, "tools") {
		switch rapid.SampledFrom([]string{"tool", "command", "user"}).Draw(m.t, "in step") {
		case "tool":
			name, do := m.change(number)
			m.b.tool(st, name, do)
			m.count["tool"]++
		case "command":
			m.b.command(st, func() {
				for range rapid.IntRange(0, 4).Draw(m.t, "writes") {
					_, do := m.change(number)
					do()
				}
			})
			m.count["command"]++
		case "user":
			_, do := m.change(-1)
			do()
			m.count["user"]++
		}
	}
	m.count["step"]++
	return m.b.end(st)
}

// undo takes the last steps back, sometimes redoes and undoes them again.
func (m *model) undo(done []StepRef, session string) {
	if len(done) == 0 {
		return
	}
	from := rapid.IntRange(0, len(done)-1).Draw(m.t, "undo from")
	before := m.b.files()
	want, was := map[string]string{}, map[string]string{}
	for _, name := range modelFiles {
		was[name] = m.present(name)
		want[name] = m.expect(name, func(step int) bool { return step >= from })
	}
	applied := m.b.undo(session, done[from:]...)
	m.check(want, "undo", applied)
	after := m.b.files()
	m.count["undo"]++
	for _, c := range applied.Changes {
		if c.Conflict != "" {
			m.count["conflict"]++
		}
		if c.Note != "" {
			m.count["note"]++
		}
	}
	switch rapid.SampledFrom([]string{"keep", "redo", "twice"}).Draw(m.t, "then") {
	case "redo":
		m.b.redo(session)
		if now := m.b.files(); !maps.Equal(now, before) {
			m.t.Fatalf("redo left %q, want %q", now, before)
		}
		m.count["redo"]++
		return
	case "twice":
		m.b.redo(session)
		m.b.undo(session, done[from:]...)
		if now := m.b.files(); !maps.Equal(now, after) {
			m.t.Fatalf("the second undo left %q, want %q", now, after)
		}
		m.count["undo twice"]++
	}
	// What was undone did not happen, for the account.
	for name, v := range want {
		if v != was[name] {
			m.acts[name] = append(m.acts[name], act{-2, was[name], v})
		}
	}
}

func (m *model) check(want map[string]string, what string, applied Applied) {
	for name, v := range want {
		if got := m.present(name); got != v {
			m.t.Fatalf("%s: %s is %q, want %q\nacts %+v\nplan %+v", what, name, got, v, m.acts[name], applied.Changes)
		}
	}
}
