package tool_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"pgregory.net/rapid"
)

// firstIDs always makes the same ids.
func firstIDs() *lathe.IDs {
	return lathe.NewIDsFrom(func() lathe.Time { return 0 }, func(b []byte) { clear(b) })
}

const firstID = "tool_00000000000100000000000000"

func numbered(n int) string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprint(i+1))
	}
	return strings.Join(lines, "\n")
}

func TestOutput_Cut(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, firstID)
	grep := "The whole output is in " + path + ". Search it with grep, or read the lines that matter with offset and limit."
	task := "The whole output is in " + path + ". Let an explore agent search it (task: grep the file, read the lines that matter) and report; do not read all of it yourself."
	after := func(shown, marker, hint string) string {
		return shown + "\n\n..." + marker + " truncated...\n\n" + hint
	}
	before := func(shown, marker, hint string) string {
		return "..." + marker + " truncated...\n\n" + hint + "\n\n" + shown
	}
	tests := []struct {
		name   string
		spec   tool.Spec
		out    tool.Output
		output string
		want   string // "" is the output as it was
	}{
		{"empty", tool.Spec{}, tool.Output{}, "", ""},
		{"exactly the lines", tool.Spec{}, tool.Output{Limits: tool.Limits{Lines: 3}}, "1\n2\n3", ""},
		{"exactly the bytes", tool.Spec{}, tool.Output{Limits: tool.Limits{Bytes: 5}}, "1\n2\n3", ""},
		{"default lines", tool.Spec{}, tool.Output{}, numbered(2000), ""},
		{"over the default lines", tool.Spec{}, tool.Output{}, numbered(2001), after(numbered(2000), "1 lines", grep)},
		{"default bytes", tool.Spec{}, tool.Output{}, strings.Repeat("x", 51200), ""},
		{"over the default bytes", tool.Spec{}, tool.Output{}, strings.Repeat("x", 51201), after(strings.Repeat("x", 51200), "1 bytes", grep)},
		{"the last line break counts as a line", tool.Spec{}, tool.Output{Limits: tool.Limits{Lines: 2}}, "1\n2\n", after("1\n2", "1 lines", grep)},
		{"lines, with a task", tool.Spec{}, tool.Output{Limits: tool.Limits{Lines: 2}, Task: true}, numbered(5), after("1\n2", "3 lines", task)},
		{"bytes: whole lines", tool.Spec{}, tool.Output{Limits: tool.Limits{Bytes: 6}}, "ab\ncd\nef\ngh", after("ab\ncd", "6 bytes", grep)},
		{"bytes: the joining break counts", tool.Spec{}, tool.Output{Limits: tool.Limits{Bytes: 4}}, "ab\ncd", after("ab", "3 bytes", grep)},
		{"both, lines first", tool.Spec{}, tool.Output{Limits: tool.Limits{Lines: 1, Bytes: 4}}, "ab\ncd", after("ab", "1 lines", grep)},
		{"both, bytes first", tool.Spec{}, tool.Output{Limits: tool.Limits{Lines: 2, Bytes: 4}}, "ab\ncd\ne", after("ab", "5 bytes", grep)},
		{"first line too long", tool.Spec{}, tool.Output{Limits: tool.Limits{Bytes: 5}}, "ääää\nb", after("ää", "6 bytes", grep)},
		{"empty line, then one too long", tool.Spec{}, tool.Output{Limits: tool.Limits{Bytes: 6}}, "\nääää\nb", after("\nää", "6 bytes", grep)},
		{"tail: lines", tool.Spec{Tail: true}, tool.Output{Limits: tool.Limits{Lines: 2}}, numbered(5), before("4\n5", "3 lines", grep)},
		{"tail: bytes", tool.Spec{Tail: true}, tool.Output{Limits: tool.Limits{Bytes: 6}}, "ab\ncd\nef\ngh", before("ef\ngh", "6 bytes", grep)},
		{"tail: last line too long", tool.Spec{Tail: true}, tool.Output{Limits: tool.Limits{Bytes: 5}}, "b\nääää", before("ää", "6 bytes", grep)},
		{"tail: last line too long, with its break", tool.Spec{Tail: true}, tool.Output{Limits: tool.Limits{Bytes: 5}}, "ääää\n", before("ää\n", "4 bytes", grep)},
		{"four bytes in one character", tool.Spec{}, tool.Output{Limits: tool.Limits{Bytes: 3}}, "😀😀", after("", "8 bytes", grep)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_ = os.Remove(path)
			tt.out.Dir, tt.out.IDs = dir, firstIDs()
			got, err := tt.out.Cut(tt.spec, tool.Result{Title: "t", Output: tt.output, Metadata: json.RawMessage(`{"a":1}`)})
			if err != nil {
				t.Fatal(err)
			}
			want := tool.Result{Title: "t", Output: tt.output, Metadata: json.RawMessage(`{"a":1,"truncated":false}`)}
			shown, err := os.ReadFile(path)
			if tt.want != "" {
				want.Output = tt.want
				want.Metadata = json.RawMessage(`{"a":1,"truncated":true,"outputPath":"` + path + `"}`)
				if err != nil || string(shown) != tt.output {
					t.Errorf("the file holds %d bytes, %v; want %d", len(shown), err, len(tt.output))
				}
			} else if err == nil {
				t.Error("a file was written for nothing")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOutput_CutFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "tool-output")
	_, err := tool.Output{Dir: dir, Limits: tool.Limits{Lines: 1}}.Cut(tool.Spec{}, tool.Result{Output: "a\nb"})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v; want one file", entries, err)
	}
	info, err := entries[0].Info()
	if err != nil || info.Mode().Perm() != 0o600 || lathe.CheckID(lathe.PrefixTool, info.Name()) != nil {
		t.Fatalf("%v %v %v", info.Name(), info.Mode(), err)
	}
}

