// Package phrase formats small texts for messages: it clips, counts, quotes and compares.
package phrase

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Clip shortens a text for a message, to 80 characters.
func Clip(s string) string {
	const most = 80
	s = strings.ToValidUTF8(s, "\ufffd")
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// Count is a number with its noun, in the plural where it is not one.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Size is a number of bytes for people.
func Size(n int64) string {
	switch {
	case n >= 1000<<20:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%d KB", n>>10)
	default:
		return Count(int(n), "byte")
	}
}

// JSON is a text as JSON.
func JSON(s string) []byte {
	b, _ := json.Marshal(s) // a text always encodes
	return b
}

// BOM is the mark some files begin with. It is no part of their text.
const BOM = "\ufeff"

// Regexp compiles an expression when it is first needed: what is done before main is paid by
// every command.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// WordLists reads lists of words when they are first needed, by their names, from a text with lines as
// "name: word word". Lines of one name are one list, and those that begin with "# " are comments.
func WordLists(text string) func() map[string][]string {
	return sync.OnceValue(func() map[string][]string {
		out := map[string][]string{}
		for line := range strings.Lines(text) {
			if name, words, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "# ") {
				out[name] = append(out[name], strings.Fields(words)...)
			}
		}
		return out
	})
}

// Shorten cuts a text to so many bytes and a mark that says so. No character is cut in half.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Nearest returns the word that a mistyped one most likely means, "" if none is similar.
func Nearest(word string, all []string) string {
	if len(word) > 100 {
		return ""
	}
	best, least := "", len(word)/3+2
	for _, w := range all {
		if d := Distance([]rune(word), []rune(w)); d < least && d < max(len(word), len(w)) {
			best, least = w, d
		}
	}
	return best
}

// Distance is how many elements must be changed, added or removed to make b of a.
func Distance[E comparable](a, b []E) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal = row[j+1]
			row[j+1] = cost
		}
	}
	return row[len(b)]
}

// Hint is the most descriptive argument of a call; "" if it has none.
func Hint(input json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil || len(members) == 0 {
		return ""
	}
	for _, name := range []string{"command", "filePath", "path", "pattern", "query", "url", "name", "description"} {
		var text string
		if json.Unmarshal(members[name], &text) == nil && text != "" {
			return text
		}
	}
	return string(input)
}
