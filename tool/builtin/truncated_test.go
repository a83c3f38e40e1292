package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/tool/web"
)

// cutSlack is what may be around what is kept of an output: the mark, the way to the rest, and
// the lines a tool puts above and below.
const cutSlack = 800

// longTexts are what tools of any kind may give, none of which fits.
func longTexts() map[string]string {
	var lines, wide strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	for i := range 60 { // they differ: a command's equal lines are folded
		fmt.Fprintf(&wide, "é%d%s\n", i, strings.Repeat("é", 3000))
	}
	return map[string]string{
		"lines":           lines.String(),
		"one line":        "FIRST" + strings.Repeat("x", 1<<20) + "LAST",
		"wide characters": strings.Repeat("äöü€😀", 40_000),
		"odd and wide":    "x" + strings.Repeat("€", 40_000),
		"long lines":      wide.String(),
		"empty lines":     strings.Repeat("\n", 60_000),
		"few bytes over":  strings.Repeat("x", tool.DefaultBytes+1),
		"one line over":   strings.Repeat("x\n", tool.DefaultLines) + "x",
	}
}

// TestTruncation_Cut holds for the output of any tool, from its start and from its end, in limits
// of several sizes: what is shown is valid and within the limits, and the file has all of it.
func TestTruncation_Cut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range longTexts() {
		for _, limits := range []tool.Limits{{}, {Lines: 10}, {Bytes: 100}, {Lines: 3, Bytes: 7}, {Lines: 1, Bytes: 1}} {
			for _, tail := range []bool{false, true} {
				r, err := tool.Output{Dir: dir, Limits: limits}.Cut(tool.Spec{Name: "any", Tail: tail}, tool.Result{Output: text})
				what := fmt.Sprintf("%s, %+v, tail %v", name, limits, tail)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				wholeIn(t, what, r, text)
				most, lines := limits.Bytes, limits.Lines
				if most == 0 {
					most = tool.DefaultBytes
				}
				if lines == 0 {
					lines = tool.DefaultLines
				}
				if len(r.Output) > most+cutSlack || strings.Count(r.Output, "\n") > lines+6 || !utf8.ValidString(r.Output) {
					t.Errorf("%s: %d bytes, %d lines, valid: %v", what, len(r.Output), strings.Count(r.Output, "\n"), utf8.ValidString(r.Output))
				}
				if edge := min(most, 5); most >= 8 && !tail && !strings.HasPrefix(r.Output, strings.ToValidUTF8(text[:edge], "")) {
					t.Errorf("%s: the beginning is lost: %.60q", what, r.Output)
				} else if most >= 8 && tail && !strings.HasSuffix(r.Output, strings.ToValidUTF8(text[len(text)-edge:], "")) {
					t.Errorf("%s: the end is lost: %q", what, r.Output[max(0, len(r.Output)-60):])
				}
			}
		}
	}
}

// wholeIn fails unless a result says that it was cut and where all of it is.
func wholeIn(t *testing.T, what string, r tool.Result, want string) {
	t.Helper()
	var meta struct {
		Truncated  bool   `json:"truncated"`
		OutputPath string `json:"outputPath"`
	}
	if err := json.Unmarshal(r.Metadata, &meta); err != nil || !meta.Truncated {
		t.Errorf("%s: %v, %.200s", what, err, r.Metadata)
		return
	}
	whole, err := os.ReadFile(meta.OutputPath)
	if err != nil || string(whole) != want || !strings.Contains(r.Output, meta.OutputPath) {
		t.Errorf("%s: the file has %d of %d bytes, %v", what, len(whole), len(want), err)
	}
}

