package archtest

import "testing"

func TestLinks(t *testing.T) {
	tree := load(t, map[string]string{
		"README.md": "# Read me\n\n[a](docs/a.md) [b](docs/none.md) [c](https://example.com) [d](#read-me)\n" +
			"[e](docs/a.md#one--two) [f](docs/a.md#three) [g](/docs/a.md) [h](../x.md) `[i](nowhere)`\n\n" +
			"```\n[j](nowhere)\n```\n",
		"docs/a.md":       "# A\n\n## One & Two\n\n[back](../README.md) [code](../a.go)\n",
		"a.go":            "package m",
		"testdata/bad.md": "[x](nowhere)",
	})
	got, err := tree.Links()
	if err != nil {
		t.Fatal(err)
	}
	expect(t, got,
		"README.md:3: link docs/none.md leads nowhere: no docs/none.md",
		"README.md:4: leaves the repository",
		"README.md:4: leaves the repository",
		"README.md:4: docs/a.md has no such heading")
}

func TestMakeTargets(t *testing.T) {
	tree := load(t, map[string]string{
		"Makefile": "X := 1\n\ntest: vet ## all\n\tgo test\nvet:\n",
		"README.md": "We make sure that `make test` and `make nothing` run; `make` alone helps.\n\n" +
			"```sh\n$ make test vet\nmake X\n# make that\nmake test KILLS=3\n```\n",
	})
	got, err := tree.MakeTargets()
	if err != nil {
		t.Fatal(err)
	}
	expect(t, got, "README.md:1: no target nothing", "README.md:5: no target X")
}

func TestNamedFiles(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go":         "// Package m; see b.go and docs/a.md, then spec/gone.md.\npackage m",
		"b.go":         "package m\n\n//go:embed prompt/*.md gone.md\nvar x string // store/s.go, s.go",
		"store/s.go":   "package store\n\nconst q = \"gone.go\" // s.go, gone.go; ../b.go, s.golden, _test.go, x/*.md",
		"a_test.go":    "package m\n\n// gone.go",
		"docs/a.md":    "",
		"examples/x.c": "",
	})
	expect(t, tree.NamedFiles(),
		"a.go:1: no file spec/gone.md",
		"b.go:4: no file s.go",
		"store/s.go:3: no file gone.go")
}

func TestPackageTable(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go":       "package m",
		"store/s.go": "package store",
		"bus/b.go":   "package bus",
		"docs/a.md":  "| Package | Owns |\n|---|---|\n| `m` | words |\n| `engine` | turns |\n\n| Package | Imports |\n|---|---|\n| `store` | nothing |\n",
	})
	got, err := tree.PackageTable("docs/a.md")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, got,
		"docs/a.md: `engine` has no Go files",
		"docs/a.md: add a row for `bus`",
		"docs/a.md: add a row for `store`")
}