func TestOutput_CutLeavesWhatTheToolCut(t *testing.T) {
	for _, meta := range []string{`{"truncated":true}`, `{"truncated":false,"x":1}`, `{"truncated":null}`} {
		want := tool.Result{Output: "a\nb", Metadata: json.RawMessage(meta)}
		got, err := tool.Output{Dir: t.TempDir(), Limits: tool.Limits{Lines: 1}}.Cut(tool.Spec{}, want)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	}
}

func TestOutput_CutWhenNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := tool.Output{Dir: file, Limits: tool.Limits{Lines: 1}}.Cut(tool.Spec{}, tool.Result{Output: "a\nb"})
	if err == nil || !strings.Contains(err.Error(), "keep a long output") {
		t.Errorf("error %v", err)
	}
	want := tool.Result{
		Output:   "a\n\n...1 lines truncated...\n\nThe rest is lost: it could not be written to a file. Run a narrower call to see it.",
		Metadata: json.RawMessage(`{"truncated":true}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOutput_CutWithBadMetadata(t *testing.T) {
	for _, meta := range []string{`[1]`, `{"a"`, `null`} {
		got, err := tool.Output{}.Cut(tool.Spec{Name: "x"}, tool.Result{Output: "a", Metadata: json.RawMessage(meta)})
		if lathe.CodeOf(err) != lathe.Internal || string(got.Metadata) != `{"truncated":false}` || got.Output != "a" {
			t.Errorf("%s: %+v, %v", meta, got, err)
		}
	}
}

// What is shown is a piece of the output from its start (or end), within both limits, and the
// counts add up.
func TestOutput_PropCut(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[aä😀]{0,6}`), 0, 8).Draw(t, "lines"), "\n")
		limits := tool.Limits{Lines: rapid.IntRange(1, 8).Draw(t, "most lines"), Bytes: rapid.IntRange(1, 40).Draw(t, "most bytes")}
		tail := rapid.Bool().Draw(t, "tail")
		r, err := tool.Output{Dir: dir, Limits: limits}.Cut(tool.Spec{Tail: tail}, tool.Result{Output: text})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(text, "\n") + 1
		fits := lines <= limits.Lines && len(text) <= limits.Bytes
		if fits {
			if r.Output != text {
				t.Fatalf("%q was changed to %q", text, r.Output)
			}
			return
		}
		at := strings.Index(r.Output, "...") + 3
		var n int
		var unit string
		if _, err := fmt.Sscanf(r.Output[at:], "%d %s truncated...", &n, &unit); err != nil {
			t.Fatal(r.Output, err)
		}
		shown := strings.TrimSuffix(r.Output[:at-3], "\n\n")
		if tail {
			_, shown, _ = strings.Cut(r.Output, "limit.\n\n")
		}
		switch {
		case !utf8.ValidString(shown), len(shown) > limits.Bytes, strings.Count(shown, "\n")+1 > limits.Lines,
			tail && !strings.HasSuffix(text, shown), !tail && !strings.HasPrefix(text, shown):
			t.Fatalf("%q cut to %q by %+v", text, shown, limits)
		case unit == "bytes" && n != len(text)-len(shown), unit == "lines" && n != lines-strings.Count(shown, "\n")-1:
			t.Fatalf("%q cut to %q: %d %s", text, shown, n, unit)
		}
	})
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	for name, age := range map[string]time.Duration{
		"tool_old": 8 * 24 * time.Hour, "tool_half.part": 8 * 24 * time.Hour, "tool_new": 6 * 24 * time.Hour,
		"other": 9 * 24 * time.Hour, "toolbox": 9 * 24 * time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	folder, old := filepath.Join(dir, "tool_dir"), now.Add(-9*24*time.Hour)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(folder, old, old); err != nil {
		t.Fatal(err)
	}
	n, err := tool.Prune(dir, now.Add(-7*24*time.Hour))
	if n != 2 || err != nil {
		t.Fatalf("pruned %d, %v; want 2", n, err)
	}
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if diff := cmp.Diff([]string{"other", "tool_dir", "tool_new", "toolbox"}, left); diff != "" {
		t.Fatal(diff)
	}
}

func TestPrune_NoFolder(t *testing.T) {
	if n, err := tool.Prune(filepath.Join(t.TempDir(), "gone"), time.Now()); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Prune(file, time.Now()); err == nil {
		t.Fatal("no error for a file in place of the folder")
	}
}
