package gitobj

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParseConfig(t *testing.T) {
	for _, c := range configCases {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseConfig([]byte(c.text))
			if (err != nil) != c.damaged {
				t.Errorf("error = %v, want damaged %v", err, c.damaged)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("\ngot  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

var configCases = []struct {
	name, text string
	want       Config
	damaged    bool
}{
	{name: "empty"},
	{name: "blank", text: " \n\t\r\n"},
	{name: "comments", text: "# a\n; b\n  # c"},
	{name: "origin", text: "[remote \"origin\"]\n\turl = https://h/p\n", want: Config{{key: "remote.origin.url", value: "https://h/p"}}},
	{name: "no newline at the end", text: "[a]\nb=c", want: Config{{key: "a.b", value: "c"}}},
	{name: "crlf", text: "[a]\r\nb = c\r\nd\r\n", want: Config{{key: "a.b", value: "c"}, {key: "a.d", bare: true}}},
	{name: "byte order mark", text: "\xef\xbb\xbf[a]\nb=c\n", want: Config{{key: "a.b", value: "c"}}},
	{name: "keys and sections fold", text: "[Core]\nIgnoreCase = True", want: Config{{key: "core.ignorecase", value: "True"}}},
	{name: "subsections do not", text: "[Remote \"Origin\"]\nURL=x", want: Config{{key: "remote.Origin.url", value: "x"}}},
	{name: "old subsections do", text: "[Remote.Origin]\nURL=x", want: Config{{key: "remote.origin.url", value: "x"}}},
	{name: "subsection escapes", text: `[a "b\"c\\d\e]f"]` + "\ng=1", want: Config{{key: `a.b"c\de]f.g`, value: "1"}}},
	{name: "subsection with dots and spaces", text: "[branch  \"a.b c\"]\nx=1", want: Config{{key: "branch.a.b c.x", value: "1"}}},
	{name: "setting behind its section", text: "[a] b = c\n", want: Config{{key: "a.b", value: "c"}}},
	{name: "bare name", text: "[a]\nb\nc ", want: Config{{key: "a.b", bare: true}, {key: "a.c", bare: true}}},
	{name: "empty value", text: "[a]\nb=\nc = \nd = # none", want: Config{{key: "a.b"}, {key: "a.c"}, {key: "a.d"}}},
	{name: "spaces", text: "[a]\nb =   c  d  \n", want: Config{{key: "a.b", value: "c  d"}}},
	{name: "quotes keep spaces", text: "[a]\nb = \"  c \" \n", want: Config{{key: "a.b", value: "  c "}}},
	{name: "quotes in the middle", text: "[a]\nb = c\" # \"d;e", want: Config{{key: "a.b", value: "c # d"}}},
	{name: "empty quotes keep spaces before them", text: "[a]\nb = c \"\" ", want: Config{{key: "a.b", value: "c "}}},
	{name: "comments behind values", text: "[a]\nb = c # d\ne = f;g\n", want: Config{{key: "a.b", value: "c"}, {key: "a.e", value: "f"}}},
	{name: "escapes", text: `[a]` + "\n" + `b = \\ \" \n \t \b.`, want: Config{{key: "a.b", value: "\\ \" \n \t \b."}}},
	{name: "continuation", text: "[a]\nb = c \\\n  d\\\r\ne\n", want: Config{{key: "a.b", value: "c   de"}}},
	{name: "continuation at the end", text: "[a]\nb = c\\", want: Config{{key: "a.b", value: "c"}}},
	{name: "continuation in quotes", text: "[a]\nb = \"c\\\n d\"", want: Config{{key: "a.b", value: "c d"}}},
	{name: "order is kept", text: "[a]\nb=1\n[c]\nb=2\n[a]\nb=3", want: Config{{key: "a.b", value: "1"}, {key: "c.b", value: "2"}, {key: "a.b", value: "3"}}},
	{name: "includes are only settings", text: "[include]\npath = /dev/zero", want: Config{{key: "include.path", value: "/dev/zero"}}},
	{name: "bad escape", text: "[a]\nb=1\nc = \\x", want: Config{{key: "a.b", value: "1"}}, damaged: true},
	{name: "open quote", text: "[a]\nb=1\nc = \"x\nd=2", want: Config{{key: "a.b", value: "1"}}, damaged: true},
	{name: "open section", text: "[a]\nb=1\n[c\nd=2", want: Config{{key: "a.b", value: "1"}}, damaged: true},
	{name: "open subsection", text: "[a \"b\nc=1", damaged: true},
	{name: "unquoted subsection", text: "[a b]\nc=1", damaged: true},
	{name: "rest behind a subsection", text: "[a \"b\" ]\nc=1", damaged: true},
	{name: "name with a sign", text: "[a]\nb_c=1", damaged: true},
	{name: "name with a digit first", text: "[a]\n1=1", damaged: true},
	{name: "words without equals", text: "[a]\nb c", damaged: true},
	{name: "conflict marks", text: "[a]\nb=1\n<<<<<<< HEAD\n", want: Config{{key: "a.b", value: "1"}}, damaged: true},
}

// Git itself is the judge of our reading, for the table and for random text made of
// the signs that mean something.
func TestParseConfig_AgreesWithGit(t *testing.T) {
	git := newGit(t)
	file := filepath.Join(t.TempDir(), "config")
	check := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, failed := git.Try(t.TempDir(), "config", "--file", file, "--list", "--null")
		got, err := parseConfig([]byte(text))
		if (err != nil) != (failed != nil) {
			t.Errorf("%q: our error is %v, git's %v", text, err, failed)
		} else if err == nil && printSettings(got) != out {
			t.Errorf("%q:\nours  %q\ngit's %q", text, printSettings(got), out)
		}
	}
	for _, c := range configCases {
		check(c.text)
	}
	words := []string{
		"[", "]", "\"", "\\", "\n", "\r\n", "=", " ", "#", ";", ".", "-", "a", "B", "1", "é",
		"[a]\n", "[Core \"Sub\"]\n", "b = ", "url=x y ", "\\\n", "\\t", "\\\"", "true",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		text := "[s]\n"
		for range rng.IntN(12) {
			text += words[rng.IntN(len(words))]
		}
		check(text)
	}
}

// printSettings writes settings as git config --list --null does.
func printSettings(c Config) string {
	var out strings.Builder
	for _, s := range c {
		out.WriteString(s.key)
		if !s.bare {
			out.WriteString("\n" + s.value)
		}
		out.WriteByte(0)
	}
	return out.String()
}

func TestConfig_Values(t *testing.T) {
	c, err := parseConfig([]byte("[a]\nx=1\nx=2\nx\ny=1\ny=\ny=3\nz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct{ key, first, last string }{
		{"a.x", "1", ""}, {"a.y", "3", "3"}, {"a.z", "", ""}, {"a.none", "", ""},
	} {
		if got := c.First(v.key); got != v.first {
			t.Errorf("First(%s) = %q, want %q", v.key, got, v.first)
		}
		if got := c.Last(v.key); got != v.last {
			t.Errorf("Last(%s) = %q, want %q", v.key, got, v.last)
		}
	}
}

func TestReadConfig_Bounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	text := "[remote \"origin\"]\nurl = https://host/first\n" + strings.Repeat("# padding padding\n", maxConfig/18) + "\nurl = late\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadConfig(path)
	want := Config{{key: "remote.origin.url", value: "https://host/first"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	// A line that the limit cuts must not count with half its value.
	if err := os.WriteFile(path, append([]byte("[a]\nb=1\nc="), bytes.Repeat([]byte("x"), maxConfig)...), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err = ReadConfig(path)
	if want := (Config{{key: "a.b", value: "1"}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %d settings, %v; want %+v", len(got), err, want)
	}
}

// A long section name counts again for each of its settings.
func TestParseConfig_LongSection(t *testing.T) {
	text := "[" + strings.Repeat("a", 500_000) + "]\n" + strings.Repeat("b\n", 200_000)
	config, err := parseConfig([]byte(text))
	if err == nil || len(config) > 40 {
		t.Errorf("%d settings, error %v", len(config), err)
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, c := range configCases {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := parseConfig(data)
		size := 0
		for _, s := range config {
			size += len(s.value)
			if s.key == "" || s.bare && s.value != "" {
				t.Fatalf("setting %+v", s)
			}
		}
		if size > len(data) {
			t.Fatalf("%d bytes of values from %d bytes of text", size, len(data))
		}
		// Whole lines read before the damage read the same without it.
		if err == nil {
			again, err := parseConfig(append(bytes.Clone(data), "\n]"...))
			if err == nil || !reflect.DeepEqual(again, config) {
				if !bytes.HasSuffix(data, []byte("\\")) && !bytes.HasSuffix(data, []byte("\r")) {
					t.Fatalf("damage behind the end changed %+v to %+v (%v)", config, again, err)
				}
			}
		}
	})
}

func TestConfig_Includes(t *testing.T) {
	c, err := parseConfig([]byte("[include]\n\tpath = ../a\n\tpath = b\n[includeIf \"gitdir:~/x/\"]\n\tpath = c\n[core]\n\tpath = no\n[include]\n\tother = no\n\tpath\n"))
	if got, want := strings.Join(c.Includes(true), " "), "../a b c"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
