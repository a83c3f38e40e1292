package memory_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/memory"
)

func equal(t *testing.T, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// must unwraps what cannot fail here.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func fileOf(t *testing.T, dir, name string) string {
	t.Helper()
	return string(must[[]byte](t)(os.ReadFile(filepath.Join(dir, name))))
}

// Opening and reading leave no trace.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	m := memory.Open(dir)
	equal(t, must[memory.Settings](t)(m.Settings()), memory.Defaults())
	if got := must[[]editor.Draft](t)(m.History()); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
	check(t, m.SavePinned(t.Context(), "ses_1", true))
	info := must[os.FileInfo](t)(os.Stat(filepath.Join(dir, "session.json")))
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v", info.Mode())
	}
}

func TestNoFolder(t *testing.T) {
	t.Parallel()
	m, ctx := memory.Open(""), t.Context()
	is := memory.Defaults()
	is.Theme = "nord"
	check(t, m.SaveSettings(ctx, memory.Defaults(), is))
	check(t, m.SaveRecent(ctx, lathe.ModelRef{Provider: "p", Model: "m"}))
	check(t, m.SaveHistory(ctx, editor.Draft{Input: "x"}))
	check(t, m.SaveStash(ctx, editor.Draft{Input: "x"}, 1))
	if _, ok, err := m.PopStash(ctx); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	equal(t, must[memory.Settings](t)(m.Settings()), memory.Defaults())
	if _, err := os.Stat("kv.json"); !os.IsNotExist(err) {
		t.Error("something was written")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "kv.json", `{"theme": "nord", "sidebar": 7, "tips_hidden": true, "animations_enabled": null, "theme_mode": "dark", "theme_mode_lock": true, "of another": {"version": [1, 2]}}`)
	m := memory.Open(dir)
	want := memory.Defaults()
	want.Theme, want.TipsHidden, want.ThemeMode, want.ThemeModeLock = "nord", true, "dark", "dark"
	was := must[memory.Settings](t)(m.Settings())
	equal(t, was, want)

	other := was // another process, at the same time
	other.Theme = "gruvbox"
	check(t, memory.Open(dir).SaveSettings(t.Context(), was, other))
	is := was
	is.Sidebar, is.PasteSummary = "hide", false
	check(t, m.SaveSettings(t.Context(), was, is))
	want.Theme, want.Sidebar, want.PasteSummary = "gruvbox", "hide", false
	equal(t, must[memory.Settings](t)(m.Settings()), want)
	var all map[string]any
	check(t, json.Unmarshal([]byte(fileOf(t, dir, "kv.json")), &all))
	equal(t, all, map[string]any{
		"theme": "gruvbox", "sidebar": "hide", "tips_hidden": true, "animations_enabled": nil, "paste_summary_enabled": false,
		"theme_mode": "dark", "theme_mode_lock": true, "of another": map[string]any{"version": []any{1.0, 2.0}},
	})
}

// Every setting is written and read under one name.
func TestSettings_All(t *testing.T) {
	t.Parallel()
	m := memory.Open(t.TempDir())
	d := memory.Defaults()
	is := memory.Settings{
		Theme: "a", ThemeMode: "b", ThemeModeLock: "c", Sidebar: "d", Timestamps: "e", ThinkingMode: "f", DiffWrapMode: "g", SkippedVersion: "h",
		ToolDetails: !d.ToolDetails, AssistantMetadata: !d.AssistantMetadata, GenericToolOutput: !d.GenericToolOutput, Scrollbar: !d.Scrollbar,
		Animations: !d.Animations, FileContext: !d.FileContext, PasteSummary: !d.PasteSummary, TerminalTitle: !d.TerminalTitle,
		SessionDirectoryFilter: !d.SessionDirectoryFilter, TipsHidden: !d.TipsHidden, DismissedGettingStarted: !d.DismissedGettingStarted,
		ShareConsent: !d.ShareConsent,
	}
	check(t, m.SaveSettings(t.Context(), d, is))
	equal(t, must[memory.Settings](t)(m.Settings()), is)
}

