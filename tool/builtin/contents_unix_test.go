//go:build unix

package builtin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// odd is a file whose content is not plain lines.
type odd struct {
	name, text string
	read       string    // of the result of read
	grep       string    // of the result of grep for "two"
	after      [3]string // the file after edit, apply_patch and write; "!" and words of the error
}

// TestContents has every file tool meet line ends, marks and sizes that are not the usual ones: an
// edit and a patch change what they say and keep the rest as it was.
func TestContents(t *testing.T) {
	t.Parallel()
	const bom = "\ufeff"
	for _, o := range []odd{
		{
			"CRLF", "one\r\ntwo\r\nthree\r\n", "1: one\n2: two\n3: three\n", "Line 2: two\n",
			[3]string{"one\r\n2\r\nthree\r\n", "one\r\n2\r\nthree\r\n", "one\r\n2\r\n"},
		},
		{
			"mixed", "one\r\ntwo\nthree\r\n", "1: one\n2: two\n3: three\n", "Line 2: two\n",
			[3]string{"one\r\n2\nthree\r\n", "one\r\n2\nthree\r\n", "one\n2\n"},
		},
		{
			"BOM", bom + "one\ntwo\nthree\n", "1: one\n2: two\n3: three\n", "Line 2: two\n",
			[3]string{bom + "one\n2\nthree\n", bom + "one\n2\nthree\n", bom + "one\n2\n"},
		},
		{
			"no final newline", "one\ntwo", "1: one\n2: two\n", "Line 2: two",
			[3]string{"one\n2", "one\n2\n", "one\n2\n"}, // a patch ends what it changes with a line end,
		},
		{"empty", "", "empty", "No match in ", [3]string{"!empty", "!two", "one\n2\n"}},
		{
			"not UTF-8", "one \xff\ntwo\n", "1: one \ufffd\n2: two\n", "Line 2: two\n",
			[3]string{"one \xff\n2\n", "one \xff\n2\n", "one\n2\n"},
		},
	} {
		t.Run(o.name, func(t *testing.T) { o.run(t) })
	}
}

func (o odd) run(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("f.txt", o.text)
	for _, r := range []struct {
		tool tool.Tool
		in   tooltest.Input
		want string
	}{
		{builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "f.txt"}, o.read},
		{builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "two$", "path": "f.txt"}, o.grep},
	} {
		if got := d.Must(r.tool, r.in).Output; !strings.Contains(got+"\n", r.want) || !utf8.ValidString(got) || strings.Contains(got, "\r") {
			t.Errorf("%s: %q, want %q", r.tool.Spec().Name, got, r.want)
		}
	}
	for i, call := range []struct {
		tool tool.Tool
		in   tooltest.Input
	}{
		{builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": "f.txt", "oldString": "two", "newString": "2"}},
		{builtin.ApplyPatch(builtin.EditConfig{}), tooltest.Input{"patchText": "*** Begin Patch\n*** Update File: f.txt\n@@\n-two\n+2\n*** End Patch"}},
		{builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": "f.txt", "content": "one\n2\n"}},
	} {
		d.Put("f.txt", o.text)
		_, err := d.Run(call.tool, call.in)
		words, fails := strings.CutPrefix(o.after[i], "!")
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), words)):
			t.Errorf("%s: %v, want %q", call.tool.Spec().Name, err, words)
		case !fails && (err != nil || d.Content("f.txt") != words):
			t.Errorf("%s: %v, %q, want %q", call.tool.Spec().Name, err, d.Content("f.txt"), words)
		case fails && d.Content("f.txt") != o.text:
			t.Errorf("%s failed and left %q", call.tool.Spec().Name, d.Content("f.txt"))
		}
	}
}

// A file of 2 GB is looked into and refused where it would have to be held whole; none of it is
// read in vain.
func TestContents_TwoGigabytes(t *testing.T) {
	t.Parallel()
	d := tooltest.NewHost(t)
	path := d.Put("big.txt", strings.Repeat("a line\n", 20_000))
	if err := os.Truncate(path, 2<<30); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	if got := d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "big.txt", "limit": 2}).Output; !strings.Contains(got, "1: a line\n2: a line\n") {
		t.Errorf("read: %.300s", got)
	}
	edit, patch := builtin.Edit(builtin.EditConfig{}), builtin.ApplyPatch(builtin.EditConfig{})
	for name, call := range map[string]struct {
		tool tool.Tool
		in   tooltest.Input
	}{
		"edit":        {edit, tooltest.Input{"filePath": "big.txt", "oldString": "a line", "newString": "b"}},
		"apply_patch": {patch, tooltest.Input{"patchText": "*** Begin Patch\n*** Update File: big.txt\n@@\n-a line\n+b\n*** End Patch"}},
	} {
		if _, err := d.Run(call.tool, call.in); err == nil || !strings.Contains(err.Error(), "too large") || !strings.Contains(err.Error(), "big.txt") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := d.Must(builtin.Glob(builtin.FilesConfig{}), tooltest.Input{"pattern": "big*"}).Output; !strings.Contains(got, path) {
		t.Errorf("glob: %s", got)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 2<<30 {
		t.Errorf("it has changed: %v %v", info, err)
	}
	if _, err := d.Run(builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": "big.txt", "content": "small\n"}); err != nil && !strings.Contains(err.Error(), "large") {
		t.Errorf("write: %v", err)
	}
}

// A name that is not UTF-8 is shown in a form that can be shown, and does not hide its neighbours.
func TestContents_Names(t *testing.T) {
	t.Parallel()
	d := tooltest.NewHost(t)
	d.Put("good.txt", "two\n")
	if err := os.WriteFile(filepath.Join(d.Dir, "bad\xff.txt"), []byte("two\n"), 0o600); err != nil {
		t.Skipf("no such names here: %v", err)
	}
	for _, call := range []struct {
		tool tool.Tool
		in   tooltest.Input
	}{
		{builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "."}},
		{builtin.Glob(builtin.FilesConfig{}), tooltest.Input{"pattern": "*.txt"}},
		{builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "two"}},
	} {
		got := d.Must(call.tool, call.in)
		if !utf8.ValidString(got.Output) || !utf8.Valid(got.Metadata) || !strings.Contains(got.Output, "good.txt") || !strings.Contains(got.Output, "bad") {
			t.Errorf("%s: %q", call.tool.Spec().Name, got.Output)
		}
	}
	if _, err := d.Run(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "bad\ufffd.txt"}); err == nil || !strings.Contains(err.Error(), "not UTF-8") || !strings.Contains(err.Error(), "bad?.txt") || !utf8.ValidString(err.Error()) {
		t.Errorf("read: %q", err)
	}
}
