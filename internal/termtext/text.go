// Package termtext prepares text for a terminal: it removes control characters, measures
// columns, clips and pads. It also formats numbers and sizes for people.
package termtext

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Titles and texts come from models, files and other people. What is shown to people holds no
// character that moves the cursor, changes colors or turns the direction of writing around.

// Plain makes a string safe to show on one line.
func Plain(s string) string {
	return strings.TrimSpace(strings.Map(Visible, strings.ToValidUTF8(s, "\uFFFD")))
}

// PlainText is plain for text of many lines.
func PlainText(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return Visible(r)
	}, s)
}

func Visible(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == '\r', r == '\u2028', r == '\u2029':
		return ' '
	case r < 0x20:
		return '\u2400' + r // the picture of the control character
	case r == 0x7f:
		return '\u2421'
	case unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\u200e', r == '\u200f', r == '\u061c':
		return '\uFFFD'
	default:
		return r
	}
}

// Quote shows what a user typed.
func Quote(s string) string { return `"` + Clip(Plain(s), 60) + `"` }

// Columns is how many columns of a terminal a line takes.
func Columns(s string) int {
	n := 0
	for _, c := range Clusters(s) {
		n += c.Width
	}
	return n
}

// Clip shortens a line to so many columns, the last of them an ellipsis.
func Clip(s string, most int) string {
	if most <= 0 || Columns(s) <= most {
		return s
	}
	var b strings.Builder
	n := 0
	for _, c := range Clusters(s) {
		if n+c.Width > most-1 {
			break
		}
		b.WriteString(c.Text)
		n += c.Width
	}
	return strings.TrimRight(b.String(), " ") + "…"
}

// ClipLeft is clip that keeps the end, for paths.
func ClipLeft(s string, most int) string {
	if most <= 0 || Columns(s) <= most {
		return s
	}
	all := Clusters(s)
	n, i := 0, len(all)
	for i > 0 && n+all[i-1].Width <= most-1 {
		i--
		n += all[i].Width
	}
	var b strings.Builder
	b.WriteString("…")
	for _, c := range all[i:] {
		b.WriteString(c.Text)
	}
	return b.String()
}

// Pad fills a line up to so many columns.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Columns(s)))
}

// Cluster is a group of characters that a terminal draws as one.
type Cluster struct {
	Text  string
	Width int
}

// Clusters cuts a line the way terminals do: marks and joined pictures belong to what they
// follow, two regional letters are one flag.
func Clusters(s string) []Cluster {
	out := make([]Cluster, 0, len(s))
	for len(s) > 0 {
		text, width := s[:1], 1
		if s[0] >= utf8.RuneSelf || len(s) > 1 && s[1] >= utf8.RuneSelf {
			text, width = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		}
		out = append(out, Cluster{text, width})
		s = s[len(text):]
	}
	return out
}

// ByteSize shows a size the way people read it.
func ByteSize(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), ""
	for _, unit = range []string{"KB", "MB", "GB", "TB"} {
		if f /= 1024; f < 1023.95 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", f, unit)
}

// Count shows a number with its thousands apart.
func Count[T ~int | ~int64](n T) string {
	s := fmt.Sprint(int64(n))
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural is a count with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// OneLine joins the lines of several errors.
func OneLine(s string) string {
	return Plain(strings.ReplaceAll(strings.TrimSpace(s), "\n", "; "))
}

// Tilde shortens a path below the home folder.
func Tilde(path, home string) string {
	if home == "" || home == string(filepath.Separator) {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return path
}

// ShellWord is a path as one word of a shell.
func ShellWord(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:\\~") == "" && path != "" {
		return path
	}
	return "'" + strings.ReplaceAll(Plain(path), "'", `'\''`) + "'"
}
