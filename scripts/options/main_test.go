package main

import (
	"maps"
	"testing"
)

// Options are found in the ways in which programs print them, with whether they take a value.
func TestOptionsIn(t *testing.T) {
	got := optionsIn(`usage: git fetch [<options>]
    -v, --[no-]verbose    be more verbose
    --upload-pack <path>  path to upload pack on remote end
    --recurse-submodules[=<on-demand>]
                          control recursive fetching
  -f, --file=ARCHIVE         use archive file
  -i[SUFFIX], --in-place[=SUFFIX]
  -O,  --output-document=FILE      write documents to FILE
 -J, --remote-header-name Use the header-provided filename
      --entry list   a list
text --not an option
`)
	want := map[string]string{
		"-v": "", "--verbose": "", "--upload-pack": "=", "--recurse-submodules": "~", "-f": "=", "--file": "=", "-i": "~", "--in-place": "~",
		"-O": "=", "--output-document": "=", "-J": "", "--remote-header-name": "", "--entry": "=",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// What was judged stays as it is, and what is new is marked.
func TestMerge(t *testing.T) {
	head, table := parseTable("# a\ngit x\t+ --old=!r -q \n")
	if r := merge(table["git x"], map[string]string{"--old": "", "--new": "="}); head != "# a\n" || r.String() != "+ --new=!? --old=!r -q " {
		t.Errorf("%q %q", head, r.String())
	}
}
