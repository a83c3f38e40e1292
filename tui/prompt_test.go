package tui

import (
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// Several files that are dropped at once are several files in the prompt, if they are all there and whoever answers
// has them.
func TestPrompt_Dropped(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	picture := filepath.Join(elsewhere, "a b.png")
	for path, data := range map[string]string{filepath.Join(dir, "main.go"): "package main", picture: "\x89PNG\r\n\x1a\n", filepath.Join(elsewhere, "c.txt"): "c"} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	all := dir + "/main.go '" + picture + "' " + dir + "/docs"
	for _, tt := range []struct {
		name, text string
		remote     bool
		want       string
	}{
		{"all there", all, false, "@main.go [Image 1] @docs/ "},
		{"elsewhere", dir + "/main.go " + elsewhere + "/c.txt", false, "@main.go @" + elsewhere + "/c.txt "},
		{"one is not there", "/etc/none-such.go " + dir + "/main.go", false, "/etc/none-such.go " + dir + "/main.go"},
		{"on a server", all, true, all},
		{"pictures on a server", "'" + picture + "' '" + picture + "'", true, "[Image 1] [Image 2] "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := sample()
			e.info.Directory = dir
			onStage(t, e, Options{ReadFile: os.ReadFile, Remote: tt.remote}, func(s *stage) {
				s.p.drafts.edit.SetPasteSummary(false) // some folders have long names
				s.send(tea.PasteMsg{Content: tt.text})
				s.settle()
				if got := s.p.drafts.edit.Text(); got != tt.want {
					t.Errorf("the prompt has %q, not %q", got, tt.want)
				}
			})
		})
	}
}
