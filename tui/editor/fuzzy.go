package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What the places of letters are worth.
const (
	fuzzyBase  = 1000 // so that any fit beats a word of a description
	fuzzyFirst = 12   // at the start of the text
	fuzzyWord  = 8    // at the start of a word
	fuzzyRun   = 5    // right behind the letter before
	fuzzyWhole = 20   // nothing is left over
)

// fuzzy tells how well a text fits what was typed: 0 is not at all. The letters must be there in order; starts of
// words, runs, and short texts count more.
func fuzzy(query, text string) int {
	if query == "" {
		return 1
	}
	if len(query) > 100 || len(text) > 500 || !fits(query, text) {
		return 0
	}
	letters := []rune(text)
	// best[i] is the best score with the letters so far, the last of them at i; 0 is none.
	best, next := make([]int, len(letters)), make([]int, len(letters))
	for j, q := range []rune(strings.ToLower(query)) {
		before := 0 // the best score somewhere before i-1
		for i, r := range letters {
			if next[i] = 0; unicode.ToLower(r) == q {
				switch {
				case j == 0:
					next[i] = fuzzyBase + placeWorth(letters, i)
				case i > 0 && best[i-1] > 0:
					next[i] = max(best[i-1]+fuzzyRun, before) + placeWorth(letters, i)
				case before > 0:
					next[i] = before + placeWorth(letters, i)
				}
			}
			if i > 0 {
				before = max(before, best[i-1])
			}
		}
		best, next = next, best
	}
	score := 0
	for _, s := range best {
		score = max(score, s)
	}
	if len(query) == len(text) {
		score += fuzzyWhole
	}
	return max(1, 10*score-utf8.RuneCountInString(text))
}

// fits reports whether the letters are there in order, which few texts pass.
func fits(query, text string) bool {
	rest := strings.ToLower(query)
	for _, r := range text {
		want, size := utf8.DecodeRuneInString(rest)
		if unicode.ToLower(r) == want {
			if rest = rest[size:]; rest == "" {
				return true
			}
		}
	}
	return false
}

func placeWorth(letters []rune, i int) int {
	if i == 0 {
		return fuzzyFirst
	}
	prev := letters[i-1]
	if !unicode.IsLetter(prev) && !unicode.IsDigit(prev) || unicode.IsUpper(letters[i]) && unicode.IsLower(prev) {
		return fuzzyWord
	}
	return 0
}

// mentions tells whether words of a description begin with what was typed.
func mentions(query, text string) int {
	if len(query) < 2 {
		return 0
	}
	query = strings.ToLower(query)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if strings.HasPrefix(word, query) {
			return 100
		}
	}
	return 0
}
