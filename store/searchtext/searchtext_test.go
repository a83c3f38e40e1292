package searchtext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

func TestOf(t *testing.T) {
	input := json.RawMessage(`{"command":"go test ./...","opts":["-v",{"env":"CI=1\nx"}],"n":3}`)
	for name, c := range map[string]struct {
		body lathe.Body
		role string
		want []Text
	}{
		"prompt":       {&lathe.Text{Text: "hi"}, "user", []Text{{"prompt", "hi"}}},
		"answer":       {&lathe.Text{Text: "hi"}, "assistant", []Text{{"answer", "hi"}}},
		"overview":     {&lathe.Text{Text: "Project overview at the start of this session:\nhello.go", Synthetic: lathe.Yes}, "user", nil},
		"reminder":     {&lathe.Text{Text: "<system-reminder>\nplan\n</system-reminder>", Synthetic: lathe.Yes}, "user", nil},
		"attached":     {&lathe.Text{Text: "package main", Synthetic: lathe.Yes}, "user", []Text{{"prompt", "package main"}}},
		"own reminder": {&lathe.Text{Text: "<system-reminder>"}, "user", []Text{{"prompt", "<system-reminder>"}}},
		"empty":        {&lathe.Text{}, "user", nil},
		"reasoning":    {&lathe.Reasoning{Text: "hm"}, "assistant", nil},
		"file": {
			&lathe.File{Filename: "a.go", URL: "data:…", Source: &lathe.FileSource{Path: "pkg/a.go"}}, "user",
			[]Text{{"file", "a.go"}, {"file", "pkg/a.go"}},
		},
		"patch":   {&lathe.Patch{Files: []string{"a.go", "b.go"}}, "assistant", []Text{{"file", "a.go\nb.go"}}},
		"running": {&lathe.ToolCall{Tool: "bash", State: &lathe.Running{Input: input}}, "assistant", nil},
		"completed": {
			&lathe.ToolCall{Tool: "bash", State: &lathe.Completed{Input: input, Output: "ok"}}, "assistant",
			[]Text{{"tool input", "go test ./...\n-v\nCI=1\nx"}, {"tool output", "ok"}},
		},
		"failed": {
			&lathe.ToolCall{Tool: "bash", State: &lathe.Failed{Input: json.RawMessage(`{"a":`), Error: "no"}}, "assistant",
			[]Text{{"tool input", `{"a":`}, {"tool output", "no"}},
		},
		"large": {&lathe.Text{Text: strings.Repeat("é", 1<<20)}, "user", []Text{{"prompt", strings.Repeat("é", 1<<19)}}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, Of(c.body, c.role)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWords(t *testing.T) {
	call := lathe.Part{Body: &lathe.ToolCall{Tool: "mcp_x-y", State: &lathe.Completed{Output: "Done"}}}
	if d := cmp.Diff(append([]string{"done"}, Filters("", "", "mcp_x-y")...), Words(call)); d != "" {
		t.Error(d)
	}
	growing := lathe.Part{Body: &lathe.Text{Text: "not yet", Time: &lathe.Span{Start: 1}}}
	if got := Words(growing); got != nil {
		t.Errorf("a growing text has the words %q", got)
	}
}

func TestFilters(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range append(Filters("a", "a", "a", "a", "b"), Filters("", "b", "b")...) {
		if seen[w] || !strings.HasPrefix(w, "§") || strings.ContainsAny(w, " \"") {
			t.Errorf("word %q", w)
		}
		seen[w] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d words", len(seen))
	}
}
