package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lathe-agent/lathe"
)

// Each file of testdata/errors has settings and what is said about them: on the command
// line, and by the HTTP API.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a := txtar.Parse(text)
			w := newFixture(t)
			var settings []txtar.File
			for _, f := range a.Files {
				if f.Name != "cli" && f.Name != "http" {
					w.write(f.Name, string(f.Data))
					settings = append(settings, f)
				}
			}
			bad := w.fail()
			var wire bytes.Buffer
			if err := json.Indent(&wire, bad.Wire(), "", "  "); err != nil {
				t.Fatal(err)
			}
			a.Files = append(settings,
				txtar.File{Name: "cli", Data: []byte(w.short(bad.Error()) + "\n")},
				txtar.File{Name: "http", Data: []byte(w.short(wire.String()) + "\n")})
			golden(t, file, string(txtar.Format(a)))
			equal(t, lathe.CodeOf(bad), lathe.Invalid)
		})
	}
}

func TestNearest(t *testing.T) {
	for word, want := range map[string]string{
		"modle": "model", "permissions": "permission", "agents": "agent", "Providers": "provider", "smallModel": "small_model",
		"instruction": "instructions", "mpc": "mcp", "disabledproviders": "disabled_providers", "xyz": "", "a": "", "": "",
		strings.Repeat("model", 100): "", "ab": "",
	} {
		if got := nearest(word, settings().names()); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// A problem shows its line whatever is in it.
func TestProblem_Excerpt(t *testing.T) {
	for _, c := range []struct {
		text     string
		at       int
		line     string
		mark     int
		row, col int
	}{
		{"abc", 1, "abc", 1, 1, 2},
		{"", 0, "", 0, 1, 1},
		{"a\nb", 9, "b", 1, 2, 2},
		{"a\r\n\tb\x00c\r\n", 5, " b c", 2, 2, 3},
		{"é\xffx", 3, "é\uFFFDx", 2, 1, 3},
		{"\ufeffabc", 0, "abc", 0, 1, 1},
		{strings.Repeat("é", 500) + "!" + strings.Repeat("é", 500), 1000, strings.Repeat("é", 50) + "!" + strings.Repeat("é", 49), 50, 1, 501},
		{strings.Repeat("x", 300), 300, strings.Repeat("x", 100), 100, 1, 301},
	} {
		p := problemIn(&source{text: []byte(c.text)}, c.at, nil, "")
		if p.Source != c.line || p.mark != c.mark || p.Line != c.row || p.Column != c.col {
			t.Errorf("%q at %d: %+v", c.text, c.at, p)
		}
	}
}
