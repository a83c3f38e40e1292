package config

import "testing"

// Skills that were fetched lie in their own folders, and count more than those found elsewhere.
func TestSkills_Fetched(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/lathe/skills/a/SKILL.md", "---\nname: a\n---\nmine")
	w.write("cache/x/a/SKILL.md", "---\nname: a\n---\nfetched")
	o := w.options()
	o.Skills = []string{w.path("cache/x"), w.path("cache/not-yet")}
	l, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, len(l.Skills), 1)
	equal(t, l.Skills[0].Content, "fetched")
	loader := NewLoader()
	for _, folders := range [][]string{o.Skills, nil} { // others must be read again, whatever the files say
		o.Skills = folders
		if _, fresh, err := loader.Load(o); err != nil || !fresh {
			t.Errorf("with %d folders: %v, %v", len(folders), fresh, err)
		}
	}
}
