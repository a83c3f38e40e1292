package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Loader reads again when anything it looked at has changed, and only then.
func TestLoader(t *testing.T) {
	w := newFixture(t)
	w.files(`
-- top/lathe.json --
{"model": "a/b", "instructions": ["docs/**/*.md"], "skills": {"paths": ["own"]}}
-- top/.opencode/agent/a.md --
A.
-- top/.opencode/plugin/p.ts --
1
-- top/docs/deep/x.md --
x
-- top/sub/own/s/SKILL.md --
---
name: s
---
-- top/.opencode/other/file.txt --
of no interest
-- home/.config/lathe/lathe.json --
{"username": "{file:name.txt}", "share": "{env:SHARE}manual"}
-- home/.config/lathe/name.txt --
dev
-- home/linked.json --
{"small_model": "x/y"}
-- home/.lathe/.keep --
`)
	w.link(w.path("home/linked.json"), "home/.lathe/lathe.json")
	trusted := false
	w.trust = func(string, string) bool { return trusted }
	remove := func(name string) func() {
		return func() {
			if err := os.Remove(w.path(name)); err != nil {
				t.Fatal(err)
			}
			w.age(filepath.Dir(name))
		}
	}
	l := NewLoader()
	load := func() bool {
		t.Helper()
		_, fresh, err := l.Load(w.options())
		if err != nil {
			t.Fatal(err)
		}
		return fresh
	}
	write := func(name, content string) func() { return func() { w.write(name, content) } }
	for i, c := range []struct {
		name   string
		change func()
		fresh  bool
	}{
		{"first", func() {}, true},
		{"nothing", func() {}, false},
		{"settings", write("top/lathe.json", `{"model": "c/d", "instructions": ["docs/**/*.md"], "skills": {"paths": ["own"]}}`), true},
		{"same length", write("top/lathe.json", `{"model": "e/f", "instructions": ["docs/**/*.md"], "skills": {"paths": ["own"]}}`), true},
		{"new settings", write("top/sub/opencode.jsonc", `{}`), true},
		{"no longer there", remove("top/sub/opencode.jsonc"), true},
		{"agent", write("top/.opencode/agent/a.md", "B. And more."), true},
		{"new agent", write("top/.opencode/agent/b.md", "B."), true},
		{"agent gone", remove("top/.opencode/agent/b.md"), true},
		{"first of its folder", write("top/sub/.lathe/command/c.md", "C."), true},
		{"nested", write("top/sub/.lathe/command/d/e.md", "C."), true},
		{"plugin", write("top/.opencode/plugin/p.ts", "22"), true},
		{"not of interest", write("top/.opencode/other/more.txt", "x"), false},
		{"sources of the project", write("top/main.go", "package main"), false},
		{"file taken in", write("home/.config/lathe/name.txt", "grace"), true},
		{"target of a link", write("home/linked.json", `{"small_model": "x/zz"}`), true},
		{"instructions", write("top/AGENTS.md", "x"), true},
		{"named instructions", write("top/docs/deep/er/y.md", "x"), true},
		{"skill", write("top/sub/own/s/SKILL.md", "---\nname: other\n---\n"), true},
		{"new skill", write("top/sub/own/t/SKILL.md", "---\nname: t\n---\n"), true},
		{"tui", write("top/tui.json", `{"mouse": false}`), true},
		{"managed", write("etc/lathe/lathe.json", `{}`), true},
		{"variable of lathe", func() { w.env["LATHE_CONFIG_CONTENT"] = `{}` }, true},
		{"variable taken in", func() { w.env["SHARE"] = "" }, true},
		{"another variable", func() { w.env["EDITOR"] = "vi" }, false},
		{"trust", func() { trusted = true }, true},
		{"trust as it was", func() {}, false},
	} {
		c.change()
		if got := load(); got != c.fresh {
			t.Errorf("%d %s: read anew %v, want %v", i, c.name, got, c.fresh)
		}
		if load() {
			t.Fatalf("%d %s: read anew once more", i, c.name)
		}
	}
	l.Forget(w.options().Directory)
	equal(t, load(), true)
	o := w.options()
	o.Home = w.path("elsewhere")
	if _, fresh, _ := l.Load(o); !fresh {
		t.Error("other options, same settings")
	}
}

