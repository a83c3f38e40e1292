package sidebar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/sidebar"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
	"pgregory.net/rapid"
)

func sample() sidebar.Values {
	return sidebar.Values{
		Title: "Make the parser accept comments at the end of a line", Share: "https://example.com/s/abc123",
		Tokens: 48_231, Window: 200_000, Cost: 0.42,
		Servers: []lathe.ToolServer{
			{Name: "browser", Status: "connected", Tools: 12},
			{Name: "tickets", Status: "needs_auth"},
			{Name: "broken", Status: "failed", Error: "connection refused"},
			{Name: "quiet", Status: "disabled"},
		},
		Languages: []api.LanguageServer{
			{ID: "gopls", State: "running", Memory: 312 << 20, Errors: 3},
			{ID: "pyright", State: "running", Memory: 190 << 20},
			{ID: "rust", State: "off", Reason: "is off, since it failed twice: it ended with code 101"},
			{ID: "bash", State: "starting"},
			{ID: "clangd", State: "idle"},
		},
		Todos: []lathe.Todo{
			{Content: "Read the grammar", Status: "completed"},
			{Content: "Change the lexer so that it keeps comments", Status: "in_progress"},
			{Content: "Add tests", Status: "pending"},
			{Content: "Rewrite everything", Status: "cancelled"},
		},
		Files:     []lathe.FileDiff{{File: "parser/lexer.go", Additions: 41, Deletions: 7}, {File: "some/where/very/deep/in/the/tree/of/folders/parser_test.go", Additions: 1200}},
		Directory: "~/code/parser", Branch: "comments", Version: "0.9.0",
	}
}

func TestGolden(t *testing.T) {
	th := style.Default(true)
	styletest.Frames(t, "full", func(width int) []style.Line {
		var s sidebar.Sidebar
		return s.View(th, sample(), min(width, sidebar.Width), 40)
	})
	styletest.Frames(t, "low", func(width int) []style.Line { // scrolled, in a low window
		var s sidebar.Sidebar
		s.View(th, sample(), min(width, sidebar.Width), 16)
		s.Wheel(5)
		return s.View(th, sample(), min(width, sidebar.Width), 16)
	})
	styletest.Frames(t, "new", func(width int) []style.Line {
		var s sidebar.Sidebar
		v := sidebar.Values{Hint: "No provider is connected. Type /connect to log in.", Directory: "~/work", Version: "0.9.0"}
		return s.View(th, v, width, 16)
	})
}

// rowOf finds a row by its text.
func rowOf(t *testing.T, rows []style.Line, text string) int {
	t.Helper()
	for y, row := range rows {
		if strings.Contains(row.Text(), text) {
			return y
		}
	}
	t.Fatalf("%q is not there:\n%s", text, style.Text(rows))
	return -1
}

// Engines need not tell how many tools a server has.
func TestServers_Tools(t *testing.T) {
	for n, want := range map[int]string{0: "● files connected", 1: "● files 1 tool", 2: "● files 2 tools"} {
		v := sidebar.Values{Servers: []lathe.ToolServer{{Name: "files", Status: "connected", Tools: n}}}
		var s sidebar.Sidebar
		rows := s.View(style.Default(true), v, sidebar.Width, 20)
		if got := strings.TrimSpace(rows[rowOf(t, rows, "files")].Text()); got != want {
			t.Errorf("%d tools: %q, want %q", n, got, want)
		}
	}
}

func TestClick(t *testing.T) {
	th := style.Default(true)
	var s sidebar.Sidebar
	rows := s.View(th, sample(), sidebar.Width, 40)
	if out := s.Click(3, rowOf(t, rows, "▼ MCP")); !out.Handled {
		t.Errorf("the heading: %+v", out)
	}
	rows = s.View(th, sample(), sidebar.Width, 40)
	if text := style.Text(rows); strings.Contains(text, "browser") || !strings.Contains(text, "▶ MCP 4") {
		t.Errorf("not folded:\n%s", text)
	}
	if out := s.Click(3, rowOf(t, rows, "▶ MCP")); !out.Handled {
		t.Errorf("the heading again: %+v", out)
	}
	rows = s.View(th, sample(), sidebar.Width, 40)
	rowOf(t, rows, "browser")
	if out := s.Click(3, rowOf(t, rows, "lexer.go")); out.File != "parser/lexer.go" {
		t.Errorf("a file: %+v", out)
	}
	for _, text := range []string{"Modified files", "Context", "~/code/parser"} { // two entries are no list to fold
		if out := s.Click(3, rowOf(t, rows, text)); out.Handled {
			t.Errorf("%s: %+v", text, out)
		}
	}
	if out := s.Click(0, -1); out.Handled {
		t.Errorf("above: %+v", out)
	}
}