// A file that is none is put aside when something is to be written, and never stands in the way.
func TestBroken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{", "[]", "null", "\x00\xff", `"x"`} {
		dir := t.TempDir()
		m := memory.Open(dir)
		for _, name := range []string{"kv.json", "model.json", "session.json"} {
			put(t, dir, name, text)
		}
		if s, err := m.Settings(); err == nil || s != memory.Defaults() {
			t.Errorf("%q: %v %v", text, s, err)
		}
		if _, err := m.Models(); err == nil {
			t.Errorf("%q: no word", text)
		}
		equal(t, fileOf(t, dir, "kv.json"), text) // who reads changes nothing
		is := memory.Defaults()
		is.Theme = "nord"
		check(t, m.SaveSettings(t.Context(), memory.Defaults(), is))
		check(t, m.SaveVariant(t.Context(), lathe.ModelRef{Provider: "p", Model: "m"}, "high"))
		check(t, m.SavePinned(t.Context(), "ses_1", true))
		equal(t, must[memory.Settings](t)(m.Settings()), is)
		equal(t, fileOf(t, dir, "kv.json.broken"), text)
		equal(t, fileOf(t, dir, "model.json.broken"), text)
	}
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "kv.json"), 0o700))
	if _, err := memory.Open(dir).Settings(); err == nil {
		t.Error("a folder was read")
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	put(t, dir, "model.json", `{"recent": [{"providerID": "a", "modelID": "1"}, 7, {"providerID": "", "modelID": "x"}, {"providerID": "a", "modelID": "1"}], "variant": {"a/1": "low", "b/2": 3}, "more": 1}`)
	m := memory.Open(dir)
	ref := func(p, name string) lathe.ModelRef { return lathe.ModelRef{Provider: p, Model: name} }
	equal(t, must[memory.Models](t)(m.Models()), memory.Models{Recent: []lathe.ModelRef{ref("a", "1")}, Variant: map[string]string{"a/1": "low"}})
	for i := range 12 {
		check(t, m.SaveRecent(ctx, ref("p", fmt.Sprint(i))))
	}
	check(t, m.SaveRecent(ctx, ref("p", "5")))
	check(t, m.SaveFavorite(ctx, ref("p", "5"), true))
	check(t, m.SaveFavorite(ctx, ref("p", "6"), true))
	check(t, m.SaveFavorite(ctx, ref("p", "5"), true))
	check(t, m.SaveFavorite(ctx, ref("p", "5"), false))
	check(t, m.SaveVariant(ctx, ref("p", "5"), "high"))
	check(t, m.SaveVariant(ctx, ref("a", "1"), ""))
	var recent []lathe.ModelRef
	for _, n := range []string{"5", "11", "10", "9", "8", "7", "6", "4", "3", "2"} {
		recent = append(recent, ref("p", n))
	}
	equal(t, must[memory.Models](t)(m.Models()), memory.Models{Recent: recent, Favorite: []lathe.ModelRef{ref("p", "6")}, Variant: map[string]string{"p/5": "high"}})
	if !strings.Contains(fileOf(t, dir, "model.json"), `"more": 1`) {
		t.Error("what another version wrote is gone")
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	m, ctx := memory.Open(t.TempDir()), t.Context()
	for _, id := range []lathe.SessionID{"ses_1", "ses_2", "ses_3", "ses_2"} {
		check(t, m.SavePinned(ctx, id, true))
	}
	check(t, m.SavePinned(ctx, "ses_1", false))
	check(t, m.SavePinned(ctx, "ses_9", false))
	equal(t, must[[]lathe.SessionID](t)(m.Pinned()), []lathe.SessionID{"ses_2", "ses_3"})
}

func TestHistory(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	m := memory.Open(dir)
	const most = editor.MaxHistory
	for i := range 2*most + 30 {
		check(t, m.SaveHistory(ctx, editor.Draft{Input: fmt.Sprintf("prompt %d\nof two lines", i), Mode: "shell", Cursor: 3}))
	}
	got := must[[]editor.Draft](t)(m.History())
	if len(got) != most || got[most-1].Input != "prompt 429\nof two lines" || got[0].Input != "prompt 230\nof two lines" || got[0].Mode != "shell" {
		t.Errorf("%d, from %v", len(got), got[0])
	}
	if n := strings.Count(fileOf(t, dir, "prompt-history.jsonl"), "\n"); n > 2*most {
		t.Errorf("%d lines", n)
	}
	big := editor.Token{Kind: editor.KindMedia, Text: "[Image 1]", Data: make([]byte, 1<<20)}
	small := editor.Token{Kind: editor.KindPaste, Text: "[Pasted ~3 lines]", Body: "a\nb\nc"}
	check(t, m.SaveHistory(ctx, editor.Draft{Input: "[Image 1] [Pasted ~3 lines]", Parts: []editor.DraftToken{{At: 0, Token: big}, {At: 10, Token: small}}}))
	got = must[[]editor.Draft](t)(m.History())
	equal(t, got[most-1], editor.Draft{Input: "[Image 1] [Pasted ~3 lines]", Parts: []editor.DraftToken{{At: 10, Token: small}}})
}

// Lines that are none cost nobody else; a line that was cut off does not take the next one with it.
func TestHistory_Broken(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	m := memory.Open(dir)
	put(t, dir, "prompt-history.jsonl", "{\"input\":\"one\"}\nnonsense\n\n{\"input\":\" \"}\n[]\n{\"input\":\"two\"}\n{\"input\":\"cut o")
	check(t, m.SaveHistory(ctx, editor.Draft{Input: "three"}))
	equal(t, must[[]editor.Draft](t)(m.History()), []editor.Draft{{Input: "one"}, {Input: "two"}, {Input: "three"}})
	for i := range 2 * editor.MaxHistory {
		check(t, m.SaveHistory(ctx, editor.Draft{Input: fmt.Sprint(i)}))
	}
	if !strings.Contains(fileOf(t, dir, "prompt-history.jsonl.broken"), "nonsense") || strings.Contains(fileOf(t, dir, "prompt-history.jsonl"), "nonsense") {
		t.Error("broken lines are not put aside")
	}
}

func TestStash(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	m := memory.Open(dir)
	for i := range 4 {
		check(t, m.SaveStash(ctx, editor.Draft{Input: fmt.Sprint(i), Cursor: 1}, lathe.Time(i)))
	}
	all := must[[]memory.Stashed](t)(m.Stash())
	if len(all) != 4 || all[1].Input != "1" || all[1].At != 1 || all[1].Cursor != 1 {
		t.Fatalf("%v", all)
	}
	check(t, m.DropStash(ctx, all[1]))
	check(t, m.DropStash(ctx, all[1])) // somebody else did it
	for _, want := range []string{"3", "2", "0"} {
		if s, ok, err := m.PopStash(ctx); err != nil || !ok || s.Input != want {
			t.Errorf("%v %v %v", s, ok, err)
		}
	}
	if s, ok, err := m.PopStash(ctx); err != nil || ok {
		t.Errorf("%v %v", s, err)
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	m := memory.Open(dir)
	var f memory.Mentions
	const day = 24 * 3600 * 1000
	for _, one := range []struct {
		path string
		at   lathe.Time
	}{{"/w/old", 0}, {"/w/old", 1}, {"/w/old", 2}, {"/w/new", 99 * day}, {"/w/often", 99 * day}, {"/w/often", 99 * day}} {
		f = f.Add(one.path, one.at)
		check(t, m.SaveMention(ctx, f, one.path))
	}
	read := must[memory.Mentions](t)(m.Mentions())
	name := func(file string) string { return "/w/" + file }
	files := []string{"a", "old", "b", "new", "often"}
	for _, known := range []memory.Mentions{f, read} {
		equal(t, memory.Sort(known, files, 100*day, name), []string{"often", "new", "old", "a", "b"})
	}
	equal(t, memory.Sort(memory.Mentions{}, files, 1, name), files)
	var lines strings.Builder
	for i := range 1995 {
		fmt.Fprintf(&lines, `{"path":"/w/%d","frequency":1,"lastOpen":%d}`+"\n", i, 200*day+i)
	}
	put(t, dir, "frecency.jsonl", fileOf(t, dir, "frecency.jsonl")+lines.String())
	f = f.Add("/w/2099", 300*day)
	check(t, m.SaveMention(ctx, f, "/w/2099"))
	if n := strings.Count(fileOf(t, dir, "frecency.jsonl"), "\n"); n != 1000 {
		t.Errorf("%d lines", n)
	}
	read = must[memory.Mentions](t)(m.Mentions())
	equal(t, memory.Sort(read, []string{"old", "2099"}, 300*day, name), []string{"2099", "old"})
}

// Many who write at once lose nothing of each other's.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			m := memory.Open(dir) // as another process
			for j := range 5 {
				id := lathe.SessionID(fmt.Sprintf("ses_%d_%d", i, j))
				if err := m.SavePinned(ctx, id, true); err != nil {
					t.Error(err)
				}
				if err := m.SaveHistory(ctx, editor.Draft{Input: string(id)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	m := memory.Open(dir)
	if got := must[[]lathe.SessionID](t)(m.Pinned()); len(got) != 40 {
		t.Errorf("%d pinned", len(got))
	}
	var inputs []string
	for _, d := range must[[]editor.Draft](t)(m.History()) {
		inputs = append(inputs, d.Input)
	}
	slices.Sort(inputs)
	if len(slices.Compact(inputs)) != 40 {
		t.Errorf("%d prompts", len(inputs))
	}
}

// Whatever stands in the files, reading and writing go on.
func TestAnything(t *testing.T) {
	t.Parallel()
	names := []string{"kv.json", "model.json", "session.json", "frecency.jsonl", "prompt-history.jsonl", "prompt-stash.jsonl"}
	top := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(top, "x")
		check(t, err)
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			`{"recent":{},"pinned":7,"variant":[]}`, "{\"input\":7}\n{\"input\":\"x\",\"parts\":[{\"at\":-1}]}\n", `{"path":"x","frequency":-1}`,
		})).Draw(rt, "text")
		for _, name := range names {
			put(t, dir, name, text)
		}
		m, ctx := memory.Open(dir), t.Context()
		check(t, m.SaveRecent(ctx, lathe.ModelRef{Provider: "p", Model: "m"}))
		check(t, m.SavePinned(ctx, "ses_x", true))
		check(t, m.SaveHistory(ctx, editor.Draft{Input: "kept"}))
		check(t, m.SaveStash(ctx, editor.Draft{Input: "kept"}, 1))
		if got, err := m.History(); err != nil || got[len(got)-1].Input != "kept" {
			rt.Fatalf("%v %v", got, err)
		}
		if got, ok, err := m.PopStash(ctx); err != nil || !ok || got.Input != "kept" {
			rt.Fatalf("%v %v", got, err)
		}
		if got, err := m.Models(); err != nil || len(got.Recent) != 1 {
			rt.Fatalf("%v %v", got, err)
		}
	})
}

func BenchmarkSaveHistory(b *testing.B) {
	m := memory.Open(b.TempDir())
	d := editor.Draft{Input: strings.Repeat("word ", 40)}
	for b.Loop() {
		if err := m.SaveHistory(b.Context(), d); err != nil {
			b.Fatal(err)
		}
	}
}
