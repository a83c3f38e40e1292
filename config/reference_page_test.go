package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// settingsPage is the reference for users. Its prose is written by hand; a list of keys stands between two comments that
// name it, and is what the tables say, which is what the program goes by. `make docs` writes it.
const settingsPage = "../docs/settings.md"

func TestReference_Page(t *testing.T) {
	src, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	page, err := fillPage(string(src))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(settingsPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if page != string(src) {
		t.Errorf("%s is not what the code says: run `make docs`", settingsPage)
	}
}

// A page that says something else is noticed, and repaired by writing it.
func TestReference_Changed(t *testing.T) {
	src, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(src), "| `subagent_depth` | whole number | 1 |", "| `subagent_depth` | whole number | 2 |", 1)
	if changed == string(src) {
		t.Fatal("the page has no row for subagent_depth any more: change another one here")
	}
	if page, err := fillPage(changed); err != nil || page == changed {
		t.Errorf("a wrong default was not noticed: %v", err)
	}
	if _, err := fillPage("# Settings\n"); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("a page without marks: %v", err)
	}
}

// fillPage is the page with every list as the code has it.
func fillPage(page string) (string, error) {
	for name, keys := range map[string][]Setting{"settings": Keys(), "tui": TUIKeys()} {
		begin, end := "<!-- keys of "+name+": written by make docs -->\n", "<!-- end of keys -->\n"
		before, rest, ok := strings.Cut(page, begin)
		if !ok {
			return "", fmt.Errorf("the line %q is missing", strings.TrimSpace(begin))
		}
		_, after, ok := strings.Cut(rest, end)
		if !ok {
			return "", fmt.Errorf("the line %q is missing", strings.TrimSpace(end))
		}
		page = before + begin + lists(name, keys) + end + after
	}
	return page, nil
}

// lists tells the keys at the top in one table, and what is below each of them in one of its own.
func lists(name string, keys []Setting) string {
	level := "### "
	if name != "settings" {
		level = "#### "
	}
	var b strings.Builder
	tableHead(&b)
	below := keysBelow(keys)
	for _, k := range keys {
		if strings.Contains(k.Key, ".") || k.Old != "" {
			continue
		}
		if name == "settings" && len(below[k.Key]) > 0 {
			k.Doc += "; see [its keys](#" + k.Key + ")"
		}
		tableLine(&b, k)
	}
	for _, k := range keys {
		if len(below[k.Key]) == 0 {
			continue
		}
		b.WriteString("\n" + level + k.Key + "\n\n")
		if k.Key == "permission" {
			b.WriteString("For each permission and the order of rules, see [permissions](permissions.md).\n\n")
		}
		tableHead(&b)
		for _, m := range below[k.Key] {
			tableLine(&b, m)
		}
	}
	oldTable(&b, level, keys)
	return b.String()
}

// keysBelow are the keys below each key at the top.
func keysBelow(keys []Setting) map[string][]Setting {
	out := map[string][]Setting{}
	for _, k := range keys {
		if top, _, ok := strings.Cut(k.Key, "."); ok {
			out[top] = append(out[top], k)
		}
	}
	return out
}

func tableHead(b *strings.Builder) {
	b.WriteString("| Key | Value | Default | Trust needed in a project for | Description |\n|---|---|---|---|---|\n")
}

func tableLine(b *strings.Builder, k Setting) {
	doc, trust := k.Doc, k.Trust
	if k.Same != "" {
		doc += "; as [" + k.Same + "](#" + k.Same + ")"
	}
	switch {
	case strings.HasSuffix(k.Key, "*") && doc == "":
		doc = "any other key: passed on as it is"
	case strings.HasSuffix(k.Key, "*"):
		doc = "any other tool: " + doc
	}
	if trust == "yes" {
		trust = "any value"
	}
	cells := []string{"`" + k.Key + "`", typedValues(k.Type), k.Default, trust, doc}
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// typedValues marks what must be typed as it is.
func typedValues(words string) string {
	parts := strings.Split(words, `"`)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "`\"" + parts[i] + "\"`"
	}
	return strings.Join(parts, "")
}

// oldTable lists the keys that are understood and should not be used.
func oldTable(b *strings.Builder, level string, keys []Setting) {
	started := false
	for _, k := range keys {
		if k.Old == "" {
			continue
		}
		if !started {
			b.WriteString("\n" + level + "Old keys\n\nOld keys still work where noted. `lathe config check` reports them.\n\n| Key | Instead |\n|---|---|\n")
			started = true
		}
		b.WriteString("| `" + k.Key + "` | " + k.Old + " |\n")
	}
}
