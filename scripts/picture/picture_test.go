package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func (s *screen) reads() (out []string) {
	for _, l := range s.lines {
		out = append(out, text(l))
	}
	return out
}

func TestScreen(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"lines":            {"one\r\ntwo", []string{"one", "two"}},
		"over":             {"⠋ works\r✓ done\x1b[K", []string{"✓ done"}},
		"up":               {"a\r\nb\r\n\x1b[2A\x1b[2Kc\r\n\x1b[Jd", []string{"c", "d"}},
		"wrap":             {"0123456789ab", []string{"0123456789", "ab"}},
		"wide":             {"12345678日本", []string{"12345678日", "本"}},
		"marks":            {"e\u0301x", []string{"e\u0301x"}},
		"title and cursor": {"\x1b]0;name\x07\x1b[?25lx\x1b]8;;http://y\x1b\\z", []string{"xz"}},
		"tab":              {"a\tb", []string{"a       b"}},
		"delete":           {"abcd\x1b[2G\x1b[2PX", []string{"aX"}},
		"insert":           {"abcd\x1b[2G\x1b[2@X", []string{"aX bcd"}},
		"column":           {"abc\x1b[2GX\x1b[1DY", []string{"aYc"}},
	} {
		t.Run(name, func(t *testing.T) {
			whole, cut := newScreen(10, 0), newScreen(10, 0)
			whole.write([]byte(c.in))
			for i := range len(c.in) { // however it is cut
				cut.write([]byte(c.in)[i : i+1])
			}
			if got := whole.reads(); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := cut.reads(); !slices.Equal(got, c.want) {
				t.Errorf("byte by byte: got %q, want %q", got, c.want)
			}
		})
	}
}

func TestStyle(t *testing.T) {
	for in, want := range map[string]style{
		"\x1b[1;31mx":            {fg: palette(1), bold: true},
		"\x1b[38;5;196;4mx":      {fg: "#ff0000", under: true},
		"\x1b[38;2;1;2;3mx":      {fg: "#010203"},
		"\x1b[7m\x1b[97;100mx":   {fg: palette(15), bg: palette(8), turned: true},
		"\x1b[2;3m\x1b[22;23mx":  {},
		"\x1b[1;32;44m\x1b[39mx": {bg: palette(4), bold: true},
		"\x1b[31m\x1b[mx":        {},
	} {
		s := newScreen(10, 0)
		s.write([]byte(in))
		if got := s.lines[0][0].style; got != want {
			t.Errorf("%q: got %+v, want %+v", in, got, want)
		}
	}
}

// TestScroll checks a screen with a height: the scrolling region, and lines inserted and deleted in it.
func TestScroll(t *testing.T) {
	for in, want := range map[string][]string{
		"\n\r3\n\r4":                    {"1", "2", "3", "4"},
		"\n\r3\n\r4\n\r5":               {"2", "3", "4", "5"},
		"\x1b[1;2r\x1b[2H\n\r3":         {"2", "3", "", ""},
		"\x1b[1;2r\x1b[1H\x1bM\r0":      {"0", "1", "", ""},
		"\x1b[1H\x1b[L0":                {"0", "1", "2", ""},
		"\x1b[1H\x1b[M":                 {"2", "", "", ""},
		"\x1b[2;4r\x1b[T\x1b[r\x1b[4HX": {"1", "", "2", "X"},
	} {
		s := newScreen(10, 4)
		s.write([]byte("1\r\n2" + in))
		if got := s.reads(); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestBackground checks that an erased row has its background to the end, in one rectangle.
func TestBackground(t *testing.T) {
	s := newScreen(20, 3)
	s.write([]byte("\x1b[?1049h\x1b[48;2;1;2;3m\x1b[2J\x1b[2;3H\x1b[41mab\x1b[1mc\x1b[22m\x1b[K\x1b[3d\x1b[5G\x1b[42m\x1b[4X\x1b[m"))
	got := s.svg("x")
	for _, want := range []string{
		`rx="8" fill="#010203"`,
		fmt.Sprintf(`<rect x="32.8" y="68" width="%.1f" height="18" fill="%s"`, 18*cellWidth, palette(1)),
		fmt.Sprintf(`<rect x="49.6" y="86" width="%.1f" height="18" fill="%s"`, 4*cellWidth, palette(2)),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "<rect"); n != 3 {
		t.Errorf("%d rectangles, want 3:\n%s", n, got)
	}
}

func TestSVG(t *testing.T) {
	s := newScreen(20, 0)
	s.write([]byte("a <b> & \x1b[32mgreen\x1b[0m\r\n\x1b[41mx\x1b[0m\r\n\r\n"))
	got := s.svg(`$ say "<x>"`)
	for _, want := range []string{"a &lt;b&gt; &amp;", `fill="` + palette(2) + `">green<`, `fill="` + palette(1) + `"`, "$ say"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestShow(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh here")
	}
	s, err := show([]string{sh, "-c", `stty -echo 2>/dev/null; test -t 1 && printf 'name? '; read x; printf 'hello %s\n' "$x"; exit 3`}, 40, 10, "dev\r")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.reads(); !slices.Equal(got[:1], []string{"name? hello dev"}) {
		t.Errorf("got %q", got)
	}
	if got := commandLine([]string{"/usr/bin/lathe", "run", "push it"}); got != `lathe run "push it"` {
		t.Errorf("got %s", got)
	}
}
