package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const page = "../../docs/settings.md"

func TestSettingsPage(t *testing.T) {
	if err := run(page, true); err != nil {
		t.Error(err)
	}
}

// A page that says something else is noticed, and mended by writing it.
func TestSettingsPage_Changed(t *testing.T) {
	src, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(t.TempDir(), "settings.md")
	changed := strings.Replace(string(src), "| `subagent_depth` | whole number | 1 |", "| `subagent_depth` | whole number | 2 |", 1)
	if changed == string(src) {
		t.Fatal("the page has no row for subagent_depth any more: change another one here")
	}
	if err := os.WriteFile(wrong, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(wrong, true); err == nil {
		t.Error("a wrong default was not noticed")
	}
	if err := run(wrong, false); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(wrong); err != nil || string(got) != string(src) {
		t.Errorf("writing did not mend it: %v", err)
	}
}

func TestFilled_WithoutMarks(t *testing.T) {
	if _, err := filled("# Settings\n"); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("got %v", err)
	}
}
