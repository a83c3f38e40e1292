package main

import (
	"strings"

	"github.com/lathe-agent/lathe/config"
)

// lists tells the keys at the top in one table, and what is below each of them in one of its own.
func lists(name string, keys []config.Setting) string {
	level := "### "
	if name != "settings" {
		level = "#### "
	}
	var b strings.Builder
	head(&b)
	below := members(keys)
	for _, k := range keys {
		if strings.Contains(k.Key, ".") || k.Old != "" {
			continue
		}
		if name == "settings" && len(below[k.Key]) > 0 {
			k.Doc += "; [its keys](#" + k.Key + ")"
		}
		line(&b, k)
	}
	for _, k := range keys {
		if len(below[k.Key]) == 0 {
			continue
		}
		b.WriteString("\n" + level + k.Key + "\n\n")
		if k.Key == "permission" {
			b.WriteString("What each is for and how rules are judged: [permissions](permissions.md).\n\n")
		}
		head(&b)
		for _, m := range below[k.Key] {
			line(&b, m)
		}
	}
	old(&b, level, keys)
	return b.String()
}

// members are the keys below each key at the top.
func members(keys []config.Setting) map[string][]config.Setting {
	out := map[string][]config.Setting{}
	for _, k := range keys {
		if top, _, ok := strings.Cut(k.Key, "."); ok {
			out[top] = append(out[top], k)
		}
	}
	return out
}

func head(b *strings.Builder) {
	b.WriteString("| Key | Value | Default | A project needs trust for | What it is |\n|---|---|---|---|---|\n")
}

func line(b *strings.Builder, k config.Setting) {
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
	cells := []string{"`" + k.Key + "`", values(k.Type), k.Default, trust, doc}
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// values marks what is to be typed as it stands.
func values(words string) string {
	parts := strings.Split(words, `"`)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "`\"" + parts[i] + "\"`"
	}
	return strings.Join(parts, "")
}

// old lists the keys that are understood and should not be used.
func old(b *strings.Builder, level string, keys []config.Setting) {
	begun := false
	for _, k := range keys {
		if k.Old == "" {
			continue
		}
		if !begun {
			b.WriteString("\n" + level + "Old keys\n\nThey still work where they have a meaning; `lathe config check` points them out.\n\n| Key | Instead |\n|---|---|\n")
			begun = true
		}
		b.WriteString("| `" + k.Key + "` | " + k.Old + " |\n")
	}
}