// What is clicked is what is seen, scrolled or not.
func TestClick_Scrolled(t *testing.T) {
	th := style.Default(true)
	var s sidebar.Sidebar
	s.View(th, sample(), sidebar.Width, 18)
	s.Wheel(1000)
	rows := s.View(th, sample(), sidebar.Width, 18)
	if out := s.Click(3, rowOf(t, rows, "parser_test.go")); !strings.HasSuffix(out.File, "/parser_test.go") {
		t.Errorf("got %+v:\n%s", out, style.Text(rows))
	}
	s.Wheel(-1000)
	rows = s.View(th, sample(), sidebar.Width, 18)
	if out := s.Click(3, rowOf(t, rows, "↓ more")); !out.Handled || out.File != "" || style.Text(rows) == style.Text(s.View(th, sample(), sidebar.Width, 18)) {
		t.Errorf("the line that says there is more: %+v", out)
	}
	s.Wheel(-1000)
	if text := style.Text(s.View(th, sample(), sidebar.Width, 18)); !strings.Contains(text, "Make the parser") || !strings.Contains(text, "↓ more") {
		t.Errorf("not at the top:\n%s", text)
	}
}

func TestView_Todos(t *testing.T) {
	v := sidebar.Values{Todos: []lathe.Todo{{Content: "done", Status: "completed"}, {Content: "dropped", Status: "cancelled"}}}
	var s sidebar.Sidebar
	if text := style.Text(s.View(style.Default(true), v, 42, 30)); strings.Contains(text, "Todo") {
		t.Errorf("nothing is left to do:\n%s", text)
	}
}

func TestView_Colors(t *testing.T) {
	th := style.Default(false)
	var s sidebar.Sidebar
	rows := s.View(th, sample(), sidebar.Width, 40)
	for text, want := range map[string]style.Color{"+41": th.DiffAdded, "−7": th.DiffRemoved, "[•]": th.Warning, "Context": th.Text, "█": th.Success, "https://": th.Info} {
		if got := styletest.Look(t, rows, text); got.FG != want || !got.BG.IsSet() {
			t.Errorf("%s is %v on %v, want %v", text, got.FG, got.BG, want)
		}
	}
	for tokens, want := range map[int64]style.Color{1000: th.Success, 160_000: th.Warning, 190_000: th.Error, 900_000: th.Error} {
		v := sample()
		v.Tokens = tokens
		if got := styletest.Look(t, s.View(th, v, sidebar.Width, 40)[5:8], "of 200K").FG; got != th.TextMuted {
			t.Errorf("words: %v", got)
		}
		for _, row := range s.View(th, v, sidebar.Width, 40)[6:8] {
			if len(row) > 1 && strings.ContainsAny(row[1].Text, "█▏▎▍") && row[1].Attr.FG != want {
				t.Errorf("bar at %d: %v, want %v", tokens, row[1].Attr.FG, want)
			}
		}
	}
}

func TestView_Exact(t *testing.T) {
	text := rapid.OneOf(rapid.SampledFrom(append(styletest.Hostile(), styletest.Megabyte())), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		v := sample()
		v.Title, v.Share, v.Directory, v.Hint = text.Draw(t, "title"), text.Draw(t, "share"), text.Draw(t, "dir"), text.Draw(t, "hint")
		v.Files[0].File, v.Todos[0].Content, v.Servers[0].Name = text.Draw(t, "file"), text.Draw(t, "todo"), text.Draw(t, "server")
		v.Tokens, v.Window = rapid.Int64().Draw(t, "tokens"), rapid.Int64().Draw(t, "window")
		w, h := rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 50).Draw(t, "h")
		var s sidebar.Sidebar
		for range 3 {
			rows := s.View(style.Default(true), v, w, h)
			if len(rows) != h {
				t.Fatalf("%d rows, want %d", len(rows), h)
			}
			for _, row := range rows {
				if row.Width() != w {
					t.Fatalf("row of %d, want %d: %q", row.Width(), w, row.Text())
				}
			}
			s.Click(rapid.IntRange(-1, 60).Draw(t, "x"), rapid.IntRange(-1, 60).Draw(t, "y"))
			s.Wheel(rapid.IntRange(-50, 50).Draw(t, "dy"))
		}
	})
}

func BenchmarkView(b *testing.B) {
	v := sample()
	for i := range 5000 {
		v.Files = append(v.Files, lathe.FileDiff{File: fmt.Sprintf("folder/file%d.go", i), Additions: i, Deletions: 1})
	}
	th := style.Default(true)
	var s sidebar.Sidebar
	b.ReportAllocs()
	for b.Loop() {
		s.View(th, v, sidebar.Width, 60)
	}
}
