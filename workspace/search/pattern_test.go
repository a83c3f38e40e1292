package search

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
)

func TestParsePattern_Errors(t *testing.T) {
	for glob, want := range map[string]string{
		"":                             "is empty",
		"/":                            "is empty",
		"a[":                           `"[" is not closed`,
		"a{b":                          `"{" is not closed`,
		`a\`:                           "nothing follows the backslash",
		strings.Repeat("a", 5000):      "more than 4096",
		strings.Repeat("{a,b,*}", 500): "more than 2000 patterns",
	} {
		_, err := ParsePattern(glob)
		if err == nil || !strings.Contains(err.Error(), want) || lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("%.20q: %v; want %q", glob, err, want)
		}
	}
}

func TestPattern_Match(t *testing.T) {
	tests := []struct {
		glob, yes, no string
	}{
		{"*.go", "a.go x/y/b.go", "a.gox a.go/x"},
		{"src/*.go", "src/a.go", "a.go src/x/a.go x/src/a.go"},
		{"/*.go", "a.go", "x/a.go"},
		{"src/**", "src/a src/x/y", "src a/src/b"},
		{"**/test/**", "test/a x/test/b/c", "test x/test"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "b a/bb"},
		{"*.{go,{md,txt}}", "a.go a.md x/a.txt", "a.js"},
		{"[!a]?.x", "bc.x", "ac.x b.x"},
		{`\*.x`, "*.x", "a.x"},
		{"!*.go", "a.md", "a.go x/b.go"},
		{"**", "a x/y", ""},
		{"ä?", "äö x/äß", "ä"},
		{"**/out", "out x/out", "xout"},
		{"./a/./b", "", "a/b"},
	}
	for _, tt := range tests {
		p := mustPattern(t, tt.glob)
		for _, path := range strings.Fields(tt.yes) {
			if !p.Match(path) {
				t.Errorf("%s does not match %s", tt.glob, path)
			}
		}
		for _, path := range strings.Fields(tt.no) {
			if p.Match(path) {
				t.Errorf("%s matches %s", tt.glob, path)
			}
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, glob := range []string{"*.go", "src/**/*.{ts,tsx}", "!a/[b-d]?", `\{a`, "**/**/a", "{*,**/*}{a,b}", "[[]", "a/../b"} {
		f.Add(glob, "src/a/b.go")
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		p, err := ParsePattern(glob)
		if err != nil || len(path) > 1000 {
			return
		}
		began := time.Now()
		matched := p.Match(path)
		if took := time.Since(began); took > 5*time.Second {
			t.Fatalf("%q on %q took %s", glob, path, took)
		}
		// Beyond the shortcut, any broken byte is taken for any other, and for the character that stands for them.
		if slow := *p; slow.suffix != "" && utf8.ValidString(glob) && !strings.ContainsRune(glob, utf8.RuneError) {
			slow.suffix, slow.exact = "", false
			if slow.Match(path) != matched {
				t.Fatalf("%q on %q: the shortcut by its end says %t", glob, path, matched)
			}
		}
		dir := path[:max(0, strings.LastIndexByte(path, '/'))]
		if matched && dir != "" && !p.enters(dir) {
			t.Fatalf("%q matches %q, but %q is not entered", glob, path, dir)
		}
	})
}

func FuzzRules(f *testing.F) {
	f.Add("*.o\n!a\n/b/\n**/c\n[a-z]\\ \n", "x/y/a.o")
	f.Add("a**/b\n[[:alpha:]]*\n\\", "ab")
	f.Fuzz(func(t *testing.T, text, path string) {
		rs := parseRules(text)
		if rs == nil || path == "" || strings.HasPrefix(path, "/") || len(path) > 1000 || len(text) > 10_000 {
			return
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		for _, dir := range []bool{false, true} {
			want := unnamed
			for i := range rs.all { // the last that matches counts
				if rs.all[i].match(path, name, dir) {
					want = rs.all[i].verdict
				}
			}
			if got := rs.match(path, name, dir); got != want {
				t.Fatalf("%q on %q, directory %t: %d; one by one %d", text, path, dir, got, want)
			}
		}
	})
}

func FuzzRegexp(f *testing.F) {
	f.Add("foo|bar", "a foo\nbar\r\n", false)
	f.Add(`(?i)k\b[^s]`, "K s\nſ", true)
	f.Add(`a\nb$`, "a\nb\n", false)
	f.Fuzz(func(t *testing.T, expr, text string, fold bool) {
		if len(expr) > 200 || len(text) > 2000 || strings.ContainsRune(text, 0) || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") || strings.HasPrefix(text, "\xef\xbb\xbf") {
			return
		}
		re, err := ParseRegexp(expr, Fold(fold))
		if err != nil {
			return
		}
		lines, count, err := scanText(re, strings.NewReader(text), 16)
		if err != nil || len(lines) != count {
			t.Fatal(err, len(lines), count)
		}
		if re.spans || strings.Contains(expr, `\u`) {
			return
		}
		if want := numbers(expr, Fold(fold), text); len(want) != count {
			t.Fatalf("%q in %q: %d lines; want %d", expr, text, count, len(want))
		}
	})
}