// TestTruncation_Tools has every tool that can give much give too much: it cuts that itself and
// says how to get the rest, or the engine cuts it.
func TestTruncation_Tools(t *testing.T) {
	t.Parallel()
	d := tooltest.NewHost(t)
	long := longTexts()
	page := strings.Repeat("<p>"+strings.Repeat("word € ", 50)+"</p>\n", 2000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, "<html><body><h1>FIRST</h1>", page, "</body></html>")
	}))
	t.Cleanup(server.Close)
	d.Put("lines.txt", long["lines"])
	d.Put("one.txt", long["one line"])
	d.Put("wide.txt", long["long lines"])
	for i := range 3000 {
		d.Put(fmt.Sprintf("many/a-rather-long-name-of-a-file-%d", i), "")
	}
	out := tool.Output{Dir: t.TempDir()}
	for _, tt := range []struct {
		name string
		tool tool.Tool
		in   tooltest.Input
		has  []string // of what the model sees
	}{
		{"read lines", builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "lines.txt"}, []string{"\n1: line 0\n", "2000: line 1999", "offset"}},
		{"read one line", builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "one.txt"}, []string{"1: FIRST"}},
		{"read wide lines", builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "wide.txt"}, []string{"1: é0éé", "offset"}},
		{"read names", builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "many"}, []string{"a-rather-long-name-of-a-file-0", "offset"}},
		{"glob", builtin.Glob(builtin.FilesConfig{}), tooltest.Input{"pattern": "many/*"}, []string{"a-rather-long-name-of-a-file-0", "3000 files match"}},
		{"grep", builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "line"}, []string{"Line 1: line 0", "30000 matches"}},
		{"grep one line", builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "LAST"}, []string{"LAST"}},
		{"webfetch", web.Fetch(web.Config{AllowPrivate: true}), tooltest.Input{"url": server.URL}, []string{"FIRST", "word €", "The whole output is in "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := out.Cut(tt.tool.Spec(), d.Must(tt.tool, tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Output) > tool.DefaultBytes+cutSlack || strings.Count(r.Output, "\n") > tool.DefaultLines+10 || !utf8.ValidString(r.Output) {
				t.Errorf("%d bytes, %d lines", len(r.Output), strings.Count(r.Output, "\n"))
			}
			for _, s := range tt.has {
				if !strings.Contains(r.Output, s) {
					t.Errorf("no %q in %.200s … %s", s, r.Output, r.Output[max(0, len(r.Output)-300):])
				}
			}
			if !strings.Contains(string(r.Metadata), `"truncated":`) {
				t.Errorf("not known whether it was cut: %.200s", r.Metadata)
			}
		})
	}
}

// TestTruncation_Bash has a command print too much of several kinds. Both ends are there, and the
// file has every byte, also those that no text has.
func TestTruncation_Bash(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh on this machine")
	}
	runner := sandbox.Open(sandbox.Config{})
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	d := tooltest.NewHost(t)
	cfg := bash.Config{Runner: runner, Shell: "/bin/sh", Env: os.Environ(), Output: tool.Output{Dir: t.TempDir()}}
	bash := bash.New(cfg)
	texts := longTexts()
	var random strings.Builder
	for i := range 200_000 {
		random.WriteByte(byte(i * i >> 3))
	}
	texts["binary"] = "FIRST\n" + random.String() + "\nLAST\n"
	for _, name := range []string{"lines", "one line", "wide characters", "odd and wide", "long lines", "binary"} {
		t.Run(name, func(t *testing.T) {
			text := texts[name]
			d.Put("print.txt", text)
			r := d.Must(bash, tooltest.Input{"command": "cat print.txt"})
			if r, err := (tool.Output{Dir: t.TempDir()}).Cut(bash.Spec(), r); err != nil || len(r.Output) > 30<<10+cutSlack || !utf8.ValidString(r.Output) {
				t.Errorf("%v, %d bytes, valid: %v", err, len(r.Output), utf8.ValidString(r.Output))
			}
			wholeIn(t, name, r, text)
			first, last := strings.ToValidUTF8(text[:5], ""), strings.ToValidUTF8(text[len(text)-6:], "")
			if at := strings.Index(r.Output, "left out"); !strings.HasPrefix(r.Output, first) || !strings.Contains(r.Output[max(0, at):], strings.TrimSuffix(last, "\n")) || at < 0 {
				t.Errorf("an end is lost: %.100q … %q", r.Output, r.Output[max(0, len(r.Output)-200):])
			}
		})
	}
	if _, err := runner.Run(context.Background(), sandbox.Command{Path: "/bin/sh", Args: []string{"-c", "true"}, Dir: d.Dir}, func([]byte) {}); err != nil {
		t.Errorf("the runner is of no use any more: %v", err)
	}
}