// A file that was written just before it was read may be written again in the same tick
// of the clock; so it is read once more.
func TestLoader_SameTick(t *testing.T) {
	w := newFixture(t)
	w.write("top/lathe.json", `{"model": "a/b"}`)
	now := time.Now()
	stamp := func() {
		if err := os.Chtimes(w.path("top/lathe.json"), now, now); err != nil {
			t.Fatal(err)
		}
	}
	stamp()
	l := NewLoader()
	if _, _, err := l.Load(w.options()); err != nil {
		t.Fatal(err)
	}
	w.write("top/lathe.json", `{"model": "c/d"}`) // same inode, size and time
	stamp()
	got, _, err := l.Load(w.options())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got.Config.Model, "c/d")
}

// An error is kept too, and gone when the file is repaired.
func TestLoader_Error(t *testing.T) {
	w := newFixture(t)
	w.write("top/lathe.json", `{"model": 5}`)
	l := NewLoader()
	for _, fresh := range []bool{true, false} {
		if loaded, got, err := l.Load(w.options()); err != nil || len(loaded.Broken) != 1 || got != fresh {
			t.Errorf("fresh %v, error %v", got, err)
		}
	}
	w.write("top/lathe.json", `{"model": "a/b"}`)
	if got, fresh, err := l.Load(w.options()); err != nil || !fresh || got.Config.Model != "a/b" {
		t.Error(fresh, err)
	}
}

// A file that is replaced between the look at it and the reading is still read whole.
func TestDisk_ReplacedWhileReading(t *testing.T) {
	w := newFixture(t)
	for _, content := range []string{"much longer than before", "short", ""} {
		w.write("f", "as it was")
		d := newFileReader()
		if !d.isFile(w.path("f")) {
			t.Fatal("no file")
		}
		w.write("f", content)
		text, err := d.read(w.path("f"))
		equal(t, string(text), content)
		equal(t, err, nil)
	}
}

// Many ask at once while files change; no reader sees half of a file.
func TestLoader_Parallel(t *testing.T) {
	w := newFixture(t)
	w.write("top/lathe.json", `{"model": "m/0", "small_model": "m/0"}`)
	l := NewLoader()
	o := w.options()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				got, _, err := l.Load(o)
				if err != nil {
					t.Error(err)
					return
				}
				if got.Config.Model != got.Config.SmallModel {
					t.Errorf("%s and %s", got.Config.Model, got.Config.SmallModel)
					return
				}
			}
		})
	}
	for i := range 50 {
		model := fmt.Sprintf("m/%d", i)
		if err := Edit(w.path("top/lathe.json"), []byte(fmt.Sprintf(`{"model": %q, "small_model": %q}`, model, model))); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	got, _, err := l.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got.Config.Model, "m/49")
}

// What plugins add counts like the user's own, below the administrator's, and is read again
// when it becomes another.
func TestLoad_Added(t *testing.T) {
	w := newFixture(t)
	w.files(`
-- top/lathe.json --
{"model": "a/b", "agent": {"plan": {"steps": 3}}}
-- managed/opencode.json --
{"share": "disabled"}
`)
	o := w.options()
	o.Managed = []string{w.path("managed")}
	o.FromPlugins = `{"agent": {"plan": {"steps": 9}, "helper": {"prompt": "Help."}}, "share": "auto", "command": {"x": {"template": "Do."}}}`
	l := NewLoader()
	loaded, _, err := l.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	c := loaded.Config
	if c.Agents["plan"].Steps != 9 || c.Agents["helper"].Prompt != "Help." || c.Share != "disabled" || c.Model != "a/b" || !loaded.IsTrustedCommand("x") {
		t.Errorf("%+v", c)
	}
	if _, fresh, _ := l.Load(o); fresh {
		t.Error("read again although nothing changed")
	}
	o.FromPlugins = `{"agent": 3}`
	if _, fresh, err := l.Load(o); !fresh || err == nil || !strings.Contains(err.Error(), "added by plugins") {
		t.Errorf("%v %v", fresh, err)
	}
}

// Files that were written and say the same give the same value: others compare it.
func TestLoader_SameValue(t *testing.T) {
	w := newFixture(t)
	w.files(`
-- top/lathe.json --
{"model": "a/b"}
`)
	l := NewLoader()
	load := func() *Loaded {
		t.Helper()
		out, fresh, err := l.Load(w.options())
		if err != nil || !fresh {
			t.Fatal("not read anew", err)
		}
		return out
	}
	first := load()
	w.write("top/lathe.json", `{ "model": "a/b" }`)
	if load() != first {
		t.Error("another value for the same settings")
	}
	w.write("top/lathe.json", `{"model": "a/c"}`)
	if load() == first {
		t.Error("the same value for other settings")
	}
}
