package prompt

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// Piece is a part of a command's template: words, or a shell command whose output goes in its
// place. Only what the template itself marks is a command; arguments bring none in.
type Piece struct {
	Text    string
	Snippet bool
}

var (
	snippets     = phrase.Regexp("!`([^`]+)`")
	placeholders = phrase.Regexp(`\$(\d+|ARGUMENTS)`)
	arguments    = phrase.Regexp(`(?i)\[Image\s+\d+\]|"[^"]*"|'[^']*'|[^\s"']+`)
)

// Fill puts arguments into a template: the k-th for $k, the last place taking all that are
// left, and all of them as they were typed for $ARGUMENTS. What an argument holds is not looked
// at again. A template without places has the arguments below it.
func Fill(template, typed string) []Piece {
	args := SplitArguments(typed)
	last, places := 0, false
	for _, m := range placeholders().FindAllStringSubmatch(template, -1) {
		places = true
		if n, err := strconv.Atoi(m[1]); err == nil {
			last = max(last, n)
		}
	}
	put := func(text string) string {
		return placeholders().ReplaceAllStringFunc(text, func(place string) string {
			if place == "$ARGUMENTS" {
				return typed
			}
			n, err := strconv.Atoi(place[1:])
			switch {
			case err != nil || n < 1 || n > len(args):
				return ""
			case n == last:
				return strings.Join(args[n-1:], " ")
			default:
				return args[n-1]
			}
		})
	}
	var out []Piece
	at := 0
	for _, m := range snippets().FindAllStringSubmatchIndex(template, -1) {
		out = append(out, Piece{Text: put(template[at:m[0]])}, Piece{put(template[m[2]:m[3]]), true})
		at = m[1]
	}
	out = append(out, Piece{Text: put(template[at:])})
	if !places && strings.TrimSpace(typed) != "" {
		out = append(out, Piece{Text: "\n\n" + typed})
	}
	return out
}

// SplitArguments splits as a shell does: quotes keep words together and go, pictures that a
// client has put in stay whole.
func SplitArguments(typed string) []string {
	list := arguments().FindAllString(typed, -1)
	for i, a := range list {
		if strings.HasPrefix(a, `"`) || strings.HasPrefix(a, "'") {
			list[i] = a[1 : len(a)-1]
		}
	}
	return list
}

// Hints are the places of a template: the numbered ones in their order, then the one for all.
func Hints(template string) []string {
	var numbers []int
	all := false
	for _, m := range placeholders().FindAllStringSubmatch(template, -1) {
		if n, err := strconv.Atoi(m[1]); err != nil {
			all = all || m[1] == "ARGUMENTS"
		} else if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	out := []string{}
	for _, n := range numbers {
		out = append(out, "$"+strconv.Itoa(n))
	}
	if all {
		out = append(out, "$ARGUMENTS")
	}
	return out
}

// References finds the names behind an @ that stands alone, each once, in their order: not in
// an address of mail, nor behind a back-tick. The full stop of a sentence is no part of a name.
func References(text string) (names []string) {
	for i := 0; i < len(text); i++ {
		if text[i] != '@' {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		if i > 0 && (before == '`' || before == '_' || unicode.IsLetter(before) || unicode.IsDigit(before)) {
			continue
		}
		name := referenceAt(text[i+1:])
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		i += len(name)
	}
	return names
}

// referenceAt is the name at the beginning of a text: runs of characters with single dots
// between them, and perhaps one before the first.
func referenceAt(text string) string {
	isRun := func(r rune) bool { return !unicode.IsSpace(r) && r != '`' && r != ',' && r != '.' }
	end := 0
	for at := 0; ; {
		if at < len(text) && text[at] == '.' {
			at++
		} else if end > 0 {
			break
		}
		run := strings.IndexFunc(text[at:], func(r rune) bool { return !isRun(r) })
		if run < 0 {
			run = len(text) - at
		}
		if run == 0 {
			break
		}
		at += run
		end = at
	}
	return text[:end]
}
