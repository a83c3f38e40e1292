package config

import "testing"

// A folder is written as a path, a repository is what is not; paths are relative to the
// file they stand in.
func TestReferences(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	w.files(`
-- home/.config/opencode/opencode.jsonc --
{
  "reference": {"old": "./old"},
  "references": {
    "here": ".", "up": "../product", "home": "~/notes", "root": "/srv/docs", "env": "$HOME/x",
    "short": "owner/name", "host": "git.example.org/group/name", "address": "https://example.org/x.git",
    "bare": {"path": "docs", "description": "How it is meant to work", "hidden": true},
    "git": {"repository": "owner/name", "branch": "main"},
    "replaced": {"repository": "owner/name", "description": "gone"},
  },
}
-- top/.lathe/lathe.json --
{"references": {"replaced": {"path": "../own"}, "mine": "./mine"}}
`)
	l := w.load()
	equal(t, l.Config.References, map[string]Reference{
		"old": {Path: w.path("home/.config/opencode/old")}, "here": {Path: w.path("home/.config/opencode")},
		"up": {Path: w.path("home/.config/product")}, "home": {Path: w.path("home/notes")}, "root": {Path: "/srv/docs"}, "env": {Path: w.path("home/x")},
		"short": {Repository: "owner/name"}, "host": {Repository: "git.example.org/group/name"}, "address": {Repository: "https://example.org/x.git"},
		"bare": {Path: w.path("home/.config/opencode/docs"), Description: "How it is meant to work", Hidden: true},
		"git":  {Repository: "owner/name", Branch: "main"}, "replaced": {Path: w.path("top/own")}, "mine": {Path: w.path("top/.lathe/mine")},
	})
}

// A folder of a project that is a link out of it is not the project's to show.
func TestReferences_LinkedOut(t *testing.T) {
	w := newFixture(t)
	w.write("elsewhere/x", "")
	w.write("top/docs/x", "")
	w.link(w.path("elsewhere"), "top/out")
	w.link("docs", "top/in")
	w.write("top/lathe.json", `{"references": {"a": "./out", "b": {"path": "out/.", "hidden": true}, "c": "./in", "d": "./none"}}`)
	loader := NewLoader()
	l, _, err := loader.Load(w.options())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, w.risks(l), []string{"top/lathe.json: references.a", "top/lathe.json: references.b.path"})
	equal(t, l.Config.References, map[string]Reference{"c": {Path: w.path("top/in")}, "d": {Path: w.path("top/none")}})
	// What was not there may become such a link.
	w.link(w.path("elsewhere"), "top/none")
	l, fresh, err := loader.Load(w.options())
	if err != nil || !fresh {
		t.Fatal(fresh, err)
	}
	equal(t, names(l.Config.References), []string{"c"})
}
