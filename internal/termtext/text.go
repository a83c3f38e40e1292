// Package termtext makes text fit for a terminal: without characters that control it, measured in columns,
// clipped and padded; and says numbers and sizes the way people read them.
package termtext

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Titles and texts come from models, files and strangers. What is shown to people holds no
// character that moves the cursor, changes colours or turns the direction of writing around.

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

// Cluster is what a terminal draws as one.
type Cluster struct {
	Text  string
	Width int
}

// Clusters cuts a line the way terminals do: marks and joined pictures belong to what they
// follow, two regional letters are one flag.
func Clusters(s string) []Cluster {
	out := make([]Cluster, 0, len(s))
	joined, flag := false, false
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		text, w := s[:n], RuneWidth(r)
		s = s[n:]
		if last := len(out) - 1; last >= 0 && belongs(r, w, joined, flag, out[last].Width) {
			out[last].Text += text
			if r == variationEmoji || flag && isRegional(r) {
				out[last].Width = 2
			}
			flag = false
		} else {
			out = append(out, Cluster{text, w})
			flag = isRegional(r)
		}
		joined = r == joiner
	}
	return out
}

func belongs(r rune, w int, joined, flag bool, before int) bool {
	return w == 0 || joined || flag && isRegional(r) || isSkin(r) && before == 2
}

const (
	joiner         = '\u200d'
	variationEmoji = '\ufe0f'
)

func isRegional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func isSkin(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// wide are the ranges that East Asian terminals and picture fonts draw two columns wide, after
// Unicode's EastAsianWidth (W and F).
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x231a, 0x231b, 1},
		{0x2329, 0x232a, 1},
		{0x23e9, 0x23ec, 1},
		{0x23f0, 0x23f0, 1},
		{0x23f3, 0x23f3, 1},
		{0x25fd, 0x25fe, 1},
		{0x2614, 0x2615, 1},
		{0x2630, 0x2637, 1},
		{0x2648, 0x2653, 1},
		{0x267f, 0x267f, 1},
		{0x268a, 0x268f, 1},
		{0x2693, 0x2693, 1},
		{0x26a1, 0x26a1, 1},
		{0x26aa, 0x26ab, 1},
		{0x26bd, 0x26be, 1},
		{0x26c4, 0x26c5, 1},
		{0x26ce, 0x26ce, 1},
		{0x26d4, 0x26d4, 1},
		{0x26ea, 0x26ea, 1},
		{0x26f2, 0x26f3, 1},
		{0x26f5, 0x26f5, 1},
		{0x26fa, 0x26fa, 1},
		{0x26fd, 0x26fd, 1},
		{0x2705, 0x2705, 1},
		{0x270a, 0x270b, 1},
		{0x2728, 0x2728, 1},
		{0x274c, 0x274c, 1},
		{0x274e, 0x274e, 1},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1},
		{0x2795, 0x2797, 1},
		{0x27b0, 0x27b0, 1},
		{0x27bf, 0x27bf, 1},
		{0x2b1b, 0x2b1c, 1},
		{0x2b50, 0x2b50, 1},
		{0x2b55, 0x2b55, 1},
		{0x2e80, 0x2e99, 1},
		{0x2e9b, 0x2ef3, 1},
		{0x2f00, 0x2fd5, 1},
		{0x2ff0, 0x303e, 1},
		{0x3041, 0x3096, 1},
		{0x3099, 0x30ff, 1},
		{0x3105, 0x312f, 1},
		{0x3131, 0x318e, 1},
		{0x3190, 0x31e5, 1},
		{0x31ef, 0x321e, 1},
		{0x3220, 0x3247, 1},
		{0x3250, 0xa48c, 1},
		{0xa490, 0xa4c6, 1},
		{0xa960, 0xa97c, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe10, 0xfe19, 1},
		{0xfe30, 0xfe52, 1},
		{0xfe54, 0xfe66, 1},
		{0xfe68, 0xfe6b, 1},
		{0xff01, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x16fff, 1},
		{0x17000, 0x18cff, 1},
		{0x18d00, 0x18dff, 1},
		{0x1aff0, 0x1b2ff, 1},
		{0x1d300, 0x1d356, 1},
		{0x1d360, 0x1d376, 1},
		{0x1f004, 0x1f004, 1},
		{0x1f0cf, 0x1f0cf, 1},
		{0x1f18e, 0x1f18e, 1},
		{0x1f191, 0x1f19a, 1},
		{0x1f200, 0x1f202, 1},
		{0x1f210, 0x1f23b, 1},
		{0x1f240, 0x1f248, 1},
		{0x1f250, 0x1f251, 1},
		{0x1f260, 0x1f265, 1},
		{0x1f300, 0x1f320, 1},
		{0x1f32d, 0x1f335, 1},
		{0x1f337, 0x1f37c, 1},
		{0x1f37e, 0x1f393, 1},
		{0x1f3a0, 0x1f3ca, 1},
		{0x1f3cf, 0x1f3d3, 1},
		{0x1f3e0, 0x1f3f0, 1},
		{0x1f3f4, 0x1f3f4, 1},
		{0x1f3f8, 0x1f43e, 1},
		{0x1f440, 0x1f440, 1},
		{0x1f442, 0x1f4fc, 1},
		{0x1f4ff, 0x1f53d, 1},
		{0x1f54b, 0x1f54e, 1},
		{0x1f550, 0x1f567, 1},
		{0x1f57a, 0x1f57a, 1},
		{0x1f595, 0x1f596, 1},
		{0x1f5a4, 0x1f5a4, 1},
		{0x1f5fb, 0x1f64f, 1},
		{0x1f680, 0x1f6c5, 1},
		{0x1f6cc, 0x1f6cc, 1},
		{0x1f6d0, 0x1f6d2, 1},
		{0x1f6d5, 0x1f6d7, 1},
		{0x1f6dc, 0x1f6df, 1},
		{0x1f6eb, 0x1f6ec, 1},
		{0x1f6f4, 0x1f6fc, 1},
		{0x1f7e0, 0x1f7eb, 1},
		{0x1f7f0, 0x1f7f0, 1},
		{0x1f90c, 0x1f93a, 1},
		{0x1f93c, 0x1f945, 1},
		{0x1f947, 0x1f9ff, 1},
		{0x1fa70, 0x1faff, 1},
		{0x20000, 0x2fffd, 1},
		{0x30000, 0x3fffd, 1},
	},
}

func RuneWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	default:
		return 1
	}
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

// Several is a count with its noun.
func Several(n int, noun string) string {
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
